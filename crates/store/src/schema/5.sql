-- What a new job's journal begins with lies in the job's row when it is short: a job that is accepted is written in one place
-- then. It is the first `began` entries, a JSON array of them, written at `began_at`. All three are NULL where the whole
-- journal is in `entries`, as it is of every job of an older version.
ALTER TABLE jobs ADD COLUMN began INTEGER;
ALTER TABLE jobs ADD COLUMN began_at INTEGER;
ALTER TABLE jobs ADD COLUMN beginning TEXT;
