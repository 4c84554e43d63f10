//! Operations on what shops owe: the amounts due for months, and statements.

use super::payments::{MODE, MONTH, UNIT};
use super::sums::sums_table;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::due_months::{DueFilter, DuePage, due_months};
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::statement as records;
use crate::office::payments::rule::statement::{Item, Line, StatementSum};
use crate::office::payments::rule::sum::Sum;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{Covered, complete};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, modes, month, unit};
use crate::office::shared::operation::table::{facts, paragraphs, table, time};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::{Month, ScopeMonth, Settlement};
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
    covered: Covered,
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
    let found = match sums.is_empty() {
        true => "no months match".to_owned(),
        false => sums_table(&sums),
    };
    let text = paragraphs([found, complete(&coverage)]);
    Answer::new(&Dues { sums, covered: Covered::from(&coverage) }, text)
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

#[derive(Serialize)]
struct StatementAnswer<'s> {
    number: &'s str,
    #[serde(flatten)]
    of: &'s ScopeMonth,
    complete: bool,
    paid: Option<&'s Settlement>,
    sums: &'s [StatementSum],
    #[serde(flatten)]
    covered: Covered,
}

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
    let sums: Vec<_> = statement.sums.iter().map(in_table).collect();
    let sums = match sums.is_empty() {
        true => "no transactions in this month".to_owned(),
        false => sums.join("\n\n"),
    };
    let data = StatementAnswer {
        number: &statement.number,
        of: &statement.of,
        complete: statement.is_complete,
        paid: statement.settled.as_ref(),
        sums: &statement.sums,
        covered: Covered::from(&statement.coverage),
    };
    Answer::new(&data, paragraphs([head, sums, complete(&statement.coverage)]))
}

/// Formats the lines of a statement in one currency as a table, with the sums below them.
fn in_table(StatementSum { due, lines }: &StatementSum) -> String {
    let total =
        |label: &str, amount: String| [label.to_owned(), String::new(), String::new(), amount];
    let Due { currency_code, amount, credited, carried, .. } = due;
    let mut rows: Vec<_> = lines.iter().map(cells).collect();
    rows.push(total("Sum", amount.clone()));
    if credited != "0.00" {
        rows.push(total("Credits", format!("-{credited}")));
    }
    if carried != "0.00" {
        rows.push(total("Carried from earlier months", format!("-{carried}")));
    }
    rows.extend(due.excess().map(|excess| total("Carried to a later month", excess)));
    rows.push(total("Due", format!("{} {currency_code}", due.due)));
    table(["OFFERING", "QUANTITY", "UNIT PRICE", "AMOUNT"], &rows)
}

fn cells(Line { item, amount }: &Line) -> [String; 4] {
    let [name, quantity, price] = match item {
        Item::Offering { offering, quantity, unit_price } => {
            [offering.clone(), quantity.clone(), unit_price.clone().unwrap_or_default()]
        }
        Item::Further { offerings } => {
            [format!("Further offerings and prices: {offerings}"), String::new(), String::new()]
        }
        Item::Rounding => ["Rounding".to_owned(), String::new(), String::new()],
        Item::Other { transactions } => {
            [format!("Other transactions: {transactions}"), String::new(), String::new()]
        }
    };
    [name, quantity, price, amount.clone()]
}
