-- What a link masks in the texts of its session; empty: nothing.
ALTER TABLE schema.shares ADD COLUMN mask text NOT NULL DEFAULT '';

-- Values that whoever has a secret can take once; hash is SHA-256 of the secret.
CREATE TABLE schema.tickets (
  hash    bytea  PRIMARY KEY,
  sealed  bytea  NOT NULL, -- encrypted with a key that follows from the secret
  created bigint NOT NULL,
  expires bigint NOT NULL
);
