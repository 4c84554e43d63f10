-- People of shops: who may sign in to the dashboard for a unit, or for all units of a team (src/office/people/rows/people.rs). The
-- dashboard reads these rows at each request, so that a removal counts at once. Workers KV has a copy of each row, from
-- which the reconciliation rebuilds them.
--   name: the name of its record in KV without the prefix: `{place}:{keyed hash of the address}`.
--   place: `unit:{id}` or `team:{id}`.
--   address, role: NULL if the person was removed. The row then keeps an older record in KV from adding the person again.
--   at, author: when it was last changed, and by whom.
CREATE TABLE people (
  name TEXT PRIMARY KEY NOT NULL,
  place TEXT NOT NULL,
  address TEXT,
  role TEXT CHECK (role IN ('manager', 'viewer')),
  at INTEGER NOT NULL,
  author TEXT NOT NULL,
  CHECK ((address IS NULL) = (role IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX people_by_address ON people (address) WHERE address IS NOT NULL;
CREATE INDEX people_by_place ON people (place);

-- A pass of the reconciliation also reads the list of people. SQLite cannot change a constraint, so the table is made
-- again.
CREATE TABLE reconciliation_with_people (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  lease INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  started INTEGER,
  part TEXT NOT NULL DEFAULT 'transactions' CHECK (part IN ('transactions', 'settlements', 'members', 'people')),
  cursor TEXT,
  after TEXT NOT NULL DEFAULT '',
  listed INTEGER NOT NULL DEFAULT 0,
  mended INTEGER NOT NULL DEFAULT 0,
  completed INTEGER,
  ended INTEGER,
  last_listed INTEGER NOT NULL DEFAULT 0,
  last_mended INTEGER NOT NULL DEFAULT 0,
  imported INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  received INTEGER,
  delay INTEGER,
  kept_from INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO reconciliation_with_people (one, lease, holder, started, part, cursor, after, listed, mended, completed, ended,
  last_listed, last_mended, imported, failures, received, delay, kept_from)
SELECT one, lease, holder, started, part, cursor, after, listed, mended, completed, ended, last_listed, last_mended,
  imported, failures, received, delay, kept_from FROM reconciliation;
DROP TABLE reconciliation;
ALTER TABLE reconciliation_with_people RENAME TO reconciliation;
