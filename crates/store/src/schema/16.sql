-- Keys say which operator made them; those of the command line say nothing.

ALTER TABLE keys ADD COLUMN made_by TEXT;
