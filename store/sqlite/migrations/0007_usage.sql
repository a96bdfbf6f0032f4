-- What owners store, for quotas: the bytes of each session's log, and refused calls.
ALTER TABLE tool_sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE tool_sessions SET bytes = n
FROM (
  SELECT session, sum(n) AS n FROM (
    SELECT session, 100 + octet_length(text) + octet_length(note) + octet_length(branch) + octet_length(request_key)
      + octet_length(request_digest) + octet_length(labels) AS n FROM thoughts
    UNION ALL SELECT session, 100 + octet_length(body) FROM entries
  ) GROUP BY session
)
WHERE session = key;

CREATE TABLE refusals (
  owner TEXT    PRIMARY KEY,
  calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
