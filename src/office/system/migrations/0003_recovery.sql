-- The state of the backups of the cron (src/office/system/rows/backup_state.rs): one row while a bucket is bound.
--   since: when the cron first found the bucket.
--   full_days: the interval between two full backups, in days.
--   full: when the newest complete backup of all records began. newest: the same of any kind. Both have the rows of the ledger.
--   failing: when the first of the last failures was. cause: why the last attempt failed. NULL if the last attempt succeeded.
CREATE TABLE backup_state (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  since INTEGER NOT NULL,
  full_days INTEGER NOT NULL,
  full INTEGER,
  newest INTEGER,
  failing INTEGER,
  cause TEXT,
  CHECK ((failing IS NULL) = (cause IS NULL))
) STRICT;

-- Public totals (src/office/totals): the units whose total is in Workers KV, or was. The rows are derived: removing one makes
-- the cron write its total again.
--   counted: the day up to which it counts, in days since 1970, and 0 before the first time.
--   tried: when the cron last began to write it.
CREATE TABLE public_totals (
  unit TEXT PRIMARY KEY NOT NULL,
  counted INTEGER NOT NULL,
  tried INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The e-mails to people of the dashboard, and those that wait (src/office/notices/rows). An e-mail is sent at most once for each
-- address, kind and period. Rows are kept for 90 days.
--   period: the day or the month that the e-mail is about.
--   state: `sending` stays if an attempt ended without a result. Such an e-mail is not sent again.
--   at: when the state changed. due: when the next attempt may begin; NULL if there is none.
--   holder: the attempt that may end `sending`. cause: the code of the last failure.
CREATE TABLE notices (
  address TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('month', 'statement', 'bounces', 'failures', 'ledger')),
  period TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
  at INTEGER NOT NULL,
  due INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  cause TEXT,
  PRIMARY KEY (address, kind, period)
) STRICT, WITHOUT ROWID;

CREATE INDEX notices_by_time ON notices (at);
CREATE INDEX notices_to_send ON notices (due) WHERE due IS NOT NULL;

-- The kinds of e-mails that people have switched off. Each other kind is on.
CREATE TABLE notices_off (
  address TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('month', 'statement', 'bounces', 'failures', 'ledger')),
  PRIMARY KEY (address, kind)
) STRICT, WITHOUT ROWID;
