-- Listings show the number of branches of a session.
ALTER TABLE tool_sessions ADD COLUMN branches bigint NOT NULL DEFAULT 0;
UPDATE tool_sessions s SET branches = t.n
FROM (SELECT session, count(DISTINCT branch) AS n FROM thoughts WHERE branch <> '' GROUP BY session) t
WHERE t.session = s.key;
