-- Tables for the search index, which is a separate file.

-- Distinguishes this store from others that had the same path.
CREATE TABLE identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id  TEXT    NOT NULL
) STRICT;
INSERT INTO identity VALUES (1, lower(hex(randomblob(16))));

-- Deleted sessions, in the order of commits. An index that has not applied deletions
-- which are no longer listed is rebuilt.
CREATE TABLE forgotten (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL -- tool_sessions.key before the deletion
) STRICT;
CREATE TRIGGER session_forgotten AFTER DELETE ON tool_sessions
BEGIN
  INSERT INTO forgotten (session) VALUES (old.key);
  DELETE FROM forgotten WHERE id <= last_insert_rowid() - 100000;
END;
