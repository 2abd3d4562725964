-- What lists and summaries of questions look at is in their index, so that no body is read for it.

ALTER TABLE turns ADD COLUMN rating TEXT GENERATED ALWAYS AS (body ->> '$.feedback.rating') VIRTUAL;
ALTER TABLE turns ADD COLUMN language TEXT GENERATED ALWAYS AS (body ->> '$.language') VIRTUAL;
ALTER TABLE turns ADD COLUMN page TEXT GENERATED ALWAYS AS (body ->> '$.page') VIRTUAL;
ALTER TABLE turns ADD COLUMN sources TEXT GENERATED ALWAYS AS (body -> '$.sources') VIRTUAL;
ALTER TABLE turns ADD COLUMN search_ms INTEGER GENERATED ALWAYS AS (body ->> '$.timing.search_ms') VIRTUAL;
ALTER TABLE turns ADD COLUMN first_word_ms INTEGER GENERATED ALWAYS AS (body ->> '$.timing.first_word_ms') VIRTUAL;
ALTER TABLE turns ADD COLUMN end_ms INTEGER GENERATED ALWAYS AS (body ->> '$.timing.end_ms') VIRTUAL;
DROP INDEX turns_asked;
CREATE INDEX turns_asked ON turns (
    domain, asked_at, answer_id, answered, rating, language, page, search_ms, first_word_ms, end_ms, sources
) WHERE asked_at > 0;

-- The questions of each day of UTC, kept by the triggers below. `day` counts from the Unix epoch.

CREATE TABLE question_days (
    domain    TEXT    NOT NULL,
    day       INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    answered  INTEGER NOT NULL,
    up        INTEGER NOT NULL,
    down      INTEGER NOT NULL,
    PRIMARY KEY (domain, day)
) STRICT, WITHOUT ROWID;
INSERT INTO question_days
SELECT domain, asked_at / 86400000, count(*), sum(answered), sum(rating IS 'up'), sum(rating IS 'down')
FROM turns WHERE asked_at > 0 GROUP BY 1, 2;

CREATE TRIGGER question_counted AFTER INSERT ON turns BEGIN
    INSERT INTO question_days
    SELECT new.domain, new.asked_at / 86400000, 1, new.answered, (new.rating IS 'up'), (new.rating IS 'down')
    WHERE new.asked_at > 0
    ON CONFLICT DO UPDATE SET questions = questions + excluded.questions, answered = answered + excluded.answered,
        up = up + excluded.up, down = down + excluded.down;
END;

CREATE TRIGGER question_uncounted AFTER DELETE ON turns BEGIN
    INSERT INTO question_days
    SELECT old.domain, old.asked_at / 86400000, -1, -old.answered, -(old.rating IS 'up'), -(old.rating IS 'down')
    WHERE old.asked_at > 0
    ON CONFLICT DO UPDATE SET questions = questions + excluded.questions, answered = answered + excluded.answered,
        up = up + excluded.up, down = down + excluded.down;
    DELETE FROM question_days WHERE domain = old.domain AND day = old.asked_at / 86400000 AND questions = 0;
END;

CREATE TRIGGER question_recounted AFTER UPDATE OF domain, asked_at, answered, body ON turns
WHEN (old.domain, old.asked_at, old.answered, old.rating) IS NOT (new.domain, new.asked_at, new.answered, new.rating)
BEGIN
    INSERT INTO question_days
    SELECT old.domain, old.asked_at / 86400000, -1, -old.answered, -(old.rating IS 'up'), -(old.rating IS 'down')
    WHERE old.asked_at > 0
    ON CONFLICT DO UPDATE SET questions = questions + excluded.questions, answered = answered + excluded.answered,
        up = up + excluded.up, down = down + excluded.down;
    INSERT INTO question_days
    SELECT new.domain, new.asked_at / 86400000, 1, new.answered, (new.rating IS 'up'), (new.rating IS 'down')
    WHERE new.asked_at > 0
    ON CONFLICT DO UPDATE SET questions = questions + excluded.questions, answered = answered + excluded.answered,
        up = up + excluded.up, down = down + excluded.down;
    DELETE FROM question_days WHERE domain = old.domain AND day = old.asked_at / 86400000 AND questions = 0;
END;
