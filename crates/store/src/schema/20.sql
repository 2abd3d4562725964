-- What the assistant of each site spent on each day of UTC. `day` counts from the Unix epoch, the cost in millionths of the
-- configured currency.

CREATE TABLE spends (
    domain      TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    PRIMARY KEY (domain, day)
) STRICT, WITHOUT ROWID;
