-- Whether a person of a shop added the person. If not, people of shops see "the operator" instead of the author's name.
ALTER TABLE people ADD COLUMN by_shop INTEGER NOT NULL DEFAULT 0 CHECK (by_shop IN (0, 1));
