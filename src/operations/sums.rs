//! Operations on the transactions of months: sums, quantities, export.

use super::call::{Answer, Call, Host as _, Ports, Result};
use super::covered::{Covered, complete};
use super::spec::{Argument, Kind, Spec, mode, modes, unit};
use super::table::{paragraphs, some, table, time};
use super::transactions::{MONTH, listed};
use crate::ledger::{Direction, OfferingSum, Order};
use crate::operator::quantities::{self, PledgedQuantities};
use crate::operator::roles::Permission;
use crate::operator::transactions::{
    self, Export as Exported, ListQuery, TransactionFilter, for_spreadsheet, spreadsheet_head,
};
use crate::operator::usage::{self, MonthUsage, Usage as Used};
use crate::operator::{Coverage, Sum};
use crate::scope::Mode;
use crate::settlement::Month;
use serde::{Deserialize, Serialize};

const UNIT: Argument = unit("only transactions of this unit");
const OF_MODE: Argument = modes("live", "live transactions, test transactions, or both");

/// Sums as JSON.
#[derive(Serialize)]
struct Sums<'s> {
    month: Option<Month>,
    sums: &'s [Sum],
    transactions: u64,
    #[serde(flatten)]
    covered: Covered,
}

/// The sums of months, each with its payment.
struct Summed {
    month: Option<Month>,
    sums: Vec<Sum>,
    transactions: u64,
    coverage: Coverage,
}

impl Summed {
    fn new(month: Option<Month>, Used { months, coverage }: Used) -> Self {
        let sums: Vec<_> = months.into_iter().flat_map(MonthUsage::into_sums).collect();
        let transactions = sums.iter().map(|sum| sum.transactions).sum();
        Summed { month, sums, transactions, coverage }
    }

    fn data(&self) -> Sums<'_> {
        Sums {
            month: self.month,
            sums: &self.sums,
            transactions: self.transactions,
            covered: Covered::from(&self.coverage),
        }
    }

    /// Formats the sums. `none` is the text if there are no sums.
    fn in_words(&self, none: &str) -> String {
        let found = match self.sums.is_empty() {
            true => none.to_owned(),
            false => sums_table(&self.sums),
        };
        paragraphs([found, self.late(), complete(&self.coverage)])
    }

    /// Returns a text with the IDs of the transactions that were added or changed after their month was marked as paid.
    fn late(&self) -> String {
        let late = self.sums.iter().filter(|sum| !sum.late.is_empty());
        let mut lines: Vec<_> = late
            .map(|sum| {
                let (mode, ids) = (sum.mode.name(), sum.late.join(", "));
                format!("{} of {} ({mode}): {ids}", sum.month, sum.unit)
            })
            .collect();
        lines.dedup();
        match lines.is_empty() {
            true => String::new(),
            false => format!(
                "Added to the ledger or changed since the month was marked as paid:\n{}",
                lines.join("\n")
            ),
        }
    }
}

/// Formats sums in a table.
pub(super) fn sums_table(sums: &[Sum]) -> String {
    const HEADS: [&str; 13] = [
        "MONTH",
        "UNIT",
        "MODE",
        "TRANSACTIONS",
        "SUM",
        "CREDITED",
        "CARRIED",
        "DUE",
        "CURRENCY",
        "UNPRICED",
        "SETTLED",
        "PAID",
        "INVOICE",
    ];
    let rows: Vec<_> = sums.iter().map(cells).collect();
    table(HEADS, &rows)
}

fn cells(sum: &Sum) -> [String; 13] {
    let settled = sum.settled.as_ref();
    [
        sum.month.to_string(),
        sum.unit.clone(),
        sum.mode.name().to_owned(),
        sum.transactions.to_string(),
        sum.amount.clone(),
        not_zero(&sum.credited),
        not_zero(&sum.carried),
        sum.due.clone(),
        sum.currency_code.clone(),
        some(sum.unpriced),
        settled
            .map(|it| it.amount.clone().unwrap_or_else(|| "0.00".to_owned()))
            .unwrap_or_default(),
        settled.map(|it| time(it.paid_at.as_str())).unwrap_or_default(),
        settled.map(|it| it.invoice.clone()).unwrap_or_default(),
    ]
}

/// Returns the amount; empty for 0.00.
fn not_zero(amount: &str) -> String {
    if amount == "0.00" { String::new() } else { amount.to_owned() }
}

// ---- Usage ---------------------------------------------------------------------------------------

/// Largest number of transactions with unpriced pledges that are listed as examples.
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
    sums: Sums<'s>,
    examples: &'s [Order],
}

pub async fn usage<P: Ports>(call: &Call<'_, P>, asked: Usage) -> Result<Answer> {
    let Usage { month, unit, mode, unpriced } = asked;
    let filter = TransactionFilter { unit, mode };
    let used = usage::of_all(call.store, call.ledger()?, &filter, month).await?;
    let mut summed = Summed::new(month, used);
    if !unpriced {
        return Answer::new(&summed.data(), summed.in_words("no transactions"));
    }
    summed.sums.retain(|sum| sum.unpriced > 0);
    let query = ListQuery { filter, month, unpriced, ..ListQuery::default() };
    let newest = &Direction::Newest;
    let page = transactions::list(call.ledger()?, &query, newest, MOST_EXAMPLES).await?.page;
    let sums = summed.in_words("every offering of these transactions had a price");
    let examples = match page.orders.is_empty() {
        true => String::new(),
        false => listed(&page.orders),
    };
    let others = match page.older {
        Some(_) => "There are more: `transactions list --unpriced` lists them.".to_owned(),
        None => String::new(),
    };
    let show = match page.orders.is_empty() {
        true => String::new(),
        false => "`transactions show` prints the pledges of a transaction.".to_owned(),
    };
    let data = Unpriced { sums: summed.data(), examples: &page.orders };
    let answer = Answer::new(&data, paragraphs([sums, examples, others, show]))?;
    Ok(answer.failing_if(!summed.sums.is_empty()))
}

// ---- Quantities ----------------------------------------------------------------------------------

const MOST_OFFERINGS: usize = 10_000;

pub const QUANTITIES: Spec = Spec::reads(
    "transactions",
    "quantities",
    "print the quantities that were pledged in a month, by offering",
    &[MONTH.required(), UNIT, OF_MODE],
)
.permission(Permission::Account)
.answers("`month`; `mode`; `quantities`: for each offering `month`, `mode`, `offering`, `quantity` (an exact decimal) and `transactions` (their number); `more`: whether there are over 10,000 offerings; `leftOut`: number of transactions with [too many quantities](ledger.md#findings) to be summed; `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`");

#[derive(Deserialize)]
pub struct OfMonth {
    month: Month,
    unit: Option<String>,
    mode: String,
}

impl OfMonth {
    fn filter(&self) -> TransactionFilter {
        let mode = match &*self.mode {
            "test" => Some(Mode::Test),
            "live" => Some(Mode::Live),
            _ => None,
        };
        TransactionFilter { unit: self.unit.clone(), mode }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Quantities<'q> {
    month: Month,
    mode: &'q str,
    quantities: &'q [OfferingSum],
    more: bool,
    left_out: u64,
    #[serde(flatten)]
    covered: Covered,
}

pub async fn quantities<P: Ports>(call: &Call<'_, P>, asked: OfMonth) -> Result<Answer> {
    let month = asked.month;
    let found =
        quantities::quantities(call.ledger()?, &asked.filter(), month, MOST_OFFERINGS).await?;
    let PledgedQuantities { quantities, more, left_out, coverage } = &found;
    let row = |sum: &OfferingSum| {
        let (transactions, mode) = (sum.transactions.to_string(), sum.mode.name().to_owned());
        [sum.offering.clone(), sum.quantity.clone(), transactions, mode]
    };
    let rows: Vec<_> = quantities.iter().map(row).collect();
    let sums = match rows.is_empty() {
        true => format!("nothing was pledged in {month}"),
        false => table(["OFFERING", "QUANTITY", "TRANSACTIONS", "MODE"], &rows),
    };
    let others = match more {
        true => {
            format!("These are the first {MOST_OFFERINGS} offerings. Use `--unit` to see others.")
        }
        false => String::new(),
    };
    let without = match left_out.count {
        0 => String::new(),
        count => format!(
            "Transactions with too many quantities, of any month, are in no sum here: {count}. The first is {}.",
            left_out.first.as_deref().unwrap_or_default()
        ),
    };
    let text = paragraphs([sums, others, complete(coverage), without]);
    let (left_out, covered) = (left_out.count, Covered::from(coverage));
    let data = Quantities { month, mode: &asked.mode, quantities, more: *more, left_out, covered };
    Answer::new(&data, text)
}

// ---- Export --------------------------------------------------------------------------------------

pub const EXPORT: Spec = Spec::reads(
    "transactions",
    "export",
    "print the sums of a month by unit, and write its transactions as CSV",
    &[
        MONTH.required(),
        UNIT,
        OF_MODE,
        Argument::option("unpaid", Kind::Flag, "only units whose month is not marked as paid"),
        Argument::option(
            "csv",
            Kind::Output,
            "also write the transactions to a new CSV file, one line for each pledge; `-` writes them to standard \
             output, and the sums to standard error",
        ),
    ],
)
.permission(Permission::Account)
.answers("`month`, `sums`, `transactions`, `completeUpTo`, `completeFrom`, `damaged` as for `transactions usage`; `mode`; `file`: the name of the CSV file, or `null`");

#[derive(Deserialize)]
pub struct Export {
    #[serde(flatten)]
    of: OfMonth,
    #[serde(default)]
    unpaid: bool,
    csv: Option<String>,
}

#[derive(Serialize)]
struct Exports<'s> {
    #[serde(flatten)]
    sums: Sums<'s>,
    mode: &'s str,
    file: Option<&'s str>,
}

pub async fn export<P: Ports>(call: &Call<'_, P>, asked: Export) -> Result<Answer> {
    let Export { of, unpaid, csv } = &asked;
    let ledger = call.ledger()?;
    let mut used = usage::of_all(call.store, ledger, &of.filter(), Some(of.month)).await?;
    if *unpaid {
        used.months.retain(|month| month.settled.is_none());
    }
    let file = csv.as_deref().filter(|file| *file != "-");
    if csv.is_some() {
        call.host.create(file).await?;
        call.host.write(&spreadsheet_head()).await?;
        let mut export = Exported::new(call.store, ledger, of.month, &used.months);
        while let Some(lines) = export.next().await? {
            call.host.write(&for_spreadsheet(&lines)).await?;
        }
    }
    let summed = Summed::new(Some(of.month), used);
    let data = Exports { sums: summed.data(), mode: &of.mode, file };
    let answer = Answer::new(&data, summed.in_words(&asked.none()))?;
    Ok(Answer { is_aside: csv.is_some() && file.is_none(), ..answer })
}

impl Export {
    fn none(&self) -> String {
        let unpaid = if self.unpaid { "unpaid " } else { "" };
        let mode = match &*self.of.mode {
            "both" => String::new(),
            mode => format!("{mode} "),
        };
        format!("no {unpaid}{mode}transactions in {}", self.of.month)
    }
}
