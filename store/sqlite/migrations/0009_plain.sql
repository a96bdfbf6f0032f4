-- 1 if the thought has the defaults of note, branch and the others that most thoughts
-- have; 0 if that is not known. It saves a reader from looking at each of them.
ALTER TABLE thoughts ADD COLUMN plain INTEGER NOT NULL DEFAULT 0;
