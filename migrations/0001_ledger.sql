-- The ledger (src/ledger): what operators ask of transactions, derived from the records of Workers KV, which stay the
-- system of record; the claims of facts that two people may change at once; and what operators have done by an ID, so that it
-- is done once. All but the last can be made again from KV.
-- Times are milliseconds since 1970, in UTC.

-- A shop is a unit in a mode.
CREATE TABLE shops (
  shop INTEGER PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  unit TEXT NOT NULL,
  UNIQUE (mode, unit)
) STRICT;

-- API keys by their IDs; a team's key has a row for each shop that it made transactions of.
CREATE TABLE keys (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  shop INTEGER NOT NULL,
  UNIQUE (id, shop)
) STRICT;

-- cents: the charge up to 2^53 - 1; a larger one is in `amount`, as digits and a power of ten: `12e308`.
-- email: keyed hash of the address, as in the record's metadata. prices: the time of the price list.
-- changed: when the row was last written. quantities: [["tree",3000000],["reef","1e-9"]], in millionths up to 2^53 - 1,
-- else as `amount`.
-- The rows themselves are in the order of lists and months: a page, a sum, an export reads what lies together. A create
-- writes three rows: this one and those of the first two indexes. Each further index of every row would cost one more.
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

-- Facts that two people may change at once, by the names of their records in KV: months that are marked as paid, units of
-- teams. The record is what the API reads; this row says whose change it is, so that of two changes at once the second one
-- hears of the first. change: the name of the entry in the audit log; empty where that is not known. A row counts more than
-- the record for some minutes only (src/ledger/claims.rs). gone: the record was removed. before: the row as it was when the
-- last change was claimed, as JSON, for one that is given up.
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

-- Changes that operators make, each once (src/ledger/operations.rs). id: a hash of the author and of the ID that they gave;
-- arguments: a hash. began: when
-- the first attempt did; attempted: when the last one did, 0 once that has failed; attempt: tells it from others. after: what
-- became of those before. outcome: JSON, without a secret.
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

-- The reconciliation with KV. started: when the pass that is under way began; part: what it lists now, `after` and `cursor`
-- where it goes on; lease: until when somebody works at it. completed: when the last full pass began: the ledger has every transaction that
-- was created two minutes before. imported: since when the claims are those
-- of KV. failures: lists that failed one after the other. received: when messages came last, and delay: how old the oldest
-- transaction of these was. kept_from: transactions that were created before are in KV alone.
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

-- What a person has to look at: a record that is damaged, a row whose record is gone (`detail` has the row), a row without
-- its quantities, a message that makes no row. pass: the pass that found it last.
CREATE TABLE findings (
  kind TEXT NOT NULL CHECK (kind IN ('damaged', 'gone', 'large', 'refused')),
  name TEXT NOT NULL,
  found INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
