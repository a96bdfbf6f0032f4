-- Times are microseconds since 1970, UTC. Labels are a JSON object of strings,
-- or empty.

CREATE TABLE tool_sessions (
  key        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again after a deletion
  owner      TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  epoch      INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  len        INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  title      TEXT    NOT NULL,
  scope      TEXT    NOT NULL,
  dialect    TEXT    NOT NULL,
  conclusion TEXT    NOT NULL,
  labels     TEXT    NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  expires    INTEGER, -- NULL: never
  UNIQUE (owner, id)
) STRICT;

-- Every append moves a session in these two.
CREATE INDEX sessions_by_update ON tool_sessions (owner, updated);
CREATE INDEX all_sessions_by_update ON tool_sessions (updated);
-- These change when a session begins and ends.
CREATE INDEX sessions_by_creation ON tool_sessions (owner, created);
CREATE INDEX sessions_of_scope ON tool_sessions (owner, scope, created) WHERE scope <> '';
CREATE INDEX sessions_by_expiry ON tool_sessions (expires) WHERE expires IS NOT NULL;

CREATE TABLE thoughts (
  id             INTEGER PRIMARY KEY AUTOINCREMENT, -- grows in the order of commits
  session        INTEGER NOT NULL, -- tool_sessions.key
  seq            INTEGER NOT NULL,
  number         INTEGER NOT NULL,
  total          INTEGER NOT NULL,
  text           TEXT    NOT NULL,
  note           TEXT    NOT NULL,
  branch         TEXT    NOT NULL,
  branch_from    INTEGER, -- NULL: not named
  revises        INTEGER, -- NULL: not named
  revision       INTEGER NOT NULL,
  more           INTEGER NOT NULL,
  extend         INTEGER NOT NULL,
  request_key    TEXT    NOT NULL,
  request_digest TEXT    NOT NULL,
  labels         TEXT    NOT NULL,
  after          INTEGER NOT NULL,
  supersedes     INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  UNIQUE (session, seq)
) STRICT;
