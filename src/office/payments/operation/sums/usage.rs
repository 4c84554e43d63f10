//! Prints the sums of one month or of every month, by unit.

use super::of_month::UNIT;
use super::summed::Summed;
use crate::office::orders::operation::{MONTH, listed};
use crate::office::orders::rows::order::{Order, TransactionState};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ListQuery, TransactionFilter};
use crate::office::payments::rule::usage;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

/// At most this many transactions with unpriced pledges are listed as examples.
const MOST_EXAMPLES: usize = 20;

pub const USAGE: Spec = Spec::reads(
    "transactions",
    "usage",
    "print the sums of one month or of every month, by unit",
    &[
        MONTH,
        UNIT,
        mode("only test transactions, or only live ones"),
        Argument::option(
            "unpriced",
            Kind::Flag,
            "only sums with unpriced pledges, and the newest transactions that have some; the exit code is 1 \
             if there are any",
        ),
    ],
)
.permission(Permission::Account)
.answers("`month`, or `null` for every month; `sums`: for each `unit`, `mode`, `month`, `currencyCode`, `transactions` (their number), `unpriced` (number of unpriced pledges), `amount` (the sum of the charges), `credited` (the credits of the month), `carried` (the excess of credits from earlier months), `due` (`amount` less both, at least 0.00), `settled` (`amount`, `paidAt`, `invoice` if the month is marked as paid, else `null`) and, if the paid amount differs from what is due, `late` (the IDs of up to 5 transactions that were added or changed later); `transactions`: number of all transactions; `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`. With `--unpriced` also `examples`: up to 20 transactions, with the members of `transactions list`");

#[derive(Deserialize)]
pub struct Usage {
    month: Option<Month>,
    unit: Option<String>,
    mode: Option<Mode>,
    #[serde(default)]
    unpriced: bool,
}

#[derive(Serialize)]
struct Unpriced<'s> {
    #[serde(flatten)]
    sums: &'s Summed,
    examples: &'s [Order],
}

pub async fn usage<P: Ports>(call: &Call<'_, P>, asked: Usage) -> Result<Answer> {
    let Usage { month, unit, mode, unpriced } = asked;
    let filter = TransactionFilter { unit, mode };
    let used = usage::of_all(call.store, call.ledger, &filter, month).await?;
    if used.months.is_empty() {
        unit_must_be_registered(call, filter.unit.as_deref()).await?;
    }
    let mut summed = Summed::new(month, used);
    if !unpriced {
        return Answer::new(&summed, summed.in_words("no transactions"));
    }
    summed.sums.retain(|sum| sum.due.unpriced > 0);
    let query = ListQuery {
        filter,
        month,
        state: Some(TransactionState::Unpriced),
        ..ListQuery::default()
    };
    let newest = &Direction::Newest;
    let mut page = transactions::list(call.ledger, &query, newest, MOST_EXAMPLES).await?.page;
    transactions::mark_cancelled(call.store, &mut page.orders).await?;
    let sums = summed.in_words("every offering of these transactions had a price");
    let examples = match page.orders.is_empty() {
        true => String::new(),
        false => listed(&page.orders),
    };
    let others = match page.older {
        Some(_) => {
            "There are more transactions with unpriced pledges: `transactions list --state unpriced` \
                    lists them."
                .to_owned()
        }
        None => String::new(),
    };
    let show = match page.orders.is_empty() {
        true => String::new(),
        false => "`transactions show` prints the pledges of a transaction.".to_owned(),
    };
    let data = Unpriced { sums: &summed, examples: &page.orders };
    let answer = Answer::new(&data, paragraphs([sums, examples, others, show]))?;
    Ok(answer.failing_if(!summed.sums.is_empty()))
}
