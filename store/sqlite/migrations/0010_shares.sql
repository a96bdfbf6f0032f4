-- Links with which others read a session; the hash is SHA-256 of the secret in a link.
CREATE TABLE shares (
  hash    BLOB    PRIMARY KEY,
  session INTEGER NOT NULL, -- tool_sessions.key
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  author  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX shares_of_session ON shares (session);

-- Programs that know no shares delete sessions, too.
CREATE TRIGGER delete_shares AFTER DELETE ON tool_sessions BEGIN
  DELETE FROM shares WHERE session = old.key;
END;
