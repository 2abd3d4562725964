-- Moments are milliseconds since the Unix epoch; ids are hyphenated UUIDs, which sort as they were made.

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    domain     TEXT NOT NULL UNIQUE,
    body       TEXT NOT NULL
) STRICT;

-- A key outlives its project: a later project of the same name must not revive it.
CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX keys_of_project ON keys (project);

CREATE TABLE jobs (
    id          TEXT PRIMARY KEY,
    project     TEXT NOT NULL,
    status      TEXT NOT NULL,
    repository  TEXT NOT NULL,
    branch      TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    lease_until INTEGER,
    last_seq    INTEGER NOT NULL,
    body        TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_of_project ON jobs (project, id);
CREATE INDEX jobs_by_status ON jobs (project, status, id);
CREATE INDEX jobs_to_claim ON jobs (id) WHERE status = 'active';
CREATE INDEX jobs_in_lane ON jobs (repository, branch) WHERE lease_until IS NOT NULL;

CREATE TABLE entries (
    job  TEXT NOT NULL REFERENCES jobs (id),
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, seq)
) STRICT;

-- One row for each use of a quota. `forget_at` is when no clock could count it any more.
CREATE TABLE uses (
    bucket    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    forget_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uses_of_bucket ON uses (bucket, at);
CREATE INDEX uses_to_forget ON uses (forget_at);

-- First answers by idempotency key.
CREATE TABLE answers (
    scope       TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    forget_at   INTEGER NOT NULL,
    job         TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX answers_to_forget ON answers (forget_at);

CREATE TABLE pulls (
    id         TEXT PRIMARY KEY,
    project    TEXT NOT NULL,
    number     INTEGER NOT NULL,
    head       TEXT NOT NULL,
    base       TEXT NOT NULL,
    state      TEXT NOT NULL,
    body       TEXT NOT NULL,
    UNIQUE (project, number)
) STRICT;
CREATE INDEX pulls_by_head ON pulls (project, head, number);
CREATE UNIQUE INDEX pulls_open ON pulls (project, head, base) WHERE state = 'open';

CREATE TABLE threads (
    id         TEXT PRIMARY KEY,
    domain     TEXT NOT NULL,
    fp         TEXT NOT NULL,
    key        BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
    thread    TEXT NOT NULL REFERENCES threads (id),
    place     INTEGER NOT NULL,
    answer_id TEXT NOT NULL,
    answered  INTEGER NOT NULL,
    asked_at  INTEGER NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (thread, place)
) STRICT;
