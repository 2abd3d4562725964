-- Those who sign in. `folded` is the name in the form in which names are compared. Of secrets there are hashes only, but
-- for what is checked at the end of a sign-in at an identity provider.
-- Moments are milliseconds since the Unix epoch.

CREATE TABLE operators (
    id           UUID   PRIMARY KEY,
    n            BIGINT GENERATED ALWAYS AS IDENTITY,
    name         TEXT   NOT NULL,
    folded       TEXT COLLATE "C" NOT NULL UNIQUE,
    role         TEXT   NOT NULL,
    -- Empty for whoever signs in at an identity provider, which knows them by issuer and subject.
    password     TEXT   NOT NULL,
    issuer       TEXT COLLATE "C",
    subject      TEXT COLLATE "C",
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT
);
CREATE UNIQUE INDEX operators_by_identity ON operators (issuer, subject) WHERE issuer IS NOT NULL;

-- `operator` is whom the link signs in, or whose password it resets.
CREATE TABLE operator_links (
    hash       BYTEA  PRIMARY KEY,
    n          BIGINT GENERATED ALWAYS AS IDENTITY,
    operator   UUID   REFERENCES operators ON DELETE CASCADE,
    target     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX operator_links_of ON operator_links (operator);

CREATE TABLE operator_sessions (
    hash       BYTEA  PRIMARY KEY,
    operator   UUID   NOT NULL REFERENCES operators ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX operator_sessions_of ON operator_sessions (operator);

-- Sign-ins whose browsers were sent to the identity provider, for minutes: `hash` is that of the state that the browser
-- returns, and `body` has what is checked then.
CREATE TABLE operator_sign_ins (
    hash       BYTEA  PRIMARY KEY,
    expires_at BIGINT NOT NULL,
    body       TEXT   NOT NULL
);

-- What was done. A number is given once, so that a list can be read on from where it was left.
CREATE TABLE audit (
    n    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at   BIGINT NOT NULL,
    body TEXT   NOT NULL
);
CREATE INDEX audit_to_forget ON audit (at);
