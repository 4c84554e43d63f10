//! The page of a month. It shows the month's updates by offering, and the form that adds an update.

use super::form::{PAGE, PATH, left_out, preview_button, sentences};
use crate::buyer::updates::MAX_UPDATES;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::updates::operation::{ADD, listing};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::{NewUpdate, UpdateList};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of offerings that the form suggests.
const MAX_SUGGESTED: usize = 200;

/// Shows the updates for the pledges of the month in the query. Ledger cost: 7 or 8 queries.
pub(crate) async fn updates<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let ledger = context.ledger;
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found = updates::list(ledger, mode, &months, view::MAX_ROWS).await?;
    let offerings = pledged(context, selection).await?;
    let content = html! {
        p.lead { "What became of the pledges of " (view::month(selection.month)) ", as buyers' timelines show it" }
        (view::modes(PATH, selection.mode, Some(selection.month)))
        (selection.links(PATH))
        section {
            h2 { "By offering" }
            (outdated(&found))
            (table(&listing(&found.updates).without(&["Month", "Mode", "ID"])))
            p.soft {
                "A timeline shows the published updates of its offerings and month in the order of time, at most the newest "
                (MAX_UPDATES) " for each offering. It shows a change after about " (APPLIED_SECONDS) " s."
            }
        }
        (add_section(context, selection, (&offerings, query.text("offering"))))
    };
    Ok(Page::new(PAGE.0, content))
}

/// Renders a notice if timelines do not show the last changes yet.
fn outdated(found: &UpdateList) -> Markup {
    html! {
        @if !found.outdated.is_empty() {
            (view::notice(&html! {
                "Workers KV has not accepted the last change of "
                @for (index, pledges) in found.outdated.iter().enumerate() {
                    @if index > 0 { ", " }
                    (view::untrusted_text(&pledges.offering))
                }
                ": timelines do not show it yet. The next run of the cron job writes the record again, \
                 and so does the next change."
            }))
        }
    }
}

/// Returns the offerings that were pledged in the month; none if the ledger no longer keeps that month.
async fn pledged<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<Vec<String>> {
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found =
        fulfilments::balances(context.store, context.ledger, mode, &months, MAX_SUGGESTED).await;
    match found {
        Err(OperatorError::Invalid(_)) => Ok(Vec::new()),
        found => Ok(found?.balances.into_iter().map(|balance| balance.offering).collect()),
    }
}

fn add_section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    MonthSelection { mode, month }: MonthSelection,
    (offerings, chosen): (&[String], &str),
) -> Markup {
    html! {
        section #add {
            h2 { "New update" }
            p { "Buyers do not see drafts. You can preview a draft before you publish it." }
            (context.operation_form(OperationForm {
                fixed: &[("mode", mode.name()), ("month", &month.to_string())],
                leave_out: left_out(context.settings),
                suggestions: &[("offering", offerings)],
                values: &[("offering", chosen)],
                items: &[("text", &sentences(&NewUpdate::default()))],
                buttons: preview_button("/updates/preview"),
                ..OperationForm::new(&ADD, PATH)
            }))
        }
    }
}
