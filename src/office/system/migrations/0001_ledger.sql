-- The ledger (src/office) has these kinds of tables:
--   - Transactions, for operators' lists and sums, and what is derived from them. They follow the records in Workers KV,
--     which remain the system of record.
--   - Price lists, profiles, payments and memberships of teams. Workers KV has a copy of each, which the API reads.
--   - People of shops, credits, fulfilments, updates and the audit log, which no record in Workers KV has.
--   - Operations, which take effect once, however often their ID is sent.
--   - The state of the ledger itself.
-- Times are milliseconds since 1970, in UTC.

-- A scope is a unit in a mode.
CREATE TABLE scopes (
  scope INTEGER PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  unit TEXT NOT NULL,
  UNIQUE (mode, unit)
) STRICT;

-- API keys by their IDs. A team's key has a row for each scope for which it created transactions.
CREATE TABLE keys (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  scope INTEGER NOT NULL,
  UNIQUE (id, scope)
) STRICT;

-- Transactions. Rows are stored in the order of lists and months, so that a page, a sum or an export reads adjacent
-- rows. A create writes four rows: this one and one in each of the indexes by ID, e-mail address and reference. Each
-- further index over all rows would add one. The index of transactions with an unpriced pledge adds one for these.
--   cents: the charge up to 2^53 - 1. A larger charge is in `amount`, as digits and a power of ten: `12e308`.
--   email: the keyed hash of the address, as in the record's metadata.
--   prices: the time of the price list.
--   changed: when the row was last written.
--   quantities: [["tree",3000000],["reef","1e-9"]], in millionths up to 2^53 - 1, otherwise in the form of `amount`.
--   reference: the keyed hash of the order number, as in the record's metadata. Case, white space and leading `#` do not
--     change it. NULL after an erasure.
CREATE TABLE transactions (
  id TEXT NOT NULL,
  scope INTEGER NOT NULL,
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
  reference TEXT,
  PRIMARY KEY (scope, created, id),
  CHECK ((cents IS NULL) <> (amount IS NULL)),
  CHECK (erased IS NULL OR email IS NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX by_id ON transactions (id);
CREATE INDEX by_email ON transactions (email) WHERE email IS NOT NULL;
CREATE INDEX by_reference ON transactions (reference) WHERE reference IS NOT NULL;
CREATE INDEX by_erasure ON transactions (erased) WHERE erased IS NOT NULL;
CREATE INDEX by_unpriced ON transactions (scope, created, id) WHERE unpriced > 0;

-- The sums of each ended day (src/office/system/rows/days.rs). With them, a sum over months reads few rows. They are
-- derived from `transactions`: removing rows here changes no answer. The dashboard's cron adds missing ones. A day has
-- sums if it has a row in `day_quantities`. The cron adds both rows of `day_quantities` together with those that the day
-- lacks in `day_charges`.
--   day: days since 1970, in UTC.

-- The pledged quantities of all units (src/office/fulfilment/rows/day_quantities.rs).
--   sums: [["tree",2,5,500000],["reef",1,0,0,[[27,1000000]]]]: for each offering its ID, the number of transactions, and
--     the sum in millionths, as millions and the rest. The last member has the sums of the quantities that are stored as
--     texts, by part (src/office/shared/rows/money.rs). NULL if the text would be too large.
CREATE TABLE day_quantities (
  day INTEGER NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  sums TEXT,
  PRIMARY KEY (day, mode)
) STRICT, WITHOUT ROWID;

-- The charges of each scope (src/office/payments/rows/day_charges.rs).
--   number: the number of transactions. `large` counts those whose charge is in `amount`.
--   millions, rest: the sum of `cents`.
--   parts: the sums of `amount`, by part, as in `day_quantities`. NULL if there is none.
--   middle, most: the median and the largest of `cents`.
--   keys: `,3,12,`: the keys of the transactions.
CREATE TABLE day_charges (
  scope INTEGER NOT NULL,
  day INTEGER NOT NULL,
  currency TEXT NOT NULL,
  number INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  large INTEGER NOT NULL,
  millions INTEGER NOT NULL,
  rest INTEGER NOT NULL,
  parts TEXT,
  middle INTEGER,
  most INTEGER,
  keys TEXT NOT NULL,
  PRIMARY KEY (scope, day, currency)
) STRICT, WITHOUT ROWID;

-- A change of a day's transactions removes the sums of the day and of its scope in the same database transaction, whoever
-- makes it. A create usually finds nothing to remove, because the current day has no sums yet.
CREATE TRIGGER day_of_new_transaction AFTER INSERT ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = NEW.created / 86400000;
  DELETE FROM day_charges WHERE scope = NEW.scope AND day = NEW.created / 86400000;
END;

CREATE TRIGGER days_of_changed_transaction
AFTER UPDATE OF scope, created, currency, cents, amount, unpriced, key, quantities ON transactions
WHEN (OLD.scope, OLD.created, OLD.currency, OLD.cents, OLD.amount, OLD.unpriced, OLD.key, OLD.quantities)
  IS NOT (NEW.scope, NEW.created, NEW.currency, NEW.cents, NEW.amount, NEW.unpriced, NEW.key, NEW.quantities)
BEGIN
  DELETE FROM day_quantities WHERE day IN (OLD.created / 86400000, NEW.created / 86400000);
  DELETE FROM day_charges WHERE scope = OLD.scope AND day = OLD.created / 86400000;
  DELETE FROM day_charges WHERE scope = NEW.scope AND day = NEW.created / 86400000;
END;

CREATE TRIGGER day_of_removed_transaction AFTER DELETE ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = OLD.created / 86400000;
  DELETE FROM day_charges WHERE scope = OLD.scope AND day = OLD.created / 86400000;
END;

-- A day that lacks the sums of a scope has no sums.
CREATE TRIGGER day_without_charges AFTER DELETE ON day_charges
BEGIN
  DELETE FROM day_quantities WHERE day = OLD.day;
END;

-- Registered units and teams. A reconciliation pass copies them from the register in KV, and a change of a unit's profile
-- copies its name at once.
--   name: the name in the unit's profile; empty if there is none.
--   folded: ID and name in a case-insensitive form, each word preceded by a space. A search reads all rows.
--   has_total: whether the unit's profile publishes a total (src/office/totals).
CREATE TABLE names (
  kind TEXT NOT NULL CHECK (kind IN ('unit', 'team')),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  has_total INTEGER NOT NULL DEFAULT 0 CHECK (has_total IN (0, 1)),
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX by_total ON names (id) WHERE has_total = 1;

-- People of shops: who may sign in to the dashboard for a unit, or for all units of a team
-- (src/office/people/rows/people.rs). The dashboard reads these rows at each request, so that a removal counts at
-- once. Their only other copies are in backups.
--   place: `unit:{id}` or `team:{id}`.
--   at, author: when the person was added, and by whom.
--   by_shop: whether a person of a shop added the person. If not, people of shops see "the operator" instead of the
--     author's name.
CREATE TABLE people (
  place TEXT NOT NULL,
  address TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('manager', 'viewer')),
  at INTEGER NOT NULL,
  author TEXT NOT NULL,
  by_shop INTEGER NOT NULL CHECK (by_shop IN (0, 1)),
  PRIMARY KEY (place, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX people_by_address ON people (address);

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

-- Preconditions of a change: inserting one that does not hold fails, and with it all statements of the same database
-- transaction. The view never has rows.
CREATE VIEW preconditions (holds) AS SELECT NULL WHERE 0;

CREATE TRIGGER preconditions_hold INSTEAD OF INSERT ON preconditions WHEN NEW.holds IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'a precondition does not hold');
END;

-- The audit log (src/office/audit/rows.rs). The entry of a change of the ledger is written together with the change. The
-- cron copies entries about records in Workers KV, such as keys.
--   name: `audit:{inverted time}:{random}`, so that the newest entry is first.
--   content: the entry, as JSON.
CREATE TABLE audit (
  name TEXT PRIMARY KEY NOT NULL,
  content TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Price lists, profiles, payments of months and memberships of teams (src/office/shared/rows/published.rs). A row is the
-- record; Workers KV has a copy, which the API reads. A price list or profile that was never changed in this database has
-- no row.
--   name: the name of the copy.
--   content: the copy, as JSON; NULL if it was removed.
--   change: the name of the last change's entry in the audit log. author, by_shop, at: who made it, and when.
--   confirmed: when Workers KV was last seen to show the copy; 0 if not since the last change.
CREATE TABLE published (
  name TEXT PRIMARY KEY NOT NULL,
  content TEXT,
  change TEXT NOT NULL,
  author TEXT NOT NULL,
  by_shop INTEGER NOT NULL CHECK (by_shop IN (0, 1)),
  at INTEGER NOT NULL,
  confirmed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX published_by_confirmation ON published (confirmed, at);

-- Counts what has changed the amount due for a month since somebody began to mark it as paid
-- (src/office/payments/rows/due_versions.rs). A change also counts for the later months, because credits are carried into
-- them. Marking the month deletes its row; an attempt that was refused leaves it.
--   scope: mode and unit, such as `live:shop`.
CREATE TABLE due_versions (
  scope TEXT NOT NULL,
  month TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, month)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER due_with_new_transaction AFTER INSERT ON transactions WHEN EXISTS (SELECT 1 FROM due_versions)
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = (SELECT mode || ':' || unit FROM scopes WHERE scope = NEW.scope)
    AND month >= strftime('%Y-%m', NEW.created / 1000, 'unixepoch');
END;

CREATE TRIGGER due_with_changed_transaction AFTER UPDATE OF scope, created, currency, cents, amount, unpriced ON transactions
WHEN EXISTS (SELECT 1 FROM due_versions)
  AND (OLD.scope, OLD.created, OLD.currency, OLD.cents, OLD.amount, OLD.unpriced)
  IS NOT (NEW.scope, NEW.created, NEW.currency, NEW.cents, NEW.amount, NEW.unpriced)
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope IN (SELECT mode || ':' || unit FROM scopes WHERE scope IN (OLD.scope, NEW.scope))
    AND month >= strftime('%Y-%m', min(OLD.created, NEW.created) / 1000, 'unixepoch');
END;

CREATE TRIGGER due_without_transaction AFTER DELETE ON transactions WHEN EXISTS (SELECT 1 FROM due_versions)
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = (SELECT mode || ':' || unit FROM scopes WHERE scope = OLD.scope)
    AND month >= strftime('%Y-%m', OLD.created / 1000, 'unixepoch');
END;

CREATE TRIGGER due_with_payment AFTER INSERT ON published WHEN NEW.name LIKE 'settlement:%'
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = substr(NEW.name, 12, length(NEW.name) - 19) AND month > substr(NEW.name, -7);
END;

CREATE TRIGGER due_with_changed_payment AFTER UPDATE OF content ON published WHEN NEW.name LIKE 'settlement:%'
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = substr(NEW.name, 12, length(NEW.name) - 19) AND month > substr(NEW.name, -7);
END;

-- Credits: amounts and quantities that are taken back from a transaction (src/office/credits/rows.rs). Rows are
-- written once. A rebuild of the ledger keeps them, because no record in Workers KV has them: their only other copies
-- are in backups.
--   id: the transaction. `number` counts its credits from 1.
--   operation: the hash of the operation that wrote the row, so that a repeated request writes none.
--   order_month: the month in which the transaction was created.
--   booked_month: the month whose sum the credit reduces. It differs from `order_month` if that month was settled.
--   charge_cents, charge_amount: the transaction's charge, copied from its record, as in `transactions`.
--   cents, amount: the credit. A charge in `charge_amount` can only be credited in full, once.
--   quantities: as in `transactions`.
--   change: the name of the credit's entry in the audit log, `at` the entry's time, `author` its author.
CREATE TABLE credits (
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  operation TEXT NOT NULL UNIQUE,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  unit TEXT NOT NULL,
  order_month TEXT NOT NULL,
  booked_month TEXT NOT NULL,
  currency TEXT NOT NULL,
  charge_cents INTEGER,
  charge_amount TEXT,
  cents INTEGER,
  amount TEXT,
  quantities TEXT NOT NULL,
  reason TEXT NOT NULL,
  change TEXT NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (id, number),
  CHECK (number BETWEEN 1 AND 100),
  CHECK (booked_month >= order_month),
  CHECK ((charge_cents IS NULL) <> (charge_amount IS NULL)),
  CHECK (charge_cents BETWEEN 0 AND 9007199254740991),
  CHECK ((cents IS NULL) = (charge_cents IS NULL)),
  CHECK (cents BETWEEN 0 AND charge_cents),
  CHECK (amount IS charge_amount),
  CHECK (amount IS NULL OR number = 1)
) STRICT, WITHOUT ROWID;

CREATE INDEX by_booking ON credits (unit, mode, booked_month);
CREATE INDEX by_order ON credits (order_month, unit, mode);

-- The credits of a transaction never exceed its charge, even if two are made at the same time.
CREATE TRIGGER credits_within_charge BEFORE INSERT ON credits
WHEN (SELECT ifnull(sum(cents), 0) FROM credits WHERE id = NEW.id) + NEW.cents > NEW.charge_cents
  OR EXISTS (SELECT 1 FROM credits WHERE id = NEW.id AND (amount IS NOT NULL OR currency <> NEW.currency
    OR charge_cents IS NOT NEW.charge_cents OR charge_amount IS NOT NEW.charge_amount))
BEGIN
  SELECT RAISE(ABORT, 'credits would exceed the charge');
END;

CREATE TRIGGER due_with_credit AFTER INSERT ON credits
BEGIN
  UPDATE due_versions SET version = version + 1
  WHERE scope = NEW.mode || ':' || NEW.unit AND month >= min(NEW.booked_month, NEW.order_month);
END;

CREATE TRIGGER credits_are_final BEFORE UPDATE ON credits
BEGIN
  SELECT RAISE(ABORT, 'credits cannot be changed');
END;

-- Requests of shops for credits (src/office/credit_requests/rows.rs). A rebuild of the ledger keeps them, because no record
-- in Workers KV has them: their only other copies are in backups.
--   id: the transaction.
--   content: the requested credit, as JSON.
--   cents, amount: the requested amount, as in `credits`.
--   credits: the number of credits that the transaction had.
--   author, at: who made the request, and when. by_shop: whether a person of a shop did.
--   decider, decided, answer: who decided, when, and why the request was refused. decider_of_shop: whether a person of the
--     shop did: then a credit was made at once, within the shop's limit, or the shop withdrew its request.
CREATE TABLE credit_requests (
  request TEXT PRIMARY KEY NOT NULL,
  id TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  unit TEXT NOT NULL,
  content TEXT NOT NULL,
  currency TEXT NOT NULL,
  cents INTEGER,
  amount TEXT,
  credits INTEGER NOT NULL,
  author TEXT NOT NULL,
  by_shop INTEGER NOT NULL CHECK (by_shop IN (0, 1)),
  at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'credited', 'refused')),
  decider TEXT,
  decider_of_shop INTEGER CHECK (decider_of_shop IN (0, 1)),
  decided INTEGER,
  answer TEXT,
  CHECK ((cents IS NULL) <> (amount IS NULL)),
  CHECK ((state = 'open') = (decider IS NULL)),
  CHECK ((decider IS NULL) = (decided IS NULL)),
  CHECK ((decider IS NULL) = (decider_of_shop IS NULL)),
  CHECK ((state = 'refused') = (answer IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX credit_requests_by_transaction ON credit_requests (id, at);
-- A transaction has one open request at most, even if two people send one at the same time.
CREATE UNIQUE INDEX credit_requests_open ON credit_requests (id) WHERE state = 'open';
CREATE INDEX credit_requests_at_once ON credit_requests (unit, mode, decided) WHERE state = 'credited' AND decider_of_shop = 1;

-- Up to which amounts the requests of a unit are credited at once. A unit without a row has no such limit: each of its
-- requests needs a confirmation.
--   per_order, per_month: the sums of one transaction and of one month, in hundredths of the currency.
CREATE TABLE credit_limits (
  unit TEXT PRIMARY KEY NOT NULL,
  currency TEXT NOT NULL,
  per_order INTEGER NOT NULL,
  per_month INTEGER NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  CHECK (per_order BETWEEN 1 AND per_month),
  CHECK (per_month <= 9007199254740991)
) STRICT, WITHOUT ROWID;

-- Fulfilments: what was done for the pledges of a month, such as trees that were planted
-- (src/office/fulfilment/rows/fulfilments.rs). A rebuild of the ledger keeps them, because no record in Workers KV
-- has them: their only other copies are in backups.
--   month: the month of the pledges, such as `2026-10`.
--   quantity: an exact decimal.
--   done_on: the day on which it was done, such as `2026-11-20`.
--   report: the address of a report.
--   author: who recorded it. `at` is the time of its entry in the audit log.
--   removed: when it was removed, by `remover`. Sums leave out removed rows.
CREATE TABLE fulfilments (
  id TEXT PRIMARY KEY NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  month TEXT NOT NULL,
  offering TEXT NOT NULL,
  quantity TEXT NOT NULL,
  done_on TEXT NOT NULL,
  partner TEXT,
  place TEXT,
  report TEXT,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  removed INTEGER,
  remover TEXT,
  CHECK ((removed IS NULL) = (remover IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX by_pledges ON fulfilments (month, mode, offering);

-- Updates: news about the pledges of an offering and month, which buyers' timelines show
-- (src/office/updates/rows/updates.rs). A rebuild of the ledger keeps them: the records in Workers KV are compiled
-- from these rows, and have only published updates.
--   month: the month of the pledges, such as `2026-10`.
--   state: timelines show published updates only.
--   day: the member `date` of `content`, by which timelines are sorted.
--   content: the update as a timeline reads it, as JSON (src/buyer/updates.rs).
--   fulfilment: the fulfilment that the update was made from.
--   revision: counts the changes from 1, so that a change of an older revision is refused.
--   operation: the hash of the operation that made the last change, so that a repeated request makes none.
--   author, at: who added it, and when. changer, changed: the same for the last change.
CREATE TABLE updates (
  id TEXT PRIMARY KEY NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  month TEXT NOT NULL,
  offering TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('draft', 'published', 'withdrawn')),
  day TEXT NOT NULL,
  content TEXT NOT NULL,
  fulfilment TEXT,
  revision INTEGER NOT NULL,
  operation TEXT NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  changer TEXT NOT NULL,
  changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX updates_by_pledges ON updates (month, mode, offering, day);
CREATE INDEX updates_by_picture ON updates (content ->> '$.picture.url');
CREATE UNIQUE INDEX updates_by_fulfilment ON updates (fulfilment) WHERE fulfilment IS NOT NULL;

-- The records in Workers KV, one for each mode, offering and month that has or had published updates.
--   revision: the number of changes to the published updates.
--   compiled: the revision that was last written to Workers KV, NULL if none was.
--   checked: when the record was last compared with the rows.
CREATE TABLE update_records (
  mode TEXT NOT NULL,
  month TEXT NOT NULL,
  offering TEXT NOT NULL,
  revision INTEGER NOT NULL,
  compiled INTEGER,
  checked INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (month, mode, offering)
) STRICT, WITHOUT ROWID;

-- Each change to the published updates makes the record outdated, whichever statement makes it.
CREATE TRIGGER updates_added AFTER INSERT ON updates WHEN NEW.state = 'published'
BEGIN
  INSERT INTO update_records (mode, month, offering, revision) VALUES (NEW.mode, NEW.month, NEW.offering, 1)
  ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER updates_changed AFTER UPDATE ON updates WHEN 'published' IN (OLD.state, NEW.state)
BEGIN
  INSERT INTO update_records (mode, month, offering, revision) VALUES (NEW.mode, NEW.month, NEW.offering, 1)
  ON CONFLICT DO UPDATE SET revision = revision + 1;
END;

-- The updates of which the cron still has to tell the buyers who asked for it, by month and offering of the pledges
-- (src/office/updates/rule/news.rs).
--   due: when the cron begins, at first two minutes after the publication. By then KV usually shows the update.
--   cursor, after: the position in KV's list of subscriptions.
--   again: whether the cron goes through the list once more in the next month, for buyers who had an e-mail already.
CREATE TABLE news (
  month TEXT NOT NULL,
  offering TEXT NOT NULL,
  due INTEGER NOT NULL,
  cursor TEXT,
  after TEXT NOT NULL DEFAULT '',
  again INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (month, offering)
) STRICT, WITHOUT ROWID;

CREATE INDEX news_by_due ON news (due);

CREATE TRIGGER news_published AFTER UPDATE ON updates
WHEN NEW.mode = 'live' AND NEW.state = 'published' AND NEW.content ->> '$.stage' IN ('done', 'verified')
  AND NOT (OLD.state = 'published' AND OLD.content ->> '$.stage' IN ('done', 'verified'))
BEGIN
  INSERT INTO news (month, offering, due) VALUES (NEW.month, NEW.offering, NEW.changed + 120000)
  ON CONFLICT DO UPDATE SET due = excluded.due, cursor = NULL, after = '', again = 1;
END;

-- The reconciliation with KV.
--   lease: until when a process, the `holder`, has the reconciliation.
--   started: when the current pass began.
--   cursor, after: its position in KV's list of transactions.
--   completed: when the last whole pass began. The ledger has every transaction that was created up to two minutes
--     before.
--   failures: number of consecutive lists that failed.
--   received: when the last messages were received.
--   delay: how old the oldest transaction in these messages was.
--   kept_from: transactions that were created before this time are only in KV.
--   cleared: how many times all rows were deleted, to be written again.
CREATE TABLE reconciliation (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  lease INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  started INTEGER,
  cursor TEXT,
  after TEXT NOT NULL DEFAULT '',
  listed INTEGER NOT NULL DEFAULT 0,
  mended INTEGER NOT NULL DEFAULT 0,
  completed INTEGER,
  ended INTEGER,
  last_listed INTEGER NOT NULL DEFAULT 0,
  last_mended INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  received INTEGER,
  delay INTEGER,
  kept_from INTEGER NOT NULL DEFAULT 0,
  cleared INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO reconciliation (one) VALUES (1);

-- What a person has to look at: a record that is damaged, a row whose record is gone (`detail` has the row), a row
-- without its quantities, or a message whose row breaks a constraint. After a loss of rows also: `copy`, a record was taken
-- from its copy in Workers KV, and the audit log lacks the entry of its change; `update`, Workers KV has updates that the
-- database lacks.
--   pass: the last pass that found it.
CREATE TABLE findings (
  kind TEXT NOT NULL CHECK (kind IN ('copy', 'damaged', 'gone', 'large', 'refused', 'update')),
  name TEXT NOT NULL,
  found INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Tasks of the home page that a person accepted, so that they are not shown any more.
--   task: the kind of the task.
--   subject: what it is about, such as the ID of a transaction.
--   facts: what was true when it was accepted. If the facts change, the task is shown again.
CREATE TABLE accepted_tasks (
  task TEXT NOT NULL,
  subject TEXT NOT NULL,
  facts TEXT NOT NULL,
  reason TEXT NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (task, subject)
) STRICT, WITHOUT ROWID;

-- The epoch: a random text that identifies the database with all credits, fulfilments and updates, which no record in
-- Workers KV has. The record `epoch` in Workers KV has the same text (src/office/system/rule/epoch.rs). A database
-- without this text has lost such rows, for example because it was deleted and created again. The table has no row
-- until the first of them is written.
CREATE TABLE epoch (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch TEXT NOT NULL
) STRICT;
