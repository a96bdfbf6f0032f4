-- The hash-chained log, see docs/format.md. A place of 0 means that a thought was
-- recorded before this format, without proof. Hashes and salts are bytes; no bytes mean
-- zero.
ALTER TABLE tool_sessions ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tool_sessions ADD COLUMN head BLOB NOT NULL DEFAULT x'';
ALTER TABLE thoughts ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE thoughts ADD COLUMN salt BLOB NOT NULL DEFAULT x'';
ALTER TABLE thoughts ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE thoughts ADD COLUMN masked TEXT NOT NULL DEFAULT ''; -- a JSON object: digests of texts

-- Entries of the log that are not thoughts.
CREATE TABLE entries (
  session INTEGER NOT NULL, -- tool_sessions.key
  place   INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  salt    BLOB    NOT NULL,
  hash    BLOB    NOT NULL,
  body    TEXT    NOT NULL, -- a JSON object of strings, booleans and integers
  masked  TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (session, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER entries_forgotten AFTER DELETE ON tool_sessions
BEGIN
  DELETE FROM entries WHERE session = old.key;
END;

-- The format of the oldest program that may write. A migration that only adds leaves it
-- alone, so that older programs go on.
ALTER TABLE identity ADD COLUMN oldest_writer INTEGER NOT NULL DEFAULT 6;
