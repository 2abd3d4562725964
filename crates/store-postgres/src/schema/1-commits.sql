-- One row for each transaction of the last minutes. `mark` is chosen by the node and tells whether the transaction took
-- place; `xid` is the database's number of it, by which other nodes find what they have not seen. A row of a fence stands for
-- a transaction that will never take place.
CREATE TABLE commits (
    mark     uuid    PRIMARY KEY,
    xid      xid8    NOT NULL DEFAULT pg_current_xact_id(),
    node     uuid    NOT NULL,
    jobs     uuid[]  NOT NULL,
    access   boolean NOT NULL,
    is_fence boolean NOT NULL DEFAULT false
);
CREATE INDEX commits_by_xid ON commits (xid);
