//! Lists what was done, and compares it with what was pledged.

use super::arguments::{MONTH, MONTHS, MOST};
use super::change::Printed;
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::{Covered, complete, left_out_in_words};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode};
use crate::office::shared::operation::table::{paragraphs, table, time};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

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

#[derive(Serialize)]
struct FulfilmentList {
    fulfilments: Vec<Printed>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: OfMonths) -> Result<Answer> {
    let months = asked.months(call);
    let fulfilments = fulfilments::list(call.ledger, asked.mode, &months, MOST).await?;
    let text = match fulfilments.is_empty() {
        true => "nothing is recorded as done".to_owned(),
        false => listed(&fulfilments),
    };
    let fulfilments = fulfilments.into_iter().map(Printed::from).collect();
    Answer::new(&FulfilmentList { fulfilments }, text)
}

fn listed(fulfilments: &[Fulfilment]) -> String {
    let row = |Fulfilment { id, done, by, at, .. }: &Fulfilment| {
        let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } =
            done;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        [
            month.to_string(),
            offering.clone(),
            quantity.clone(),
            done_on.clone(),
            text(partner),
            text(place),
            text(report),
            mode.name().to_owned(),
            by.clone(),
            time(at),
            id.clone(),
        ]
    };
    let headings = [
        "MONTH",
        "OFFERING",
        "QUANTITY",
        "DONE ON",
        "PARTNER",
        "PLACE",
        "REPORT",
        "MODE",
        "RECORDED BY",
        "AT",
        "ID",
    ];
    let rows: Vec<_> = fulfilments.iter().map(row).collect();
    table(headings, &rows)
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BalanceList<'b> {
    balances: &'b [Balance],
    more: bool,
    left_out: u64,
    #[serde(flatten)]
    covered: Covered,
}

pub async fn balance<P: Ports>(call: &Call<'_, P>, asked: BalanceOf) -> Result<Answer> {
    let months = asked.of.months(call);
    let mut found =
        fulfilments::balances(call.store, call.ledger, asked.of.mode, &months, MOST).await?;
    if asked.open {
        found.balances.retain(|balance| balance.open != "0");
    }
    let Balances { balances, more, left_out, coverage } = &found;
    let sums = match balances.is_empty() {
        true if asked.open => "everything is done".to_owned(),
        true => "nothing was pledged".to_owned(),
        false => {
            let rows: Vec<_> = balances.iter().map(cells).collect();
            let headings = [
                "MONTH", "OFFERING", "ORDERS", "PLEDGED", "CREDITED", "DONE", "OPEN", "SURPLUS",
                "UPDATES", "TOLD", "MODE",
            ];
            table(headings, &rows)
        }
    };
    let others = match more {
        true => format!(
            "There are more than {MOST} sums, so only the first are shown. Use `--month` to see others."
        ),
        false => String::new(),
    };
    let without = left_out_in_words(left_out.count);
    let text = paragraphs([sums, others, complete(coverage), without]);
    let covered = Covered::from(coverage);
    let data = BalanceList { balances, more: *more, left_out: left_out.count, covered };
    Answer::new(&data, text)
}

fn cells(balance: &Balance) -> [String; 11] {
    let some = |quantity: &str| if quantity == "0" { String::new() } else { quantity.to_owned() };
    [
        balance.month.to_string(),
        balance.offering.clone(),
        balance.transactions.to_string(),
        balance.pledged.clone(),
        some(&balance.credited),
        some(&balance.done),
        some(&balance.open),
        some(&balance.surplus),
        some(&balance.updates.to_string()),
        some(&balance.told),
        balance.mode.name().to_owned(),
    ]
}
