//! The reconciliation with Workers KV: makes the ledger complete, and says up to when it is.
//!
//! A pass lists all transactions of KV and compares them with the rows, page by page. It goes on where it ended, within a
//! number of calls for each time, so that an invocation of the Worker is enough for it.

use super::claims::{self, Import, Kind};
use super::entry::{self, Entry, Origin};
use super::receive::{RecordedKey, entry_of};
use super::state::{
    End, Finding, FindingKind, Forget, LEASE_MS, Note, Part, Progress, Release, SHOWN_AFTER_MS,
    State, Take,
};
use super::{Ledger, LedgerError, Query, ask};
use crate::auth::check_id;
use crate::handle::Clock;
use crate::pledge::TransactionId;
use crate::store::{
    Key, Listed, MAX_READS, MemberKey, OperatorStore, Page, Recorded, SettlementKey, StoreError,
    TransactionKey,
};
use crate::time::parse_ms;
use serde::Serialize;
use std::collections::BTreeSet;

/// Lists that may fail one after the other until a pass begins anew: its cursor may have ended.
const MAX_FAILURES: u32 = 5;
/// Most bytes of records that are read together.
const MAX_BYTES_READ: usize = 8 * 1024 * 1024;
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
    fn add(&mut self, findings: &[Finding]) {
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
type Result<T, E = StoreError> = std::result::Result<T, E>;

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
    let due = if when == When::Now { now + 1 } else { now.saturating_sub(state.interval_ms()) };
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
struct Pass<'p, S, C> {
    ledger: &'p dyn Ledger,
    store: &'p S,
    clock: &'p C,
    holder: &'p str,
    state: State,
    counts: &'p mut Counts,
    /// Calls that are left.
    calls: u32,
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    async fn go_on(&mut self) -> Result<Reached> {
        while self.calls >= CALLS_OF_A_PAGE {
            let page = self.list().await?;
            self.state.cursor.clone_from(&page.cursor);
            self.compare(page).await?;
            if self.state.cursor.is_none() {
                match self.state.part.next() {
                    Some(part) => self.state.part = part,
                    None => return self.finish().await,
                }
            }
            if !self.save().await? {
                return Ok(Reached::Busy);
            }
        }
        Ok(Reached::Part)
    }

    /// Compares a page with what the ledger has of its span. A page without names, of which KV has many where much was
    /// removed, has none.
    async fn compare(&mut self, page: Page) -> Result<()> {
        if page.records.is_empty() && page.cursor.is_some() {
            return Ok(());
        }
        let until = last_name(&page, self.prefix());
        match self.state.part {
            Part::Transactions => self.compare_rows(page, until.as_deref()).await?,
            Part::Settlements => self.import(Kind::Settlement, &page, until.as_deref()).await?,
            Part::Members => self.import(Kind::Member, &page, until.as_deref()).await?,
        }
        self.state.after = until.unwrap_or_default();
        Ok(())
    }

    fn prefix(&self) -> &'static str {
        match self.state.part {
            Part::Transactions => TransactionKey::PREFIX,
            Part::Settlements => SettlementKey::PREFIX,
            Part::Members => MemberKey::PREFIX,
        }
    }

    /// The next page of KV. After some failures the pass ends, and the next one begins anew.
    async fn list(&mut self) -> Result<Page> {
        self.calls = self.calls.saturating_sub(1);
        let page = self.store.list(self.prefix(), self.state.cursor.as_deref()).await;
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
        let State { part, cursor, after, listed, mended, failures, .. } = &self.state;
        let progress = Progress {
            holder: self.holder,
            lease: self.clock.now_ms() + LEASE_MS,
            part: *part,
            cursor: cursor.as_deref(),
            after,
            listed: *listed,
            mended: *mended,
            failures: *failures,
        };
        Ok(!ask(self.ledger, &progress).await?.is_empty())
    }

    /// Compares a page of transactions with the rows of its span, and mends them.
    async fn compare_rows(&mut self, page: Page, until: Option<&str>) -> Result<()> {
        let (mut listed, mut findings) = (Vec::with_capacity(page.records.len()), Vec::new());
        for record in &page.records {
            match read(record) {
                Some(seen) => listed.push(seen),
                None => findings.push(damaged(&record.name)),
            }
        }
        self.state.listed += page.records.len() as u64;
        let names = page.records.iter().map(|record| &*record.name);
        let ids: Vec<_> =
            names.filter_map(|name| name.strip_prefix(TransactionKey::PREFIX)).collect();
        let (gone, unknown) = self.differences(&ids, until).await?;
        let written = self.write(listed, &mut findings).await?;
        let missing = written.iter().filter(|id| unknown.contains(*id)).count();
        self.counts.missing += missing;
        self.counts.wrong += written.len() - missing;
        self.remove(gone, &mut findings).await?;
        self.note(&findings).await
    }
}

// ---- A page --------------------------------------------------------------------------------------

/// A transaction of a page, and how many bytes its record has.
struct Seen {
    recorded: Recorded,
    bytes: usize,
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// The IDs of rows of the span that KV does not list, and should, as their transactions were there before the pass
    /// began; and the IDs of the list that have no row.
    async fn differences(
        &mut self,
        ids: &[&str],
        until: Option<&str>,
    ) -> Result<(Vec<String>, BTreeSet<String>)> {
        self.calls = self.calls.saturating_sub(1);
        let started = self.state.started.unwrap_or_default();
        let (after, before) = (&*self.state.after, started.saturating_sub(SHOWN_AFTER_MS));
        let span = Span { after, until, before, ids };
        let answers =
            self.ledger.run(&[Unlisted(&span).statement()?, Unknown(&span).statement()?]).await?;
        let [unlisted, unknown] = answers.as_slice() else {
            return Err(LedgerError::Damaged.into());
        };
        Ok((Unlisted::rows(unlisted)?, Unknown::rows(unknown)?.into_iter().collect()))
    }

    /// Returns the IDs of the rows that it has written.
    async fn write(
        &mut self,
        listed: Vec<Seen>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        let (known, unread): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|seen| seen.recorded.summary.quantities.is_some());
        let mut entries = Vec::with_capacity(known.len());
        for Seen { recorded, .. } in known {
            let name = TransactionKey(&recorded.id).name();
            let quantities = recorded.summary.quantities.clone().unwrap_or_default();
            match Entry::new(&recorded, quantities) {
                Some(entry) => entries.push(entry),
                None => findings.push(damaged(&name)),
            }
        }
        let mut written = self.keep(&entries, findings).await?;
        written.extend(self.read(unread, findings).await?);
        Ok(written)
    }

    /// Reads the records of those whose quantities are not in the metadata, unless their rows are there.
    async fn read(
        &mut self,
        mut unread: Vec<Seen>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        if unread.is_empty() {
            return Ok(Vec::new());
        }
        self.calls = self.calls.saturating_sub(1);
        let asked = unread.iter().map(|seen| Asked::new(&seen.recorded)).collect();
        let missing = ask(self.ledger, &Missing { asked }).await?;
        let missing: BTreeSet<&str> = missing.iter().map(String::as_str).collect();
        unread.retain(|seen| missing.contains(seen.recorded.id.as_str()));
        let mut written = Vec::new();
        for some in by_size(&unread) {
            let entries = self.entries_of(some, findings).await?;
            written.extend(self.keep(&entries, findings).await?); // each row can be as large as its record
        }
        Ok(written)
    }

    async fn entries_of(
        &mut self,
        seen: &[Seen],
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<Entry>> {
        self.calls = self.calls.saturating_sub(1);
        let keys: Vec<_> = seen.iter().map(|seen| TransactionKey(&seen.recorded.id)).collect();
        let values = self.store.get_values(&keys).await?;
        let mut entries = Vec::with_capacity(seen.len());
        for (Seen { recorded, .. }, value) in seen.iter().zip(values) {
            let Some(value) = value else { continue }; // it was removed just now
            match entry_of(recorded, &value) {
                Some(entry) => entries.push(entry),
                None => findings.push(damaged(&TransactionKey(&recorded.id).name())),
            }
        }
        Ok(entries)
    }

    /// Writes rows. One that breaks a constraint becomes a finding.
    async fn keep(
        &mut self,
        entries: &[Entry],
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        self.calls = self.calls.saturating_sub(1);
        let now = self.clock.now_ms();
        let origin = Origin::Record { unless_since: now.saturating_sub(SHOWN_AFTER_MS) };
        let (written, refused) = entry::write_all(self.ledger, entries, origin, now).await?;
        self.state.mended += written.len() as u64;
        findings.extend(refused);
        Ok(written)
    }

    /// Removes rows whose records are gone, after a look at each.
    async fn remove(&mut self, unlisted: Vec<String>, findings: &mut Vec<Finding>) -> Result<()> {
        let mut gone = Vec::new();
        for id in unlisted {
            let Some(parsed) = TransactionId::parse(&id) else { continue };
            self.calls = self.calls.saturating_sub(1);
            if self.store.get(&RecordedKey(&parsed)).await?.is_none() {
                gone.push(id);
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        let (pass, now) = (self.state.started.unwrap_or_default(), self.clock.now_ms());
        let removed = entry::remove(self.ledger, &gone, pass, now).await?;
        self.state.mended += removed.len() as u64;
        findings.extend(removed.into_iter().map(|row| Finding {
            kind: FindingKind::Gone,
            found: 0,
            detail: serde_json::to_string(&row).unwrap_or_default(),
            name: row.id,
        }));
        Ok(())
    }

    async fn note(&mut self, findings: &[Finding]) -> Result<()> {
        self.counts.add(findings);
        if findings.is_empty() {
            return Ok(());
        }
        self.calls = self.calls.saturating_sub(1);
        let pass = self.state.started.unwrap_or_default();
        ask(self.ledger, &Note { now: self.clock.now_ms(), pass, findings }).await?;
        Ok(())
    }
}

/// The name that a page ends with, without its prefix; `None` on the last page.
fn last_name(page: &Page, prefix: &str) -> Option<String> {
    page.cursor.as_ref()?;
    page.records.last()?.name.strip_prefix(prefix).map(str::to_owned)
}

fn read(Listed { name, metadata, .. }: &Listed) -> Option<Seen> {
    let id = TransactionKey::parse(name)?;
    let recorded = Recorded::from_metadata(id, metadata).ok()?;
    let bytes = metadata.get("bytes").and_then(serde_json::Value::as_u64);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(TransactionKey::MAX_BYTES);
    Some(Seen { recorded, bytes })
}

fn damaged(name: &str) -> Finding {
    let (kind, name) = (FindingKind::Damaged, name.to_owned());
    Finding { kind, name, found: 0, detail: String::new() }
}

/// As many records at a time as are read together.
fn by_size(seen: &[Seen]) -> Vec<&[Seen]> {
    let (mut parts, mut rest) = (Vec::new(), seen);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take(MAX_READS).take_while(|seen| {
            bytes += seen.bytes;
            bytes <= MAX_BYTES_READ
        });
        let (part, others) = rest.split_at(fits.count().clamp(1, rest.len()));
        parts.push(part);
        rest = others;
    }
    parts
}

/// A page of the list: its IDs, and the span that they are all of.
#[derive(Serialize)]
struct Span<'a> {
    after: &'a str,
    until: Option<&'a str>,
    before: u64,
    ids: &'a [&'a str],
}

/// The rows of a span that are not listed.
#[derive(Serialize)]
struct Unlisted<'a>(&'a Span<'a>);

impl Query for Unlisted<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(id) FROM transactions
WHERE id > ?1 ->> '$.after' AND id <= ifnull(?1 ->> '$.until', '~') AND created < ?1 ->> '$.before'
  AND id NOT IN (SELECT value FROM json_each(?1, '$.ids'))";
}

/// The IDs of a list that have no row.
#[derive(Serialize)]
struct Unknown<'a>(&'a Span<'a>);

impl Query for Unknown<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(listed.value) FROM json_each(?1, '$.ids') listed
WHERE NOT EXISTS (SELECT 1 FROM transactions WHERE id = listed.value)";
}

/// Transactions that have no row, or one of another time or before their erasure.
#[derive(Serialize)]
struct Missing {
    asked: Vec<Asked>,
}

#[derive(Serialize)]
struct Asked {
    id: String,
    created: Option<u64>,
    is_erased: bool,
}

impl Asked {
    fn new(recorded: &Recorded) -> Self {
        Asked {
            id: recorded.id.to_string(),
            created: recorded.summary.created_at.as_deref().and_then(parse_ms),
            is_erased: recorded.summary.erased.is_some(),
        }
    }
}

impl Query for Missing {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(asked.value ->> '$.id')
FROM json_each(?1, '$.asked') asked LEFT JOIN transactions t ON t.id = asked.value ->> '$.id'
WHERE t.id IS NULL OR t.created IS NOT asked.value ->> '$.created'
  OR (t.erased IS NULL AND asked.value ->> '$.is_erased')";
}

// ---- Claims, and the end of a pass --------------------------------------------------------------

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// Brings claims in line with a page of records.
    async fn import(&mut self, kind: Kind, page: &Page, until: Option<&str>) -> Result<()> {
        self.calls = self.calls.saturating_sub(1);
        let is_ours = |name: &str| match kind {
            Kind::Settlement => SettlementKey::parse(name).is_some_and(|it| is_id(it.unit)),
            Kind::Member => {
                MemberKey::parse(name).is_some_and(|it| is_id(it.team) && is_id(it.unit))
            }
        };
        let own = page.records.iter().filter(|record| is_ours(&record.name));
        let names: Vec<_> =
            own.filter_map(|record| record.name.strip_prefix(self.prefix())).collect();
        let span = (&*self.state.after, until);
        let import = Import::new(kind, span, &names, self.clock.now_ms());
        Ok(claims::import(self.ledger, &import).await?)
    }

    async fn finish(&mut self) -> Result<Reached> {
        let pass = self.state.started.unwrap_or_default();
        let (holder, now) = (self.holder, self.clock.now_ms());
        self.save().await?;
        let end = End { holder, now, is_whole: true };
        let statements = [end.statement()?, Forget { pass }.statement()?];
        let answers = self.ledger.run(&statements).await?;
        let is_ours = answers.first().is_some_and(|rows| !rows.is_empty());
        Ok(if is_ours { Reached::Complete } else { Reached::Busy })
    }
}

/// Whether a part of a name is an ID of ours. The names of a page are then some 300 KB at most.
fn is_id(text: &str) -> bool {
    check_id(text).is_ok()
}
