-- Where sessions come from, as JSON, and the project of it, by which they are selected.
ALTER TABLE tool_sessions ADD COLUMN context TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_sessions ADD COLUMN project TEXT
  GENERATED ALWAYS AS (CASE WHEN context = '' THEN '' ELSE ifnull(json_extract(context, '$.project'), '') END) VIRTUAL;
