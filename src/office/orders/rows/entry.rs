//! The row of a transaction, and how it is written.

use crate::office::shared::rows::port::{Ledger, LedgerError, Query, Result};
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::pledges::decimal::{Decimal, text_as_money};
use crate::pledges::quantities::Quantities;
use crate::pledges::scope::Scope;
use crate::pledges::store::Recorded;
use crate::pledges::time::parse_ms;
use crate::pledges::types::Impact;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Maximum size of the rows in one statement, in bytes: D1 accepts a text of 2 MB.
const MAX_BYTES: usize = 1_500_000;
/// Maximum size of a row's quantities, in bytes, so that one row fits a statement. Larger quantities are left
/// out of the row: those of one transaction can take up to 7 MB.
const MAX_QUANTITIES: usize = 1_400_000;
/// Maximum size of an offering's ID in a row, in bytes. A longer ID is cut, and its hash is appended to keep it
/// distinct.
const MAX_OFFERING: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The transaction's ID.
    pub id: String,
    #[serde(flatten)]
    scope: Scope,
    created: u64,
    currency: &'static str,
    cents: Option<u64>,
    amount: Option<String>,
    unpriced: usize,
    email: Option<String>,
    reference: Option<String>,
    key: Option<String>,
    prices: Option<u64>,
    erased: Option<u64>,
    quantities: Quantities,
    /// Whether the quantities are left out because they are too large.
    #[serde(skip)]
    is_large: bool,
}

impl Entry {
    /// Makes the row of a transaction from its metadata and its pledges. Returns `None` in the same cases as
    /// [`Entry::new`].
    pub fn of_pledges<'i, 'a: 'i>(
        recorded: &Recorded,
        impacts: impl Iterator<Item = &'i Impact<'a>>,
    ) -> Option<Self> {
        let quantities = Quantities::of(impacts, MAX_QUANTITIES);
        let is_large = quantities.is_none();
        let entry = Entry::new(recorded, quantities.unwrap_or_default())?;
        Some(Entry { is_large, ..entry })
    }

    /// Makes the row of a transaction from its metadata. Returns `None` if the metadata has no valid time,
    /// charge or currency.
    ///
    /// `quantities` are the sums of the transaction's pledges. If the sums are small, the metadata's summary
    /// contains them.
    pub fn new(recorded: &Recorded, quantities: Quantities) -> Option<Self> {
        let Recorded { id, scope, summary } = recorded;
        let amount = text_as_money(summary.amount.as_deref()?)?; // a large exponent could take gigabytes of digits
        let amount = Decimal::parse_bounded(&amount)?;
        let cents = amount.units(2);
        let erased = summary.erased.as_deref().and_then(parse_ms);
        let lookup = summary.lookup.as_ref().filter(|_| erased.is_none());
        Some(Entry {
            id: id.to_string(),
            scope: scope.clone(),
            created: parse_ms(summary.created_at.as_deref()?)?,
            currency: summary.currency_code?.code(),
            cents,
            amount: cents.is_none().then(|| amount.to_scientific()),
            unpriced: summary.unpriced.unwrap_or_default(),
            email: lookup.map(|hashes| hashes.email.clone()),
            reference: lookup.map(|hashes| hashes.order.clone()),
            key: summary.key.clone(),
            prices: summary.prices.as_deref().and_then(parse_ms),
            erased,
            quantities: quantities.renamed(offering_in_rows),
            is_large: false,
        })
    }

    /// Returns the newer row of a transaction. If `later` has a later time, returns `later` with the
    /// quantities of this row. Otherwise, returns this row. An erased row is always returned unchanged.
    ///
    /// This row comes from KV, which may not show the newest record yet. Both rows have the same
    /// quantities, because concurrent create requests for one ID have the same payload.
    pub(crate) fn or_later(self, later: Option<Self>) -> Self {
        match later {
            Some(later) if self.erased.is_none() && later.created > self.created => {
                Entry { quantities: self.quantities, is_large: self.is_large, ..later }
            }
            _ => self,
        }
    }

    fn large(&self) -> Finding {
        let (kind, name) = (FindingKind::Large, self.id.clone());
        Finding { kind, name, found: 0, detail: String::new() }
    }

    /// Returns when the transaction was created, in milliseconds since 1970.
    pub fn created_ms(&self) -> u64 {
        self.created
    }
}

/// Returns the quantities of pledges as a row stores them. Long offering IDs are shortened. If the quantities
/// are too large, none are returned.
pub fn stored_quantities<'i, 'a: 'i>(impacts: impl Iterator<Item = &'i Impact<'a>>) -> Quantities {
    Quantities::of(impacts, MAX_QUANTITIES).unwrap_or_default().renamed(offering_in_rows)
}

/// Returns the ID of an offering as rows store it. An ID of more than 256 bytes is shortened.
pub fn offering_in_rows(offering_id: String) -> String {
    if offering_id.len() <= MAX_OFFERING {
        return offering_id;
    }
    let hash = base16ct::lower::encode_string(&Sha256::digest(&offering_id));
    let cut = offering_id.floor_char_boundary(MAX_OFFERING - hash.len() - '…'.len_utf8());
    let (start, _) = offering_id.split_at(cut);
    format!("{start}…{hash}")
}

/// Where a row comes from. This decides whether the row may replace a different row. Whatever the origin, an
/// erased row replaces a row that is not erased, and is never replaced by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A message of the queue. If several create requests for one ID ran at the same time, the latest one
    /// wins.
    Message,
    /// The record in KV, which may be stale. It does not replace a row that was written at `unless_since` or
    /// later.
    Record {
        /// A row that was written at this time or later is newer than the record. Milliseconds since 1970.
        unless_since: u64,
    },
}

/// Writes rows, and returns the IDs of the rows that were new or changed. A statement writes all of its rows
/// or none.
///
/// # Errors
/// If the ledger does not answer, or a row breaks a constraint. Earlier statements may have written their
/// rows.
pub async fn write(
    ledger: &dyn Ledger,
    entries: &[Entry],
    origin: Origin,
    now_ms: u64,
) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for some in chunks(entries)? {
        let unless_since = match origin {
            Origin::Message => None,
            Origin::Record { unless_since } => Some(unless_since),
        };
        let write = Write { now: now_ms, unless_since, entries: some };
        let statements =
            [Scopes(&write).statement()?, Keys(&write).statement()?, Rows(&write).statement()?];
        let answers = ledger.run(&statements).await?;
        written.extend(Rows::rows(answers.get(2).ok_or(LedgerError::Damaged)?)?);
    }
    Ok(written)
}

/// Writes rows as [`write`] does. A row that breaks a constraint is not written, but recorded as a finding.
/// To isolate such a row, a refused statement is split in half again and again. A row whose quantities were
/// left out is written, and also recorded as a finding.
pub async fn write_all(
    ledger: &dyn Ledger,
    entries: &[Entry],
    origin: Origin,
    now_ms: u64,
) -> Result<(Vec<String>, Vec<Finding>)> {
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    let mut parts = vec![entries];
    while let Some(part) = parts.pop() {
        match write(ledger, part, origin, now_ms).await {
            Err(LedgerError::Refused(detail)) => match part {
                [] => {}
                [entry] => refused.push(Finding {
                    kind: FindingKind::Refused,
                    name: entry.id.clone(),
                    found: 0,
                    detail,
                }),
                several => parts.extend(<[_; 2]>::from(several.split_at(several.len() / 2))),
            },
            own => written.extend(own?),
        }
    }
    let mut findings = refused;
    findings.extend(entries.iter().filter(|entry| entry.is_large).map(Entry::large));
    Ok((written, findings))
}

/// Splits rows into parts that each fit one statement.
fn chunks(entries: &[Entry]) -> Result<Vec<&[Entry]>> {
    let (mut chunks, mut rest, mut bytes) = (Vec::new(), entries, 0);
    for (count, entry) in entries.iter().enumerate() {
        let size = serde_json::to_string(entry).map_err(|_| LedgerError::Damaged)?.len();
        bytes += size;
        let begun = entries.len() - rest.len();
        if bytes > MAX_BYTES && count > begun {
            let (full, others) = rest.split_at(count - begun);
            chunks.push(full);
            (rest, bytes) = (others, size);
        }
    }
    chunks.push(rest);
    chunks.retain(|chunk| !chunk.is_empty());
    Ok(chunks)
}

#[derive(Serialize)]
struct Write<'a> {
    now: u64,
    unless_since: Option<u64>,
    entries: &'a [Entry],
}

#[derive(Serialize)]
struct Scopes<'a>(&'a Write<'a>);

impl Query for Scopes<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO scopes (mode, unit)
SELECT DISTINCT value ->> '$.mode', value ->> '$.unit' FROM json_each(?1, '$.entries') WHERE true
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Keys<'a>(&'a Write<'a>);

impl Query for Keys<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO keys (id, scope)
SELECT DISTINCT value ->> '$.key', scope
FROM json_each(?1, '$.entries') CROSS JOIN scopes ON mode = value ->> '$.mode' AND unit = value ->> '$.unit'
WHERE value ->> '$.key' IS NOT NULL
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Rows<'a>(&'a Write<'a>);

impl Query for Rows<'_> {
    type Row = String;
    const SQL: &'static str = "INSERT INTO transactions
  (id, scope, created, currency, cents, amount, unpriced, email, reference, key, prices, erased, changed,
  quantities)
SELECT value ->> '$.id', s.scope, value ->> '$.created', value ->> '$.currency', value ->> '$.cents',
  value ->> '$.amount', value ->> '$.unpriced', value ->> '$.email', value ->> '$.reference',
  (SELECT key FROM keys k WHERE k.id = value ->> '$.key' AND k.scope = s.scope), value ->> '$.prices',
  value ->> '$.erased', ?1 ->> '$.now', value -> '$.quantities'
FROM json_each(?1, '$.entries') CROSS JOIN scopes s ON s.mode = value ->> '$.mode' AND s.unit = value ->> '$.unit'
WHERE true
ON CONFLICT (id) DO UPDATE SET scope = excluded.scope, created = excluded.created, currency = excluded.currency,
  cents = excluded.cents, amount = excluded.amount, unpriced = excluded.unpriced, email = excluded.email,
  reference = excluded.reference, key = excluded.key, prices = excluded.prices, erased = excluded.erased, changed = excluded.changed,
  quantities = excluded.quantities
WHERE CASE
  WHEN transactions.erased IS NOT NULL AND excluded.erased IS NULL THEN false
  WHEN transactions.erased IS NULL AND excluded.erased IS NOT NULL THEN true
  WHEN ?1 ->> '$.unless_since' IS NULL THEN transactions.erased IS NULL AND excluded.created > transactions.created
  ELSE transactions.changed < ?1 ->> '$.unless_since' AND
    (excluded.scope, excluded.created, excluded.currency, excluded.cents, excluded.amount, excluded.unpriced,
      excluded.email, excluded.reference, excluded.key, excluded.prices, excluded.erased, excluded.quantities)
    IS NOT (transactions.scope, transactions.created, transactions.currency, transactions.cents, transactions.amount,
      transactions.unpriced, transactions.email, transactions.reference, transactions.key, transactions.prices,
      transactions.erased, transactions.quantities)
END
RETURNING json_quote(id)";
}
