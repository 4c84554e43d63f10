//! Fulfilments: what was done for pledges, such as trees that were planted, and what is still to be done.

use super::audit::{Author, is_line};
use super::coverage::{Coverage, DamagedRecords, coverage_of_quantities};
use super::once::{Done, StoredAsIs, once};
use super::{OperatorError, Result, bound};
use crate::decimal::Decimal;
use crate::ledger::fulfilments::{self, Fulfilment, MAX_FULFILMENTS, NewFulfilment};
use crate::ledger::{self, Ledger, OfferingSum};
use crate::recipient::WebAddress;
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::settlement::Month;
use crate::store::OperatorStore;
use crate::time::parse_ms;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const ADD: &str = "fulfilments add";
const REMOVE: &str = "fulfilments remove";
/// Largest number of bytes of a partner's name, and of a place.
const MAX_LINE: usize = 200;
/// Largest number of bytes of an offering's ID. The ledger shortens longer IDs to this size.
const MAX_OFFERING: usize = 256;
/// Largest number of offerings among which an offering's balance is searched.
const MAX_SEARCHED: usize = 10_000;
/// Number of hexadecimal digits in a fulfilment's ID.
const ID_DIGITS: usize = 20;

impl StoredAsIs for Fulfilment {}

// ---- Record and remove ---------------------------------------------------------------------------

/// Records what was done for the pledges of a month. Ledger cost: 3 calls. KV cost: 1 write.
///
/// # Errors
/// - If a member is not valid: a quantity above 0, a day that is not in the future, lines of 1 to 200 bytes, a web
///   address.
/// - If the offering already has [`MAX_FULFILMENTS`] fulfilments in the month.
/// - If no ledger is bound, or the ledger or the store fails.
pub async fn add(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    new: &NewFulfilment,
) -> Result<Done<Fulfilment>> {
    let database = bound(ledger)?;
    let new = checked(new, author.clock)?;
    let work = async |author: &Author<'_, _, _>| record(store, database, author, &new).await;
    once(store, ledger, author, (ADD, &new), work).await
}

async fn record(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    new: &NewFulfilment,
) -> Result<Fulfilment> {
    let id = id_of(author);
    if author.earlier.is_some()
        && let Some(recorded) = fulfilments::get(ledger, &id).await?
    {
        return Ok(recorded);
    }
    let now_ms = author.clock.now_ms();
    let entry = author.begin_entry(store, ADD, |_| vec![id.clone(), in_words(new)]).await?;
    match fulfilments::add(ledger, &id, new, author.by, now_ms).await? {
        Some(recorded) => Ok(recorded),
        None => {
            author.withdraw(store, &entry).await;
            Err(refused(format_args!(
                "{} already has {MAX_FULFILMENTS} fulfilments for {}: remove some, and record their sum",
                new.offering, new.month
            )))
        }
    }
}

/// Derives the fulfilment's ID from the operation's ID, so that a repeated request does not record it twice.
fn id_of(author: &Author<'_, impl Clock, impl Entropy>) -> String {
    let hash = author.operation.as_ref().map(|operation| operation.hash(author.by));
    let digits: String = hash.unwrap_or_default().chars().take(ID_DIGITS).collect();
    ["ful_", &digits].concat()
}

/// Removes a fulfilment. It stays in the database, but counts in no sum. Ledger cost: 4 calls. KV cost: 1 write.
///
/// # Errors
/// If there is no fulfilment with this ID, it is removed already, no ledger is bound, or the ledger or the store fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Done<Fulfilment>> {
    let database = bound(ledger)?;
    let work = async |author: &Author<'_, _, _>| remove_now(store, database, author, id).await;
    once(store, ledger, author, (REMOVE, &id), work).await
}

async fn remove_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Fulfilment> {
    let found = get(ledger, id).await?;
    match &found.removed {
        Some(removal) if author.earlier.is_some() && removal.by == author.by => return Ok(found),
        Some(removal) => {
            return Err(OperatorError::Invalid(format!(
                "nothing was removed: {} removed `{id}` at {}",
                removal.by, removal.at
            )));
        }
        None => {}
    }
    let now_ms = author.clock.now_ms();
    author.record(store, REMOVE, [found.id, in_words(&found.done)]).await?;
    let removed = fulfilments::remove(ledger, id, author.by, now_ms).await?;
    removed.ok_or_else(|| unknown(id))
}

/// Returns a fulfilment, even if it is removed. One query.
///
/// # Errors
/// If there is no fulfilment with this ID, or the ledger fails.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Fulfilment> {
    fulfilments::get(ledger, id).await?.ok_or_else(|| unknown(id))
}

/// Returns what was recorded as done for these months, without what was removed: newest month first, then by mode and
/// offering, and newest first. Returns at most `most`. One query.
///
/// # Errors
/// If the ledger fails.
pub async fn list(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Vec<Fulfilment>> {
    Ok(fulfilments::list(ledger, mode, months, most).await?)
}

fn unknown(id: &str) -> OperatorError {
    OperatorError::Invalid(format!("there is no fulfilment `{id}`"))
}

fn refused(problem: impl std::fmt::Display) -> OperatorError {
    OperatorError::Invalid(format!("nothing was recorded: {problem}"))
}

/// Returns words such as `12 tree of 2026-10 (live), done on 2026-11-20, by Reforest in Kenya`.
fn in_words(done: &NewFulfilment) -> String {
    let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } = done;
    let mut words =
        format!("{quantity} {offering} of {month} ({}), done on {done_on}", mode.name());
    for (before, text) in [(", by ", partner), (", place: ", place), (", report: ", report)] {
        if let Some(text) = text {
            words.push_str(before);
            words.push_str(text);
        }
    }
    words
}

// ---- Check ---------------------------------------------------------------------------------------

/// Returns the fulfilment with its quantity in the shortest form.
fn checked(new: &NewFulfilment, clock: &impl Clock) -> Result<NewFulfilment> {
    if !is_line(&new.offering, MAX_OFFERING) {
        return Err(refused(format_args!(
            "the offering must be one line of 1 to {MAX_OFFERING} bytes"
        )));
    }
    for (name, text) in [("partner", &new.partner), ("place", &new.place)] {
        if text.as_deref().is_some_and(|text| !is_line(text, MAX_LINE)) {
            return Err(refused(format_args!(
                "the {name} must be one line of 1 to {MAX_LINE} bytes"
            )));
        }
    }
    if new.report.as_deref().is_some_and(|report| !is_report(report)) {
        return Err(refused("the report must be a web address that begins with https://"));
    }
    check_day(&new.done_on, clock)?;
    Ok(NewFulfilment { quantity: quantity(&new.quantity)?, ..new.clone() })
}

/// A report is linked from pages, so it needs https, and no user name that could look like a host.
fn is_report(report: &str) -> bool {
    let is_secure = report.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    is_secure && WebAddress::parse(report).is_some_and(|address| !address.has_user)
}

fn check_day(day: &str, clock: &impl Clock) -> Result<()> {
    let begins_ms = parse_ms(&[day, "T00:00:00Z"].concat()).filter(|_| day.len() == 10);
    match begins_ms {
        None => Err(refused("write the day on which it was done as 2026-11-20")),
        Some(begins_ms) if begins_ms > clock.now_ms() => {
            Err(refused(format_args!("{day} is in the future")))
        }
        Some(_) => Ok(()),
    }
}

/// Returns a quantity above 0 as an exact decimal.
fn quantity(text: &str) -> Result<String> {
    let decimal = Decimal::parse_bounded(text).filter(|decimal| !decimal.is_zero());
    decimal.map(|decimal| decimal.to_exact()).ok_or_else(|| {
        let quoted: String = text.chars().take(MAX_LINE).collect();
        refused(format_args!(
            "the quantity must be a number above 0, such as 1200 or 12.5, not `{quoted}`"
        ))
    })
}

// ---- What is to be done --------------------------------------------------------------------------

/// What was pledged and done for an offering in a month, as exact decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Balance {
    /// The month of the pledges.
    pub month: Month,
    /// Test or live.
    pub mode: Mode,
    /// The offering's ID.
    pub offering: String,
    /// The quantity that was pledged.
    pub pledged: String,
    /// The quantity that was credited.
    pub credited: String,
    /// The quantity that was done.
    pub done: String,
    /// `pledged` − `credited` − `done`: what is still to be done; 0 if that is negative.
    pub open: String,
    /// What was done beyond that; 0 if something is open.
    pub surplus: String,
}

/// What was pledged and done, by month and offering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Balances {
    /// The balances: newest month first, then by mode and offering.
    pub balances: Vec<Balance>,
    /// Whether there are more than requested.
    pub more: bool,
    /// Transactions that the sums leave out because of too many quantities.
    pub left_out: DamagedRecords,
    /// How complete the sums are.
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Returns what was pledged, credited and done in months, for at most `most` offerings and months. Leaves out months
/// that the ledger does not keep. Ledger cost: 5 or 6 queries.
///
/// # Errors
/// If the ledger keeps none of the months, or fails.
pub async fn balances(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Balances> {
    let (coverage, left_out) = coverage_of_quantities(ledger, None).await?;
    let kept: Vec<_> = months.iter().copied().filter(|month| coverage.has(*month)).collect();
    if let (true, Some(month)) = (kept.is_empty(), months.first()) {
        coverage.check(*month)?;
    }
    let limit = most.saturating_add(1); // one more tells whether there are more
    let pledged = ledger::quantities(ledger, mode, None, &kept, limit).await?;
    let credited = ledger::credits::credited_quantities(ledger, mode, None, &kept).await?;
    let done = fulfilments::sums(ledger, mode, &kept, limit).await?;
    let more = pledged.len().max(done.len()) > most;
    let mut sums = Sums::default();
    sums.add(pledged, true, |parts| &mut parts.pledged);
    // A sum that the limit cut off would seem to have no pledges.
    sums.add(credited, !more, |parts| &mut parts.credited);
    sums.add(done, !more, |parts| &mut parts.done);
    let mut balances = sums.balances();
    balances.truncate(most);
    Ok(Balances { balances, more, left_out, coverage })
}

/// Says that a fulfilment exceeds what is open, such as `of tree, 12 are open for 2026-10, and 20 would be recorded`;
/// `None` if it does not. Ledger cost: 5 or 6 queries.
///
/// # Errors
/// If the ledger does not keep the month, or fails.
pub async fn beyond(ledger: &dyn Ledger, new: &NewFulfilment) -> Result<Option<String>> {
    let NewFulfilment { mode, month, offering, quantity, .. } = new;
    let found = balances(ledger, Some(*mode), &[*month], MAX_SEARCHED).await?;
    let own = found.balances.iter().find(|balance| balance.offering == *offering);
    let open = own.map_or("0", |balance| &balance.open);
    let decimal = |text| Decimal::parse_bounded(text).unwrap_or_default();
    let fits = decimal(open).minus(&decimal(quantity)).is_some();
    Ok((!fits).then(|| {
        format!("of {offering}, {open} is open for the pledges of {month}, and {quantity} would be recorded as done")
    }))
}

/// The sums of each month, mode and offering.
#[derive(Default)]
struct Sums(BTreeMap<(Reverse<Month>, Mode, String), Parts>);

#[derive(Default)]
struct Parts {
    pledged: Option<Decimal>,
    credited: Option<Decimal>,
    done: Option<Decimal>,
}

impl Sums {
    /// Sets one part of the sums. Unless `is_new` allows it, adds no offering.
    fn add(
        &mut self,
        sums: Vec<OfferingSum>,
        is_new: bool,
        part: impl Fn(&mut Parts) -> &mut Option<Decimal>,
    ) {
        for OfferingSum { month, mode, offering, quantity, .. } in sums {
            let group = (Reverse(month), mode, offering);
            if is_new || self.0.contains_key(&group) {
                *part(self.0.entry(group).or_default()) = Decimal::parse(&quantity);
            }
        }
    }

    fn balances(self) -> Vec<Balance> {
        let balance = |((Reverse(month), mode, offering), parts)| {
            let Parts { pledged, credited, done } = parts;
            let [pledged, credited, done] =
                [pledged, credited, done].map(Option::unwrap_or_default);
            let taken = Decimal::sum([credited.clone(), done.clone()].into_iter());
            let open = pledged.minus(&taken).unwrap_or_default();
            let surplus = taken.minus(&pledged).unwrap_or_default();
            let [pledged, credited, done, open, surplus] =
                [pledged, credited, done, open, surplus].map(|sum| sum.to_exact());
            Balance { month, mode, offering, pledged, credited, done, open, surplus }
        };
        self.0.into_iter().map(balance).collect()
    }
}
