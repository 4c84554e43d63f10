//! Payments: marks the month of a shop, which is a unit in a mode, as paid, and takes that back.
//!
//! A mark is one record, written once. What was paid must be the sum of the month's transactions, so
//! that books and service agree.

use super::audit::{self, Author, Change, is_line};
use super::conflict::{Contested, Seen};
use super::coverage::coverage;
use super::form::FormId;
use super::transactions::{self, ListQuery, Wanted};
use super::{Damaged, OperatorError, Result, load, names, read_value, read_values};
use crate::auth::check_id;
use crate::decimal::text_as_money;
use crate::handle::{Clock, Entropy};
use crate::ledger::{self, Direction, Ledger, MonthSum, Order};
use crate::pledge::CurrencyCode;
use crate::scope::{Mode, Scope};
use crate::settlement::{ENDED_AFTER_HOURS, Month, PaidAt, SettledSum, Settlement};
use crate::store::{ChangeNote, Key as _, OperatorStore, SettlementKey, decode};
use crate::time::{date_time, parse_ms};
use serde::{Deserialize, Serialize};

const MARK: &str = "payments mark";
const UNDO: &str = "payments undo";
/// Most bytes of the number of an invoice.
const MAX_INVOICE_BYTES: usize = 80;
/// Most transactions without a price that an error names.
const MAX_EXAMPLES: usize = 5;

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

    fn is_of(&self) -> impl Fn(&ChangeNote) -> bool {
        let name = self.key().name();
        move |note| note.on == name && [MARK, UNDO].contains(&&*note.command)
    }

    fn contested<'c>(
        &'c self,
        is_changed_by: &'c dyn Fn(&ChangeNote) -> bool,
    ) -> Contested<'c, SettlementKey<'c>> {
        Contested { key: self.key(), words: self.in_words(), is_changed_by, removed_by: UNDO }
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

/// Checks that a payment can be marked, and writes nothing. The ledger sums all transactions anew.
///
/// # Errors
/// If the month has not ended, is marked already, or has another sum or number of pledges without a
/// price; if the payment is of tomorrow, or its invoice no line; or if store or ledger fail.
pub async fn check(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Checked> {
    let Payment { of, paid_at, invoice, .. } = payment;
    let now_ms = author.clock.now_ms();
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
    if let Some(settlement) = get(store, of).await? {
        return Err(of.refused_as_marked(&settlement));
    }
    let (sums, damaged) = sums(ledger, payment).await?;
    let settlement = Settlement {
        paid_at: paid_at.clone(),
        sums,
        invoice: invoice.clone(),
        by: author.by.to_owned(),
        at: date_time(now_ms),
    };
    Ok(Checked { paid: Paid::new(of, settlement), damaged })
}

/// Marks a month as paid.
///
/// # Errors
/// As [`check`], which is done again; or if somebody else marks it at the same moment.
pub async fn mark(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Paid> {
    let Checked { paid, .. } = check((store, ledger), author, payment).await?;
    let is_of = payment.of.is_of();
    let contested = payment.of.contested(&is_of);
    let marked = |at: &str| Settlement { at: at.to_owned(), ..paid.settlement.clone() };
    let on = |at: &str| payment.of.changed(&marked(at));
    let turn = contested.begin(store, author, Seen::default(), MARK, on).await?;
    let settlement = marked(turn.at());
    turn.write(&settlement, async || Ok(())).await?;
    Ok(Paid { settlement, ..paid })
}

/// As [`mark`], by a form that may be sent twice, or late: not if the month was marked, or that was taken
/// back, since the form was made, as far as the audit log shows it.
///
/// # Errors
/// As [`mark`], and if the form is more than an hour old.
pub async fn mark_once(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
    form: &FormId,
) -> Result<Paid> {
    form.check(author.clock)?;
    let of = &payment.of;
    let name = of.key().name();
    let is_of = |change: &Change| {
        [MARK, UNDO].contains(&&*change.command) && change.on.first() == Some(&name)
    };
    let last = audit::since(store, form.began_ms()).await?.into_iter().find(is_of);
    // A clock that is late may have dated a change before the form. Only an undo leaves a month as the form has it.
    let is_before =
        |undo: &Change| undo.command == UNDO && parse_ms(&undo.at) < Some(form.made_ms());
    if let Some(change) = last.filter(|change| !is_before(change)) {
        let Change { at, by, command, .. } = change;
        return Err(match get(store, of).await? {
            Some(settlement) => of.refused_as_marked(&settlement),
            None => of.refused(format_args!(
                "was changed on {at} by {by} (`{command}`), since this form was opened: look at it and \
                 begin again"
            )),
        });
    }
    mark((store, ledger), author, payment).await
}

/// The sums of the month, which must be what was paid.
async fn sums(ledger: &dyn Ledger, payment: &Payment) -> Result<(Vec<SettledSum>, Damaged)> {
    let of = &payment.of;
    let units = [of.unit.clone()];
    let found = ledger::sums(ledger, Some(of.mode), Some(&units), &[of.month]).await?;
    let sum = |sum: MonthSum| SettledSum {
        currency_code: sum.currency_code,
        amount: sum.amount,
        transactions: sum.transactions,
        unpriced: sum.unpriced,
    };
    let sums: Vec<_> = found.into_iter().map(sum).collect();
    check_amounts(payment, &sums)?;
    check_unpriced(payment, &sums, &examples(ledger, of).await?)?;
    let shop = Scope { mode: of.mode, unit: of.unit.clone() };
    Ok((sums, coverage(ledger, Some(&[shop])).await?.damaged))
}

/// Transactions of a month with a pledge that has no price.
async fn examples(ledger: &dyn Ledger, of: &ShopMonth) -> Result<Vec<Order>> {
    let query = ListQuery {
        wanted: Wanted { unit: Some(of.unit.clone()), mode: Some(of.mode) },
        month: Some(of.month),
        unpriced: true,
        ..ListQuery::default()
    };
    let listed = transactions::list(ledger, &query, &Direction::Newest, MAX_EXAMPLES).await?;
    Ok(listed.page.orders)
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

fn check_unpriced(payment: &Payment, sums: &[SettledSum], examples: &[Order]) -> Result<()> {
    let unpriced: usize = sums.iter().map(|sum| sum.unpriced).sum();
    if unpriced == payment.accept_unpriced {
        return Ok(());
    }
    let examples = if examples.is_empty() {
        String::new()
    } else {
        let ids: Vec<_> = examples.iter().map(|row| &*row.id).collect();
        format!(", such as of {}", ids.join(", "))
    };
    Err(payment.of.refused(format_args!(
        "has {unpriced} pledges without a price{examples}: they cost nothing, and you accept {}. Look at \
         them in the usage, and then accept {unpriced}",
        payment.accept_unpriced
    )))
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

/// Takes back that a month was paid.
///
/// # Errors
/// If it is not marked, somebody else takes it back at the same moment, or the store fails.
pub async fn undo(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ShopMonth,
) -> Result<Paid> {
    let record = read_value(store, of.key()).await?.ok_or_else(|| {
        let month = of.in_words();
        OperatorError::Invalid(format!("nothing was undone: {month} is not marked as paid here"))
    })?;
    let settlement: Settlement = decode(SettlementKey::KIND, &record)?;
    let seen = Seen::new(Some(&record));
    let is_of = of.is_of();
    let contested = of.contested(&is_of);
    let turn = contested.begin(store, author, seen, UNDO, |_| of.changed(&settlement)).await?;
    turn.remove(async || Ok(())).await?;
    Ok(Paid::new(of, settlement))
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
