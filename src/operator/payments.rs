//! Payments: marks the month of a shop, which is a unit in a mode, as paid, and takes that back.
//!
//! A mark is one record, written once, under a claim of the ledger ([`claimed`](super::claimed)). What was paid must be the
//! sum of the month's transactions in the ledger, once that has them all, so that books and service agree.

use super::audit::{Author, Written, change_of, is_line};
use super::claimed::{self, Changing};
use super::coverage::coverage;
use super::form::FormId;
use super::{
    Damaged, OperatorError, Result, bound, load, names, put_record, read_value, read_values,
};
use crate::auth::check_id;
use crate::decimal::text_as_money;
use crate::handle::{Clock, Entropy};
use crate::ledger::claims::{self, Claim, Fact, Kind, Seen, Wanted};
use crate::ledger::{self, Direction, Filter, Ledger, State};
use crate::pledge::CurrencyCode;
use crate::scope::{Mode, Scope};
use crate::settlement::{ENDED_AFTER_HOURS, Month, PaidAt, SettledSum, Settlement};
use crate::store::{Key as _, OperatorStore, SettlementKey, decode};
use crate::time::{date_time, parse_ms};
use serde::{Deserialize, Serialize};

const MARK: &str = "payments mark";
const UNDO: &str = "payments undo";
const CHANGED: &str = "was changed meanwhile: look at it again";
/// Most bytes of the number of an invoice.
const MAX_INVOICE_BYTES: usize = 80;
/// Most transactions without a price that an error names.
const MAX_EXAMPLES: usize = 5;
const HOUR_MS: u64 = 3_600_000;

/// A shop's month.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShopMonth {
    /// The unit's ID.
    pub unit: String,
    /// Whether its test keys or its live keys made the transactions.
    pub mode: Mode,
    /// The month in which they were created.
    pub month: Month,
}

impl ShopMonth {
    fn key(&self) -> SettlementKey<'_> {
        SettlementKey { mode: self.mode, unit: &self.unit, month: self.month }
    }

    /// `2026-10 of the unit `shop` (live)`
    fn in_words(&self) -> String {
        format!("{} of the unit `{}` ({})", self.month, self.unit, self.mode.name())
    }

    fn refused(&self, problem: impl std::fmt::Display) -> OperatorError {
        OperatorError::Invalid(format!("nothing was marked: {} {problem}", self.in_words()))
    }

    fn refused_as_marked(&self, settlement: &Settlement) -> OperatorError {
        self.refused(format_args!("is marked already: {}", in_words(settlement)))
    }

    /// What the audit log has of a mark or an undo: all that is marked, as an undo removes that.
    fn changed(&self, settlement: &Settlement) -> Vec<String> {
        vec![self.key().name(), in_words(settlement)]
    }

    fn fact(&self) -> Fact {
        Fact { kind: Kind::Settlement, name: self.key().suffix().into_owned() }
    }

    fn refused_by(&self, claim: &Claim) -> OperatorError {
        let words = changed_in_words(claim);
        self.refused(match claim.state {
            claims::State::Kept => format!("is marked already: {words}"),
            _ => format!("cannot be marked now: {words}"),
        })
    }

    fn not_undone(&self, problem: impl std::fmt::Display) -> OperatorError {
        OperatorError::Invalid(format!("nothing was undone: {} {problem}", self.in_words()))
    }
}

/// An amount as a person states it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stated {
    /// A decimal of at most two places, such as `1234.50`.
    pub amount: String,
    /// Its currency; where it is missing, the month's only one.
    pub currency_code: Option<CurrencyCode>,
}

/// A payment as a person states it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// What was paid for.
    pub of: ShopMonth,
    /// How much, in each currency.
    pub amounts: Vec<Stated>,
    /// When.
    pub paid_at: PaidAt,
    /// The number of the invoice: one line of at most 80 bytes.
    pub invoice: String,
    /// How many pledges without a price are accepted as they are: they cost nothing.
    pub accept_unpriced: usize,
}

/// A month that is marked as paid, or ready to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

impl Paid {
    /// The settlement of a shop's month.
    pub fn new(of: &ShopMonth, settlement: Settlement) -> Self {
        Paid { unit: of.unit.clone(), mode: of.mode, month: of.month.to_string(), settlement }
    }
}

/// A payment that can be marked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// What would be written.
    #[serde(flatten)]
    pub paid: Paid,
    /// Records of the shop, of any month, that have no row in the ledger: they are in no sum.
    pub damaged: Damaged,
}

// ---- Mark ----------------------------------------------------------------------------------------

/// Checks that a payment can be marked, and writes nothing. Six queries. KV cost: 1 read.
///
/// # Errors
/// If the month has not ended, or the ledger may lack transactions of it; if it is marked already, or has another sum or
/// number of pledges without a price; if the payment is of tomorrow, or its invoice no line; if no ledger is bound; or if
/// ledger or store fail.
pub async fn check(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Checked> {
    let Payment { of, paid_at, invoice, .. } = payment;
    check_stated(author.clock, payment)?;
    let ledger = bound(ledger)?;
    check_unmarked(store, ledger, author.clock, of).await?;
    check_complete(of, &ledger::state(ledger).await?)?;
    let sums = sums(ledger, payment).await?;
    let settlement = Settlement {
        paid_at: paid_at.clone(),
        sums,
        invoice: invoice.clone(),
        by: author.by.to_owned(),
        at: date_time(author.clock.now_ms()),
    };
    let shop = Scope { mode: of.mode, unit: of.unit.clone() };
    let damaged = coverage(ledger, Some(&[shop])).await?.damaged;
    Ok(Checked { paid: Paid::new(of, settlement), damaged })
}

fn check_stated(clock: &impl Clock, Payment { of, paid_at, invoice, .. }: &Payment) -> Result<()> {
    let now_ms = clock.now_ms();
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    if !is_line(invoice, MAX_INVOICE_BYTES) {
        return Err(of.refused(format_args!(
            "needs the number of an invoice: one line of 1 to {MAX_INVOICE_BYTES} bytes"
        )));
    }
    if !of.month.has_ended(now_ms) {
        return Err(of.refused(format_args!(
            "has not ended: it does {ENDED_AFTER_HOURS} hours after its last moment, in UTC"
        )));
    }
    if parse_ms(paid_at.as_str()).is_none_or(|paid_ms| paid_ms > now_ms) {
        return Err(of.refused(format_args!("was paid on {}, which is to come", paid_at.as_str())));
    }
    Ok(())
}

/// Refuses a month that is marked. KV may show a mark, or that it was taken back, a minute later than its claim.
async fn check_unmarked(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    of: &ShopMonth,
) -> Result<()> {
    let marked = get(store, of).await?;
    let claim = claimed::recent(Some(ledger), &[of.fact()], clock).await?.pop();
    match (claim, marked) {
        (Some(claim), _) if claim.state == claims::State::Gone => Ok(()),
        (_, Some(settlement)) => Err(of.refused_as_marked(&settlement)),
        (Some(claim), None) => Err(of.refused_by(&claim)),
        (None, None) => Ok(()),
    }
}

/// Checks that the ledger has all transactions of the month, and all settlements.
fn check_complete(of: &ShopMonth, state: &State) -> Result<()> {
    let end_ms = of.month.span_ms().map_or(u64::MAX, |(_, end_ms)| end_ms);
    let complete = state.watermark().filter(|_| state.imported.is_some());
    if complete >= Some(end_ms) {
        return Ok(());
    }
    let complete = complete.map_or_else(
        || "the ledger was not compared with all records yet".to_owned(),
        |complete| format!("the ledger has all transactions up to {} alone", date_time(complete)),
    );
    Err(of.refused(format_args!(
        "cannot be marked yet: {complete}, and the month ended at {}. It can be once the reconciliation has compared all \
         records again, which it begins every {} h: `npm run ledger -- check` does that now",
        date_time(end_ms),
        state.interval_ms() / HOUR_MS
    )))
}

/// Marks a month as paid.
///
/// # Errors
/// As [`check`], which is done again; or if somebody else marks it at the same moment.
pub async fn mark(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Paid> {
    let Checked { paid, .. } = check(store, ledger, author, payment).await?;
    write(store, ledger, author, &payment.of, paid.settlement).await
}

/// As [`mark`], by a form that may be sent twice, or late: not if it was taken back, since the form was made, that the month
/// was paid.
///
/// # Errors
/// As [`mark`], and if the form is more than an hour old.
pub async fn mark_once(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
    form: &FormId,
) -> Result<Paid> {
    form.check(author.clock)?;
    let of = &payment.of;
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    let claim = claims::get(bound(ledger)?, &[of.fact()]).await?.pop();
    let is_undo =
        |claim: &Claim| claim.state == claims::State::Gone && claim.by.at >= form.made_ms();
    match claim.filter(is_undo) {
        Some(claim) => Err(of.refused(format_args!(
            "was changed since this form was opened: {}. Look at it and begin again",
            changed_in_words(&claim)
        ))),
        None => mark(store, ledger, author, payment).await,
    }
}

/// Writes the record of a month that can be marked.
async fn write(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
    settlement: Settlement,
) -> Result<Paid> {
    let marked = |at: &str| Settlement { at: at.to_owned(), ..settlement.clone() };
    let on = |at: &str| of.changed(&marked(at));
    let changing = Changing::begin(store, ledger, author, MARK, on).await?;
    let seen = [Seen { fact: of.fact(), is_there: false, change: None }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => of.refused_by(claim),
        None => of.refused(CHANGED),
    };
    changing.claim_all(Wanted::Added, &seen, refused).await?;
    let settlement = marked(&changing.entry().at);
    let written = Written::new(&settlement, changing.entry());
    let record = async |_: &Fact| put_record(store, &of.key(), &written).await;
    let unsure = |_: &Fact| format!("that {} is marked as paid", of.in_words());
    changing.write(&[of.fact()], record, unsure).await?;
    Ok(Paid::new(of, settlement))
}

/// The sums of the month, which must be what was paid.
async fn sums(ledger: &dyn Ledger, payment: &Payment) -> Result<Vec<SettledSum>> {
    let of = &payment.of;
    let units = [of.unit.clone()];
    let sums = ledger::sums(ledger, Some(of.mode), Some(&units), &[of.month]).await?;
    let sum = |ledger::MonthSum { currency_code, amount, transactions, unpriced, .. }| SettledSum {
        currency_code,
        amount,
        transactions,
        unpriced,
    };
    let sums: Vec<_> = sums.into_iter().map(sum).collect();
    check_amounts(payment, &sums)?;
    check_unpriced(ledger, payment, &sums).await?;
    Ok(sums)
}

fn check_amounts(Payment { of, amounts, .. }: &Payment, sums: &[SettledSum]) -> Result<()> {
    if sums.is_empty() {
        return Err(of.refused("has no transactions"));
    }
    let due = sums
        .iter()
        .filter_map(|sum| Some((CurrencyCode::from_code(&sum.currency_code)?, sum.amount.clone())));
    let mut due: Vec<_> = due.collect();
    due.sort_unstable();
    let only = match due.as_slice() {
        [(currency_code, _)] => Some(*currency_code),
        _ => None,
    };
    let paid = amounts.iter().map(|stated| Ok((currency(of, stated, only)?, money(of, stated)?)));
    let mut paid: Vec<_> = paid.collect::<Result<_>>()?;
    paid.sort_unstable();
    if paid == due {
        return Ok(());
    }
    let words = |sums: &[(CurrencyCode, String)]| {
        in_money(sums.iter().map(|(currency, amount)| (currency.code(), &**amount)))
    };
    let (due, paid) = (words(&due), words(&paid));
    Err(of.refused(format_args!("has a sum of {due}, and {paid} was paid")))
}

fn currency(of: &ShopMonth, stated: &Stated, only: Option<CurrencyCode>) -> Result<CurrencyCode> {
    stated.currency_code.or(only).ok_or_else(|| {
        of.refused("has sums in several currencies: name the currency of each amount")
    })
}

/// A stated amount with two places. It is not rounded.
fn money(of: &ShopMonth, Stated { amount, .. }: &Stated) -> Result<String> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_money = is_number(whole) && is_number(fraction) && fraction.len() <= 2;
    let money = is_money.then(|| text_as_money(amount)).flatten();
    money.ok_or_else(|| {
        of.refused(format_args!("needs an amount such as `1234.50`, and not `{amount}`"))
    })
}

async fn check_unpriced(
    ledger: &dyn Ledger,
    Payment { of, accept_unpriced, .. }: &Payment,
    sums: &[SettledSum],
) -> Result<()> {
    let unpriced: usize = sums.iter().map(|sum| sum.unpriced).sum();
    if unpriced == *accept_unpriced {
        return Ok(());
    }
    let examples = match examples(ledger, of).await? {
        ids if ids.is_empty() => String::new(),
        ids => format!(", such as of {}", ids.join(", ")),
    };
    Err(of.refused(format_args!(
        "has {unpriced} pledges without a price{examples}: they cost nothing, and you accept {accept_unpriced}. Look at \
         them in the usage, and then accept {unpriced}",
    )))
}

/// The newest transactions of the month with a pledge that has no price.
async fn examples(ledger: &dyn Ledger, of: &ShopMonth) -> Result<Vec<String>> {
    let Some((from, until)) = of.month.span_ms() else { return Ok(Vec::new()) };
    let filter = Filter {
        mode: Some(of.mode),
        units: Some(vec![of.unit.clone()]),
        from,
        until: Some(until),
        unpriced: true,
        ..Filter::default()
    };
    let page = ledger::orders(ledger, &filter, &Direction::Newest, MAX_EXAMPLES).await?;
    Ok(page.orders.into_iter().map(|order| order.id).collect())
}

// ---- What is marked ------------------------------------------------------------------------------

/// The settlement of a shop's month; `None` if it is not marked as paid.
///
/// # Errors
/// If the unit's ID is out of bounds, the record is damaged, or the store fails.
pub async fn get(store: &impl OperatorStore, of: &ShopMonth) -> Result<Option<Settlement>> {
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    load(store, of.key()).await
}

/// The months of a unit that are marked as paid, those of test keys first, the oldest first; those of
/// the last minute may be missing.
///
/// # Errors
/// If the unit's ID is out of bounds, a record is damaged, or the store fails.
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

/// The settlements of months of a shop, in their sequence; `None` for one that is not marked as paid.
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

/// A month that is marked as paid, and the change that marked it, where the record says so.
async fn look(
    store: &impl OperatorStore,
    of: &ShopMonth,
) -> Result<Option<(Settlement, Option<String>)>> {
    let Some(record) = read_value(store, of.key()).await? else { return Ok(None) };
    let change = change_of(&record).map(|change| change.name());
    Ok(Some((decode(SettlementKey::KIND, &record)?, change)))
}

/// Takes back that a month was paid.
///
/// # Errors
/// If it is not marked, somebody else takes it back at the same moment, or ledger or store fail.
pub async fn undo(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
) -> Result<Paid> {
    check_id(&of.unit).map_err(OperatorError::Invalid)?;
    let Some((settlement, change)) = look(store, of).await? else {
        let claim = claimed::recent(ledger, &[of.fact()], author.clock).await?.pop();
        let why = claim.map_or_else(String::new, |it| [": ", &changed_in_words(&it)].concat());
        return Err(of.not_undone(format_args!("is not marked as paid here{why}")));
    };
    let changing =
        Changing::begin(store, ledger, author, UNDO, |_| of.changed(&settlement)).await?;
    let seen = [Seen { fact: of.fact(), is_there: true, change }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => {
            of.not_undone(format_args!("was changed meanwhile: {}", changed_in_words(claim)))
        }
        None => of.not_undone(CHANGED),
    };
    changing.claim_all(Wanted::Removed, &seen, refused).await?;
    let remove = async |_: &Fact| Ok(store.remove(&of.key()).await?);
    let unsure = |_: &Fact| format!("that {} is not marked as paid any more", of.in_words());
    changing.write(&[of.fact()], remove, unsure).await?;
    Ok(Paid::new(of, settlement))
}

fn changed_in_words(claim: &Claim) -> String {
    claimed::in_words(claim, "marked it as paid", "took back that it was paid")
}

/// `1234.50 USD paid on …, invoice 17, marked by … on …`
fn in_words(Settlement { paid_at, sums, invoice, by, at }: &Settlement) -> String {
    let sums = in_money(sums.iter().map(|sum| (&*sum.currency_code, &*sum.amount)));
    let paid_at = paid_at.as_str();
    format!("{sums} paid on {paid_at}, invoice {invoice}, marked by {by} on {at}")
}

fn in_money<'s>(sums: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let sums: Vec<_> = sums.map(|(code, amount)| format!("{amount} {code}")).collect();
    sums.join(" and ")
}
