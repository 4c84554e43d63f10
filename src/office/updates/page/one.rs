//! The page of one update: what it says, its state, and the forms that change it.

use super::form::{CONFIRMED, FormResult, PATH, fields, stage_in_words};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
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
    let row = updates::get(context.ledger, id).await?;
    page(context, &row, FormResult::default()).await
}

pub(super) async fn page<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UpdateRow,
    result: FormResult,
) -> Result {
    let UpdateRow { pledges, state, update, .. } = row;
    let selection = MonthSelection { mode: pledges.mode, month: pledges.month };
    let removed = removed_fulfilment(context, row).await?;
    let status = result.problem.status();
    let content = html! {
        (result.notice)
        section {
            (facts(row))
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
            div.row { (actions(context, row)) }
        }
        section #edit {
            h2 { "Edit" }
            @if *state == UpdateState::Published {
                p { "This update is published: timelines show a change after about " (APPLIED_SECONDS) " s." }
            }
            (edit_form(context, row, &result))
        }
    };
    let title = format!("Update: {}", stage_in_words(update.stage.name()));
    Ok(Page { status, ..Page::new(title, content) })
}

fn preview_path(id: &str, tag: &str) -> String {
    link::with(&link::path(&["updates", id, "preview"]), &[("language", tag)])
}

pub(super) fn facts(row: &UpdateRow) -> Markup {
    let UpdateRow { id, pledges, state, update, by, at, changed_by, changed_at, .. } = row;
    let shown = match state {
        UpdateState::Draft => "Draft: buyers do not see it.",
        UpdateState::Published => "Published: timelines show it.",
        UpdateState::Withdrawn => "Withdrawn: timelines do not show it.",
    };
    view::facts(&[
        ("State", html! { (shown) }),
        ("Offering", view::untrusted_text(&pledges.offering)),
        ("Pledged in", html! { (view::month(pledges.month)) " (" (pledges.mode.name()) " mode)" }),
        ("Date", view::day(&[&update.date, "T00:00:00Z"].concat())),
        ("Added by", html! { (view::untrusted_text(by)) " on " (view::time(at)) }),
        (
            "Changed by",
            html! { (view::untrusted_text(changed_by)) " on " (view::time(changed_at)) },
        ),
        ("ID", html! { code.id { (id) } }),
    ])
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

fn actions<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, row: &UpdateRow) -> Markup {
    let revision = row.revision.to_string();
    let withdraw = if row.state == UpdateState::Draft { "Discard draft" } else { "Withdraw" };
    html! {
        @if row.state != UpdateState::Published {
            (context.form(&link::path(&["updates", &row.id, "publish"]), &html! {
                (view::hidden("revision", &revision))
                button { "Publish" }
            }))
        }
        @if row.state != UpdateState::Withdrawn {
            // Its form has no operation ID, so the response asks for confirmation.
            (view::form(&link::path(&["updates", &row.id, "withdraw"]), &html! {
                button.quiet { (withdraw) }
            }))
        }
    }
}

fn edit_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UpdateRow,
    FormResult { wanted, problem, .. }: &FormResult,
) -> Markup {
    let wanted = wanted.clone().unwrap_or_else(|| NewUpdate::from(&row.update));
    let content = html! {
        (view::hidden("revision", &row.revision.to_string()))
        (fields(&wanted, problem))
        @if row.state == UpdateState::Published {
            (view::Field {
                name: CONFIRMED,
                label: "Change what buyers see",
                value: "yes",
                required: true,
                problem: problem.of(CONFIRMED),
                ..view::Field::default()
            }.render_box(false))
        }
        div.row {
            button { "Save" }
            button.quiet name="preview" value="en" formtarget="_blank" formnovalidate { "Preview" }
        }
    };
    problem.above(&context.form(&link::path(&["updates", &row.id]), &content))
}

pub(super) fn confirm_withdrawal<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UpdateRow,
) -> Page {
    let (is_draft, title) = match row.state {
        UpdateState::Draft => (true, "Discard this draft?"),
        _ => (false, "Withdraw this update?"),
    };
    let content = html! {
        section {
            (facts(row))
            @if let Some((tag, text)) = row.update.texts.best("en") { blockquote lang=(tag) dir="auto" { (text) } }
            @if !is_draft {
                p {
                    "Timelines stop showing the update after about " (APPLIED_SECONDS) " s: until then, Cloudflare's locations "
                    "and running Workers use their caches. Buyers may have printed or saved their page."
                }
            }
            (context.form(&link::path(&["updates", &row.id, "withdraw"]), &html! {
                (view::hidden("revision", &row.revision.to_string()))
                button.alarm { @if is_draft { "Discard draft" } @else { "Withdraw" } }
            }))
        }
        p { "Nothing was changed yet. " a href=(link::path(&["updates", &row.id])) { "Back" } }
    };
    Page::new(title, content)
}
