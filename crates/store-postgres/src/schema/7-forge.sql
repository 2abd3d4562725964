-- Pull requests of the local forge, and what people said about them.
-- Moments are milliseconds since the Unix epoch.

CREATE TABLE pulls (
    id         UUID   PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    head       TEXT COLLATE "C" NOT NULL,
    base       TEXT COLLATE "C" NOT NULL,
    state      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    body       TEXT   NOT NULL,
    UNIQUE (project, number)
);
CREATE INDEX pulls_by_head ON pulls (project, head, number);
CREATE UNIQUE INDEX pulls_open ON pulls (project, head, base) WHERE state = 'open';

CREATE TABLE pull_comments (
    n    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pull UUID   NOT NULL REFERENCES pulls,
    body TEXT   NOT NULL
);
CREATE INDEX pull_comments_of ON pull_comments (pull, n);
