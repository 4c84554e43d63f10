//! The Payments page: what shops owe for months that have ended, and what they have paid. The list has several pages,
//! and the URL of each can be shared.

use super::payment;
use super::table::Months;
use super::unit::file;
use crate::office::orders::page::orders;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::due_months::{
    DueFilter, DuePage, MONTHS, all_due_months, due_months, page_of,
};
use crate::office::payments::rule::dues;
use crate::office::payments::rule::dues::Due;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, month, view};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ENDED_AFTER_HOURS, ScopeMonth};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};
use crate::pledges::time::{date_time, day_of};
use maud::{Markup, html};

/// Number of months per page.
const PAGE: usize = 50;
/// The query parameters that filter months.
const FILTERS: [&str; 4] = ["mode", "unit", "month", "state"];
const STATES: [(&str, &str); 3] =
    [("open", "Unpaid"), ("paid", "Paid"), ("all", "Paid and unpaid")];

/// Shows what shops owe and have paid for the month in the query, or else for the last months that have ended. The
/// query may also select one shop. Ledger cost: 6 to 9 queries; 3 if no month is listed. KV cost: 1 read.
pub(crate) async fn payments<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    if let Some((field, problem)) = orders::wrong_filter(query) {
        return Ok(again(query, field, &problem));
    }
    let (filter, after) = (selected(query)?, position(query)?);
    let now_ms = context.clock.now_ms();
    let (page, total) = found(context, &filter, after.as_ref()).await?;
    let names = context.names_of(page.months.iter().map(|usage| &*usage.of.scope.unit)).await;
    let list = list(query);
    let table = Months { now_ms, names: Some(&names), marks: true, list: &list };
    let content = html! {
        p.lead { (in_words(&filter)) }
        (view::filters(false, &filters(query)))
        @if let Some(total) = &total { section { h2 { "Total" } (payment::due_table(total)) } }
        section {
            (table.table(&page.months))
            (pages(query, &page))
            @if !page.months.is_empty() {
                ul.links {
                    @if filter.is_paid != Some(true) { li { a href={ "/payments/several?" (list) } { "Mark several as paid …" } } }
                    li { a href=(link::with("/payments.csv", &kept(query))) { "Download CSV" } }
                    li { a href={ "/payments/statements?" (list) } { "Print the statements" } }
                }
            }
            p { small { "Months are in UTC. A month can be marked as paid " (ENDED_AFTER_HOURS) " hours after its end." } }
            (view::coverage(&page.coverage))
        }
    };
    Ok(Page::new("Payments", content))
}

/// Returns a page of the months that match. If they are those of one month, also returns their total.
async fn found<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    filter: &DueFilter,
    after: Option<&ScopeMonth>,
) -> Result<(DuePage, Option<Vec<Due>>)> {
    let (store, ledger, now_ms) = (context.store, context.ledger, context.clock.now_ms());
    if filter.month.is_none() {
        return Ok((due_months(store, ledger, now_ms, filter, after, PAGE).await?, None));
    }
    let all = all_due_months(store, ledger, now_ms, filter).await?;
    let total = dues::totals(&all.months);
    Ok((page_of(all, after, PAGE), Some(total)))
}

/// Returns all months that match, as a CSV file. Ledger cost: 6 or 7 queries.
pub(crate) async fn payments_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    if let Some((field, problem)) = orders::wrong_filter(query) {
        return Ok(again(query, field, &problem));
    }
    let filter = selected(query)?;
    let now_ms = context.clock.now_ms();
    let all = all_due_months(context.store, context.ledger, now_ms, &filter).await?;
    let day = date_time(now_ms);
    let span = filter.month.map_or_else(|| day_of(&day).to_owned(), |month| month.to_string());
    Ok(file(&["payments", query.mode()?.name(), &span], all))
}

/// Shows the page's filters again, with an error for one of them.
fn again(query: &Form, field: &str, problem: &str) -> Page {
    let content = html! {
        (view::form_problem(problem, Some(field)))
        (view::filters(true, &filters(query)))
    };
    Page { status: 422, ..Page::new("Payments", content) }
}

/// Parses the filters. The defaults are live mode and unpaid months.
pub(super) fn selected(query: &Form) -> Result<DueFilter> {
    let is_paid = match query.text("state") {
        "" | "open" => Some(false),
        "paid" => Some(true),
        "all" => None,
        _ => return Err(Refusal::invalid("`state` must be open, paid or all")),
    };
    let unit = query.given("unit").map(str::to_owned);
    Ok(DueFilter {
        scopes: TransactionFilter { unit, mode: Some(query.mode()?) },
        month: query.given("month").map(month::parse).transpose()?,
        is_paid,
    })
}

/// Parses the parameter `after`, which names the last row of the previous page: a mode, a unit and a month,
/// such as `live:unit_1:2026-01`.
pub(super) fn position(query: &Form) -> Result<Option<ScopeMonth>> {
    let Some(text) = query.given("after") else { return Ok(None) };
    SettlementKey::parse_suffix(text).map(Some).ok_or_else(|| {
        Refusal::invalid("this link to a page of the list is not valid. Open the list again")
    })
}

fn in_words(DueFilter { scopes, month, is_paid }: &DueFilter) -> Markup {
    html! {
        (match is_paid {
            Some(true) => "Paid months",
            Some(false) => "Unpaid months",
            None => "Paid and unpaid months",
        })
        @match &scopes.unit {
            Some(unit) => { " of the unit " a href=(link::path(&["units", unit])) { (view::untrusted_text(unit)) } }
            None => " of all units",
        }
        @if let Some(mode) = scopes.mode { ", in " (mode.name()) " mode" }
        @match month {
            Some(month) => { ", in " (view::month(*month)) }
            None => { ", of the last " (MONTHS) " months that have ended" }
        }
        "."
    }
}

/// Returns the filters in a query.
fn kept(query: &Form) -> Vec<(&str, &str)> {
    FILTERS.iter().filter_map(|name| Some((*name, query.given(name)?))).collect()
}

/// Returns the address of the next page of a list of months, which begins after `last`.
pub(super) fn next_page(path: &str, query: &Form, last: &ScopeMonth) -> String {
    let key = SettlementKey(last);
    link::with(path, &[kept(query).as_slice(), &[("after", &*key.suffix())]].concat())
}

fn pages(query: &Form, page: &DuePage) -> Markup {
    let next = page.next.as_ref().map(|last| next_page("/payments", query, last));
    let is_first = query.given("after").is_none();
    html! {
        @if !is_first || next.is_some() {
            nav aria-label="Pages of months" {
                ul {
                    @if !is_first { li { a href=(link::with("/payments", &kept(query))) { "First page" } } }
                    @if let Some(next) = next { li { a rel="next" href=(next) { "Next " (PAGE) " →" } } }
                }
            }
        }
    }
}

fn filters(query: &Form) -> Markup {
    let mode = query.given("mode").unwrap_or("live");
    let state = query.given("state").unwrap_or("open");
    let problem = orders::unit_problem(query);
    let unit = view::Field {
        name: "unit",
        label: "Unit",
        value: query.text("unit"),
        hint: "Leave empty for all units.",
        problem: &problem,
        ..view::Field::default()
    };
    let content = html! {
        div.fields {
            (unit.render())
            (view::month_field(query.text("month"), month::problem(query)))
            (view::select("mode", "Mode", &[("live", "Live"), ("test", "Test")], mode))
            (view::select("state", "Payment", &STATES, state))
        }
        button { "Show" }
    };
    view::filter("/payments", &content)
}

/// Returns the query of this list.
pub(super) fn list(query: &Form) -> String {
    let kept = FILTERS.iter().chain(&["after"]);
    let kept: Vec<_> = kept.filter_map(|name| Some((*name, query.given(name)?))).collect();
    link::with("", &kept).trim_start_matches('?').to_owned()
}
