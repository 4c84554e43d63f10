-- Updates: news about the pledges of an offering and month, which buyers' timelines show (src/office/updates/rows/updates.rs). A
-- rebuild of the ledger keeps them: the records in Workers KV are compiled from these rows, and have only published updates.
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
