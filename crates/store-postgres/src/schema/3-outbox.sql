-- The hooks, by their URLs. `last` is the last attempt to deliver, as JSON. One node at a time delivers to a hook: `holder`,
-- until `held_until`.
CREATE TABLE hooks (
    n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url        text   COLLATE "C" NOT NULL UNIQUE,
    last       text,
    holder     uuid,
    held_until bigint
);

-- The events that they are still to be told: `failed` attempts so far, the next one at `due`.
CREATE TABLE outbox (
    hook   bigint  NOT NULL,
    id     text    COLLATE "C" NOT NULL,
    due    bigint  NOT NULL,
    failed integer NOT NULL,
    body   text    NOT NULL,
    PRIMARY KEY (hook, id)
);
CREATE INDEX outbox_by_due ON outbox (hook, due, id);
