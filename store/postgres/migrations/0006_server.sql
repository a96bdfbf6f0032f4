-- Transaction ids belong to a server. After a move to another one, by pg_dump or logical
-- replication, shift is added to them, so that those in thoughts.tx still grow.
ALTER TABLE schema.index_state ADD COLUMN server text NOT NULL DEFAULT ''; -- system identifier
ALTER TABLE schema.index_state ADD COLUMN shift bigint NOT NULL DEFAULT 0;
