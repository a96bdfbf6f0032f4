-- Where sessions come from, as JSON, and the project of it, by which they are selected.
ALTER TABLE schema.tool_sessions ADD COLUMN context text NOT NULL DEFAULT '';
ALTER TABLE schema.tool_sessions ADD COLUMN project text COLLATE "C" NOT NULL
  GENERATED ALWAYS AS (CASE WHEN context = '' THEN '' ELSE coalesce(context::jsonb ->> 'project', '') END) STORED;
