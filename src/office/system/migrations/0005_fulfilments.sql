-- Fulfilments: what was done for the pledges of a month, such as trees that were planted (src/office/fulfilment/rows/fulfilments.rs). A
-- rebuild of the ledger keeps them, because no record in Workers KV has them: the only other copy is the audit log.
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
