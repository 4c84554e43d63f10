//! How far the ledger is: when messages came, and what the reconciliation has done.

use super::{Ledger, LedgerError, Query, Result, ask};
use crate::time::{SKEW_MS, date_time};
use serde::{Deserialize, Serialize};

/// How long a written record may be missing from KV's lists, in milliseconds.
pub const SHOWN_AFTER_MS: u64 = 2 * 60_000;
/// How long a lease on the reconciliation lasts unless its holder renews it, in milliseconds.
pub(super) const LEASE_MS: u64 = 3 * 60_000;

/// What a pass lists, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Transactions: their rows.
    #[default]
    Transactions,
    /// Settlements: claims of months that are marked as paid.
    Settlements,
    /// Members: claims of units of teams.
    Members,
}

impl Part {
    /// The part that follows; `None` after the last one.
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Part::Transactions => Some(Part::Settlements),
            Part::Settlements => Some(Part::Members),
            Part::Members => None,
        }
    }
}

/// How far the ledger is. Times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Who works at the reconciliation; empty after a pass.
    pub holder: String,
    /// Until when.
    pub lease: u64,
    /// When the pass that is under way began.
    pub started: Option<u64>,
    /// What it lists now.
    pub part: Part,
    /// Where it goes on: a cursor of KV.
    pub cursor: Option<String>,
    /// The name that it has come to, without its prefix; empty at the beginning of a part.
    pub after: String,
    /// Number of records that it has listed.
    pub listed: u64,
    /// Number of rows that it has written or removed.
    pub mended: u64,
    /// When the last whole pass began.
    pub completed: Option<u64>,
    /// When it ended.
    pub ended: Option<u64>,
    /// Number of records that it listed.
    pub last_listed: u64,
    /// Number of rows that it wrote or removed.
    pub last_mended: u64,
    /// Since when the claims are those of KV.
    pub imported: Option<u64>,
    /// Number of lists that failed, one after the other.
    pub failures: u32,
    /// When messages came last.
    pub received: Option<u64>,
    /// How old the oldest transaction of these was, in milliseconds.
    pub delay: Option<u64>,
    /// Transactions that were created before are not kept here; 0: all are.
    pub kept_from: u64,
}

/// Records up to which a pass begins each hour, and each day above.
const SMALL: u64 = 100_000;
const HOUR_MS: u64 = 3_600_000;

impl State {
    /// How often a pass begins, in milliseconds: each hour, and each day where KV has many records.
    pub fn interval_ms(&self) -> u64 {
        if self.last_listed < SMALL { HOUR_MS } else { 24 * HOUR_MS }
    }

    /// Whether somebody works at the reconciliation. A clock that is far ahead keeps nobody away.
    pub(super) fn is_held(&self, now_ms: u64) -> bool {
        let ends = now_ms..=latest(now_ms).saturating_add(LEASE_MS);
        !self.holder.is_empty() && ends.contains(&self.lease)
    }

    /// From when on transactions are kept here, an RFC 3339 date-time; `None`: all are.
    pub fn first_kept(&self) -> Option<String> {
        (self.kept_from > 0).then(|| date_time(self.kept_from))
    }

    /// Up to when the ledger has every transaction, in milliseconds since 1970; `None` before the first whole pass.
    pub fn watermark(&self) -> Option<u64> {
        self.completed.map(|completed| completed.saturating_sub(SHOWN_AFTER_MS))
    }
}

/// How far the ledger is. One query.
///
/// # Errors
/// If the ledger does not answer.
pub async fn state(ledger: &dyn Ledger) -> Result<State> {
    ask(ledger, &Get {}).await?.into_iter().next().ok_or(LedgerError::Damaged)
}

/// The columns of a [`State`].
macro_rules! columns {
    () => {
        "json_object('holder', holder, 'lease', lease, 'started', started, 'part', part, 'cursor', cursor, 'after', after,
  'listed', listed, 'mended', mended, 'completed', completed, 'ended', ended, 'last_listed', last_listed,
  'last_mended', last_mended, 'imported', imported, 'failures', failures, 'received', received, 'delay', delay,
  'kept_from', kept_from)"
    };
}

#[derive(Serialize)]
pub(super) struct Get {}

impl Query for Get {
    type Row = State;
    // D1 refuses a parameter that a statement does not use.
    const SQL: &'static str =
        concat!("SELECT ", columns!(), " FROM reconciliation WHERE ?1 IS NOT NULL");
}

// ---- The reconciliation --------------------------------------------------------------------------

/// The latest time that is believed: a later one is of a clock that is far ahead.
fn latest(now_ms: u64) -> u64 {
    now_ms.saturating_add(SKEW_MS)
}

/// Takes the reconciliation, to begin a pass or go on with one.
#[derive(Serialize)]
pub(super) struct Take<'a> {
    /// Who works at it: a text that nobody else has.
    holder: &'a str,
    now: u64,
    lease: u64,
    /// A pass is begun if the last one began before.
    due: u64,
    latest: u64,
    latest_lease: u64,
}

impl<'a> Take<'a> {
    pub fn new(holder: &'a str, now: u64, due: u64) -> Self {
        let (lease, latest) = (now.saturating_add(LEASE_MS), latest(now));
        Take { holder, now, lease, due, latest, latest_lease: latest.saturating_add(LEASE_MS) }
    }
}

/// Whether no pass is under way, or one that began by a clock that is far ahead: its end would promise too much.
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
  part = iif(",
        is_new!(),
        ", 'transactions', part),
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
  AND (NOT ",
        is_new!(),
        " OR completed IS NULL OR completed NOT BETWEEN ?1 ->> '$.due' AND ?1 ->> '$.latest')
RETURNING ",
        columns!()
    );
}

/// Says how far the pass is. Returns nothing if somebody else works at it now.
#[derive(Serialize)]
pub(super) struct Progress<'a> {
    pub holder: &'a str,
    pub lease: u64,
    pub part: Part,
    pub cursor: Option<&'a str>,
    pub after: &'a str,
    pub listed: u64,
    pub mended: u64,
    pub failures: u32,
}

impl Query for Progress<'_> {
    type Row = u8;
    const SQL: &'static str = "UPDATE reconciliation SET lease = ?1 ->> '$.lease', part = ?1 ->> '$.part', cursor = ?1 ->> '$.cursor',
  after = ?1 ->> '$.after', listed = ?1 ->> '$.listed', mended = ?1 ->> '$.mended', failures = ?1 ->> '$.failures'
WHERE holder = ?1 ->> '$.holder' AND started IS NOT NULL
RETURNING '1'";
}

/// Ends a pass: all of it, or without an end, so that the next one begins anew.
#[derive(Serialize)]
pub(super) struct End<'a> {
    pub holder: &'a str,
    pub now: u64,
    pub is_whole: bool,
}

impl Query for End<'_> {
    type Row = u8;
    const SQL: &'static str = "UPDATE reconciliation SET holder = '', lease = 0, failures = 0,
  completed = iif(?1 ->> '$.is_whole', started, completed), ended = iif(?1 ->> '$.is_whole', ?1 ->> '$.now', ended),
  last_listed = iif(?1 ->> '$.is_whole', listed, last_listed), last_mended = iif(?1 ->> '$.is_whole', mended, last_mended),
  imported = iif(?1 ->> '$.is_whole', ifnull(imported, ?1 ->> '$.now'), imported),
  started = NULL, part = 'transactions', cursor = NULL, after = ''
WHERE holder = ?1 ->> '$.holder' AND started IS NOT NULL
RETURNING '1'";
}

/// Lets somebody else go on with the pass.
#[derive(Serialize)]
pub(super) struct Release<'a> {
    pub holder: &'a str,
}

impl Query for Release<'_> {
    type Row = u8;
    const SQL: &'static str =
        "UPDATE reconciliation SET holder = '', lease = 0 WHERE holder = ?1 ->> '$.holder'";
}

/// Notes that messages came.
#[derive(Serialize)]
pub(super) struct Received {
    pub now: u64,
    pub delay: u64,
}

impl Query for Received {
    type Row = u8;
    const SQL: &'static str =
        "UPDATE reconciliation SET received = ?1 ->> '$.now', delay = ?1 ->> '$.delay'";
}
