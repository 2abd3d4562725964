-- Keys, projects, and rate limits that are not part of a write.
-- Moments are milliseconds since the Unix epoch.

CREATE TABLE projects (
    id     TEXT COLLATE "C" PRIMARY KEY,
    domain TEXT COLLATE "C" NOT NULL UNIQUE,
    body   TEXT NOT NULL
);

-- A key outlives its project: a later project of the same name must not revive it. `n` is the order in which keys of one
-- moment were made.
CREATE TABLE keys (
    id         TEXT COLLATE "C" PRIMARY KEY,
    n          BIGINT GENERATED ALWAYS AS IDENTITY,
    hash       BYTEA  NOT NULL UNIQUE,
    project    TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    used_at    BIGINT,
    name       TEXT,
    made_by    TEXT,
    body       TEXT   NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX keys_of_project ON keys (project);

-- The uses of each quota, in slots of a sixtieth of its window.
CREATE TABLE use_slots (
    bucket    TEXT COLLATE "C" NOT NULL,
    number    BIGINT  NOT NULL,
    until     BIGINT  NOT NULL,
    count     INTEGER NOT NULL,
    -- Twice the window after the first use of the slot.
    forget_at BIGINT  NOT NULL,
    PRIMARY KEY (bucket, number)
) WITH (fillfactor = 70);
CREATE INDEX use_slots_to_forget ON use_slots (forget_at);
