//! Payments: marks a shop's month as paid, and as unpaid again. A shop is a unit in a mode.
//!
//! A payment is one record. It is written once, while a claim in the ledger locks the month (module `claimed_change`).
//! The ledger must have all transactions of the month, and the amount must be what is due: their sum, less credits. So
//! books and service agree.

use super::audit::{Author, Written, change_of};
use super::claimed_change::{self, ClaimedChange};
use super::coverage::coverage;
use super::dues::{self, Due};
use super::once::{Done, StoredAsIs, once};
use super::payable;
use super::{
    DamagedRecords, OperatorError, Result, bound, load, names, put_record, read_value, read_values,
};
use crate::auth::check_id;
use crate::ledger::Ledger;
use crate::ledger::claims::{self, Claim, Fact, Kind, ObservedFact, TargetState};
use crate::pledge::CurrencyCode;
use crate::scope::{Mode, Scope};
use crate::service::{Clock, Entropy};
use crate::settlement::{Month, PaidAt, Settlement};
use crate::store::{Key as _, OperatorStore, SettlementKey, decode};
use crate::time::date_time;
use serde::{Deserialize, Serialize};

const MARK: &str = "payments mark";
const UNDO: &str = "payments undo";
const CHANGED: &str = "was changed meanwhile: check it again";

/// A shop's month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShopMonth {
    /// The unit's ID.
    pub unit: String,
    /// The mode of the transactions.
    pub mode: Mode,
    /// The month in which the transactions were created, in UTC.
    pub month: Month,
}

impl ShopMonth {
    fn key(&self) -> SettlementKey<'_> {
        SettlementKey { mode: self.mode, unit: &self.unit, month: self.month }
    }

    /// Returns words such as ``2026-10 of the unit `shop` (live)``.
    fn in_words(&self) -> String {
        format!("{} of the unit `{}` ({})", self.month, self.unit, self.mode.name())
    }

    pub(super) fn refused(&self, problem: impl std::fmt::Display) -> OperatorError {
        OperatorError::Invalid(format!("nothing was marked: {} {problem}", self.in_words()))
    }

    pub(super) fn refused_as_marked(&self, settlement: &Settlement) -> OperatorError {
        self.refused(format_args!("is already marked as paid: {}", in_words(settlement)))
    }

    /// Returns what the audit log records when a month is marked as paid, or as unpaid again: the whole payment,
    /// because its record is removed if the month becomes unpaid again.
    fn changed(&self, settlement: &Settlement) -> Vec<String> {
        vec![self.key().name(), in_words(settlement)]
    }

    pub(super) fn fact(&self) -> Fact {
        Fact { kind: Kind::Settlement, name: self.key().suffix().into_owned() }
    }

    pub(super) fn refused_by(&self, claim: &Claim) -> OperatorError {
        let words = changed_in_words(claim);
        self.refused(match claim.state {
            claims::State::Kept => format!("is already marked as paid: {words}"),
            _ => format!("cannot be marked now: {words}"),
        })
    }

    fn not_undone(&self, problem: impl std::fmt::Display) -> OperatorError {
        OperatorError::Invalid(format!("nothing was undone: {} {problem}", self.in_words()))
    }
}

/// An amount as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatedAmount {
    /// A decimal of at most two places, such as `1234.50`.
    pub amount: String,
    /// The currency of the amount; `None` means the only currency of the month.
    pub currency_code: Option<CurrencyCode>,
}

/// A payment as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The month that was paid.
    pub of: ShopMonth,
    /// The amount in each currency.
    pub amounts: Vec<StatedAmount>,
    /// When it was paid.
    pub paid_at: PaidAt,
    /// The invoice number: one line of 1 to 80 bytes.
    pub invoice: String,
    /// The number of unpriced pledges, which cost nothing, that the person accepts.
    pub accept_unpriced: usize,
}

/// A month that is marked as paid, or can be marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paid {
    /// The unit's ID.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
    /// The month, such as `2026-10`.
    pub month: String,
    /// What was paid, and when.
    #[serde(flatten)]
    pub settlement: Settlement,
}

impl StoredAsIs for Paid {}

impl Paid {
    /// Combines a shop's month with its settlement.
    pub fn new(of: &ShopMonth, settlement: Settlement) -> Self {
        Paid { unit: of.unit.clone(), mode: of.mode, month: of.month.to_string(), settlement }
    }
}

/// A payment that can be marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedPayment {
    /// The payment that would be recorded.
    #[serde(flatten)]
    pub paid: Paid,
    /// Damaged records of the shop, of any month. They have no row in the ledger, so they are in no sum.
    pub damaged: DamagedRecords,
}

// ---- Mark ----------------------------------------------------------------------------------------

/// Checks that a payment can be marked, and writes nothing. Ledger cost: 8 queries, 1 more if a charge is above 9 × 10^13,
/// and 1 more if credits may be carried into the month. KV cost: 2 reads.
///
/// # Errors
/// - If the month has not ended, or the ledger may lack transactions of it.
/// - If the month is already marked, has another sum, or has another number of unpriced pledges.
/// - If the payment date is in the future, or the invoice number is not one line of 1 to 80 bytes.
/// - If no ledger is bound, or the ledger or the store fails.
pub async fn check(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<CheckedPayment> {
    let Payment { of, paid_at, invoice, .. } = payment;
    payable::check_stated(author.clock, payment)?;
    let ledger = bound(ledger)?;
    payable::check_unmarked(store, ledger, author.clock, of).await?;
    payable::check_complete(ledger, of).await?;
    let shop = Scope { mode: of.mode, unit: of.unit.clone() };
    let coverage = coverage(ledger, Some(&[shop])).await?;
    let due = payable::due(store, ledger, payment, &coverage).await?;
    let settlement = Settlement {
        paid_at: paid_at.clone(),
        sums: due.into_iter().map(Due::into_settled).collect(),
        invoice: invoice.clone(),
        by: author.by.to_owned(),
        at: date_time(author.clock.now_ms()),
    };
    Ok(CheckedPayment { paid: Paid::new(of, settlement), damaged: coverage.damaged })
}

/// Marks a month as paid.
///
/// # Errors
/// As [`check`], which runs again; or if somebody else marks the month at the same moment, or marked it as unpaid since
/// the operation began.
pub async fn mark(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Done<Paid>> {
    let work = async |author: &Author<'_, _, _>| mark_now(store, ledger, author, payment).await;
    once(store, ledger, author, (MARK, payment), work).await
}

async fn mark_now(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Paid> {
    let of = &payment.of;
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    let refused = |claim: &Claim| {
        let words = changed_in_words(claim);
        of.refused(format_args!(
            "was changed since this form was opened: {words}. Check it, and begin again"
        ))
    };
    let facts = [of.fact()];
    claimed_change::refuse_overtaken(ledger, author, (TargetState::Added, &facts), refused).await?;
    if author.earlier.is_some()
        && let Some((settlement, Some(change))) = look(store, of).await?
        && author.has_made(store, &change).await?
    {
        return Ok(Paid::new(of, settlement));
    }
    let CheckedPayment { paid, .. } = check(store, ledger, author, payment).await?;
    write(store, ledger, author, of, paid.settlement).await
}

/// Writes the payment of a month that can be marked.
async fn write(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
    settlement: Settlement,
) -> Result<Paid> {
    let marked = |at: &str| Settlement { at: at.to_owned(), ..settlement.clone() };
    let on = |at: &str| of.changed(&marked(at));
    let changing = ClaimedChange::begin(store, ledger, author, MARK, on).await?;
    let seen = [ObservedFact { fact: of.fact(), is_there: false, change: None }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => of.refused_by(claim),
        None => of.refused(CHANGED),
    };
    changing.claim_all(TargetState::Added, &seen, refused).await?;
    if let Err(error) = check_still_due(store, ledger, of, &settlement).await {
        return Err(changing.give_up(&[of.fact()], error).await);
    }
    let settlement = marked(&changing.entry().at);
    let written = Written::new(&settlement, changing.entry());
    let record = async |_: &Fact| put_record(store, &of.key(), &written).await;
    let unsure = |_: &Fact| format!("that {} is marked as paid", of.in_words());
    changing.write(&[of.fact()], record, unsure).await?;
    Ok(Paid::new(of, settlement))
}

/// Refuses a payment if the month was credited since the payment was checked. The month is claimed now, so no later
/// credit is booked in it.
async fn check_still_due(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    of: &ShopMonth,
    settlement: &Settlement,
) -> Result<()> {
    let ledger = bound(ledger)?;
    let shop = Scope { mode: of.mode, unit: of.unit.clone() };
    let coverage = coverage(ledger, Some(&[shop])).await?;
    let due = dues::unsettled(store, ledger, of, &coverage).await?;
    let is_same = due.into_iter().map(Due::into_settled).eq(settlement.sums.iter().cloned());
    is_same.then_some(()).ok_or_else(|| of.refused(CHANGED))
}

// ---- Read and undo -------------------------------------------------------------------------------

/// Returns the settlement of a shop's month; `None` if it is not marked as paid. KV cost: 1 read.
///
/// # Errors
/// If the unit's ID is not valid, the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, of: &ShopMonth) -> Result<Option<Settlement>> {
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    load(store, of.key()).await
}

/// Returns the paid months of a unit: those of test keys before those of live keys, the oldest first. Months that were
/// marked in the last minute may be missing. KV cost: for each mode 1 list, and 1 read per 100 months.
///
/// # Errors
/// If the unit's ID is not valid, a record is damaged, or the store fails.
pub async fn list(store: &impl OperatorStore, unit: &str, mode: Option<Mode>) -> Result<Vec<Paid>> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let mut found = Vec::new();
    for mode in mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode]) {
        let months = names(store, SettlementKey::shop_prefix(mode, unit), |name| {
            SettlementKey::parse(name).filter(|key| key.unit == unit).map(|key| key.month)
        });
        for (month, settlement) in settlements(store, unit, mode, months.await?).await? {
            let of = ShopMonth { unit: unit.to_owned(), mode, month };
            found.extend(settlement.map(|settlement| Paid::new(&of, settlement)));
        }
    }
    Ok(found)
}

/// Returns the settlements of months of a shop, in the order of the months; `None` for an unpaid month.
pub(super) async fn settlements(
    store: &impl OperatorStore,
    unit: &str,
    mode: Mode,
    months: Vec<Month>,
) -> Result<Vec<(Month, Option<Settlement>)>> {
    let key = |month: &Month| SettlementKey { mode, unit, month: *month };
    let keys: Vec<_> = months.iter().map(key).collect();
    let values = read_values(store, &keys).await?;
    let read = |value: Vec<u8>| decode(SettlementKey::KIND, &value);
    let pairs = months.into_iter().zip(values);
    pairs.map(|(month, value)| Ok((month, value.map(read).transpose()?))).collect()
}

/// Returns the settlement of a paid month, and the change that wrote it if the record names it; `None` for an unpaid month.
async fn look(
    store: &impl OperatorStore,
    of: &ShopMonth,
) -> Result<Option<(Settlement, Option<String>)>> {
    let Some(record) = read_value(store, of.key()).await? else { return Ok(None) };
    let change = change_of(&record).map(|change| change.name());
    Ok(Some((decode(SettlementKey::KIND, &record)?, change)))
}

/// Marks a month as unpaid again. `seen` is the time at which the payment that the person saw was marked; `None` removes any
/// payment.
///
/// # Errors
/// If the month is not marked as paid; if its payment is not the one that was seen; if somebody else removes the
/// payment at the same moment; or if the ledger or the store fails.
pub async fn undo(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
    seen: Option<&str>,
) -> Result<Done<Paid>> {
    let work = async |author: &Author<'_, _, _>| undo_now(store, ledger, author, of, seen).await;
    once(store, ledger, author, (UNDO, &(of, seen)), work).await
}

async fn undo_now(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
    seen: Option<&str>,
) -> Result<Paid> {
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    let refused = |claim: &Claim| {
        of.not_undone(format_args!("was changed meanwhile: {}", changed_in_words(claim)))
    };
    let facts = [of.fact()];
    claimed_change::refuse_overtaken(ledger, author, (TargetState::Removed, &facts), refused)
        .await?;
    let Some((settlement, change)) = look(store, of).await? else {
        let claim = claimed_change::recent(ledger, &[of.fact()], author.clock).await?.pop();
        let why = claim.map_or_else(String::new, |it| [": ", &changed_in_words(&it)].concat());
        return Err(of.not_undone(format_args!("is not marked as paid here{why}")));
    };
    if seen.is_some_and(|seen| seen != settlement.at) {
        return Err(of.not_undone("has another payment than the one that you saw: check it again"));
    }
    let changing =
        ClaimedChange::begin(store, ledger, author, UNDO, |_| of.changed(&settlement)).await?;
    let seen = [ObservedFact { fact: of.fact(), is_there: true, change }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => {
            of.not_undone(format_args!("was changed meanwhile: {}", changed_in_words(claim)))
        }
        None => of.not_undone(CHANGED),
    };
    changing.claim_all(TargetState::Removed, &seen, refused).await?;
    let remove = async |_: &Fact| Ok(store.remove(&of.key()).await?);
    let unsure = |_: &Fact| format!("that {} is not marked as paid any more", of.in_words());
    changing.write(&[of.fact()], remove, unsure).await?;
    Ok(Paid::new(of, settlement))
}

fn changed_in_words(claim: &Claim) -> String {
    claimed_change::in_words(claim, "marked it as paid", "marked it as unpaid")
}

/// Returns words such as `1234.50 USD paid on …, invoice 17, marked by … on …`.
fn in_words(Settlement { paid_at, sums, invoice, by, at }: &Settlement) -> String {
    let sums = in_money(sums.iter().map(|sum| (&*sum.currency_code, &*sum.amount)));
    let paid_at = paid_at.as_str();
    format!("{sums} paid on {paid_at}, invoice {invoice}, marked by {by} on {at}")
}

pub(super) fn in_money<'s>(sums: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let sums: Vec<_> = sums.map(|(code, amount)| format!("{amount} {code}")).collect();
    sums.join(" and ")
}
