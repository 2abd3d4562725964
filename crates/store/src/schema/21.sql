-- Sign-ins whose browsers were sent to the identity provider, for minutes: `hash` is that of the state that the browser
-- returns, and `body` has what is checked then.

CREATE TABLE operator_sign_ins (
    hash       BLOB    PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    body       TEXT    NOT NULL
) STRICT;
