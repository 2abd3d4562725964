-- What a person calls a key, and when it was last let in, to the minute.

ALTER TABLE keys ADD COLUMN name TEXT;
ALTER TABLE keys ADD COLUMN used_at INTEGER;
