-- The hooks, by their URLs. `last` is the last attempt to deliver, as JSON.

CREATE TABLE hooks (
    n    INTEGER PRIMARY KEY,
    url  TEXT NOT NULL UNIQUE,
    last TEXT
) STRICT;

-- The events that they are still to be told: `failed` attempts so far, the next one at `due`.

CREATE TABLE outbox (
    hook   INTEGER NOT NULL REFERENCES hooks ON DELETE CASCADE,
    id     TEXT    NOT NULL,
    due    INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    body   TEXT    NOT NULL,
    PRIMARY KEY (hook, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_by_due ON outbox (hook, due, id);
