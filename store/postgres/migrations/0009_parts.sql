-- A store can have several parts, each a schema with all tables. The schema that the address
-- is for then has only the table sequent_schema.
ALTER TABLE schema.sequent_schema ADD COLUMN parts integer NOT NULL DEFAULT 1; -- of the store
ALTER TABLE schema.sequent_schema ADD COLUMN part integer; -- number of the part in this schema; NULL: none of several
