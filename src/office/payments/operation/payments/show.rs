//! Prints the payments of months.

use super::mark::{MODE, MONTH, UNIT, marked_as};
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::Paid;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::spec::{Spec, mode};
use crate::office::shared::operation::table::{paragraphs, some, table, time};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth, SettledSum, Settlement};
use serde::{Deserialize, Serialize};

fn dues_in_words(now: &[SumNow]) -> String {
    let dues: Vec<_> =
        now.iter().map(|it| format!("{} {}", it.sum.due, it.sum.currency_code)).collect();
    dues.join(" and ")
}

/// Formats payments in a table, with a row for each sum.
fn marked(paid: &[Paid]) -> String {
    const HEADS: [&str; 10] = [
        "MONTH",
        "MODE",
        "SUM",
        "CURRENCY",
        "TRANSACTIONS",
        "UNPRICED",
        "PAID",
        "INVOICE",
        "MARKED",
        "BY",
    ];
    let rows: Vec<_> = paid.iter().flat_map(rows_of).collect();
    table(HEADS, &rows)
}

fn rows_of(Paid { of, settlement }: &Paid) -> Vec<[String; 10]> {
    let Settlement { paid_at, sums, invoice, by, at } = settlement;
    let row = |sum: &SettledSum| {
        [
            of.month.to_string(),
            of.scope.mode.name().to_owned(),
            sum.amount.clone(),
            sum.currency_code.clone(),
            sum.transactions.to_string(),
            some(sum.unpriced),
            time(paid_at.as_str()),
            invoice.clone(),
            time(at),
            by.clone(),
        ]
    };
    sums.iter().map(row).collect()
}

pub const SHOW: Spec = Spec::reads(
    "payments",
    "show",
    "print the payment of a month, and what is due for it now",
    &[UNIT, MONTH, MODE],
)
.permission(Permission::Account)
.answers("the members of `payments mark`; `now`: the month's sums in the ledger now, each with `unit`, `mode`, `month`, `currencyCode`, `amount`, `transactions`, `unpriced`, `credited`, `carried`, `due` and `late` as for `transactions usage`, or `null` if the ledger does not keep the month");

#[derive(Serialize)]
struct PaymentAnswer {
    #[serde(flatten)]
    paid: Paid,
    now: Option<Vec<SumNow>>,
}

/// A month's sum in one currency, as the ledger has it now.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SumNow {
    #[serde(flatten)]
    of: ScopeMonth,
    #[serde(flatten)]
    sum: Due,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    late: Vec<String>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, of: ScopeMonth) -> Result<Answer> {
    let paid = marked_as(call, &of, "").await?;
    let now = sums_now(call, &of).await?;
    let now_in_words = now.as_ref().map(|now| match now.as_slice() {
        [] => "The ledger no longer has any transaction of the marked month.".to_owned(),
        now => format!("Due now: {}.", dues_in_words(now)),
    });
    let text = paragraphs([marked(std::slice::from_ref(&paid)), now_in_words.unwrap_or_default()]);
    Answer::new(&PaymentAnswer { paid, now }, text)
}

/// Returns the current sums of a month. Returns `None` if the month is earlier than the months that the
/// ledger keeps.
async fn sums_now<P: Ports>(call: &Call<'_, P>, of: &ScopeMonth) -> Result<Option<Vec<SumNow>>> {
    let filter = TransactionFilter::of(&of.scope);
    let kept_from = crate::office::system::rows::health::health(call.ledger, 0).await?.kept_from;
    if kept_from.as_deref().and_then(Month::of) > Some(of.month) {
        return Ok(None);
    }
    let used = usage::of_all(call.store, call.ledger, &filter, Some(of.month)).await?;
    let now = |MonthUsage { of, sums, late, .. }: MonthUsage| {
        sums.into_iter().map(move |sum| SumNow { of: of.clone(), sum, late: late.clone() })
    };
    Ok(Some(used.months.into_iter().flat_map(now).collect()))
}

pub const LIST: Spec = Spec::reads(
    "payments",
    "list",
    "list the months of a unit that are marked as paid",
    &[UNIT, mode("only months of live transactions, or only months of test transactions")],
)
.permission(Permission::Account)
.answers("`payments`: for each month, the same members as in the answer of `payments mark`");

#[derive(Deserialize)]
pub struct List {
    unit: String,
    mode: Option<Mode>,
}

#[derive(Serialize)]
struct PaymentList {
    payments: Vec<Paid>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, List { unit, mode }: List) -> Result<Answer> {
    let payments = payments::list(call.ledger, &unit, mode).await?;
    if payments.is_empty() {
        unit_must_be_registered(call, Some(&unit)).await?;
    }
    let text = match payments.is_empty() {
        true => "no month is marked as paid".to_owned(),
        false => marked(&payments),
    };
    Answer::new(&PaymentList { payments }, text)
}
