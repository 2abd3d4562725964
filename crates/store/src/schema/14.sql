-- Pull requests are listed by when they were opened, and talked about.

ALTER TABLE pulls ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
UPDATE pulls SET created_at = CAST(round(unixepoch(body ->> '$.created_at', 'subsec') * 1000) AS INTEGER);
CREATE INDEX pulls_listed ON pulls (project, created_at, id, state);

CREATE TABLE pull_comments (
    n    INTEGER PRIMARY KEY,
    pull TEXT NOT NULL REFERENCES pulls (id),
    body TEXT NOT NULL
) STRICT;
CREATE INDEX pull_comments_of ON pull_comments (pull, n);
