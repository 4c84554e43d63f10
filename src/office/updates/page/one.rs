//! The page of one update: what it says, its state, and the forms that change it.

use super::form::{PATH, left_out, preview_button, sentences};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{facts, link, view};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::updates::operation::{EDIT, about, stage_in_words};
use crate::office::updates::rows::updates::{UpdateRow, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewUpdate;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Shows an update. Ledger cost: 1 query, and 1 more if the update was drafted from a fulfilment.
pub(crate) async fn update<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
) -> Result {
    let row = &updates::get(context.ledger, id).await?;
    let UpdateRow { pledges, state, update, .. } = row;
    let selection = MonthSelection { mode: pledges.mode, month: pledges.month };
    let removed = removed_fulfilment(context, row).await?;
    let content = html! {
        section {
            (facts::list(&about(row)))
            @if let Some(notice) = removed { (notice) }
            ul.links {
                @for (tag, _) in update.texts.iter() {
                    li { a href=(preview_path(&row.id, tag)) target="_blank" { "Preview (" (tag) ")" } }
                }
                @if update.texts.is_empty() {
                    li { a href=(preview_path(&row.id, "en")) target="_blank" { "Preview" } }
                }
                li { a href=(selection.address(PATH)) { "All updates of " (view::month(pledges.month)) } }
            }
            div.row { (actions(row)) }
        }
        section #edit {
            h2 { "Edit" }
            @if *state == UpdateState::Published {
                p { "This update is published: timelines show a change after about " (APPLIED_SECONDS) " s." }
            }
            (edit_form(context, row))
        }
    };
    let title = format!("Update: {}", stage_in_words(update.stage.name()));
    Ok(Page::new(title, content))
}

fn preview_path(id: &str, tag: &str) -> String {
    link::with(&link::path(&["updates", id, "preview"]), &[("language", tag)])
}

/// Renders a warning if the fulfilment from which an update was drafted has been removed. The update may then
/// be wrong, too.
async fn removed_fulfilment<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    row: &UpdateRow,
) -> Result<Option<Markup>> {
    let Some(id) = &row.fulfilment else { return Ok(None) };
    let found = fulfilments::get(context.ledger, id).await?;
    Ok(found.removed.map(|removal| {
        view::notice(&html! {
            "This update was drafted from a fulfilment that " (view::untrusted_text(&removal.by))
            " removed on " (view::time(&removal.at)) ". Check whether the update is still right."
        })
    }))
}

/// Renders the buttons that publish and withdraw an update. Their forms have no operation ID, so the responses ask for
/// confirmation.
fn actions(row: &UpdateRow) -> Markup {
    let revision = row.revision.to_string();
    let withdraw = if row.state == UpdateState::Draft { "Discard draft" } else { "Withdraw" };
    let form = |last, button: Markup| {
        let content = html! { (view::hidden("revision", &revision)) (button) };
        view::form(&link::path(&["updates", &row.id, last]), &content)
    };
    html! {
        @if row.state != UpdateState::Published { (form("publish", html! { button { "Publish" } })) }
        @if row.state != UpdateState::Withdrawn { (form("withdraw", html! { button.quiet { (withdraw) } })) }
    }
}

fn edit_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UpdateRow,
) -> Markup {
    let now = NewUpdate::from(&row.update);
    context.operation_form(OperationForm {
        fixed: &[("revision", &row.revision.to_string())],
        values: &[
            ("stage", &now.stage),
            ("date", &now.date),
            ("place", &now.place),
            ("latitude", &now.latitude),
            ("longitude", &now.longitude),
            ("partner", &now.partner),
            ("quantity", &now.quantity),
            ("picture", &now.picture),
            ("picture-text", &now.picture_text),
            ("report", &now.report),
        ],
        leave_out: left_out(context.settings),
        items: &[("text", &sentences(&now))],
        buttons: preview_button(&link::path(&["updates", &row.id, "preview"])),
        ..OperationForm::new(&EDIT, &link::path(&["updates", &row.id]))
    })
}
