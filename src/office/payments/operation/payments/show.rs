//! Prints the payments of months.

use super::mark::{MODE, MONTH, UNIT, marked_as};
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::Paid;
use crate::office::payments::rule::sum::Sum;
use crate::office::payments::rule::usage;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Spec, mode};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::{Deserialize, Serialize};

fn dues_in_words(now: &[Sum]) -> String {
    let dues: Vec<_> =
        now.iter().map(|it| format!("{} {}", it.due.due, it.due.currency_code)).collect();
    dues.join(" and ")
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
    now: Option<Vec<Sum>>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, of: ScopeMonth) -> Result<Answer> {
    let paid = marked_as(call, &of, "").await?;
    let now = sums_now(call, &of).await?;
    let now_in_words = now.as_ref().map(|now| match now.as_slice() {
        [] => "The ledger no longer has any transaction of the marked month.".to_owned(),
        now => format!("Due now: {}.", dues_in_words(now)),
    });
    let text = paragraphs([
        listing(std::slice::from_ref(&paid)).in_lines(),
        now_in_words.unwrap_or_default(),
    ]);
    Answer::new(&PaymentAnswer { paid, now }, text)
}

/// Returns the current sums of a month. Returns `None` if the month is earlier than the months that the
/// ledger keeps.
async fn sums_now<P: Ports>(call: &Call<'_, P>, of: &ScopeMonth) -> Result<Option<Vec<Sum>>> {
    let filter = TransactionFilter::of(&of.scope);
    let kept_from = crate::office::system::rows::health::health(call.ledger, 0).await?.kept_from;
    if kept_from.as_deref().and_then(Month::of) > Some(of.month) {
        return Ok(None);
    }
    let used = usage::of_all(call.store, call.ledger, &filter, Some(of.month)).await?;
    let sums = used.months.into_iter().flat_map(MonthUsage::into_sums);
    Ok(Some(sums.map(|sum| Sum { settled: None, ..sum }).collect()))
}

/// Returns the list of payments, with a row for each sum.
fn listing(paid: &[Paid]) -> Listing {
    Listing::new(
        paid.iter().flat_map(|paid| paid.settlement.sums.iter().map(move |sum| (paid, sum))),
        "No month is marked as paid.",
        &[
            ("Month", &|(paid, _)| Fact::Month(paid.of.month)),
            ("Mode", &|(paid, _)| Fact::Mode(paid.of.scope.mode)),
            ("Sum", &|(_, sum)| Fact::money(&sum.amount, &sum.currency_code)),
            ("Transactions", &|(_, sum)| Fact::number(sum.transactions)),
            ("Unpriced", &|(_, sum)| Fact::some(sum.unpriced)),
            ("Paid", &|(paid, _)| Fact::time(paid.settlement.paid_at.as_str())),
            ("Invoice", &|(paid, _)| Fact::Text(paid.settlement.invoice.clone())),
            ("Marked", &|(paid, _)| Fact::time(&*paid.settlement.at)),
            ("By", &|(paid, _)| Fact::Text(paid.settlement.by.clone())),
        ],
    )
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

pub async fn list<P: Ports>(call: &Call<'_, P>, List { unit, mode }: List) -> Result<Answer> {
    let payments = payments::list(call.ledger, &unit, mode).await?;
    if payments.is_empty() {
        unit_must_be_registered(call, Some(&unit)).await?;
    }
    Answer::list("payments", &payments, listing(&payments).in_lines())
}
