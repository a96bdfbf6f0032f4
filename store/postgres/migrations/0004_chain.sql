-- The hash-chained log, see docs/format.md. A place of 0 means that a thought was
-- recorded before this format, without proof. No bytes in a hash or salt mean zero.
ALTER TABLE schema.tool_sessions ADD COLUMN entries bigint NOT NULL DEFAULT 0;
ALTER TABLE schema.tool_sessions ADD COLUMN head bytea NOT NULL DEFAULT '';
ALTER TABLE schema.thoughts ADD COLUMN place bigint NOT NULL DEFAULT 0;
ALTER TABLE schema.thoughts ADD COLUMN salt bytea NOT NULL DEFAULT '';
ALTER TABLE schema.thoughts ADD COLUMN hash bytea NOT NULL DEFAULT '';
ALTER TABLE schema.thoughts ADD COLUMN masked text NOT NULL DEFAULT ''; -- a JSON object: digests of texts

-- Entries of the log that are not thoughts.
CREATE TABLE schema.entries (
  session bigint NOT NULL, -- tool_sessions.key
  place   bigint NOT NULL,
  kind    text   NOT NULL,
  at      bigint NOT NULL,
  salt    bytea  NOT NULL,
  hash    bytea  NOT NULL,
  body    text   NOT NULL, -- a JSON object of strings, booleans and integers
  masked  text   NOT NULL,
  PRIMARY KEY (session, place)
);

-- The format of the oldest program that may write. A migration that only adds leaves it
-- alone, so that older programs go on.
ALTER TABLE schema.sequent_schema ADD COLUMN oldest_writer integer NOT NULL DEFAULT 4;
