//! The row of a transaction, and how it is written.

use super::findings::{Finding, FindingKind};
use super::{Ledger, LedgerError, Query, Result};
use crate::decimal::{Decimal, text_as_money};
use crate::quantities::Quantities;
use crate::scope::Mode;
use crate::store::Recorded;
use crate::time::parse_ms;
use serde::{Deserialize, Serialize};

/// Most bytes of the rows of one statement: D1 takes a text of 2 MB.
const MAX_BYTES: usize = 1_500_000;

/// A transaction as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its ID.
    pub id: String,
    mode: Mode,
    unit: String,
    created: u64,
    currency: &'static str,
    cents: Option<u64>,
    amount: Option<String>,
    unpriced: usize,
    email: Option<String>,
    key: Option<String>,
    prices: Option<u64>,
    erased: Option<u64>,
    quantities: Quantities,
}

impl Entry {
    /// Makes the row of a transaction from its metadata; `None` if that lacks time, charge or currency.
    ///
    /// `quantities` are those of its pledges, which the summary has where they fit.
    pub fn new(recorded: &Recorded, quantities: Quantities) -> Option<Self> {
        let Recorded { id, mode, unit, summary } = recorded;
        let amount = text_as_money(summary.amount.as_deref()?)?; // an exponent could need gigabytes
        let amount = Decimal::parse_bounded(&amount)?;
        let cents = amount.units(2);
        let erased = summary.erased.as_deref().and_then(parse_ms);
        let lookup = summary.lookup.as_ref().filter(|_| erased.is_none());
        Some(Entry {
            id: id.to_string(),
            mode: *mode,
            unit: unit.clone(),
            created: parse_ms(summary.created_at.as_deref()?)?,
            currency: summary.currency_code?.code(),
            cents,
            amount: cents.is_none().then(|| amount.to_scientific()),
            unpriced: summary.unpriced.unwrap_or_default(),
            email: lookup.map(|hashes| hashes.email.clone()),
            key: summary.key.clone(),
            prices: summary.prices.as_deref().and_then(parse_ms),
            erased,
            quantities,
        })
    }

    /// Takes the terms of a later create, whose record KV does not show yet: creates that race with one ID have the same
    /// payload, and so the same quantities.
    pub(super) fn or_later(self, later: Option<Self>) -> Self {
        match later {
            Some(later) if self.erased.is_none() && later.created > self.created => {
                Entry { quantities: self.quantities, ..later }
            }
            _ => self,
        }
    }

    /// When it was created, in milliseconds since 1970.
    pub fn created_ms(&self) -> u64 {
        self.created
    }
}

/// Whose word counts where a row differs from an entry. An erasure always counts, and stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A message: of creates that race with one ID the later one counts.
    Message,
    /// The record in KV, which may be shown as it was a while ago: a row that was written since this time, in milliseconds
    /// since 1970, counts more.
    Record {
        /// See above.
        unless_since: u64,
    },
}

/// Writes rows, and returns the IDs of those that were not there like this. The rows of a statement are written together.
///
/// # Errors
/// If the ledger does not answer, or a row breaks a constraint: then some rows may have been written, not all.
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
            [Shops(&write).statement()?, Keys(&write).statement()?, Rows(&write).statement()?];
        let answers = ledger.run(&statements).await?;
        written.extend(Rows::rows(answers.get(2).ok_or(LedgerError::Damaged)?)?);
    }
    Ok(written)
}

/// As [`write`]. Rows that break a constraint become findings: what is refused is halved until they stand alone.
///
/// # Errors
/// If the ledger does not answer.
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
    Ok((written, refused))
}

/// As many rows at a time as one statement takes.
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
struct Shops<'a>(&'a Write<'a>);

impl Query for Shops<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO shops (mode, unit)
SELECT DISTINCT value ->> '$.mode', value ->> '$.unit' FROM json_each(?1, '$.entries') WHERE true
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Keys<'a>(&'a Write<'a>);

impl Query for Keys<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO keys (id, shop)
SELECT DISTINCT value ->> '$.key', shop
FROM json_each(?1, '$.entries') CROSS JOIN shops ON mode = value ->> '$.mode' AND unit = value ->> '$.unit'
WHERE value ->> '$.key' IS NOT NULL
ON CONFLICT DO NOTHING";
}

#[derive(Serialize)]
struct Rows<'a>(&'a Write<'a>);

impl Query for Rows<'_> {
    type Row = String;
    const SQL: &'static str = "INSERT INTO transactions
  (id, shop, created, currency, cents, amount, unpriced, email, key, prices, erased, changed, quantities)
SELECT value ->> '$.id', s.shop, value ->> '$.created', value ->> '$.currency', value ->> '$.cents',
  value ->> '$.amount', value ->> '$.unpriced', value ->> '$.email',
  (SELECT key FROM keys k WHERE k.id = value ->> '$.key' AND k.shop = s.shop), value ->> '$.prices',
  value ->> '$.erased', ?1 ->> '$.now', value -> '$.quantities'
FROM json_each(?1, '$.entries') CROSS JOIN shops s ON s.mode = value ->> '$.mode' AND s.unit = value ->> '$.unit'
WHERE true
ON CONFLICT (id) DO UPDATE SET shop = excluded.shop, created = excluded.created, currency = excluded.currency,
  cents = excluded.cents, amount = excluded.amount, unpriced = excluded.unpriced, email = excluded.email,
  key = excluded.key, prices = excluded.prices, erased = excluded.erased, changed = excluded.changed,
  quantities = excluded.quantities
WHERE CASE
  WHEN transactions.erased IS NOT NULL AND excluded.erased IS NULL THEN false
  WHEN transactions.erased IS NULL AND excluded.erased IS NOT NULL THEN true
  WHEN ?1 ->> '$.unless_since' IS NULL THEN transactions.erased IS NULL AND excluded.created > transactions.created
  ELSE transactions.changed < ?1 ->> '$.unless_since' AND
    (excluded.shop, excluded.created, excluded.currency, excluded.cents, excluded.amount, excluded.unpriced,
      excluded.email, excluded.key, excluded.prices, excluded.erased, excluded.quantities)
    IS NOT (transactions.shop, transactions.created, transactions.currency, transactions.cents, transactions.amount,
      transactions.unpriced, transactions.email, transactions.key, transactions.prices, transactions.erased,
      transactions.quantities)
END
RETURNING json_quote(id)";
}

// ---- Rows whose record is gone -------------------------------------------------------------------

/// Removes rows, and names each among the findings of a pass, both or neither: what ends in between would leave a sum that
/// changed without a reason. Returns the rows.
///
/// # Errors
/// If the ledger does not answer.
pub async fn remove(
    ledger: &dyn Ledger,
    ids: &[String],
    pass: u64,
    now_ms: u64,
) -> Result<Vec<Removed>> {
    let remove = Remove { ids, pass, now: now_ms };
    let answers = ledger.run(&[Name(&remove).statement()?, remove.statement()?]).await?;
    Remove::rows(answers.get(1).ok_or(LedgerError::Damaged)?)
}

/// A row that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The transaction's ID.
    pub id: String,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// The code of its currency.
    pub currency: String,
    /// Its charge in cents; `None` if that is larger than 9 × 10^15.
    pub cents: Option<u64>,
}

#[derive(Serialize)]
struct Name<'a>(&'a Remove<'a>);

impl Query for Name<'_> {
    type Row = ();
    const SQL: &'static str = "INSERT INTO findings (kind, name, found, pass, detail)
SELECT 'gone', id, ?1 ->> '$.now', ?1 ->> '$.pass',
  json_object('id', id, 'created', created, 'currency', currency, 'cents', cents)
FROM transactions WHERE id IN (SELECT value FROM json_each(?1, '$.ids'))
ON CONFLICT DO UPDATE SET found = excluded.found, pass = excluded.pass, detail = excluded.detail";
}

#[derive(Serialize)]
struct Remove<'a> {
    ids: &'a [String],
    pass: u64,
    now: u64,
}

impl Query for Remove<'_> {
    type Row = Removed;
    const SQL: &'static str =
        "DELETE FROM transactions WHERE id IN (SELECT value FROM json_each(?1, '$.ids'))
RETURNING json_object('id', id, 'created', created, 'currency', currency, 'cents', cents)";
}
