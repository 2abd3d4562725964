-- Conversations with the assistant, what readers searched for, and what the assistant spent.
-- Moments are milliseconds since the Unix epoch; `day` counts days of UTC from it. Texts that readers wrote have no NUL
-- character, which PostgreSQL does not store: U+2400 stands for it.

CREATE TABLE threads (
    id         UUID   PRIMARY KEY,
    domain     TEXT COLLATE "C" NOT NULL,
    fp         TEXT   NOT NULL,
    key        BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    touched_at BIGINT NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX threads_by_start ON threads (created_at);
CREATE INDEX threads_of_domain ON threads (domain);

-- A question with its answer. `body` is all of it; the columns are what lists and summaries look at.
CREATE TABLE thread_turns (
    thread        UUID    NOT NULL REFERENCES threads ON DELETE CASCADE,
    place         BIGINT  NOT NULL,
    domain        TEXT COLLATE "C" NOT NULL,
    answer_id     TEXT COLLATE "C" NOT NULL,
    answered      BOOLEAN NOT NULL,
    asked_at      BIGINT  NOT NULL,
    rating        TEXT,
    language      TEXT,
    page          TEXT,
    sources       TEXT    NOT NULL,
    search_ms     BIGINT,
    first_word_ms BIGINT,
    end_ms        BIGINT,
    body          TEXT    NOT NULL,
    PRIMARY KEY (thread, place)
) WITH (fillfactor = 80);
-- Those that a client only told of were asked at moment 0, and are not listed.
CREATE INDEX thread_turns_asked ON thread_turns (domain, asked_at) WHERE asked_at > 0;

CREATE TABLE searches (
    domain          TEXT COLLATE "C" NOT NULL,
    day             BIGINT NOT NULL,
    term            TEXT COLLATE "C" NOT NULL,
    searches        BIGINT NOT NULL,
    without_results BIGINT NOT NULL,
    last_at         BIGINT NOT NULL,
    PRIMARY KEY (domain, day, term)
) WITH (fillfactor = 80);
CREATE INDEX searches_to_forget ON searches (day);

-- The cost is in millionths of the configured currency.
CREATE TABLE spends (
    domain      TEXT COLLATE "C" NOT NULL,
    day         BIGINT NOT NULL,
    tokens      BIGINT NOT NULL,
    cost_micros BIGINT NOT NULL,
    PRIMARY KEY (domain, day)
) WITH (fillfactor = 50);
