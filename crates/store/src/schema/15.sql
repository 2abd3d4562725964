-- Who signs in at an identity provider is known by its issuer and subject; the column `password` is empty then.

ALTER TABLE operators ADD COLUMN issuer TEXT;
ALTER TABLE operators ADD COLUMN subject TEXT;
CREATE UNIQUE INDEX operators_by_identity ON operators (issuer, subject) WHERE issuer IS NOT NULL;
