-- The tables of a store. Times are microseconds since 1970, UTC. In a text, U+0001 and 0 are U+0000, and
-- U+0001 and 1 are U+0001.
CREATE TABLE tool_sessions (
  part           bigint  NOT NULL, -- derived: a hash of owner and id, by which a cluster distributes
  key            bigserial,
  owner          text    NOT NULL,
  id             text    NOT NULL,
  epoch          bigint  NOT NULL,
  version        bigint  NOT NULL,
  len            bigint  NOT NULL,
  entries        bigint  NOT NULL,
  branches       bigint  NOT NULL,
  revisions      bigint  NOT NULL, -- thoughts that reconsider another one
  notes          bigint  NOT NULL, -- what people have said about thoughts
  bytes          bigint  NOT NULL,
  head           bytea   NOT NULL,
  seal           bytea   NOT NULL,
  updated        bigint  NOT NULL,
  period         bigint  NOT NULL CHECK (period = updated >> 24), -- most commits leave its indexes alone
  created        bigint  NOT NULL,
  expires        bigint  NOT NULL, -- 0: never
  scope          text    NOT NULL,
  project        text    NOT NULL,
  state          text    NOT NULL,
  request_key    text    NOT NULL,
  request_digest text    NOT NULL,
  header         text    NOT NULL, -- JSON: title, conclusion, labels, dialect, origin
  PRIMARY KEY (part, key),
  UNIQUE (part, owner, id)
) WITH (fillfactor = 70);
CREATE INDEX ON tool_sessions (owner, period);
CREATE INDEX ON tool_sessions (period);
CREATE INDEX ON tool_sessions (owner, created);
CREATE INDEX ON tool_sessions (request_key) WHERE request_key <> '';
CREATE INDEX ON tool_sessions (expires) WHERE expires > 0;
CREATE TABLE tool_log (
  part       bigint  NOT NULL, -- of the session
  id         bigserial,        -- in the order of commits, about
  session    bigint  NOT NULL, -- its key
  n          bigint  NOT NULL,
  seq        bigint  NOT NULL, -- 0: no thought
  kind       text    NOT NULL,
  at         bigint  NOT NULL,
  number     bigint  NOT NULL,
  total      bigint  NOT NULL,
  after      bigint  NOT NULL,
  supersedes bigint  NOT NULL,
  final      boolean NOT NULL,
  text       text    NOT NULL,
  note       text    NOT NULL,
  salt       bytea   NOT NULL,
  hash       bytea   NOT NULL,
  rest       text    NOT NULL, -- JSON of what most entries lack
  words      tsvector,         -- derived: of text and note; NULL: too many
  PRIMARY KEY (part, session, n)
);
CREATE INDEX ON tool_log (id);
CREATE INDEX ON tool_log USING gin (words);
CREATE INDEX ON tool_log (id) WHERE words IS NULL AND kind = 'thought';
CREATE TABLE tool_values (
  name    text   PRIMARY KEY,
  value   bytea  NOT NULL,
  expires bigint NOT NULL
);
