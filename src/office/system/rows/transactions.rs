//! Compares a page of KV's list of transactions with the ledger's rows in the same range of IDs, and corrects
//! the rows.

use super::findings::{Finding, FindingKind, Note};
use super::receive::RecordedKey;
use super::reconcile::{Pass, Result};
use super::state::SHOWN_AFTER_MS;
use crate::office::orders::rows::entry;
use crate::office::orders::rows::entry::{Entry, Origin};
use crate::office::orders::rows::removal;
use crate::office::shared::rows::port::{LedgerError, Query, ask};
use crate::pledges::service::Clock;
use crate::pledges::store::{Key as _, KeyInfo, ListPage, OperatorStore, Recorded, TransactionKey};
use crate::pledges::time::{DAY_MS, parse_ms};
use crate::pledges::types::TransactionId;
use serde::Serialize;
use std::collections::BTreeSet;

/// How long the row of an erased transaction is kept after the erasure, in milliseconds. Incremental backups
/// need this row, even if the ledger no longer keeps the transaction's month.
const KEPT_ERASED_MS: u64 = 60 * DAY_MS;

/// A transaction on a page of KV's list, and the size of its record in bytes.
pub(crate) struct ListedTransaction {
    pub recorded: Recorded,
    pub bytes: usize,
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// Compares a page of transactions with the rows in the same range of IDs, and corrects the rows.
    pub(crate) async fn compare_rows(&mut self, page: ListPage, until: Option<&str>) -> Result<()> {
        let (mut listed, mut findings) = (Vec::with_capacity(page.records.len()), Vec::new());
        for record in &page.records {
            match read(record) {
                Some(seen) => listed.push(seen),
                None => findings.push(damaged(&record.name)),
            }
        }
        self.state.listed += page.records.len() as u64;
        listed.retain(|seen| seen.is_kept(self.state.kept_from));
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

    /// Returns two lists of IDs: rows that KV does not list, and listed transactions without a row. The first
    /// list leaves out transactions that are too new for KV to list. Also removes the rows of months that the
    /// ledger no longer keeps.
    async fn differences(
        &mut self,
        ids: &[&str],
        until: Option<&str>,
    ) -> Result<(Vec<String>, BTreeSet<String>)> {
        self.calls = self.calls.saturating_sub(1);
        let started = self.state.started.unwrap_or_default();
        let (after, before) = (&*self.state.after, started.saturating_sub(SHOWN_AFTER_MS));
        let (kept_from, erased_before) =
            (self.state.kept_from, started.saturating_sub(KEPT_ERASED_MS));
        let span = Span { after, until, before, kept_from, erased_before, ids };
        let statements =
            [Old(&span).statement()?, Unlisted(&span).statement()?, Unknown(&span).statement()?];
        let answers = self.ledger.run(&statements).await?;
        let [_, unlisted, unknown] = answers.as_slice() else {
            return Err(LedgerError::Damaged.into());
        };
        Ok((Unlisted::rows(unlisted)?, Unknown::rows(unknown)?.into_iter().collect()))
    }

    /// Writes the ledger's rows that are missing or differ from KV. Returns the IDs of the written rows.
    async fn write(
        &mut self,
        listed: Vec<ListedTransaction>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        let (known, unread): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|seen| seen.recorded.summary.quantities.is_some());
        let mut entries = Vec::with_capacity(known.len());
        for ListedTransaction { recorded, .. } in known {
            let name = TransactionKey(&recorded.id).name();
            let quantities = recorded.summary.quantities.clone().unwrap_or_default();
            match Entry::new(&recorded, quantities) {
                Some(entry) => entries.push(entry),
                None => findings.push(damaged(&name)),
            }
        }
        let mut written = self.keep(&entries, findings).await?;
        written.extend(self.read_records(unread, findings).await?);
        Ok(written)
    }

    /// Writes rows. Reports a row that breaks a constraint of the database as a finding.
    pub(crate) async fn keep(
        &mut self,
        entries: &[Entry],
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        self.calls = self.calls.saturating_sub(1);
        let origin = Origin::Record { unless_since: self.asked.saturating_sub(SHOWN_AFTER_MS) };
        let now = self.clock.now_ms();
        let (written, refused) = entry::write_all(self.ledger, entries, origin, now).await?;
        self.state.mended += written.len() as u64;
        findings.extend(refused);
        Ok(written)
    }

    /// Removes rows whose records are gone, after reading each record to confirm that.
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
        let removed = removal::remove(self.ledger, &gone, pass, now).await?;
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

impl ListedTransaction {
    /// Returns whether the ledger keeps this transaction: it was created at the time `from` or later, or
    /// its time cannot be read.
    fn is_kept(&self, from: u64) -> bool {
        let created = self.recorded.summary.created_at.as_deref().and_then(parse_ms);
        created.is_none_or(|created| created >= from)
    }
}

fn read(KeyInfo { name, metadata, .. }: &KeyInfo) -> Option<ListedTransaction> {
    let id = TransactionKey::parse(name)?;
    let recorded = Recorded::from_metadata(id, metadata).ok()?;
    let bytes = metadata.get("bytes").and_then(serde_json::Value::as_u64);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(TransactionKey::MAX_BYTES);
    Some(ListedTransaction { recorded, bytes })
}

pub(crate) fn damaged(name: &str) -> Finding {
    let (kind, name) = (FindingKind::Damaged, name.to_owned());
    Finding { kind, name, found: 0, detail: String::new() }
}

/// A page of KV's list of transactions: its IDs, and the range of IDs that it covers.
#[derive(Serialize)]
struct Span<'a> {
    after: &'a str,
    until: Option<&'a str>,
    before: u64,
    kept_from: u64,
    erased_before: u64,
    ids: &'a [&'a str],
}

/// Removes the rows of months that the ledger no longer keeps. Rows of recently erased transactions stay.
/// Reads no row if the ledger keeps all months.
#[derive(Serialize)]
struct Old<'a>(&'a Span<'a>);

impl Query for Old<'_> {
    type Row = ();
    const SQL: &'static str = "DELETE FROM transactions
WHERE ?1 ->> '$.kept_from' > 0 AND id > ?1 ->> '$.after' AND id <= ifnull(?1 ->> '$.until', '~') AND created < ?1 ->> '$.kept_from'
  AND ifnull(erased, 0) < ?1 ->> '$.erased_before'";
}

/// Selects the rows in the page's range of IDs that KV does not list.
#[derive(Serialize)]
struct Unlisted<'a>(&'a Span<'a>);

impl Query for Unlisted<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(id) FROM transactions
WHERE id > ?1 ->> '$.after' AND id <= ifnull(?1 ->> '$.until', '~') AND created < ?1 ->> '$.before'
  AND id NOT IN (SELECT value FROM json_each(?1, '$.ids'))";
}

#[derive(Serialize)]
struct Unknown<'a>(&'a Span<'a>);

impl Query for Unknown<'_> {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(listed.value) FROM json_each(?1, '$.ids') listed
WHERE NOT EXISTS (SELECT 1 FROM transactions WHERE id = listed.value)";
}
