-- Threads are forgotten by when something was last asked or rated in them, and listed by when they began.

ALTER TABLE threads ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0;
UPDATE threads
SET touched_at = max(created_at, coalesce((SELECT max(asked_at) FROM turns WHERE turns.thread = threads.id), 0));
CREATE INDEX threads_to_forget ON threads (touched_at);
CREATE INDEX threads_of_domain ON threads (domain, created_at, id);
