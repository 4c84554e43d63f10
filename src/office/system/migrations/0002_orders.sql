-- Orders of shop systems (src/office/connections/rows). The connections themselves are rows of `published`.

-- What was decided about an order, once. A rebuild of the ledger keeps the rows, because no record in Workers KV has them.
--   system, store, number: the shop system, the shop's address in it, and the order's ID there.
--   state: `frozen` until the service has recorded the pledge, then `pledged`. A `held` order pledges nothing, because its
--     refund came first.
--   request: the create request, until it has an answer. It has personal data.
--   facts: what the pledge was computed from, without personal data (src/pledges/orders/frozen.rs); of a held order NULL.
--   version: counts the changes of `facts` and `credited` from 1.
--   id: the transaction.
--   credited: what refunds have credited so far, as JSON.
CREATE TABLE shop_orders (
  unit TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  system TEXT NOT NULL,
  store TEXT NOT NULL,
  number TEXT NOT NULL,
  connection TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('frozen', 'pledged', 'held')),
  request TEXT,
  facts TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  id TEXT,
  credited TEXT,
  PRIMARY KEY (unit, mode, system, store, number),
  CHECK ((state = 'pledged') = (id IS NOT NULL)),
  CHECK ((state = 'frozen') = (request IS NOT NULL)),
  CHECK ((state = 'held') = (facts IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX shop_orders_frozen ON shop_orders (at) WHERE state = 'frozen';

-- What shop systems sent, and what became of it. Rows are deleted after 90 days.
--   delivery: as in the name of the record `received:{id}` in Workers KV, which begins with the hour of its arrival.
--   outcome: `waiting` if it has to be read again.
--   number, shown: the order's ID, and the number that people see.
--   detail: why nothing was pledged, or what differs from the order's pledge.
--   id: the transaction that was recorded for the order.
--   person: a hash of the buyer's e-mail address, while the record in Workers KV has personal data.
CREATE TABLE received (
  delivery TEXT PRIMARY KEY NOT NULL,
  connection TEXT NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  number TEXT,
  shown TEXT,
  detail TEXT,
  id TEXT,
  person TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX received_by_connection ON received (connection, at);
CREATE INDEX received_waiting ON received (at) WHERE outcome = 'waiting';
CREATE INDEX received_unsettled ON received (delivery) WHERE outcome IN ('waiting', 'unreadable');
CREATE INDEX received_by_person ON received (person) WHERE person IS NOT NULL;

-- How far the orders of a connection with a token were fetched. Times are milliseconds since 1970. Without a row, they were not
-- fetched yet.
--   since: the last change that was fetched.
--   seen: the orders that the next fetch lists again, as JSON: the times of their changes, and hashes of them.
--   due: when to fetch again.
--   done: when a fetch reached the end of the list last.
--   problem: why the last fetch failed.
--   version: counts how often somebody set `since`.
CREATE TABLE fetches (
  connection TEXT PRIMARY KEY NOT NULL,
  since INTEGER NOT NULL,
  seen TEXT NOT NULL,
  due INTEGER NOT NULL,
  done INTEGER,
  problem TEXT,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Until when the records in Workers KV were compared with `received`, in milliseconds since 1970.
CREATE TABLE intake (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  complete INTEGER NOT NULL
) STRICT;

-- Notes of people on transactions. They may have personal data, and are deleted when the transaction is erased.
--   number: counts the notes of the transaction.
--   by_shop: whether a person of the shop wrote it. Others are only for the service's staff.
--   role: whom the note hands the transaction over to.
--   done, ended_by: when and by whom the hand-over was ended.
CREATE TABLE notes (
  id TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number <= 100),
  at INTEGER NOT NULL,
  author TEXT NOT NULL,
  by_shop INTEGER NOT NULL,
  text TEXT NOT NULL,
  role TEXT CHECK (role IN ('accounts', 'support')),
  done INTEGER,
  ended_by TEXT,
  PRIMARY KEY (id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX notes_handed_over ON notes (role, at) WHERE role IS NOT NULL AND done IS NULL;
