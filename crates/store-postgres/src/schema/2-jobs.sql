-- Moments are milliseconds since the Unix epoch.

-- `job` is what is shown of a job, as JSON. The columns from `last_token` to `last_instruction` count while the job has no
-- row in `queue`. `status`: 0 active, 1 completed, 2 failed, 3 archived.
CREATE TABLE jobs (
    id               uuid     PRIMARY KEY,
    project          text     NOT NULL,
    status           smallint NOT NULL,
    job              text     NOT NULL,
    last_token       bigint   NOT NULL,
    failed           integer  NOT NULL,
    not_before       bigint   NOT NULL,
    last_seq         bigint   NOT NULL,
    last_instruction bigint   NOT NULL,
    pruned_to        bigint   NOT NULL,
    -- When the job ended, while it has; and whether more of its journal than the end is there.
    ended_at         bigint,
    kept             boolean  NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX jobs_listed ON jobs (project, status, id);
CREATE INDEX jobs_over ON jobs (kept, ended_at, id) WHERE ended_at IS NOT NULL;

-- The jobs that are active or leased: what changes with each step of a job. No index has what a heartbeat or an entry
-- changes, so that such a change touches no index. `key` is a digest of the repository and the branch.
CREATE TABLE queue (
    job              uuid    PRIMARY KEY,
    project          text    NOT NULL,
    key              bigint  NOT NULL,
    is_active        boolean NOT NULL,
    is_leased        boolean NOT NULL,
    not_before       bigint  NOT NULL,
    failed           integer NOT NULL,
    last_token       bigint  NOT NULL,
    last_seq         bigint  NOT NULL,
    last_instruction bigint  NOT NULL,
    lease_token      bigint,
    lease_holder     text,
    lease_until      bigint
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
CREATE INDEX queue_waiting ON queue (project, job) WHERE is_active AND NOT is_leased;
CREATE INDEX queue_due ON queue (not_before) WHERE is_active AND NOT is_leased;
CREATE INDEX queue_leased ON queue (job) WHERE is_leased;

-- When each project was served last, as the number of a turn. A claim takes a thousand numbers at once.
CREATE TABLE project_turns (
    project text   PRIMARY KEY,
    served  bigint NOT NULL
) WITH (fillfactor = 60);
CREATE SEQUENCE turn_numbers INCREMENT BY 1024;

-- What was written to a journal at once: `count` entries, a JSON array of them, the last of which has the number `last`.
CREATE TABLE entries (
    job    uuid    NOT NULL,
    last   bigint  NOT NULL,
    count  integer NOT NULL,
    at     bigint  NOT NULL,
    bodies text    NOT NULL,
    PRIMARY KEY (job, last)
);

-- The beginning of each job's first instruction, as it is shown and in lower case; both in bytes, as a text of PostgreSQL
-- cannot have every character. It goes with the journal.
CREATE TABLE prompts (
    job    uuid  PRIMARY KEY,
    text   bytea NOT NULL,
    folded bytea NOT NULL
);

-- A row tells of the uses of a quota in one moment: how many they are, and how many there were in all with them, so that the
-- uses of a window are counted by its first row and its last.
CREATE TABLE uses (
    bucket    text COLLATE "C" NOT NULL,
    at        bigint NOT NULL,
    count     bigint NOT NULL,
    total     bigint NOT NULL,
    forget_at bigint NOT NULL,
    PRIMARY KEY (bucket, at)
);
CREATE INDEX uses_to_forget ON uses (forget_at);

-- First answers by idempotency key.
CREATE TABLE answers (
    scope       text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    fingerprint bytea  NOT NULL,
    forget_at   bigint NOT NULL,
    job         text   NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX answers_to_forget ON answers (forget_at);
