-- What a link masks in the texts of its session; empty: nothing.
ALTER TABLE shares ADD COLUMN mask TEXT NOT NULL DEFAULT '';

-- Values that whoever has a secret can take once; hash is SHA-256 of the secret.
CREATE TABLE tickets (
  hash    BLOB    PRIMARY KEY,
  sealed  BLOB    NOT NULL, -- encrypted with a key that follows from the secret
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
