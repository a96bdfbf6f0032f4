-- Sessions and their logs. Times are microseconds since 1970, UTC. Hashes are SHA-256.
-- docs/reference/format.md says what the hash of an entry and the seal of a session cover, and
-- so which columns nobody can change unnoticed. Not covered are tool_log.id and the tables
-- tool_state and tool_words, which only decide what a search finds.

CREATE TABLE tool_sessions (
  key            INTEGER PRIMARY KEY AUTOINCREMENT, -- tool_log.session; never used again
  owner          TEXT    NOT NULL, -- empty: the local user
  id             TEXT    NOT NULL,
  epoch          INTEGER NOT NULL, -- tells the session from earlier ones with its id
  version        INTEGER NOT NULL, -- number of changes
  len            INTEGER NOT NULL, -- number of thoughts
  entries        INTEGER NOT NULL, -- number of entries of the log
  branches       INTEGER NOT NULL,
  revisions      INTEGER NOT NULL, -- thoughts that reconsider another one
  notes          INTEGER NOT NULL, -- what people have said about thoughts
  bytes          INTEGER NOT NULL, -- of the log, about
  head           BLOB    NOT NULL, -- hash of the last entry
  seal           BLOB    NOT NULL, -- hash of the head and of all other columns but key and period
  updated        INTEGER NOT NULL,
  period         INTEGER NOT NULL CHECK (period = updated >> 24), -- most commits leave its indexes alone
  created        INTEGER NOT NULL,
  expires        INTEGER NOT NULL, -- 0: never
  scope          TEXT    NOT NULL,
  project        TEXT    NOT NULL, -- that it comes from; see origin in header
  state          TEXT    NOT NULL,
  request_key    TEXT    NOT NULL, -- of the first thought, as is the digest
  request_digest TEXT    NOT NULL,
  header         TEXT    NOT NULL, -- JSON: title, conclusion, dialect, labels, origin
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX tool_sessions_updated ON tool_sessions (owner, period);
CREATE INDEX tool_sessions_period ON tool_sessions (period);
CREATE INDEX tool_sessions_created ON tool_sessions (owner, created);
CREATE INDEX tool_sessions_expires ON tool_sessions (expires) WHERE expires > 0;
CREATE INDEX tool_sessions_scope ON tool_sessions (scope) WHERE scope <> '';
CREATE INDEX tool_sessions_request ON tool_sessions (request_key) WHERE request_key <> '';

CREATE TABLE tool_log (
  id         INTEGER PRIMARY KEY, -- in the order of commits
  session    INTEGER NOT NULL,    -- tool_sessions.key
  n          INTEGER NOT NULL,    -- place in the log: 1, 2, 3, …
  kind       TEXT    NOT NULL,    -- thought, header, note, decision
  at         INTEGER NOT NULL,
  seq        INTEGER NOT NULL,    -- of a thought, as are the following columns up to note
  number     INTEGER NOT NULL,    -- the author's
  total      INTEGER NOT NULL,
  after      INTEGER NOT NULL,    -- seq of the thought before it on its line
  supersedes INTEGER NOT NULL,    -- seq of the thought that it replaces; 0: none
  final      INTEGER NOT NULL CHECK (final IN (0, 1)),
  text       TEXT    NOT NULL,
  note       TEXT    NOT NULL,
  salt       BLOB    NOT NULL,
  hash       BLOB    NOT NULL,
  rest       TEXT    NOT NULL,    -- JSON of what most entries lack: branch, from, revises, revision, extend, request, labels, body, masked
  UNIQUE (session, n)
) STRICT;

-- Links and the state of signing in.
CREATE TABLE tool_values (
  name    TEXT    PRIMARY KEY,
  value   BLOB    NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words of thoughts, by tool_log.id, up to tool_state.indexed.
CREATE VIRTUAL TABLE tool_words USING fts5(words, content='', columnsize=0, detail=none, tokenize=ascii);
CREATE TABLE tool_state (
  indexed INTEGER NOT NULL,
  deleted INTEGER NOT NULL -- sessions since the file was rewritten
) STRICT;
INSERT INTO tool_state VALUES (0, 0);
