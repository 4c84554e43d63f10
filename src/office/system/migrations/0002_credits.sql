-- Credits: amounts and quantities that are taken back from a transaction (src/office/credits/rows.rs). Rows are written once.
-- A rebuild of the ledger keeps them, because no record in Workers KV has them: their only other copy is in the audit log.
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

CREATE TRIGGER credits_are_final BEFORE UPDATE ON credits
BEGIN
  SELECT RAISE(ABORT, 'credits cannot be changed');
END;
