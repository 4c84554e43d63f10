-- Search by what people know: the number of an order in any spelling, and the name of a unit.

-- The keyed hash of the reference, as in the record's metadata. Case, white space and leading `#` do not change it. NULL
-- after an erasure. Rows of earlier releases get it from the next reconciliation pass, which reads their records once. There
-- is no CHECK as for `email`: it would refuse the erasures of a release that was rolled back to and does not know this column.
-- The next pass of this release removes a hash that such an erasure left.
ALTER TABLE transactions ADD COLUMN reference TEXT;

-- A create writes a fourth row: one in this index.
CREATE INDEX by_reference ON transactions (reference) WHERE reference IS NOT NULL;

-- Registered units and teams. A reconciliation pass copies them from the register in KV, and a change of a unit's profile
-- copies its name at once.
--   name: the name in the unit's profile; empty if there is none.
--   folded: ID and name in a case-insensitive form, each word preceded by a space. A search reads all rows.
CREATE TABLE names (
  kind TEXT NOT NULL CHECK (kind IN ('unit', 'team')),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
