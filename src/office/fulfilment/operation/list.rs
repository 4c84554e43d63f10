//! Lists what was done, and compares it with what was pledged.

use super::arguments::{MONTH, MONTHS, MOST};
use super::change::printed;
use crate::office::fulfilment::rows::fulfilments::Fulfilment;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{complete, left_out_in_words};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::Deserialize;

pub const LIST: Spec = Spec::reads(
    "fulfilments",
    "list",
    "list what was recorded as done, for the pledges of a month or of the last 12 months",
    &[MONTH, mode("only fulfilments for live pledges, or only those for test pledges")],
)
.permission(Permission::Account)
.answers("`fulfilments`: each with the same members as the answer of `fulfilments add`");

#[derive(Deserialize)]
pub struct OfMonths {
    month: Option<Month>,
    mode: Option<Mode>,
}

impl OfMonths {
    fn months<P: Ports>(&self, call: &Call<'_, P>) -> Vec<Month> {
        match self.month {
            Some(month) => vec![month],
            None => Month::last(call.platform.now_ms(), MONTHS),
        }
    }
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: OfMonths) -> Result<Answer> {
    let months = asked.months(call);
    let fulfilments = fulfilments::list(call.ledger, asked.mode, &months, MOST).await?;
    let members = fulfilments.iter().map(printed).collect::<Result<Vec<_>, _>>()?;
    Answer::list("fulfilments", &members, recorded(&fulfilments).in_lines())
}

/// Returns the list of what was recorded as done.
pub(crate) fn recorded(fulfilments: &[Fulfilment]) -> Listing {
    Listing::new(
        fulfilments,
        "Nothing is recorded as done for this month yet.",
        &[
            ("Month", &|it| Fact::Month(it.done.month)),
            ("Offering", &|Fulfilment { done, .. }| {
                let address = of_shops(done.mode, done.month, &done.offering);
                Fact::Text(done.offering.clone()).at(address)
            }),
            ("Quantity", &|it| Fact::number(&it.done.quantity)),
            ("Done on", &|it| Fact::Day(it.done.done_on.clone())),
            ("Partner", &|it| Fact::text(it.done.partner.as_deref())),
            ("Place", &|it| Fact::text(it.done.place.as_deref())),
            ("Report", &|it| Fact::Link(it.done.report.clone().unwrap_or_default())),
            ("Mode", &|it| Fact::Mode(it.done.mode)),
            ("Recorded by", &|it| Fact::Text(it.by.clone())),
            ("Recorded", &|it| Fact::time(&*it.at)),
            ("ID", &|it| Fact::id(&it.id)),
        ],
    )
}

pub const BALANCE: Spec = Spec::reads(
    "fulfilments",
    "balance",
    "print what was pledged, credited and done for each offering, what is still to be done, and what published updates say is done",
    &[
        MONTH,
        mode("whether the fulfilment is for live or for test pledges").or("live"),
        Argument::option("open", Kind::Flag, "only what is still to be done"),
    ],
)
.permission(Permission::Account)
.noted("Without `--month`: the current month and the 11 before it.")
.answers("`balances`: for each month and offering `month`, `mode`, `offering`, `transactions` (their number), `pledged`, `credited`, `done`, `open` (pledged − credited − done, not below 0), `surplus` (what was done beyond that), each an exact decimal, `updates` (number of published ones) and `told` (the quantities of those with the stage `done`); `more`: whether there are over 10,000; `leftOut`: number of transactions with [too many quantities](ledger.md#findings) to be summed; `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`");

#[derive(Deserialize)]
pub struct BalanceOf {
    #[serde(flatten)]
    of: OfMonths,
    #[serde(default)]
    open: bool,
}

pub async fn balance<P: Ports>(call: &Call<'_, P>, asked: BalanceOf) -> Result<Answer> {
    let months = asked.of.months(call);
    let mut found =
        fulfilments::balances(call.store, call.ledger, asked.of.mode, &months, MOST).await?;
    if asked.open {
        found.balances.retain(|balance| balance.open != "0");
    }
    let none = if asked.open { "Everything is done." } else { "Nothing was pledged." };
    let sums = balances(&found).without(&["Complete up to"]).or(none).in_lines();
    let others = match found.more {
        true => format!(
            "There are more than {MOST} sums, so only the first are shown. Use `--month` to see others."
        ),
        false => String::new(),
    };
    let without = left_out_in_words(&found.left_out);
    let text = paragraphs([sums, others, complete(&found.coverage), without]);
    Answer::new(&found, text)
}

/// Returns the list of what was pledged, credited and done, and what buyers were told.
pub(crate) fn balances(Balances { balances, coverage, .. }: &Balances) -> Listing {
    Listing::new(
        balances,
        "Nothing was pledged in this month.",
        &[
            ("Month", &|it| Fact::Month(it.month).at(of_month("/fulfilment", it))),
            ("Mode", &|it| Fact::Mode(it.mode)),
            ("Offering", &|it| Fact::Text(it.offering.clone())),
            ("Orders", &|it| orders(it)),
            ("Pledged", &|it| Fact::number(&it.pledged)),
            ("Credited", &|it| Fact::some(&it.credited)),
            ("Done", &|it| Fact::some(&it.done)),
            ("To be done", &|it| open(it)),
            ("Surplus", &|it| Fact::some(&it.surplus)),
            ("Updates", &|it| Fact::number(it.updates).at(of_month("/updates", it))),
            ("Told", &|it| told(it)),
            ("Complete up to", &|_| Fact::time(coverage.complete_up_to.as_deref())),
        ],
    )
}

/// Returns the number of orders, with a link to the shops that they are of.
fn orders(Balance { mode, month, offering, transactions, .. }: &Balance) -> Fact {
    match transactions {
        0 => Fact::number(0),
        count => Fact::number(count).at(of_shops(*mode, *month, offering)),
    }
}

fn open(Balance { open, .. }: &Balance) -> Fact {
    let number = Fact::number(open);
    if open == "0" { number } else { number.strong() }
}

/// Returns the quantity that buyers were told is done. Pages mark one that was not recorded as done.
fn told(Balance { told, done, .. }: &Balance) -> Fact {
    let number = Fact::some(told);
    if told == done { number } else { number.strong() }
}

fn of_month(path: &str, Balance { mode, month, .. }: &Balance) -> String {
    link::with(path, &[("mode", mode.name()), ("month", &month.to_string())])
}

/// Returns the address of the page about the shops of an offering.
fn of_shops(mode: Mode, month: Month, offering: &str) -> String {
    let month = month.to_string();
    let of = [("mode", mode.name()), ("month", &month), ("offering", offering)];
    link::with("/fulfilment/shops", &of)
}
