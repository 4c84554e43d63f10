use super::of_month::{OF_MODE, OfMonth, UNIT};
use crate::office::fulfilment::rule::quantities;
use crate::office::fulfilment::rule::quantities::PledgedQuantities;
use crate::office::orders::operation::MONTH;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{complete, left_out_in_words};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::operation::table::paragraphs;
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
struct Quantities<'q> {
    month: Month,
    mode: &'q str,
    #[serde(flatten)]
    found: &'q PledgedQuantities,
}

pub async fn quantities<P: Ports>(call: &Call<'_, P>, asked: OfMonth) -> Result<Answer> {
    let month = asked.month;
    let found = quantities::quantities(call.ledger, &asked.filter(), month, MOST_OFFERINGS).await?;
    if found.quantities.is_empty() {
        unit_must_be_registered(call, asked.filter().unit.as_deref()).await?;
    }
    let sums = Listing::new(
        &found.quantities,
        &format!("Nothing was pledged in {month}."),
        &[
            ("Offering", &|it| Fact::Text(it.offering.clone())),
            ("Quantity", &|it| Fact::number(&it.quantity)),
            ("Transactions", &|it| Fact::number(it.transactions)),
            ("Mode", &|it| Fact::Mode(it.mode)),
        ],
    );
    let others = match found.more {
        true => {
            format!("These are the first {MOST_OFFERINGS} offerings. Use `--unit` to see others.")
        }
        false => String::new(),
    };
    let without = left_out_in_words(&found.left_out);
    let text = paragraphs([sums.in_lines(), others, complete(&found.coverage), without]);
    Answer::new(&Quantities { month, mode: &asked.mode, found: &found }, text)
}
