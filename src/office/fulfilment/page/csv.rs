//! The CSV export of the fulfilment of a month.

use super::overview::PAGE;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::Balance;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::{Content, Page};
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

/// Maximum number of offerings in a CSV file.
const MAX_LINES: usize = 50_000;

const HEADINGS: [&str; 12] = [
    "month",
    "mode",
    "offering",
    "orders",
    "pledged",
    "credited",
    "done",
    "to_be_done",
    "surplus",
    "updates",
    "told",
    "complete_up_to",
];

/// Returns the CSV export of a month: for each offering, what was pledged, credited and done. Ledger cost: 5 or 6
/// queries.
pub(crate) async fn fulfilment_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found =
        fulfilments::balances(context.store, context.ledger, mode, &months, MAX_LINES).await?;
    if found.more {
        return Err(Refusal::invalid(format!(
            "the month {} has more than {MAX_LINES} offerings, too many for this CSV file. Use the command `transactions quantities`",
            selection.month
        )));
    }
    let complete_up_to = found.coverage.complete_up_to.as_deref().unwrap_or_default();
    let line = |balance: &Balance| {
        let Balance { offering, pledged, credited, done, open, surplus, told, .. } = balance;
        let [orders, updates] = [balance.transactions, balance.updates].map(|it| it.to_string());
        let (month, mode) = (balance.month.to_string(), balance.mode.name());
        [
            &*month,
            mode,
            offering,
            &orders,
            pledged,
            credited,
            done,
            open,
            surplus,
            &updates,
            told,
            complete_up_to,
        ]
        .map(csv::text)
    };
    let headings = HEADINGS.map(str::to_owned);
    let lines = csv::lines(std::iter::once(headings).chain(found.balances.iter().map(line)));
    let name = format!("fulfilment-{}-{}.csv", selection.mode.name(), selection.month);
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Ok(Page { status: 200, content: Content::Csv(name, file.into_bytes()) })
}
