-- What owners store, for quotas: the bytes of each session's log, and refused calls.
ALTER TABLE schema.tool_sessions ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE schema.tool_sessions s SET bytes = t.n
FROM (
  SELECT session, sum(n)::bigint AS n FROM (
    SELECT session, 100 + octet_length(text) + octet_length(note) + octet_length(branch) + octet_length(request_key)
      + octet_length(request_digest) + octet_length(labels) AS n FROM schema.thoughts
    UNION ALL SELECT session, 100 + octet_length(body) FROM schema.entries
  ) one GROUP BY session
) t
WHERE t.session = s.key;

CREATE TABLE schema.refusals (
  owner text COLLATE "C" PRIMARY KEY,
  calls bigint NOT NULL
);
