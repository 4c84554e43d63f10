-- The ledger (src/office) has three kinds of tables. Transactions, for operators' lists and sums, are derived from the
-- records in Workers KV, which remain the system of record. Claims are for facts that two people may change at the same
-- time. Operations take effect once, however often their ID is sent. All but the operations can be rebuilt from KV.
-- Times are milliseconds since 1970, in UTC.

-- A shop is a unit in a mode.
CREATE TABLE shops (
  shop INTEGER PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  unit TEXT NOT NULL,
  UNIQUE (mode, unit)
) STRICT;

-- API keys by their IDs. A team's key has a row for each shop for which it created transactions.
CREATE TABLE keys (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  shop INTEGER NOT NULL,
  UNIQUE (id, shop)
) STRICT;

-- Transactions. Rows are stored in the order of lists and months, so that a page, a sum or an export reads adjacent
-- rows. A create writes three rows: this one and one in each of the first two indexes. Each further index over all rows
-- would add one.
--   cents: the charge up to 2^53 - 1. A larger charge is in `amount`, as digits and a power of ten: `12e308`.
--   email: the keyed hash of the address, as in the record's metadata.
--   prices: the time of the price list.
--   changed: when the row was last written.
--   quantities: [["tree",3000000],["reef","1e-9"]], in millionths up to 2^53 - 1, otherwise in the form of `amount`.
CREATE TABLE transactions (
  id TEXT NOT NULL,
  shop INTEGER NOT NULL,
  created INTEGER NOT NULL,
  currency TEXT NOT NULL,
  cents INTEGER,
  amount TEXT,
  unpriced INTEGER NOT NULL,
  email TEXT,
  key INTEGER,
  prices INTEGER,
  erased INTEGER,
  changed INTEGER NOT NULL,
  quantities TEXT NOT NULL,
  PRIMARY KEY (shop, created, id),
  CHECK ((cents IS NULL) <> (amount IS NULL)),
  CHECK (erased IS NULL OR email IS NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX by_id ON transactions (id);
CREATE INDEX by_email ON transactions (email) WHERE email IS NOT NULL;
CREATE INDEX by_erasure ON transactions (erased) WHERE erased IS NOT NULL;

-- Claims: facts that two people may change at the same time, namely that a month is paid or that a unit is in a team. A
-- fact has the name of its record in KV, which the API reads. This row says whose change it is, so that of two
-- simultaneous changes the second one is refused, with the first one as the reason. A row takes precedence over the
-- record for only some minutes (src/office/shared/rows/claims.rs).
--   state: `gone` if the record was removed.
--   change: the name of the entry in the audit log; empty if unknown.
--   before: the row before the last change was claimed, as JSON, to restore it if that change is cancelled.
CREATE TABLE claims (
  kind TEXT NOT NULL CHECK (kind IN ('settlement', 'member')),
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('adding', 'kept', 'removing', 'gone')),
  change TEXT NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  before TEXT,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Operators' changes, each of which takes effect once (src/office/shared/rows/operations.rs).
--   id: a hash of the author and of the operation's ID.
--   arguments: a hash.
--   began: when the first attempt began.
--   attempted: when the last attempt began, or 0 once it has ended without an outcome.
--   attempt: identifies the last attempt.
--   after: the result of the attempts before the last one.
--   outcome: JSON without a secret.
CREATE TABLE operations (
  id TEXT PRIMARY KEY NOT NULL,
  command TEXT NOT NULL,
  arguments TEXT NOT NULL,
  began INTEGER NOT NULL,
  attempted INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  after TEXT CHECK (after IN ('failure', 'silence')),
  done INTEGER,
  outcome TEXT,
  CHECK ((done IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX by_beginning ON operations (began);

-- The reconciliation with KV.
--   lease: until when a process, the `holder`, has the reconciliation.
--   started: when the current pass began.
--   part: the list that it reads now. `cursor` and `after` are its position in the list.
--   completed: when the last whole pass began. The ledger has every transaction that was created up to two minutes
--     before.
--   imported: when the first whole pass ended. From then on, the claims include all records in KV.
--   failures: number of consecutive lists that failed.
--   received: when the last messages were received.
--   delay: how old the oldest transaction in these messages was.
--   kept_from: transactions that were created before this time are only in KV.
CREATE TABLE reconciliation (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  lease INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  started INTEGER,
  part TEXT NOT NULL DEFAULT 'transactions' CHECK (part IN ('transactions', 'settlements', 'members')),
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
INSERT INTO reconciliation (one) VALUES (1);

-- What a person has to look at: a record that is damaged, a row whose record is gone (`detail` has the row), a row
-- without its quantities, or a message whose row breaks a constraint.
--   pass: the last pass that found it.
CREATE TABLE findings (
  kind TEXT NOT NULL CHECK (kind IN ('damaged', 'gone', 'large', 'refused')),
  name TEXT NOT NULL,
  found INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
