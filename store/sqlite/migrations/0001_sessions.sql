-- Times are microseconds since 1970, UTC. Labels are a JSON object of strings, or
-- the empty string.

CREATE TABLE tool_sessions (
  key        INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused
  owner      TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  epoch      INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  len        INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  period     INTEGER NOT NULL, -- updated / 2^24, rounded down: 17 seconds
  state      TEXT    NOT NULL,
  title      TEXT    NOT NULL,
  scope      TEXT    NOT NULL,
  dialect    TEXT    NOT NULL,
  conclusion TEXT    NOT NULL,
  labels     TEXT    NOT NULL,
  created    INTEGER NOT NULL,
  expires    INTEGER, -- NULL: never
  UNIQUE (owner, id)
) STRICT;

-- An append changes these two only when the period changes. Listings sort within a
-- period.
CREATE INDEX sessions_by_update ON tool_sessions (owner, period);
CREATE INDEX all_sessions_by_update ON tool_sessions (period);
-- Appends do not change these.
CREATE INDEX sessions_by_creation ON tool_sessions (owner, created);
CREATE INDEX sessions_of_scope ON tool_sessions (owner, scope, created) WHERE scope <> '';
CREATE INDEX sessions_by_expiry ON tool_sessions (expires) WHERE expires IS NOT NULL;

-- Ids grow in the order of commits and are never reused: SQLite assigns the greatest
-- id plus one. If the session of the newest thought is deleted, that row stays,
-- cleared and with session 0.
CREATE TABLE thoughts (
  id             INTEGER PRIMARY KEY,
  session        INTEGER NOT NULL, -- tool_sessions.key
  seq            INTEGER NOT NULL,
  number         INTEGER NOT NULL,
  total          INTEGER NOT NULL,
  text           TEXT    NOT NULL,
  more           INTEGER NOT NULL,
  after          INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  -- Most thoughts have the defaults of these.
  note           TEXT    NOT NULL DEFAULT '',
  branch         TEXT    NOT NULL DEFAULT '',
  branch_from    INTEGER, -- NULL: none
  revises        INTEGER, -- NULL: none
  revision       INTEGER NOT NULL DEFAULT 0,
  supersedes     INTEGER NOT NULL DEFAULT 0,
  extend         INTEGER NOT NULL DEFAULT 0,
  request_key    TEXT    NOT NULL DEFAULT '',
  request_digest TEXT    NOT NULL DEFAULT '',
  labels         TEXT    NOT NULL DEFAULT '',
  UNIQUE (session, seq)
) STRICT;
