-- Listings show the number of branches of a session.
ALTER TABLE tool_sessions ADD COLUMN branches INTEGER NOT NULL DEFAULT 0;
UPDATE tool_sessions SET branches = n
FROM (SELECT session, count(DISTINCT branch) AS n FROM thoughts WHERE branch <> '' GROUP BY session)
WHERE session = key;
