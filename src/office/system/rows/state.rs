//! The state of the ledger: when messages were last received, and how far the reconciliation with KV has
//! come.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result, ask};
use crate::pledges::time::{SKEW_MS, date_time};
use serde::{Deserialize, Serialize};

/// How long a written record may be missing from KV's lists, in milliseconds.
pub const SHOWN_AFTER_MS: u64 = 2 * 60_000;
/// How long a process keeps the lease (the right to run the reconciliation) without renewing it, in
/// milliseconds.
pub(crate) const LEASE_MS: u64 = 3 * 60_000;

/// The state of the ledger and its reconciliation. Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The process that has the lease on the reconciliation; empty after a pass.
    pub holder: String,
    /// When the lease ends.
    pub lease: u64,
    /// When the current pass began.
    pub started: Option<u64>,
    /// KV's cursor of the next page.
    pub cursor: Option<String>,
    /// The last name that was read, without its prefix; empty at the beginning.
    pub after: String,
    pub listed: u64,
    /// Number of ledger rows that the current pass has written or removed.
    pub mended: u64,
    /// When the last whole pass began. Its end is in `ended`.
    pub completed: Option<u64>,
    /// When the last whole pass ended.
    pub ended: Option<u64>,
    pub last_listed: u64,
    /// Number of rows that the last whole pass wrote or removed.
    pub last_mended: u64,
    /// How many calls to list records in KV have failed since the last successful one.
    pub failures: u32,
    /// When messages were last received.
    pub received: Option<u64>,
    /// Age of the oldest transaction in the last received messages, at their arrival, in milliseconds.
    pub delay: Option<u64>,
    /// The ledger keeps transactions created at this time or later; 0 means all.
    pub kept_from: u64,
    /// How many times all rows were deleted, to be written again.
    pub cleared: u64,
    /// The [epoch](crate::office::system::rows::epoch) of the database; `None` if it has none.
    pub epoch: Option<String>,
}

/// With this number of KV records or more, a pass begins once a day. With fewer, a pass begins every hour.
const SMALL: u64 = 100_000;
const HOUR_MS: u64 = 3_600_000;

impl State {
    /// Returns the time between the beginnings of two passes, in milliseconds: an hour, or a day if KV has many
    /// records.
    pub fn interval_ms(&self) -> u64 {
        if self.last_listed < SMALL { HOUR_MS } else { 24 * HOUR_MS }
    }

    /// Returns whether a process has the lease on the reconciliation. A lease from a clock that is far ahead
    /// is ignored.
    pub(crate) fn is_held(&self, now_ms: u64) -> bool {
        let ends = now_ms..=latest(now_ms).saturating_add(LEASE_MS);
        !self.holder.is_empty() && ends.contains(&self.lease)
    }

    /// Returns the time from which the ledger keeps transactions, as an RFC 3339 date-time; `None` if it
    /// keeps all.
    pub fn first_kept(&self) -> Option<String> {
        (self.kept_from > 0).then(|| date_time(self.kept_from))
    }

    /// Returns the time up to which the ledger has every transaction, in milliseconds since 1970; `None` before the
    /// first whole pass.
    pub fn watermark(&self) -> Option<u64> {
        self.completed.map(|completed| completed.saturating_sub(SHOWN_AFTER_MS))
    }
}

/// Returns the state of the ledger. One query.
pub async fn state(ledger: &dyn Ledger) -> Result<State> {
    ask(ledger, &Get {}).await?.into_iter().next().ok_or(LedgerError::Damaged)
}

macro_rules! columns {
    () => {
        "json_object('holder', holder, 'lease', lease, 'started', started, 'cursor', cursor, 'after', after,
  'listed', listed, 'mended', mended, 'completed', completed, 'ended', ended, 'last_listed', last_listed,
  'last_mended', last_mended, 'failures', failures, 'received', received, 'delay', delay,
  'kept_from', kept_from, 'cleared', cleared, 'epoch', (SELECT epoch FROM epoch))"
    };
}

#[derive(Serialize)]
pub(crate) struct Get {}

impl Query for Get {
    type Row = State;
    // D1 refuses a parameter that the statement does not use.
    const SQL: &'static str =
        concat!("SELECT ", columns!(), " FROM reconciliation WHERE ?1 IS NOT NULL");
}

// ---- The reconciliation --------------------------------------------------------------------------

/// Returns the latest plausible time. A later time comes from a clock that is far ahead.
fn latest(now_ms: u64) -> u64 {
    now_ms.saturating_add(SKEW_MS)
}

/// Takes the lease on the reconciliation, to begin or continue a pass. Does nothing if all rows were deleted since the
/// state was read: a call that arrives late would otherwise continue a pass whose first rows are gone.
#[derive(Serialize)]
pub(crate) struct Take<'a> {
    /// A unique text that identifies the holder.
    holder: &'a str,
    now: u64,
    lease: u64,
    /// A new pass begins only if the last one began before this time.
    due: u64,
    latest: u64,
    latest_lease: u64,
    cleared: u64,
}

impl<'a> Take<'a> {
    pub fn new(holder: &'a str, now: u64, due: u64, state: &State) -> Self {
        let (lease, latest) = (now.saturating_add(LEASE_MS), latest(now));
        let latest_lease = latest.saturating_add(LEASE_MS);
        Take { holder, now, lease, due, latest, latest_lease, cleared: state.cleared }
    }
}

/// SQL that says whether to begin a new pass. One reason is that no pass is under way. The other is that a
/// wrong clock has dated the current pass in the future: completing it would make the ledger count as
/// complete up to that time.
macro_rules! is_new {
    () => {
        "ifnull(started > ?1 ->> '$.latest', true)"
    };
}

impl Query for Take<'_> {
    type Row = State;
    const SQL: &'static str = concat!(
        "UPDATE reconciliation SET holder = ?1 ->> '$.holder', lease = ?1 ->> '$.lease',
  started = iif(",
        is_new!(),
        ", ?1 ->> '$.now', started),
  cursor = iif(",
        is_new!(),
        ", NULL, cursor),
  after = iif(",
        is_new!(),
        ", '', after),
  listed = iif(",
        is_new!(),
        ", 0, listed),
  mended = iif(",
        is_new!(),
        ", 0, mended)
WHERE (lease NOT BETWEEN ?1 ->> '$.now' AND ?1 ->> '$.latest_lease' OR holder = ?1 ->> '$.holder')
  AND cleared = ?1 ->> '$.cleared' AND (NOT ",
        is_new!(),
        " OR completed IS NULL OR completed NOT BETWEEN ?1 ->> '$.due' AND ?1 ->> '$.latest')
RETURNING ",
        columns!()
    );
}

/// Saves the progress of the pass. Returns no row if another process has taken over the pass.
#[derive(Serialize)]
pub(crate) struct Progress<'a> {
    pub holder: &'a str,
    pub lease: u64,
    pub cursor: Option<&'a str>,
    pub after: &'a str,
    pub listed: u64,
    pub mended: u64,
    pub failures: u32,
}

impl Query for Progress<'_> {
    type Row = u8;
    const SQL: &'static str = "UPDATE reconciliation SET lease = ?1 ->> '$.lease', cursor = ?1 ->> '$.cursor',
  after = ?1 ->> '$.after', listed = ?1 ->> '$.listed', mended = ?1 ->> '$.mended', failures = ?1 ->> '$.failures'
WHERE holder = ?1 ->> '$.holder' AND started IS NOT NULL
RETURNING '1'";
}

/// Ends a pass. If `is_whole` is false the pass is cancelled, and the next one starts from the beginning.
#[derive(Serialize)]
pub(crate) struct End<'a> {
    pub holder: &'a str,
    pub now: u64,
    pub is_whole: bool,
}

impl Query for End<'_> {
    type Row = u8;
    const SQL: &'static str = "UPDATE reconciliation SET holder = '', lease = 0, failures = 0,
  completed = iif(?1 ->> '$.is_whole', started, completed), ended = iif(?1 ->> '$.is_whole', ?1 ->> '$.now', ended),
  last_listed = iif(?1 ->> '$.is_whole', listed, last_listed), last_mended = iif(?1 ->> '$.is_whole', mended, last_mended),
  started = NULL, cursor = NULL, after = ''
WHERE holder = ?1 ->> '$.holder' AND started IS NOT NULL
RETURNING '1'";
}

/// The change that gives up the lease, so that another process can continue the pass.
#[derive(Serialize)]
pub(crate) struct Release<'a> {
    pub holder: &'a str,
}

impl Query for Release<'_> {
    type Row = u8;
    const SQL: &'static str =
        "UPDATE reconciliation SET holder = '', lease = 0 WHERE holder = ?1 ->> '$.holder'";
}

#[derive(Serialize)]
pub(crate) struct Received {
    pub now: u64,
    pub delay: u64,
}

impl Query for Received {
    type Row = u8;
    const SQL: &'static str =
        "UPDATE reconciliation SET received = ?1 ->> '$.now', delay = ?1 ->> '$.delay'";
}
