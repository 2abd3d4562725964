-- The beginning of each job's first instruction, which lists search and show: a narrow table, as all of it is read to find a text.
-- It goes with the journal.

CREATE TABLE prompts (
    n    INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

-- The first instruction is among the first entries. Its text is that of the first message of a user, or else of the system.
INSERT INTO prompts
WITH
    instructions AS (
        SELECT n, (
            SELECT value
            FROM json_each(coalesce(
                jobs.beginning, (SELECT bodies FROM entries WHERE job = jobs.n ORDER BY last LIMIT 1)))
            WHERE value ->> '$.entry' = 'instruction' LIMIT 1
        ) AS body
        FROM jobs WHERE coalesce(body ->> '$.pruned_to', 0) = 0
    ),
    messages AS (
        SELECT n, (
            SELECT value FROM json_each(body, '$.messages') WHERE value ->> '$.role' IN ('user', 'system')
            ORDER BY value ->> '$.role' = 'system', key LIMIT 1
        ) AS message
        FROM instructions WHERE body IS NOT NULL
    )
SELECT n, coalesce(substr((
    SELECT group_concat(value ->> '$.text', char(10, 10)) FROM json_each(message, '$.parts')
    WHERE value ->> '$.type' = 'text'
), 1, 2000), '')
FROM messages WHERE message IS NOT NULL;
