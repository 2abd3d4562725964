-- Questions are listed by when they were asked. Those that a client only told of were asked at moment 0, and are not listed.

ALTER TABLE turns ADD COLUMN domain TEXT NOT NULL DEFAULT '';
UPDATE turns SET domain = (SELECT domain FROM threads WHERE threads.id = turns.thread);
CREATE INDEX turns_asked ON turns (domain, asked_at, answer_id) WHERE asked_at > 0;
