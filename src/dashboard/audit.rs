//! The audit log: who changed what, and when.

use super::form::Form;
use super::page::Page;
use super::{PageContext, Result, link, view};
use crate::operator::audit::{self, Change};
use crate::pledge::TransactionId;
use crate::service::{Clock, Entropy};
use crate::store::{AuditKey, OperatorStore, PriceListVersionKey, SettlementKey};
use maud::{Markup, html};

/// Maximum number of changes on a page, and of affected records that are listed for each.
const MAX_CHANGES: usize = 50;
const MAX_ON: usize = 10;

/// Shows a page of changes, newest first. KV cost: 1 list, and 1 read of the listed records.
pub(super) async fn audit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let after = query.given("after");
    let page = audit::page(context.store, after, MAX_CHANGES).await?;
    let rows: Vec<_> = page.changes.iter().map(row).collect();
    let content = html! {
        p.lead { "Every change made here or on the command line." }
        @if page.damaged > 0 {
            (view::notice(&html! { "Unreadable entries on this page: " (page.damaged) "." }))
        }
        section { (view::table(&["Time", "Change", "By"], &rows, "No changes.")) }
        p {
            @if after.is_some() { a href="/audit" { "Newest" } " " }
            @if let Some(next) = &page.next { a href={ "/audit?after=" (link::encoded(next)) } { "Older" } }
        }
        @if after.is_none() { (view::staleness_note()) }
    };
    Ok(Page::new("Audit log", content))
}

fn row(change: &Change) -> Vec<Markup> {
    let more = change.on.len().saturating_sub(MAX_ON);
    let on = change.on.iter().take(MAX_ON).enumerate();
    vec![
        view::time(&change.at),
        html! {
            div.wide {
                (view::untrusted_text(&change.command))
                @for (index, text) in on { div { (linked(&change.command, index, text)) } }
                @if more > 0 { div.soft { "and " (more) " more" } }
            }
        },
        view::untrusted_text(&change.by),
    ]
}

/// Renders the name of a changed record, as a link if the record has a page. The name of an API key is a button that
/// searches for the key by `POST`.
fn linked(command: &str, index: usize, text: &str) -> Markup {
    if command.starts_with("keys ") {
        return view::form(
            "/find",
            &html! {
                (view::hidden("text", text))
                button.quiet aria-label={ "Find " (text) } { (view::untrusted_text(text)) }
            },
        );
    }
    html! {
        @match page_of(command, index, text) {
            Some(page) => { a href=(page) { (view::untrusted_text(text)) } }
            None => { span.soft { (view::untrusted_text(text)) } }
        }
    }
}

fn page_of(command: &str, index: usize, text: &str) -> Option<String> {
    if AuditKey::parse(text).is_some() {
        return None; // the audit entry of a withdrawn change
    }
    if TransactionId::parse(text).is_some() {
        return Some(link::path(&["transactions", text]));
    }
    if let Some(SettlementKey { mode, unit, .. }) = SettlementKey::parse(text) {
        return Some(link::path(&["units", unit, "usage"]) + "?mode=" + mode.name());
    }
    if let Some(PriceListVersionKey { mode, .. }) = PriceListVersionKey::parse(text) {
        return Some(link::path(&["prices"]) + "?mode=" + mode.name());
    }
    match (command.split(' ').next()?, index) {
        ("teams", 0) => Some(link::path(&["teams", text])),
        ("units" | "teams", _) => Some(link::path(&["units", text])),
        _ => None,
    }
}
