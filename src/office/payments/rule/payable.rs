//! Makes three checks before a month is marked as paid. The month must have ended, the ledger must have all
//! of the month's transactions, and the payment must match what is due for the month.

use super::dues;
use super::dues::Due;
use super::{Payment, StatedAmount, get, in_money};
use crate::buyer::visible::is_line;
use crate::office::orders::rows::order::{Filter, TransactionState};
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::Direction;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rows::state;
use crate::pledges::decimal::text_as_money;
use crate::pledges::service::Clock;
use crate::pledges::settlement::{ENDED_AFTER_HOURS, Month, ScopeMonth};
use crate::pledges::time::{date_time, parse_ms};
use crate::pledges::types::CurrencyCode;

/// Largest number of bytes of an invoice number.
const MAX_INVOICE_BYTES: usize = 80;
/// An error about unpriced pledges names at most this many of their transactions.
const MAX_EXAMPLES: usize = 5;
const HOUR_MS: u64 = 3_600_000;

pub(super) fn check_stated(
    clock: &impl Clock,
    Payment { of, paid_at, invoice, .. }: &Payment,
) -> Result<()> {
    let now_ms = clock.now_ms();
    check_unit(&of.scope.unit)?;
    if !is_line(invoice, MAX_INVOICE_BYTES) {
        let problem = format_args!(
            "needs the number of an invoice: one line of 1 to {MAX_INVOICE_BYTES} bytes, without invisible characters"
        );
        return Err(of.refused_at("invoice", RefusalCode::Invalid, problem));
    }
    if !of.month.has_ended(now_ms) {
        let problem = format_args!(
            "cannot be marked before {}, which is {ENDED_AFTER_HOURS} hours after the month's end in UTC",
            date_time(of.month.ended_ms())
        );
        return Err(of.refused_at("month", RefusalCode::NotAllowed, problem));
    }
    if parse_ms(paid_at.as_str()).is_none_or(|paid_ms| paid_ms > now_ms) {
        return Err(of.refused_at(
            "paid-at",
            RefusalCode::NotAllowed,
            format_args!("has the payment date {}, which is in the future", paid_at.as_str()),
        ));
    }
    Ok(())
}

/// Returns an error if a month is already marked as paid. Ledger cost: 1 query.
pub(super) async fn check_unmarked(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<()> {
    let marked = get(ledger, of).await?;
    marked.map_or(Ok(()), |settlement| Err(of.refused_as_marked(&settlement)))
}

/// Checks that the ledger has all transactions of the month. Ledger cost: 1 query.
pub(super) async fn check_complete(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<()> {
    let state = state::state(ledger).await?;
    let end_ms = of.month.span_ms().map_or(u64::MAX, |(_, end_ms)| end_ms);
    if Month::at(state.kept_from) > Some(of.month) {
        return Err(of.refused(format_args!(
            "cannot be marked: the ledger keeps only transactions from {} on. The command `ledger keep-from {}` brings \
             this month back",
            date_time(state.kept_from),
            of.month
        )));
    }
    let complete = state.watermark();
    if complete >= Some(end_ms) {
        return Ok(());
    }
    let complete = complete.map_or_else(
        || "the ledger has not been compared with all records yet".to_owned(),
        |complete| format!("the ledger is complete only up to {}", date_time(complete)),
    );
    Err(of.refused(format_args!(
        "cannot be marked yet: {complete}, and the month ended at {}. The next reconciliation pass begins within {} h; \
         the command `ledger check` makes one now",
        date_time(end_ms),
        state.interval_ms() / HOUR_MS
    )))
}

// ---- Its sum -------------------------------------------------------------------------------------

/// Checks that a payment matches what is due for the month. Returns what is due.
pub(super) async fn due(
    ledger: &dyn Ledger,
    payment: &Payment,
    coverage: &Coverage,
) -> Result<Vec<Due>> {
    let due = dues::unsettled(ledger, &payment.of, coverage).await?;
    check_amounts(payment, &due)?;
    check_unpriced(ledger, payment, &due).await?;
    Ok(due)
}

/// Checks that a person stated the amounts that are due. An amount of 0.00 may be left out if another amount
/// is stated.
fn check_amounts(Payment { of, amounts, .. }: &Payment, dues: &[Due]) -> Result<()> {
    if dues.is_empty() {
        return Err(of.refused_at("month", RefusalCode::NotAllowed, "has no transactions"));
    }
    let mut due: Vec<_> = dues.iter().map(|due| (&*due.currency_code, &*due.due)).collect();
    due.sort_unstable();
    let only = match due.as_slice() {
        [(code, _)] => Some(*code),
        _ => None,
    };
    let paid = amounts.iter().map(|stated| Ok((currency(of, stated, only)?, money(of, stated)?)));
    let paid: Vec<_> = paid.collect::<Result<_>>()?;
    let mut paid: Vec<_> = paid.iter().map(|(code, amount)| (*code, &**amount)).collect();
    paid.sort_unstable();
    let is_left_out = |it: &(&str, &str)| it.1 == "0.00" && !paid.contains(it);
    let expected = due.iter().filter(|it| !is_left_out(it));
    if !paid.is_empty() && expected.eq(paid.iter()) {
        return Ok(());
    }
    let wrong = due.iter().find(|it| !is_left_out(it) && !paid.contains(it));
    let wrong = wrong.or_else(|| paid.iter().find(|it| !due.contains(it)));
    let argument = ("amount", wrong.map(|(code, _)| *code));
    let (words, paid) = (in_money(due.iter().copied()), in_money(paid.iter().copied()));
    let problem = match deductions(dues) {
        None => format!("has a sum of {words}, not of {paid}"),
        Some(deductions) => format!("has {words} due, not {paid} ({deductions})"),
    };
    Err(of.refused_at(argument, RefusalCode::NotAllowed, problem))
}

/// Explains in words how the amounts due follow from the charges and credits; `None` if there are no credits.
fn deductions(dues: &[Due]) -> Option<String> {
    let has_any = dues.iter().any(|due| due.credited != "0.00" || due.carried != "0.00");
    let sum =
        |of: fn(&Due) -> &str| in_money(dues.iter().map(|due| (&*due.currency_code, of(due))));
    has_any.then(|| {
        format!(
            "charges of {}, less credits of {}, less {} carried from earlier months",
            sum(|due| &due.amount),
            sum(|due| &due.credited),
            sum(|due| &due.carried)
        )
    })
}

/// Returns the currency code of an amount that a person entered. If the person entered no currency, returns
/// the only currency of the month. This release may not know that currency.
fn currency<'s>(of: &ScopeMonth, stated: &StatedAmount, only: Option<&'s str>) -> Result<&'s str> {
    stated.currency_code.map(CurrencyCode::code).or(only).ok_or_else(|| {
        let problem = "has sums in several currencies: name the currency of each amount";
        of.refused_at("currency", RefusalCode::Required, problem)
    })
}

/// Returns a stated amount with two decimal places.
fn money(of: &ScopeMonth, StatedAmount { amount, currency_code }: &StatedAmount) -> Result<String> {
    stated_money(amount).ok_or_else(|| {
        let argument = ("amount", currency_code.map(CurrencyCode::code));
        let problem = format_args!("needs an amount such as `1234.50`, not `{amount}`");
        of.refused_at(argument, RefusalCode::Invalid, problem)
    })
}

/// Returns an amount that a person entered, with two decimal places. Accepts only digits with at most one
/// decimal point and two decimals, so that nothing is rounded. Returns `None` for any other text.
pub(crate) fn stated_money(amount: &str) -> Option<String> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_money = is_number(whole) && is_number(fraction) && fraction.len() <= 2;
    is_money.then(|| text_as_money(amount)).flatten()
}

async fn check_unpriced(
    ledger: &dyn Ledger,
    Payment { of, accept_unpriced, .. }: &Payment,
    sums: &[Due],
) -> Result<()> {
    let unpriced: usize = sums.iter().map(|sum| sum.unpriced).sum();
    if unpriced == *accept_unpriced {
        return Ok(());
    }
    let examples = match examples(ledger, of).await? {
        ids if ids.is_empty() => String::new(),
        ids => format!(", for example in {}", ids.join(", ")),
    };
    let pledges = if unpriced == 1 { "pledge" } else { "pledges" };
    let problem = format_args!(
        "has {unpriced} unpriced {pledges}{examples}, charged 0.00. You accepted {accept_unpriced}: check the usage, \
         then accept {unpriced}",
    );
    Err(of.refused_at("accept-unpriced", RefusalCode::NotAllowed, problem))
}

/// Returns the IDs of the month's newest transactions that have unpriced pledges.
async fn examples(ledger: &dyn Ledger, of: &ScopeMonth) -> Result<Vec<String>> {
    let Some((from, until)) = of.month.span_ms() else { return Ok(Vec::new()) };
    let state = Some(TransactionState::Unpriced);
    let filter = Filter { from, until: Some(until), state, ..Filter::of(&of.scope) };
    let page = orders::orders(ledger, &filter, &Direction::Newest, MAX_EXAMPLES).await?;
    Ok(page.orders.into_iter().map(|order| order.id).collect())
}
