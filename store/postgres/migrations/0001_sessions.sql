-- Times are microseconds since 1970, UTC. Labels are a JSON object of strings, or
-- the empty string. A text that PostgreSQL cannot store, because it contains U+0000
-- or is not UTF-8, is stored as U+0001, "base64:" and its bytes in base64.

CREATE TABLE schema.tool_sessions (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  epoch      bigint NOT NULL,
  version    bigint NOT NULL,
  len        bigint NOT NULL,
  updated    bigint NOT NULL,
  period     bigint NOT NULL, -- updated / 2^24, rounded down: 17 seconds
  created    bigint NOT NULL,
  expires    bigint, -- NULL: never
  owner      text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  scope      text COLLATE "C" NOT NULL,
  state      text NOT NULL,
  title      text NOT NULL,
  dialect    text NOT NULL,
  conclusion text NOT NULL,
  labels     text NOT NULL,
  UNIQUE (owner, id)
) WITH (fillfactor = 70); -- room for updates in the same page: an append within a period changes no index

CREATE INDEX sessions_by_update ON schema.tool_sessions (owner, period);
CREATE INDEX all_sessions_by_update ON schema.tool_sessions (period);
CREATE INDEX sessions_by_creation ON schema.tool_sessions (owner, created);
CREATE INDEX sessions_of_scope ON schema.tool_sessions (owner, scope, created) WHERE scope <> '';
CREATE INDEX sessions_by_expiry ON schema.tool_sessions (expires) WHERE expires IS NOT NULL;

CREATE TABLE schema.thoughts (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- nearly in the order of commits
  tx             xid8    NOT NULL DEFAULT pg_current_xact_id(), -- for the indexer, see thoughts_in_order
  session        bigint  NOT NULL, -- tool_sessions.key
  seq            bigint  NOT NULL,
  number         bigint  NOT NULL,
  total          bigint  NOT NULL,
  after          bigint  NOT NULL,
  at             bigint  NOT NULL,
  more           boolean NOT NULL,
  text           text    NOT NULL,
  -- Most thoughts have the defaults of these.
  branch_from    bigint, -- NULL: none
  revises        bigint, -- NULL: none
  supersedes     bigint  NOT NULL DEFAULT 0,
  revision       boolean NOT NULL DEFAULT FALSE,
  extend         boolean NOT NULL DEFAULT FALSE,
  note           text    NOT NULL DEFAULT '',
  branch         text    NOT NULL DEFAULT '',
  request_key    text    NOT NULL DEFAULT '',
  request_digest text    NOT NULL DEFAULT '',
  labels         text    NOT NULL DEFAULT '',
  UNIQUE (session, seq)
);
CREATE INDEX thoughts_in_order ON schema.thoughts (tx, id);

-- The search index. It lags behind the thoughts, and a search matches the thoughts
-- that it finds again.
CREATE TABLE schema.thought_words (
  id     bigint PRIMARY KEY REFERENCES schema.thoughts (id) ON DELETE CASCADE,
  length bigint NOT NULL, -- number of words
  words  tsvector -- NULL: too many or too long words for a tsvector
);
CREATE INDEX thought_words_words ON schema.thought_words USING gin (words);
CREATE INDEX thought_words_without ON schema.thought_words (id) WHERE words IS NULL;

CREATE TABLE schema.index_state (
  one    integer PRIMARY KEY CHECK (one = 1),
  tx     xid8    NOT NULL, -- thoughts up to this transaction
  id     bigint  NOT NULL, -- and id are indexed
  docs   bigint  NOT NULL, -- thoughts in the index
  tokens bigint  NOT NULL  -- words in them
);
INSERT INTO schema.index_state VALUES (1, '0', 0, 0, 0);
