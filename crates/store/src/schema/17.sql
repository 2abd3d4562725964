-- What readers searched for on each day of UTC. `day` counts from the Unix epoch.

CREATE TABLE searches (
    domain          TEXT    NOT NULL,
    day             INTEGER NOT NULL,
    term            TEXT    NOT NULL,
    searches        INTEGER NOT NULL,
    without_results INTEGER NOT NULL,
    last_at         INTEGER NOT NULL,
    PRIMARY KEY (domain, day, term)
) STRICT, WITHOUT ROWID;
