-- A project has an id of its own, made once: a later project of the same name is another one.

UPDATE projects SET body = json_set(body, '$.uid', lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' ||
    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
));
