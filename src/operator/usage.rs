//! Sums of a shop, which is a unit in a mode, by month: counted in steps, and kept once a month has ended.
//!
//! A list of a shop's transactions has all its months, so that one pass over it sums them all.

use super::payments::settlements;
use super::transactions::{Damaged, Listing, Position, Row, Total, Wanted};
use super::{OperatorError, Result, names, put_record, read_values, secret};
use crate::auth::check_id;
use crate::decimal::Decimal;
use crate::handle::Clock;
use crate::hash::first_bytes;
use crate::pledge::CurrencyCode;
use crate::scope::{Mode, Scope};
use crate::secret::NamespaceSecret;
use crate::settlement::{Month, SettledSum, Settlement};
use crate::store::{Key as _, OperatorStore, TransactionKey, UsageKey, decode};
use crate::time::date_time;
use hmac::Mac as _;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use subtle::ConstantTimeEq as _;

/// What a shop has used in a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonthUsage {
    /// The month.
    pub month: Month,
    /// One for each currency.
    pub sums: Vec<SettledSum>,
    /// Number of transactions.
    pub transactions: u64,
    /// When the count began, an RFC 3339 date-time.
    pub counted_at: String,
    /// What was paid; `None` if the month is not marked as paid.
    pub settled: Option<Settlement>,
}

/// The record of a month's sums.
#[derive(Serialize, Deserialize)]
struct Kept {
    sums: Vec<SettledSum>,
    transactions: u64,
    at: String,
}

impl Kept {
    fn into_usage(self, month: Month, settled: Option<Settlement>) -> MonthUsage {
        let Kept { sums, transactions, at } = self;
        MonthUsage { month, sums, transactions, counted_at: at, settled }
    }
}

/// The months of a shop that were counted since they ended, the newest first, from a list call and two
/// reads for each 100; those of the last minute may be missing. One whose record cannot be read is left
/// out, as one that was not counted yet.
///
/// # Errors
/// If the unit's ID is out of bounds, a settlement is damaged, or the store fails.
pub async fn kept(store: &impl OperatorStore, unit: &str, mode: Mode) -> Result<Vec<MonthUsage>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let mut months = names(store, UsageKey::shop_prefix(mode, unit), |name| {
        UsageKey::parse(name).filter(|key| key.unit == unit).map(|key| key.month)
    })
    .await?;
    months.reverse();
    let keys: Vec<_> = months.iter().map(|month| UsageKey { mode, unit, month: *month }).collect();
    let records = read_values(store, &keys).await?;
    let settlements = settlements(store, unit, mode, months).await?;
    let pairs = records.into_iter().zip(settlements);
    let usage = pairs.filter_map(|(record, (month, settled))| {
        let kept: Kept = decode(UsageKey::KIND, &record?).ok()?;
        Some(kept.into_usage(month, settled))
    });
    Ok(usage.collect())
}

// ---- Count ---------------------------------------------------------------------------------------

/// What a step of a count has come to.
#[derive(Clone, Debug, Serialize)]
pub struct CountStep {
    /// All months of the shop, the newest first, also those that go on; empty until the last step.
    pub months: Vec<MonthUsage>,
    /// Number of transactions that were listed in all steps.
    pub listed: usize,
    /// Records of all steps that are in no sum.
    pub damaged: Damaged,
    /// What the next step goes on with; `None` at the end.
    #[serde(skip)]
    pub next: Option<Partial>,
}

/// Sums the transactions of a shop by month, with at most so many list calls, and at least one. Goes on
/// with what the step before came to. The last step keeps the sums of the months that have ended when
/// the first one began: a record for each.
///
/// # Errors
/// If the unit's ID is out of bounds; if `partial` is of another shop, or was changed; if it would be too
/// long, by some hundred months; if a settlement is damaged; or if the store fails.
pub async fn count_step(
    store: &impl OperatorStore,
    clock: &impl Clock,
    unit: &str,
    mode: Mode,
    partial: Option<&Partial>,
    lists: usize,
) -> Result<CountStep> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let shop = Scope { mode, unit: unit.to_owned() };
    let mut count = match partial {
        Some(partial) => partial.open(&seal_of(store).await?, &shop)?,
        None => Count { began_ms: clock.now_ms(), ..Count::default() },
    };
    let next = count.go_on(store, &shop, lists).await?;
    let (listed, damaged) = (count.listed, count.damaged.clone());
    match next {
        Some(position) => {
            let partial = Partial::seal(&seal_of(store).await?, &shop, &count.at(&position))?;
            Ok(CountStep { months: Vec::new(), listed, damaged, next: Some(partial) })
        }
        None => {
            Ok(CountStep { months: count.finish(store, &shop).await?, listed, damaged, next: None })
        }
    }
}

/// A count so far.
#[derive(Default, Serialize, Deserialize)]
struct Count {
    /// When it began, in milliseconds since 1970.
    began_ms: u64,
    /// Where it goes on: the text of a [`Position`].
    position: String,
    listed: usize,
    damaged: Damaged,
    sums: Vec<(Month, SettledSum)>,
}

impl Count {
    fn at(self, position: &Position) -> Self {
        Count { position: position.to_string(), ..self }
    }

    /// Adds the transactions of the next pages; `None` after the last page.
    async fn go_on(
        &mut self,
        store: &impl OperatorStore,
        shop: &Scope,
        lists: usize,
    ) -> Result<Option<Position>> {
        let wanted = Wanted { unit: Some(shop.unit.clone()), mode: Some(shop.mode) };
        let position = Position::parse(&self.position);
        let mut listing = Listing::new(store, wanted.prefixes(), wanted, position.as_ref());
        let mut totals = self.totals()?;
        for _ in 0..lists.max(1) {
            let Some(rows) = listing.next_rows().await? else { break };
            for (amount, row) in rows {
                match Month::of(&row.created_at) {
                    Some(month) => totals.add((month, row.currency_code), &row, amount),
                    None => listing.damaged.add([TransactionKey::PREFIX, &row.id].concat()),
                }
            }
            totals.add_up();
        }
        self.listed += listing.listed;
        self.damaged.extend(listing.damaged);
        let sums = totals.0.into_iter();
        self.sums = sums.map(|((month, code), total)| (month, total.into_settled(code))).collect();
        Ok(listing.position)
    }

    fn totals(&mut self) -> Result<Totals> {
        let sums = std::mem::take(&mut self.sums).into_iter();
        let total = |(month, sum): (Month, SettledSum)| {
            let code = CurrencyCode::from_code(&sum.currency_code)?;
            Some(((month, code), Total::of(&sum)?))
        };
        Ok(Totals(sums.map(|sum| total(sum).ok_or_else(begin_again)).collect::<Result<_>>()?))
    }

    /// Keeps the sums of the months that had ended when it began.
    async fn finish(self, store: &impl OperatorStore, shop: &Scope) -> Result<Vec<MonthUsage>> {
        let Scope { mode, unit } = shop;
        let at = date_time(self.began_ms);
        let months: Vec<_> = self.sums.chunk_by(|(a, _), (b, _)| a == b).rev().collect();
        let names = months.iter().filter_map(|sums| sums.first()).map(|(month, _)| *month);
        let mut usage = Vec::new();
        let settlements = settlements(store, unit, *mode, names.collect()).await?;
        for (sums, (month, settled)) in months.into_iter().zip(settlements) {
            let sums: Vec<_> = sums.iter().map(|(_, sum)| sum.clone()).collect();
            let transactions = sums.iter().map(|sum| sum.transactions).sum();
            let kept = Kept { sums, transactions, at: at.clone() };
            if month.has_ended(self.began_ms) {
                put_record(store, &UsageKey { mode: *mode, unit, month }, &kept).await?;
            }
            usage.push(kept.into_usage(month, settled));
        }
        Ok(usage)
    }
}

/// Sums that are not finished, sorted by month and currency. A shop has few hundred of them: a map would
/// take more code.
struct Totals(Vec<((Month, CurrencyCode), Total)>);

impl Totals {
    fn add(&mut self, group: (Month, CurrencyCode), row: &Row, amount: Decimal) {
        let place = self.0.binary_search_by(|(other, _)| other.cmp(&group));
        let place = place.unwrap_or_else(|place| {
            self.0.insert(place, (group, Total::default()));
            place
        });
        if let Some((_, total)) = self.0.get_mut(place) {
            total.add(row, amount);
        }
    }

    fn add_up(&mut self) {
        self.0.iter_mut().for_each(|(_, total)| total.add_up());
    }
}

// ---- One month -----------------------------------------------------------------------------------

/// A month of a shop, summed anew.
#[derive(Clone, Debug, Default)]
pub struct MonthSum {
    /// One for each currency, sorted by it.
    pub sums: Vec<SettledSum>,
    /// Transactions with a pledge that has no price, as many as were asked for.
    pub unpriced: Vec<Row>,
    /// Records of the shop, of any month, that are in no sum.
    pub damaged: Damaged,
    /// Whether the list calls did not reach all transactions of the shop.
    pub is_cut: bool,
}

/// Sums the transactions that a shop made in a month, with at most so many list calls. Kept sums are not
/// looked at.
///
/// # Errors
/// If the store fails.
pub async fn sum_month(
    store: &impl OperatorStore,
    shop: (&str, Mode),
    month: Month,
    lists: usize,
    most_unpriced: usize,
) -> Result<MonthSum> {
    let wanted = Wanted { unit: Some(shop.0.to_owned()), mode: Some(shop.1) };
    let mut listing = Listing::new(store, wanted.prefixes(), wanted, None);
    let mut totals = Totals(Vec::new());
    let mut unpriced = Vec::new();
    for _ in 0..lists {
        let Some(rows) = listing.next_rows().await? else { break };
        for (amount, row) in rows {
            if Month::of(&row.created_at) != Some(month) {
                continue;
            }
            totals.add((month, row.currency_code), &row, amount);
            if row.unpriced > 0 && unpriced.len() < most_unpriced {
                unpriced.push(row);
            }
        }
        totals.add_up();
    }
    let sums = totals.0.into_iter().map(|((_, code), total)| total.into_settled(code)).collect();
    Ok(MonthSum { sums, unpriced, is_cut: listing.position.is_some(), damaged: listing.damaged })
}

// ---- Between two steps ---------------------------------------------------------------------------

/// Most bytes of the text of a count, so that a form of 64 KiB has room for it percent-encoded. It takes
/// about 100 for each month and currency.
const MAX_PARTIAL_BYTES: usize = 32 * 1024;
/// Bytes of the seal: 128 bits.
const SEAL_BYTES: usize = 16;

/// What a step of a count came to, as a text for a hidden field of a form. It has a seal, so that nobody
/// keeps other sums than those that were counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    seal: String,
    count: String,
}

impl Partial {
    /// Takes the text of a count; `None` if it cannot be one. [`count_step`] checks its seal.
    pub fn parse(text: &str) -> Option<Self> {
        let (seal, count) = text.split_once('.').filter(|_| text.len() <= MAX_PARTIAL_BYTES)?;
        let has_length = seal.len() == 2 * SEAL_BYTES;
        has_length.then(|| Partial { seal: seal.to_owned(), count: count.to_owned() })
    }

    fn seal(secret: &NamespaceSecret, shop: &Scope, count: &Count) -> Result<Self> {
        let count = serde_json::to_string(count)?;
        let partial = Partial { seal: seal(secret, shop, &count), count };
        if partial.seal.len() + 1 + partial.count.len() > MAX_PARTIAL_BYTES {
            let unit = &shop.unit;
            return Err(OperatorError::Invalid(format!(
                "the unit `{unit}` has too many months and currencies to count them in steps: \
                 `transactions usage --unit {unit} --month` sums one of them"
            )));
        }
        Ok(partial)
    }

    fn open(&self, secret: &NamespaceSecret, shop: &Scope) -> Result<Count> {
        let expected = seal(secret, shop, &self.count);
        if expected.as_bytes().ct_eq(self.seal.as_bytes()).into() {
            return Ok(serde_json::from_slice(self.count.as_bytes())?);
        }
        Err(begin_again())
    }
}

impl Display for Partial {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.seal, self.count)
    }
}

fn begin_again() -> OperatorError {
    OperatorError::Invalid(
        "nothing was counted: what was counted before is of another shop or release, or was changed; \
         begin again"
            .to_owned(),
    )
}

fn seal(secret: &NamespaceSecret, shop: &Scope, count: &str) -> String {
    let mac = secret.mac("count", shop, [count.as_bytes()]).finalize().into_bytes();
    base16ct::lower::encode_string(&first_bytes::<SEAL_BYTES>(mac))
}

/// The secret that seals a count.
async fn seal_of(store: &impl OperatorStore) -> Result<NamespaceSecret> {
    secret::find(store).await?.ok_or_else(|| {
        OperatorError::Invalid(
            "this namespace has no secret, which seals a count: it is made with the first API key"
                .to_owned(),
        )
    })
}
