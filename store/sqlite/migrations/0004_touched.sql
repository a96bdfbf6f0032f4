-- Changes of sessions that no thought shows, in the order of commits, for processes that
-- watch sessions. Only the latest are kept.
CREATE TABLE touched (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL -- tool_sessions.key
) STRICT;
