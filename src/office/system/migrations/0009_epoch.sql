-- The epoch: a random text that identifies the database with all credits, fulfilments and updates, which no record in
-- Workers KV has. The record `epoch` in Workers KV has the same text (src/office/system/rule/epoch.rs). A database without this text
-- has lost such rows, for example because it was deleted and created again. The table has no row until the first of them is
-- written.
CREATE TABLE epoch (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch TEXT NOT NULL
) STRICT;
