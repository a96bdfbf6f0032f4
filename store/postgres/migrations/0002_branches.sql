-- Listings show the number of branches of a session.
ALTER TABLE schema.tool_sessions ADD COLUMN branches bigint NOT NULL DEFAULT 0;
UPDATE schema.tool_sessions s SET branches = t.n
FROM (SELECT session, count(DISTINCT branch) AS n FROM schema.thoughts WHERE branch <> '' GROUP BY session) t
WHERE t.session = s.key;
