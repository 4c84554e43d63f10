//! The reconciliation with Workers KV: makes the ledger complete, and says up to when it is.
//!
//! A pass lists all transactions of KV and compares them with the rows, page by page. It goes on where it ended, within a
//! number of calls for each time, so that an invocation of the Worker is enough for it.

use super::claims::{self, Kind};
use super::state::{
    End, Finding, FindingKind, Forget, LEASE_MS, Progress, Release, SHOWN_AFTER_MS, State, Take,
};
use super::{Ledger, Query as _, ask};
use crate::handle::Clock;
use crate::store::{
    Key as _, MemberKey, OperatorStore, Page, SettlementKey, StoreError, TransactionKey,
};
use serde::Serialize;

/// Lists that may fail one after the other until a pass begins anew: its cursor may have ended.
const MAX_FAILURES: u32 = 5;
/// Calls that a page needs at most, beside reads of records.
const CALLS_OF_A_PAGE: u32 = 5;

/// What became of a call of [`reconcile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reached {
    /// A pass ended: the ledger is complete up to two minutes before it began.
    Complete,
    /// A pass is under way: the next call goes on with it.
    Part,
    /// Somebody else works at it.
    Busy,
    /// The last pass was not long ago.
    NotDue,
}

/// When a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// An hour after the last one began; a day where KV has many records.
    Due,
    /// Now.
    Now,
}

/// What a pass has found, and mended where it could.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Records without a row.
    pub missing: usize,
    /// Rows that differ from their records.
    pub wrong: usize,
    /// Rows without a record.
    pub gone: usize,
    /// Records that cannot be read.
    pub damaged: usize,
    /// Rows that break a rule of the tables.
    pub refused: usize,
}

impl Counts {
    pub(super) fn add(&mut self, findings: &[Finding]) {
        for finding in findings {
            *match finding.kind {
                FindingKind::Damaged => &mut self.damaged,
                FindingKind::Gone => &mut self.gone,
                FindingKind::Refused => &mut self.refused,
            } += 1;
        }
    }
}

/// Why a call failed.
pub(super) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Goes on with a pass, or begins one, with about so many calls of KV and ledger. `holder` is a text that nobody else has.
///
/// # Errors
/// If the ledger or the store does not answer. The next call goes on.
pub async fn reconcile(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    whose: (&str, When),
    calls: u32,
) -> Result<(Reached, State)> {
    count(ledger, store, clock, whose, calls, &mut Counts::default()).await
}

/// As [`reconcile`], and counts what it finds.
///
/// # Errors
/// As [`reconcile`].
pub(super) async fn count(
    ledger: &dyn Ledger,
    store: &impl OperatorStore,
    clock: &impl Clock,
    (holder, when): (&str, When),
    calls: u32,
    counts: &mut Counts,
) -> Result<(Reached, State)> {
    let now = clock.now_ms();
    let state = super::state(ledger).await?;
    let due = if when == When::Now { now } else { now.saturating_sub(state.interval_ms()) };
    let take = Take { holder, now, lease: now + LEASE_MS, due };
    let Some(state) = ask(ledger, &take).await?.into_iter().next() else {
        let is_busy = state.lease >= now && !state.holder.is_empty();
        return Ok((if is_busy { Reached::Busy } else { Reached::NotDue }, state));
    };
    let mut pass = Pass { ledger, store, clock, holder, state, counts, calls };
    let reached = pass.go_on().await;
    if !matches!(reached, Ok(Reached::Complete)) {
        ask(ledger, &Release { holder }).await?;
    }
    Ok((reached?, super::state(ledger).await?))
}

/// A pass over the transactions.
pub(super) struct Pass<'p, S, C> {
    pub ledger: &'p dyn Ledger,
    pub store: &'p S,
    pub clock: &'p C,
    holder: &'p str,
    pub state: State,
    pub counts: &'p mut Counts,
    /// Calls that are left.
    pub calls: u32,
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    async fn go_on(&mut self) -> Result<Reached> {
        while self.calls >= CALLS_OF_A_PAGE {
            let page = self.list().await?;
            let next = page.cursor.clone();
            self.compare(page).await?;
            self.state.cursor = next;
            if self.state.cursor.is_none() {
                return self.finish().await;
            }
            if !self.save().await? {
                return Ok(Reached::Busy);
            }
        }
        Ok(Reached::Part)
    }

    /// The next page of KV. After some failures the pass ends, and the next one begins anew.
    async fn list(&mut self) -> Result<Page> {
        self.calls = self.calls.saturating_sub(1);
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

// ---- The end of a pass ---------------------------------------------------------------------------

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// Imports the claims, and ends the pass.
    async fn finish(&mut self) -> Result<Reached> {
        self.import(Kind::Settlement, SettlementKey::PREFIX).await?;
        self.import(Kind::Member, MemberKey::PREFIX).await?;
        let pass = self.state.started.unwrap_or_default();
        let (holder, now) = (self.holder, self.clock.now_ms());
        self.save().await?;
        let end = End { holder, now, is_whole: true };
        let statements = [end.statement()?, Forget { pass }.statement()?];
        let answers = self.ledger.run(&statements).await?;
        let is_ours = answers.first().is_some_and(|rows| !rows.is_empty());
        Ok(if is_ours { Reached::Complete } else { Reached::Busy })
    }

    async fn import(&mut self, kind: Kind, prefix: &str) -> Result<()> {
        let (mut after, mut cursor) = (String::new(), None);
        loop {
            let page = self.store.list(prefix, cursor.as_deref()).await?;
            let own = page.records.iter().filter_map(|record| record.name.strip_prefix(prefix));
            let names: Vec<_> = own.map(str::to_owned).collect();
            let until = page.cursor.as_ref().and(names.last()).cloned();
            let now = self.clock.now_ms();
            let import = claims::Import {
                kind,
                after: &after,
                until: until.as_deref(),
                names: &names,
                unless_since: now.saturating_sub(SHOWN_AFTER_MS),
                now,
            };
            claims::import(self.ledger, import).await?;
            (after, cursor) = (until.unwrap_or(after), page.cursor);
            if cursor.is_none() {
                return Ok(());
            }
        }
    }
}
