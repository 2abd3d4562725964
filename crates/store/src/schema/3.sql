-- Jobs wait in queues, one a project. `place` is NULL for a job that is over; else it is
--   leased   somebody works on it;
--   later    it is not due yet;
--   behind   its lane (one branch of one repository) is leased, or has an older job of the same project that is ready;
--   ready    none of these, as far as was looked.
-- A claim looks at the ready jobs of a project in order, and puts those it finds to be behind where they belong, so that
-- it never looks at one twice. Whatever frees a lane makes the oldest job of each project that is behind in it ready.

ALTER TABLE jobs ADD COLUMN place TEXT;
-- When the job ended, while it has; and whether more of its journal than the end is there.
ALTER TABLE jobs ADD COLUMN ended_at INTEGER;
ALTER TABLE jobs ADD COLUMN kept INTEGER NOT NULL DEFAULT 1;
UPDATE jobs SET place = CASE WHEN lease_until IS NOT NULL THEN 'leased' ELSE 'later' END WHERE status = 'active';
UPDATE jobs
SET ended_at = coalesce((SELECT max(at) FROM entries WHERE entries.job = jobs.id), created_at)
WHERE status <> 'active';

DROP INDEX jobs_to_claim;
DROP INDEX jobs_in_lane;
CREATE INDEX jobs_ready ON jobs (project, id) WHERE place = 'ready';
CREATE INDEX jobs_later ON jobs (not_before) WHERE place = 'later';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE place = 'leased';
CREATE INDEX jobs_running ON jobs (project, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_in_lane ON jobs (repository, branch, place, project, id) WHERE place IS NOT NULL;
CREATE INDEX jobs_over ON jobs (kept, ended_at) WHERE ended_at IS NOT NULL;

-- `waiting`: whether some job of the project may be ready. `served`: the number of the turn it was served in last.
CREATE TABLE queues (
    project TEXT PRIMARY KEY,
    waiting INTEGER NOT NULL,
    served  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX queues_in_turn ON queues (served, project) WHERE waiting;
CREATE TABLE turn_taking (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    turn INTEGER NOT NULL
) STRICT;
INSERT INTO turn_taking VALUES (1, 0);

-- Uses of a quota are numbered by their moment in each bucket, without gaps, so that counting is subtracting.
CREATE TABLE numbered_uses (
    bucket    TEXT NOT NULL,
    n         INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    forget_at INTEGER NOT NULL,
    PRIMARY KEY (bucket, n)
) STRICT, WITHOUT ROWID;
INSERT INTO numbered_uses
SELECT bucket, row_number() OVER (PARTITION BY bucket ORDER BY at, rowid), at, forget_at FROM uses;
DROP TABLE uses;
ALTER TABLE numbered_uses RENAME TO uses;
CREATE INDEX uses_by_moment ON uses (bucket, at, n);
