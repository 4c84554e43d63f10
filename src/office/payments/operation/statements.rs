//! Operations on what shops owe: the amounts due for months, and statements.

use super::payments::{MODE, MONTH, UNIT};
use super::sums::in_table as sums_in_table;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::due_months::{DueFilter, DuePage, due_months};
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::statement as records;
use crate::office::payments::rule::statement::{Item, Line, StatementSum};
use crate::office::payments::rule::sum::Sum;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::complete;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, modes, month, unit};
use crate::office::shared::operation::table::{facts, paragraphs, time};
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::{Month, ScopeMonth};
use serde::{Deserialize, Serialize};

/// Number of entries that are read at once from the ledger's list. An entry is one month of one scope.
const PAGE: usize = 500;

// ---- Dues ----------------------------------------------------------------------------------------

pub const DUE: Spec = Spec::reads(
    "payments",
    "due",
    "list what shops owe for each month, and what they have paid",
    &[
        unit("only months of this unit"),
        month("only this month, in UTC, such as 2026-10; by default, the last 12 months that have ended"),
        modes("live", "live transactions, test transactions, or both"),
        Argument::option(
            "state",
            Kind::Choice { choices: &["open", "paid", "all"] },
            "months not marked as paid, months marked as paid, or both",
        )
        .or("open"),
    ],
)
.permission(Permission::Account)
.answers("`sums`: as for `transactions usage`, without `late`; `completeUpTo`, `completeFrom`, `damaged`");

#[derive(Deserialize)]
pub struct DueArguments {
    unit: Option<String>,
    month: Option<Month>,
    mode: String,
    state: String,
}

impl DueArguments {
    fn filter(&self) -> DueFilter {
        DueFilter {
            scopes: TransactionFilter {
                unit: self.unit.clone(),
                mode: Mode::from_name(&self.mode),
            },
            month: self.month,
            is_paid: match &*self.state {
                "open" => Some(false),
                "paid" => Some(true),
                _ => None,
            },
        }
    }
}

#[derive(Serialize)]
struct Dues {
    sums: Vec<Sum>,
    #[serde(flatten)]
    coverage: Coverage,
}

pub async fn due<P: Ports>(call: &Call<'_, P>, asked: DueArguments) -> Result<Answer> {
    let (filter, now_ms) = (asked.filter(), call.platform.now_ms());
    let (mut sums, mut after) = (Vec::new(), None);
    let coverage = loop {
        let page = due_months(call.store, call.ledger, now_ms, &filter, after.as_ref(), PAGE);
        let DuePage { months, next, coverage } = page.await?;
        sums.extend(months.into_iter().flat_map(MonthUsage::into_sums));
        after = next;
        if after.is_none() {
            break coverage;
        }
    };
    if sums.is_empty() {
        unit_must_be_registered(call, filter.scopes.unit.as_deref()).await?;
    }
    let found = sums_in_table(&sums, &coverage, "No months match.");
    let text = paragraphs([found, complete(&coverage)]);
    Answer::new(&Dues { sums, coverage }, text)
}

// ---- Statements ----------------------------------------------------------------------------------

pub const STATEMENT: Spec = Spec::reads(
    "payments",
    "statement",
    "print what a shop owes for a month, by offering and unit price",
    &[UNIT, MONTH, MODE],
)
.permission(Permission::Account)
.answers("`number`, `unit`, `mode`, `month`; `complete`: whether the sums are final; `paid`: the members of `payments mark`, or `null`; `sums`: for each currency `currencyCode`, `amount` (the sum of the charges), `transactions`, `unpriced`, `credited`, `carried`, `due`, and `lines` that add up to `amount`, each with `amount` and `kind`: `offering` (with `offering`, `quantity`, and `unitPrice`, which is `null` without a price), `further` (with the number of `offerings`), `rounding`, or `other` (with the number of `transactions` that cannot be split); `completeUpTo`, `completeFrom`, `damaged`");

pub async fn statement<P: Ports>(call: &Call<'_, P>, of: ScopeMonth) -> Result<Answer> {
    let statement = records::statement(call.store, call.ledger, call.platform, &of).await?;
    if statement.sums.is_empty() {
        unit_must_be_registered(call, Some(&of.scope.unit)).await?;
    }
    let paid = statement.settled.as_ref().map(|settled| {
        format!("on {}, invoice {}", time(settled.paid_at.as_str()), settled.invoice)
    });
    let preliminary = "preliminary: the month has not ended, or the ledger is not complete yet";
    let head = facts([
        ("Statement", Some(statement.number.clone())),
        ("Paid", paid),
        ("State", (!statement.is_complete).then(|| preliminary.to_owned())),
    ]);
    let sums: Vec<_> = statement.sums.iter().map(|sum| statement_lines(sum).in_lines()).collect();
    let sums = match sums.is_empty() {
        true => "no transactions in this month".to_owned(),
        false => sums.join("\n\n"),
    };
    let text = paragraphs([head, sums, complete(&statement.coverage)]);
    Answer::new(&statement, text)
}

/// Returns the lines of a statement in one currency, with the sums below them.
pub(crate) fn statement_lines(StatementSum { due, lines }: &StatementSum) -> Listing {
    let row = |Line { item, amount }: &Line| [cells(item), [Fact::number(amount)].into()].concat();
    let total = |label, amount: String| {
        vec![Fact::words(label), Fact::none(), Fact::none(), Fact::number(amount)]
    };
    let negative = |amount: &String| (amount != "0.00").then(|| format!("-{amount}"));
    let Due { currency_code, amount, credited, carried, .. } = due;
    let totals = [
        ("Sum", Some(amount.clone())),
        ("Credits", negative(credited)),
        ("Carried from earlier months", negative(carried)),
        ("Carried to a later month", due.excess()),
    ];
    let totals = totals.into_iter().filter_map(|(label, amount)| Some(total(label, amount?)));
    let due = [Fact::words("Due"), Fact::none(), Fact::none(), Fact::number(&due.due)];
    let totals = totals.chain([due.map(Fact::strong).to_vec()]);
    let amount = format!("Amount in {currency_code}");
    let columns = ["Offering", "Quantity", "Unit price", &*amount].map(str::to_owned).to_vec();
    let rows = lines.iter().map(row).chain(totals).collect();
    Listing { columns, rows, empty: String::new() }
}

/// Returns what a line is about: its offering, quantity and unit price.
fn cells(item: &Item) -> Vec<Fact> {
    let alone = |words: String| vec![Fact::Words(words), Fact::none(), Fact::none()];
    match item {
        Item::Offering { offering, quantity, unit_price } => vec![
            Fact::Text(offering.clone()),
            Fact::number(quantity),
            Fact::number(unit_price.as_deref().unwrap_or("none")),
        ],
        Item::Further { offerings } => alone(format!("Further offerings and prices: {offerings}")),
        Item::Rounding => alone("Rounding: each transaction is rounded to cents".to_owned()),
        Item::Other { transactions } => alone(format!(
            "Other: transactions whose charge cannot be split by offering ({transactions})"
        )),
    }
}
