-- A first call that is repeated in a new process finds the session that it began.
CREATE INDEX first_requests ON schema.thoughts (request_key) WHERE seq = 1 AND request_key <> '';
