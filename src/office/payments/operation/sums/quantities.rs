use super::of_month::{OF_MODE, OfMonth, UNIT};
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::PledgedQuantities;
use crate::office::orders::operation::MONTH;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{Covered, complete, left_out_in_words};
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::operation::table::{paragraphs, table};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::settlement::Month;
use serde::Serialize;

const MOST_OFFERINGS: usize = 10_000;

pub const QUANTITIES: Spec = Spec::reads(
    "transactions",
    "quantities",
    "print the quantities that were pledged in a month, by offering",
    &[MONTH.required(), UNIT, OF_MODE],
)
.permission(Permission::Account)
.answers("`month`; `mode`; `quantities`: for each offering `month`, `mode`, `offering`, `quantity` (an exact decimal) and `transactions` (their number); `more`: whether there are over 10,000 offerings; `leftOut`: number of transactions with [too many quantities](ledger.md#findings) to be summed; `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`");

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
    let found = quantities::quantities(call.ledger, &asked.filter(), month, MOST_OFFERINGS).await?;
    let PledgedQuantities { quantities, more, left_out, coverage } = &found;
    if quantities.is_empty() {
        unit_must_be_registered(call, asked.filter().unit.as_deref()).await?;
    }
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
    let first = left_out.first.as_ref().map(|first| format!(" The first is {first}."));
    let without = left_out_in_words(left_out.count) + &first.unwrap_or_default();
    let text = paragraphs([sums, others, complete(coverage), without]);
    let (left_out, covered) = (left_out.count, Covered::from(coverage));
    let data = Quantities { month, mode: &asked.mode, quantities, more: *more, left_out, covered };
    Answer::new(&data, text)
}
