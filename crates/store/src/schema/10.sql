-- A row tells of the uses of one moment: how many they are, and how many there were in all with them, so that the uses of a
-- window are counted by its first row and its last.

CREATE TABLE counted_uses (
    bucket    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    total     INTEGER NOT NULL,
    forget_at INTEGER NOT NULL,
    PRIMARY KEY (bucket, at)
) STRICT, WITHOUT ROWID;
INSERT INTO counted_uses
SELECT bucket, at, sum(count), max(n), max(forget_at) FROM uses GROUP BY bucket, at;
DROP TABLE uses;
ALTER TABLE counted_uses RENAME TO uses;
CREATE INDEX uses_to_forget ON uses (forget_at);
