-- The pledged quantities of each ended day (src/office/fulfilment/rows/day_quantities.rs). With them, the sums of all units over months
-- read few rows. They are derived from `transactions`: removing rows here changes no answer. The dashboard's cron adds
-- missing ones.
--   day: days since 1970, in UTC.
--   sums: [["tree",2,5,500000],["reef",1,0,0,[[27,1000000]]]]: for each offering its ID, the number of transactions, and
--     the sum in millionths, as millions and the rest. The last member has the sums of the quantities that are stored as
--     texts, by part (src/office/shared/rows/money.rs). NULL if the text would be too large.
CREATE TABLE day_quantities (
  day INTEGER NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  sums TEXT,
  PRIMARY KEY (day, mode)
) STRICT, WITHOUT ROWID;

-- A change of a day's transactions removes its sums in the same database transaction, whoever makes it. A create usually
-- finds nothing to remove, because the current day has no sums yet.
CREATE TRIGGER day_of_new_transaction AFTER INSERT ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = NEW.created / 86400000;
END;

CREATE TRIGGER days_of_changed_transaction AFTER UPDATE OF shop, created, quantities ON transactions
WHEN (OLD.shop, OLD.created, OLD.quantities) IS NOT (NEW.shop, NEW.created, NEW.quantities)
BEGIN
  DELETE FROM day_quantities WHERE day IN (OLD.created / 86400000, NEW.created / 86400000);
END;

CREATE TRIGGER day_of_removed_transaction AFTER DELETE ON transactions
BEGIN
  DELETE FROM day_quantities WHERE day = OLD.created / 86400000;
END;
