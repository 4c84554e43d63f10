//! The Payments page: what shops owe for months that have ended, and what they have paid. The list has several pages,
//! and the URL of each can be shared.

use super::payment;
use super::usage::{credited, of_month, payment as paid};
use crate::office::orders::page::orders;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::due_months::{DueFilter, DuePage, MONTHS, due_months};
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::{link, view};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ENDED_AFTER_HOURS, ScopeMonth};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};
use maud::{Markup, html};

/// Number of months per page.
const PAGE: usize = 50;
/// The query parameters that filter months.
const FILTERS: [&str; 4] = ["mode", "unit", "month", "state"];
const STATES: [(&str, &str); 3] =
    [("open", "Unpaid"), ("paid", "Paid"), ("all", "Paid and unpaid")];
const NONE: &str = "No months match.";

/// Shows what shops owe and have paid for the month in the query, or else for the last months that have ended. The
/// query may also select one shop. Ledger cost: 7 to 9 queries; 3 if no month is listed. KV cost: 1 read.
pub(crate) async fn payments<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    if let Some((field, problem)) = orders::wrong_filter(query) {
        return Ok(again(query, field, &problem));
    }
    let (filter, after) = (selected(query)?, position(query)?);
    let (ledger, now_ms) = (context.ledger, context.clock.now_ms());
    let page = due_months(context.store, ledger, now_ms, &filter, after.as_ref(), PAGE).await?;
    let names = context.names_of(page.months.iter().map(|usage| &*usage.of.scope.unit)).await;
    let content = html! {
        p.lead { (in_words(&filter)) }
        (view::filters(false, &filters(query)))
        section {
            (table(&page.months, &names, now_ms, &list(query)))
            (pages(query, &page))
            @if !page.months.is_empty() {
                ul.links {
                    @if filter.is_paid != Some(true) { li { a href={ "/payments/several?" (list(query)) } { "Mark several as paid …" } } }
                    li { a href={ "/payments/statements?" (list(query)) } { "Print the statements" } }
                }
            }
            p { small { "Months are in UTC. A month can be marked as paid " (ENDED_AFTER_HOURS) " hours after its end." } }
            (view::coverage(&page.coverage))
        }
    };
    Ok(Page::new("Payments", content))
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
        month: query.given("month").map(orders::month).transpose()?,
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
            (view::month_field(query.text("month"), orders::month_problem(query)))
            (view::select("mode", "Mode", &[("live", "Live"), ("test", "Test")], mode))
            (view::select("state", "Payment", &STATES, state))
        }
        button { "Show" }
    };
    view::filter("/payments", &content)
}

// ---- The table -----------------------------------------------------------------------------------

const HEADINGS: [&str; 8] =
    ["Month", "Unit", "Transactions", "Sum", "Credited", "Due", "Payment", "Statement"];
const NUMBERS: [&str; 4] = ["Transactions", "Sum", "Credited", "Due"];

/// Returns the query of this list, which the forms of its rows pass on, so that their pages lead back to it.
pub(super) fn list(query: &Form) -> String {
    let kept = FILTERS.iter().chain(&["after"]);
    let kept: Vec<_> = kept.filter_map(|name| Some((*name, query.given(name)?))).collect();
    link::with("", &kept).trim_start_matches('?').to_owned()
}

fn table(months: &[MonthUsage], names: &UnitNames, now_ms: u64, list: &str) -> Markup {
    let rows: Vec<_> = months.iter().flat_map(|usage| rows(usage, names, now_ms, list)).collect();
    view::table_of(&HEADINGS, &NUMBERS, &rows, NONE)
}

/// Renders the rows of a month, one for each currency. Only the first row has the buttons.
fn rows(usage: &MonthUsage, names: &UnitNames, now_ms: u64, list: &str) -> Vec<Vec<Markup>> {
    let row = |(index, due): (usize, &Due)| {
        let is_first = index == 0;
        vec![
            month(&usage.of),
            names.link(&usage.of.scope.unit),
            html! {
                @if due.unpriced > 0 {
                    a.tag.note href=(of_month(usage, &[("state", "unpriced")])) { (due.unpriced) " unpriced" } " "
                }
                (view::grouped(due.transactions))
            },
            amount(&due.amount, due),
            credited(due),
            html! { strong { (amount(&due.due, due)) } },
            html! { (paid(usage, due, usage.of.month.has_ended(now_ms))) @if is_first { (offer(usage, now_ms, list)) (changes(usage)) } },
            html! { @if is_first { a href=(link::statement(&usage.of)) { "Statement" } } },
        ]
    };
    usage.sums.iter().enumerate().map(row).collect()
}

/// Renders a month on one line.
pub(super) fn month(of: &ScopeMonth) -> Markup {
    html! { (view::month(of.month).replace(' ', "\u{a0}")) }
}

pub(super) fn amount(text: &str, due: &Due) -> Markup {
    html! { (view::grouped(text)) " " (view::untrusted_text(&due.currency_code)) }
}

/// Renders the link to the form that marks a month as paid or, if it is marked, the button that undoes this. Renders nothing for
/// a month that has not ended.
fn offer(usage: &MonthUsage, now_ms: u64, list: &str) -> Markup {
    match usage.settled {
        Some(_) => undo_form(usage, list),
        None if usage.of.month.has_ended(now_ms) => {
            let of = &usage.of;
            let (unit, mode) = (&*of.scope.unit, of.scope.mode.name());
            let query = [("mode", mode), ("month", &*of.month.to_string()), (payment::LIST, list)];
            let address = link::with(&link::path(&["units", unit, "paid"]), &query);
            html! { a href=(address) aria-label={ "Mark as paid " (view::month(of.month)) " of " (unit) } { "Mark as paid …" } }
        }
        None => html! {},
    }
}

fn undo_form(usage: &MonthUsage, list: &str) -> Markup {
    view::form(
        &link::path(&["units", &usage.of.scope.unit, "unpaid"]),
        &html! {
            (view::hidden("mode", usage.of.scope.mode.name()))
            (view::hidden("month", &usage.of.month.to_string()))
            (view::hidden(payment::LIST, list))
            button.quiet aria-label={ "Undo " (view::month(usage.of.month)) " of " (usage.of.scope.unit) } { "Undo …" }
        },
    )
}

/// Renders a link to the transactions that were added or changed after the month was marked as paid. Renders nothing if
/// the amounts due and the number of transactions are still the same.
fn changes(usage: &MonthUsage) -> Markup {
    let settled = usage.settled.as_ref().filter(|_| usage.differs());
    html! {
        @if let Some(settled) = settled {
            div { small { a href=(of_month(usage, &[("since", &settled.at)])) { "Changed since it was marked as paid" } } }
        }
    }
}
