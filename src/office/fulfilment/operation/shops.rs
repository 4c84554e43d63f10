//! Lists the shops that pledged an offering in a month.

use super::arguments::MOST;
use crate::office::fulfilment::rows::unit_quantities::UnitSum;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::UnitQuantities;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{Covered, complete, left_out_in_words};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text};
use crate::office::shared::operation::table::{paragraphs, table};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

pub const SHOPS: Spec = Spec::reads(
    "fulfilments",
    "shops",
    "print how much of an offering each shop pledged in a month: whom a fulfilment is for",
    &[
        Argument::positional(
            "month",
            Kind::Month,
            "the month of the pledges, in UTC, such as 2026-10",
        ),
        Argument::positional("offering", text("offering"), "the offering's ID, such as tree"),
        mode("live or test pledges").or("live"),
    ],
)
.permission(Permission::Account)
.answers("`units`: each with `unit`, `transactions` (their number) and `quantity`, an exact decimal, the largest first; `more`: whether there are over 10,000; `leftOut`, `completeUpTo`, `completeFrom`, `damaged` as for `fulfilments balance`");

#[derive(Deserialize)]
pub struct ShopsOf {
    month: Month,
    offering: String,
    mode: Mode,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnitList<'u> {
    units: &'u [UnitSum],
    more: bool,
    left_out: u64,
    #[serde(flatten)]
    covered: Covered,
}

pub async fn shops<P: Ports>(call: &Call<'_, P>, asked: ShopsOf) -> Result<Answer> {
    let ShopsOf { month, offering, mode } = asked;
    let found = quantities::by_unit(call.ledger, (mode, month), &offering, MOST).await?;
    let UnitQuantities { units, more, left_out, coverage } = &found;
    let row = |UnitSum { unit, transactions, quantity }: &UnitSum| {
        [unit.clone(), transactions.to_string(), quantity.clone()]
    };
    let rows: Vec<_> = units.iter().map(row).collect();
    let sums = match rows.is_empty() {
        true => "nothing was pledged".to_owned(),
        false => table(["UNIT", "ORDERS", "PLEDGED"], &rows),
    };
    let others = match more {
        true => format!("There are more than {MOST} units, so only the first are shown."),
        false => String::new(),
    };
    let without = left_out_in_words(left_out.count);
    let text = paragraphs([sums, others, complete(coverage), without]);
    let covered = Covered::from(coverage);
    let data = UnitList { units, more: *more, left_out: left_out.count, covered };
    Answer::new(&data, text)
}
