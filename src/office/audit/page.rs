//! The audit log: who changed what, and when, in sentences. People of shops see the changes that concern their own
//! units and teams, without the names of operators.

use super::rule as audit;
use super::rule::{AuditFilter, AuditPage, Change, MemberChange, OwnPlaces, Part};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::{OperatorStore, PriceListKey};
use crate::pledges::time::{DAY_MS, TimeZones, parse_ms};
use maud::{Markup, html};

/// Maximum number of changes on a page.
const MAX_CHANGES: usize = 50;
/// The parameters of the filter. Links to other pages keep them.
const FILTERS: [&str; 5] = ["who", "what", "shop", "from", "to"];

/// The groups of commands that never concern a single shop.
const NOT_OF_SHOPS: [&str; 2] = ["fulfilments", "ledger"];

/// Shows a page of changes, newest first. KV cost: 1 list, and 1 read for all listed records. If a filter is
/// set, or for people of shops: at most 5 lists and 20 reads.
pub(crate) async fn audit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let after = query.given("after");
    let filter = filter(context, query)?;
    let page = match &filter.own {
        Some(own) if own.is_empty() => AuditPage::default(), // the filter names no unit or team of the person
        _ => audit::page(context.store, context.ledger, &filter, after, MAX_CHANGES).await?,
    };
    let operates = context.may(Permission::Operate);
    let times = context.times_of(unit(context, query).as_deref()).await;
    let rows: Vec<_> = page.changes.iter().map(|change| row(change, operates, &times)).collect();
    let time = times.heading("Time");
    let is_whole = page.next.is_none() || page.changes.len() + page.damaged >= MAX_CHANGES;
    let empty = if is_whole { "No changes." } else { "No changes found yet." };
    let content = html! {
        p.lead { (scope_in_words(context.is_of_shop())) }
        (filter_form(query, context.is_of_shop()))
        @if page.damaged > 0 {
            (view::notice(&html! { "Unreadable entries on this page: " (page.damaged) "." }))
        }
        section { (view::table(&[&time, "Change"], &rows, empty)) }
        p {
            @if after.is_some() { a href=(address(query, None)) { "Newest" } " " }
            @if let Some(next) = &page.next {
                @if !is_whole { "The search is not finished. " }
                a href=(address(query, Some(next))) { @if is_whole { "Older" } @else { "Search older entries" } }
            }
        }
        @if after.is_none() { (view::staleness_note()) }
    };
    Ok(Page::new("Audit log", content))
}

fn scope_in_words(is_of_shop: bool) -> &'static str {
    match is_of_shop {
        true => {
            "Every change to your units and teams, made by their members or by an operator of this service."
        }
        false => "Every change made in the dashboard or on the command line.",
    }
}

// ---- The filter ----------------------------------------------------------------------------------

/// Reads the filter from a query. For people of shops, the filter allows only changes of their own units
/// and teams. If the query names one of these units or teams, the filter allows only its changes.
fn filter<S, C, E>(context: &PageContext<'_, S, C, E>, query: &Form) -> Result<AuditFilter> {
    let text = |name: &str| query.given(name).map(str::to_owned);
    let own = || {
        let own = OwnPlaces::new(context.access.memberships.places());
        query.given("shop").map_or_else(|| own.clone(), |shop| own.only(shop))
    };
    let is_of_shop = context.is_of_shop();
    Ok(AuditFilter {
        by: text("who"),
        command: text("what"),
        shop: text("shop").filter(|_| !is_of_shop),
        own: is_of_shop.then(own),
        since_ms: day_ms(query, "from")?,
        until_ms: day_ms(query, "to")?.map(|day_ms| day_ms.saturating_add(DAY_MS)),
    })
}

/// Returns the unit that all changes on the page belong to; `None` if the page is not limited to one unit.
fn unit<S, C, E>(context: &PageContext<'_, S, C, E>, query: &Form) -> Option<String> {
    let is_open = !context.is_of_shop();
    let own = context.access.memberships.places();
    let is_own = |id: &str| own.contains(&KeyLevel::Unit(id.to_owned()));
    match (query.given("shop"), own.as_slice()) {
        (Some(shop), _) => (is_open || is_own(shop)).then(|| shop.to_owned()),
        (None, [KeyLevel::Unit(unit)]) => Some(unit.clone()),
        _ => None,
    }
}

/// Parses a day in UTC, such as `2026-11-21`. Returns the time at which it begins.
fn day_ms(query: &Form, name: &str) -> Result<Option<u64>> {
    let Some(day) = query.given(name) else { return Ok(None) };
    match parse_ms(&[day, "T00:00:00Z"].concat()) {
        Some(day_ms) => Ok(Some(day_ms)),
        None => Err(Refusal::invalid(format!("`{name}` must be a day such as 2026-11-21"))),
    }
}

/// Returns the URL of a page with the same filter. The page begins after the position `after`, if given.
fn address(query: &Form, after: Option<&str>) -> String {
    let filters = FILTERS.iter().filter_map(|name| Some((*name, query.given(name)?)));
    let parameters: Vec<_> = filters.chain(after.map(|after| ("after", after))).collect();
    link::with("/audit", &parameters)
}

fn filter_form(query: &Form, is_of_shop: bool) -> Markup {
    let is_offered = |(group, _): &(&str, _)| !is_of_shop || !NOT_OF_SHOPS.contains(group);
    let groups = audit::GROUPS.into_iter().filter(is_offered);
    let kinds: Vec<_> = std::iter::once(("", "All")).chain(groups).collect();
    let field = |name, label, kind| view::Field {
        name,
        label,
        kind,
        value: query.text(name),
        ..view::Field::default()
    };
    let is_filtered = FILTERS.iter().any(|name| query.given(name).is_some());
    let content = html! {
        div.fields {
            (field("who", "Who", "").render())
            (view::select("what", "What", &kinds, query.text("what")))
            (field("shop", "Unit or team", "").render())
            (field("from", "First day (UTC)", "date").render())
            (field("to", "Last day (UTC)", "date").render())
        }
        div.row {
            button.quiet { "Filter" }
            @if is_filtered {
                a href="/audit" { "Show all changes" }
            }
        }
    };
    view::filters(is_filtered, &view::filter("/audit", &content))
}

// ---- A change ------------------------------------------------------------------------------------

fn row(change: &Change, operates: bool, times: &ListTimes<'_, impl TimeZones>) -> Vec<Markup> {
    let sentence = change.sentence();
    let has_end = sentence.last().is_some_and(|part| part.plain().ends_with(['.', '!', '?']));
    vec![
        times.cell(&change.at),
        html! {
            div.wide {
                strong { (view::untrusted_text(&change.by)) } " "
                @for part in &sentence { (rendered(part, operates)) }
                @if !has_end { "." }
                @for changed in &change.changed { (replaced(changed)) }
            }
        },
    ]
}

/// Renders a part of a sentence. A part that names something, such as a unit, becomes a link if the person
/// may open its page.
fn rendered(part: &Part, operates: bool) -> Markup {
    let linked = |segments: &[&str], text: &str| {
        html! { a href=(link::path(segments)) { (view::untrusted_text(text)) } }
    };
    match part {
        Part::Text(text) => html! { (text) },
        Part::Words(text) => view::untrusted_text(&view::times_in_words(text)),
        Part::Key(id) => html! { code { (view::untrusted_text(id)) } },
        Part::Unit(id) => linked(&["units", id], id),
        Part::Team(id) => linked(&["teams", id], id),
        Part::Transaction(id) => html! { code.id { (linked(&["transactions", id], id)) } },
        Part::Month(ScopeMonth { scope, month }) => html! {
            a href=(link::payments_of(scope)) { (view::month(*month)) }
            " of the unit " (linked(&["units", &scope.unit], &scope.unit)) " (" (scope.mode.name()) ")"
        },
        Part::Prices(..) if !operates => view::untrusted_text(&part.plain()),
        Part::Prices(mode, unit) => {
            let of = PriceListKey { mode: *mode, unit: unit.as_deref() };
            html! { a href=(link::prices(of)) { (view::untrusted_text(&part.plain())) } }
        }
    }
}

/// Renders how a member of a record changed: its value before and after.
fn replaced(change: &MemberChange) -> Markup {
    let MemberChange { member, before, after } = change;
    let value = |text: &Option<String>| match text {
        Some(text) => view::untrusted_text(text),
        None => html! { span.soft { "none" } },
    };
    html! {
        div { small {
            (member)
            @if change.has_values() { ": " del { (value(before)) } " → " ins { (value(after)) } }
            @else { " was changed" }
        } }
    }
}
