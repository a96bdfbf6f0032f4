-- What the search index needs to know beside the thoughts. It is a file of its
-- own and follows behind.

-- Tells this store from another that once had the same path.
CREATE TABLE identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id  TEXT    NOT NULL
) STRICT;
INSERT INTO identity VALUES (1, lower(hex(randomblob(16))));

-- Sessions that were deleted, in the order of commits. An index that missed
-- some that are no longer here is made anew.
CREATE TABLE forgotten (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL -- tool_sessions.key, as it was
) STRICT;
CREATE TRIGGER session_forgotten AFTER DELETE ON tool_sessions
BEGIN
  INSERT INTO forgotten (session) VALUES (old.key);
  DELETE FROM forgotten WHERE id <= last_insert_rowid() - 100000;
END;
