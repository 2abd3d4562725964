-- Jobs have row numbers, by which their entries know them, and as few indexes as answer what is asked: each costs a write
-- when a job is made, given out and ended. Ids are 16 bytes, and sort as they were made.

-- `place` says where a job stands:
--   0 ready       nothing below is the case, as far as was looked;
--   1 behind      its lane (one branch of one repository) is leased, or has an older job of the same project that is ready;
--   2 later       it is not due yet;
--   3 leased      somebody works on it;
--   4 completed, 5 failed, 6 archived.
-- A claim looks at the ready jobs of a project in order, and puts those it finds to be behind where they belong, so that
-- it never looks at one twice. Whatever frees a lane makes the oldest job of each project that is behind in it ready.
--
-- `lane` is NULL for a job on the branch that is named after it: nobody else is in that lane, but for whoever asks for that
-- very branch, and then the name leads to the job.
CREATE TABLE new_jobs (
    n           INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    project     TEXT NOT NULL,
    place       INTEGER NOT NULL,
    lane        TEXT,
    not_before  INTEGER NOT NULL,
    -- Also of a job whose lease has run out, until it is given out again.
    lease_until INTEGER,
    -- When the job ended, while it has; and whether more of its journal than the end is there.
    ended_at    INTEGER,
    kept        INTEGER NOT NULL,
    body        TEXT NOT NULL
) STRICT;
INSERT INTO new_jobs (id, project, place, lane, not_before, lease_until, ended_at, kept, body)
SELECT unhex(id, '-'), project,
       CASE status
         WHEN 'completed' THEN 4 WHEN 'failed' THEN 5 WHEN 'archived' THEN 6
         ELSE CASE place WHEN 'leased' THEN 3 WHEN 'later' THEN 2 WHEN 'behind' THEN 1 ELSE 0 END
       END,
       CASE WHEN branch <> 'docent/' || id THEN repository || char(10) || branch END,
       not_before, lease_until, ended_at, kept, body
FROM jobs ORDER BY id;

-- What was written to a journal at once: `count` entries, a JSON array of them, the last of which has the number `last`.
-- They lie in the order in which they were written, so that whatever jobs a commit is about, it writes to one place.
CREATE TABLE new_entries (
    job    INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    bodies TEXT NOT NULL,
    PRIMARY KEY (job, last)
) STRICT;
INSERT INTO new_entries
SELECT new_jobs.n, entries.seq, 1, entries.at, '[' || entries.body || ']'
FROM entries JOIN new_jobs ON new_jobs.id = unhex(entries.job, '-') ORDER BY new_jobs.n, entries.seq;

DROP TABLE entries;
DROP TABLE jobs;
ALTER TABLE new_jobs RENAME TO jobs;
ALTER TABLE new_entries RENAME TO entries;
CREATE INDEX jobs_in_place ON jobs (place, project, id);
CREATE INDEX jobs_in_lane ON jobs (lane, place, project, id) WHERE lane IS NOT NULL AND place < 4;
CREATE INDEX jobs_later ON jobs (not_before) WHERE place = 2;
CREATE INDEX jobs_leased ON jobs (lease_until, place, project) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_over ON jobs (kept, ended_at) WHERE ended_at IS NOT NULL;

-- The last turn is that of the project that was served last.
DROP TABLE turn_taking;
DROP INDEX queues_in_turn;
CREATE INDEX queues_in_turn ON queues (waiting, served, project);

-- As uses are numbered by their moment, the one after a moment is found by halving. A row tells of `count` uses in one
-- moment, the last of which has the number `n`.
DROP INDEX uses_by_moment;
ALTER TABLE uses ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
