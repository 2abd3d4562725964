-- Those who sign in. `folded` is the name in the form in which names are compared. Of secrets there are hashes only.

CREATE TABLE operators (
    id           BLOB    PRIMARY KEY,
    name         TEXT    NOT NULL,
    folded       TEXT    NOT NULL UNIQUE,
    role         TEXT    NOT NULL,
    password     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER
) STRICT;

-- `operator` is whose password the link resets.
CREATE TABLE operator_links (
    hash       BLOB    PRIMARY KEY,
    operator   BLOB    REFERENCES operators ON DELETE CASCADE,
    target     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE operator_sessions (
    hash       BLOB    PRIMARY KEY,
    operator   BLOB    NOT NULL REFERENCES operators ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX operator_sessions_of ON operator_sessions (operator);

-- What was done. A number is given once, so that a list can be read on from where it was left.
CREATE TABLE audit (
    n    INTEGER PRIMARY KEY AUTOINCREMENT,
    at   INTEGER NOT NULL,
    body TEXT    NOT NULL
) STRICT;
CREATE INDEX audit_to_forget ON audit (at);
