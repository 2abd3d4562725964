-- How many replies of the assistant each node makes at the moment: counts[i] for projects[i]. `until` is in milliseconds since the Unix
-- epoch; after it the row says nothing, so it need not survive a crash of the database.
CREATE UNLOGGED TABLE running_replies (
    node     UUID      PRIMARY KEY,
    projects UUID[]    NOT NULL,
    counts   INTEGER[] NOT NULL,
    until    BIGINT    NOT NULL
) WITH (fillfactor = 50);
