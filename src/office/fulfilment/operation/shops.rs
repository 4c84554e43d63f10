//! Lists the shops that pledged an offering in a month.

use super::arguments::MOST;
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::UnitQuantities;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{complete, left_out_in_words};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::operation::unit_names::UnitNames;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Deserialize;

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
    pub month: Month,
    pub offering: String,
    pub mode: Mode,
}

pub async fn shops<P: Ports>(call: &Call<'_, P>, asked: ShopsOf) -> Result<Answer> {
    let found =
        quantities::by_unit(call.ledger, (asked.mode, asked.month), &asked.offering, MOST).await?;
    let names = UnitNames::read(call.ledger, found.units.iter().map(|sum| &*sum.unit)).await;
    let sums = shares(&asked, &found, &names).without(&ONLY_IN_FILES).in_lines();
    let others = match found.more {
        true => format!("There are more than {MOST} units, so only the first are shown."),
        false => String::new(),
    };
    let without = left_out_in_words(&found.left_out);
    let text = paragraphs([sums, others, complete(&found.coverage), without]);
    Answer::new(&found, text)
}

/// The columns of [`shares`] that are the same in all rows.
pub(crate) const ONLY_IN_FILES: [&str; 4] = ["Month", "Mode", "Offering", "Complete up to"];

/// Returns the list of how much each shop pledged.
pub(crate) fn shares(
    ShopsOf { month, offering, mode }: &ShopsOf,
    UnitQuantities { units, coverage, .. }: &UnitQuantities,
    names: &UnitNames,
) -> Listing {
    Listing::new(
        units,
        "Nobody pledged this offering in this month.",
        &[
            ("Month", &|_| Fact::Month(*month)),
            ("Mode", &|_| Fact::Mode(*mode)),
            ("Offering", &|_| Fact::Text(offering.clone())),
            ("Unit", &|it| names.unit(&it.unit)),
            ("Name", &|it| Fact::text(names.name(&it.unit))),
            ("Orders", &|it| Fact::number(it.transactions)),
            ("Pledged", &|it| Fact::number(&it.quantity)),
            ("Complete up to", &|_| Fact::time(coverage.complete_up_to.as_deref())),
        ],
    )
}
