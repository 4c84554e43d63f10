//! The reconciliation with Workers KV. It completes the ledger, and sets the watermark up to which the ledger is
//! complete.
//!
//! A pass lists all transactions in KV and compares them with the rows, page by page. Each call continues where the
//! last one stopped. It makes a limited number of queries, so that it fits into one invocation of the Worker.

use super::findings::{Finding, FindingKind, Forget};
use super::state::{End, LEASE_MS, Progress, Release, State, Take};
use crate::office::shared::rows::port::{Ledger, Query as _, ask};
use crate::office::shops::rows::names;
use crate::pledges::service::Clock;
use crate::pledges::store::{Key as _, ListPage, OperatorStore, StoreError, TransactionKey};
use serde::Serialize;

/// Number of consecutive failures to read KV's list after which a reconciliation pass starts again from the
/// beginning. KV may no longer accept the pass's cursor.
const MAX_FAILURES: u32 = 5;
/// Maximum number of calls for a page, apart from reads of records.
const CALLS_OF_A_PAGE: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PassOutcome {
    /// A reconciliation pass ended. The ledger is complete up to two minutes before the pass began.
    Complete,
    /// A reconciliation pass is under way. The next call continues it.
    Part,
    /// Another process is running the reconciliation.
    Busy,
    NotDue,
}

/// When to begin a reconciliation pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassTiming {
    /// One hour after the last reconciliation pass began, or one day if KV has many records.
    Due,
    Now,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of records without a row.
    pub missing: usize,
    /// Number of rows that differ from their records.
    pub wrong: usize,
    /// Number of rows without a record.
    pub gone: usize,
    pub damaged: usize,
    /// Number of rows that lack their quantities, because the quantities are too large.
    pub large: usize,
    /// Number of records without a row, because the row would break a constraint of the tables.
    pub refused: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, findings: &[Finding]) {
        for finding in findings {
            match finding.kind {
                FindingKind::Copy | FindingKind::Update => {} // a pass does not find these
                FindingKind::Damaged => self.damaged += 1,
                FindingKind::Gone => self.gone += 1,
                FindingKind::Large => self.large += 1,
                FindingKind::Refused => self.refused += 1,
            }
        }
    }
}

/// The result of a step. By default, the error is that of the store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Continues a reconciliation pass, or begins one. Makes about `calls` calls of KV and the ledger. `holder`
/// identifies the caller, and must be unique.
///
/// # Errors
/// If the ledger or the store does not answer. The next call continues the pass.
pub async fn reconcile(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    whose: (&str, PassTiming),
    calls: u32,
) -> Result<(PassOutcome, State)> {
    count(ledger, store, clock, whose, calls, &mut Counts::default()).await
}

/// Does what [`reconcile`] does, and also counts what the reconciliation pass found.
///
/// # Errors
/// If the ledger or the store does not answer. The next call continues the pass.
pub(crate) async fn count(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    (holder, when): (&str, PassTiming),
    calls: u32,
    counts: &mut Counts,
) -> Result<(PassOutcome, State)> {
    let state = super::state::state(ledger).await?;
    let now = clock.now_ms();
    let due =
        if when == PassTiming::Now { now + 1 } else { now.saturating_sub(state.interval_ms()) };
    let Some(state) = ask(ledger, &Take::new(holder, now, due, &state)).await?.into_iter().next()
    else {
        let is_held = state.is_held(now);
        return Ok((if is_held { PassOutcome::Busy } else { PassOutcome::NotDue }, state));
    };
    let mut pass = Pass { ledger, store, clock, holder, state, asked: now, counts, calls };
    let reached = pass.go_on().await;
    if !matches!(reached, Ok(PassOutcome::Complete)) {
        ask(ledger, &Release { holder }).await?;
    }
    Ok((reached?, super::state::state(ledger).await?))
}

pub(crate) struct Pass<'p, S, C> {
    pub ledger: &'p dyn Ledger,
    pub store: &'p S,
    pub clock: &'p C,
    holder: &'p str,
    pub state: State,
    /// When the page was requested, in milliseconds since 1970. The page shows no later change.
    pub asked: u64,
    pub counts: &'p mut Counts,
    /// Number of calls of KV and the ledger that the pass may still make.
    pub calls: u32,
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    async fn go_on(&mut self) -> Result<PassOutcome> {
        while self.calls >= CALLS_OF_A_PAGE {
            let page = self.list().await?;
            self.state.cursor.clone_from(&page.cursor);
            self.compare(page).await?;
            if self.state.cursor.is_none() {
                return self.finish().await;
            }
            if !self.save().await? {
                return Ok(PassOutcome::Busy);
            }
        }
        Ok(PassOutcome::Part)
    }

    /// Compares a page of KV's list with the ledger's rows in the same range of names. Skips pages without names, which KV returns where many records were removed.
    async fn compare(&mut self, page: ListPage) -> Result<()> {
        if page.records.is_empty() && page.cursor.is_some() {
            return Ok(());
        }
        let until = last_name(&page);
        self.compare_rows(page, until.as_deref()).await?;
        self.state.after = until.unwrap_or_default();
        Ok(())
    }

    /// Returns the next page of KV's list. After [`MAX_FAILURES`] failures the pass is cancelled, and the next one
    /// starts from the beginning.
    async fn list(&mut self) -> Result<ListPage> {
        self.calls = self.calls.saturating_sub(1);
        self.asked = self.clock.now_ms();
        let page = self.store.list(TransactionKey::PREFIX, self.state.cursor.as_deref()).await;
        if page.is_err() && self.state.cursor.is_some() {
            self.state.failures += 1;
            self.save().await?;
            if self.state.failures >= MAX_FAILURES {
                let (holder, now) = (self.holder, self.clock.now_ms());
                ask(self.ledger, &End { holder, now, is_whole: false }).await?;
            }
        } else {
            self.state.failures = 0;
        }
        page
    }

    async fn save(&mut self) -> Result<bool> {
        self.calls = self.calls.saturating_sub(1);
        let State { cursor, after, listed, mended, failures, .. } = &self.state;
        let progress = Progress {
            holder: self.holder,
            lease: self.clock.now_ms() + LEASE_MS,
            cursor: cursor.as_deref(),
            after,
            listed: *listed,
            mended: *mended,
            failures: *failures,
        };
        Ok(!ask(self.ledger, &progress).await?.is_empty())
    }
}

/// Returns the last name of a page, without its prefix; `None` on the last page.
fn last_name(page: &ListPage) -> Option<String> {
    page.cursor.as_ref()?;
    page.records.last()?.name.strip_prefix(TransactionKey::PREFIX).map(str::to_owned)
}

// ---- The end of a pass --------------------------------------------------------------------------

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    async fn finish(&mut self) -> Result<PassOutcome> {
        let pass = self.state.started.unwrap_or_default();
        let (holder, now) = (self.holder, self.clock.now_ms());
        self.save().await?;
        let end = End { holder, now, is_whole: true };
        let statements = [end.statement()?, Forget { pass }.statement()?];
        let answers = self.ledger.run(&statements).await?;
        let is_ours = answers.first().is_some_and(|rows| !rows.is_empty());
        if !is_ours {
            return Ok(PassOutcome::Busy);
        }
        names::copy(self.ledger, self.store).await?;
        Ok(PassOutcome::Complete)
    }
}
