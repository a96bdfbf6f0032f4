-- Most changes of a session only add thoughts. They lock the row in tool_sessions and
-- leave it as it is, because a row that is updated often becomes slow while a transaction
-- is open somewhere on the server: no old version of it can be removed. So version, len,
-- updated, entries, head and bytes of a session are those of its last thought, if that has
-- a version greater than the row's. A row is updated by other changes, and by the first
-- one in a period.
ALTER TABLE schema.thoughts ADD COLUMN version bigint NOT NULL DEFAULT 0; -- of the session after this thought; 0: the row has it
ALTER TABLE schema.thoughts ADD COLUMN bytes bigint NOT NULL DEFAULT 0; -- tool_sessions.bytes after this thought; 0: the row has it

-- Older programs would take the row for the state of its session.
UPDATE schema.sequent_schema SET oldest_writer = 8;
