-- `version` counts the steps that were run, `needed` those that a program must know to use the database.
CREATE TABLE docent_schema (
    is_row  boolean PRIMARY KEY DEFAULT true CHECK (is_row),
    version integer NOT NULL,
    needed  integer NOT NULL
);
INSERT INTO docent_schema (version, needed) VALUES (0, 0);
