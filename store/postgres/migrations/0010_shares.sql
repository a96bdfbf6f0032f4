-- Links with which others read a session; the hash is SHA-256 of the secret in a link. They
-- go with their session, also if a program deletes it that knows no shares.
CREATE TABLE schema.shares (
  hash    bytea  PRIMARY KEY,
  session bigint NOT NULL REFERENCES schema.tool_sessions (key) ON DELETE CASCADE,
  created bigint NOT NULL,
  expires bigint NOT NULL,
  author  text   NOT NULL
);
CREATE INDEX shares_of_session ON schema.shares (session);
