//! Usage and payments of all units in a month.

use super::usage::{HEADINGS, NUMBERS, credited, file, rows};
use crate::office::orders::page::orders;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rule::dues;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage;
use crate::office::payments::rule::usage::{MonthUsage, Usage};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

#[derive(Clone, Copy)]
pub(crate) struct MonthSelection {
    pub mode: Mode,
    pub month: Month,
}

impl MonthSelection {
    /// Parses the mode and the month in a query. The defaults are live mode and the current month. `title`
    /// and `path` are those of the page that shows the month.
    ///
    /// # Errors
    /// If the mode or the month is not valid. For an invalid month, the error is a page with a message at the
    /// month's field.
    pub fn read<S, C: Clock, E>(
        context: &PageContext<'_, S, C, E>,
        query: &Form,
        (title, path): (&'static str, &str),
    ) -> Result<Self> {
        let mode = query.mode()?;
        let month = match query.given("month") {
            None => Month::at(context.clock.now_ms()),
            Some(text) => Month::parse(text),
        };
        let month = month.ok_or_else(|| wrong(query, mode, title, path))?;
        Ok(MonthSelection { mode, month })
    }

    pub fn address(self, path: &str) -> String {
        let month = self.month.to_string();
        link::with(path, &[("mode", self.mode.name()), ("month", &month)])
    }

    /// Renders links to both modes and to other months.
    pub fn links(self, path: &str) -> Markup {
        let at = |month| MonthSelection { month, ..self }.address(path);
        html! {
            (view::modes(path, self.mode, Some(self.month)))
            nav aria-label="Month" {
                ul {
                    @if let Some(before) = self.month.previous() {
                        li { a rel="prev" href=(at(before)) { "← " (view::month(before)) } }
                    }
                    li { a href=(at(self.month)) aria-current="page" { (view::month(self.month)) } }
                    li { a rel="next" href=(at(self.month.next())) { (view::month(self.month.next())) " →" } }
                }
            }
            (form(path, self.mode, &self.month.to_string(), ""))
        }
    }
}

/// Renders the form that selects another month. `problem` says what is wrong with the entered month; empty if
/// the month is valid.
fn form(path: &str, mode: Mode, month: &str, problem: &str) -> Markup {
    view::filter(
        path,
        &html! {
            div.row {
                (view::hidden("mode", mode.name()))
                (view::month_field(month, problem))
                button.quiet { "Show" }
            }
        },
    )
}

/// Returns the error for a month that is not valid: a page that shows the entered month again, and what is wrong with it.
fn wrong(query: &Form, mode: Mode, title: &'static str, path: &str) -> Refusal {
    let problem = orders::NO_MONTH;
    let content = html! {
        (view::form_problem(problem, Some("month")))
        (form(path, mode, query.text("month"), problem))
    };
    Refusal::Field(Box::new(Page { status: 422, ..Page::new(title, content) }))
}

const PAGE: (&str, &str) = ("Usage", "/usage");

/// Shows the units with transactions or credits in a month, or with a payment for it.
///
/// Ledger cost: 6 queries, and 1 more if credits may be carried over from earlier months. Also 1 query for
/// each unit whose amounts differ from its payment, for at most 20 units. KV cost: 1 read per 100 units.
pub(crate) async fn month<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let mut usage = of(context, selection).await?;
    let all = usage.months.len();
    let totals = dues::totals(&usage.months);
    usage.months.truncate(view::MAX_ROWS);
    let units = table(context, &usage.months).await;
    let content = html! {
        (selection.links(PAGE.1))
        section { h2 { "Total" } (total(&totals)) (view::coverage(&usage.coverage)) }
        section {
            h2 { "Units" }
            (units)
            @if all > usage.months.len() {
                p { "Only the first " (usage.months.len()) " of " (all) " units are shown. The CSV file has all." }
            }
            ul.links {
                li { a href=(selection.address("/usage.csv")) { "Download CSV" } }
                li { a href=(selection.address("/payments")) { "Unpaid shops of this month" } }
                li { a href=(selection.address("/fulfilment")) { "Fulfilment by offering" } }
                li { a href=(selection.address("/orders")) { "Transactions" } }
            }
        }
    };
    Ok(Page::new(PAGE.0, content))
}

/// Returns the CSV export of [`month()`], with all units.
pub(crate) async fn month_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query, PAGE)?;
    let usage = of(context, selection).await?;
    Ok(file(&["usage", selection.mode.name(), &selection.month.to_string()], &usage))
}

async fn of<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<Usage> {
    let filter = TransactionFilter { unit: None, mode: Some(selection.mode) };
    Ok(usage::of_month(context.store, context.ledger, &filter, selection.month).await?)
}

fn total(totals: &[Due]) -> Markup {
    let row = |sum: &Due| {
        vec![
            view::untrusted_text(&sum.currency_code),
            html! { (view::grouped(&sum.amount)) },
            credited(sum),
            html! { strong { (view::grouped(&sum.due)) } },
            html! { (view::grouped(sum.transactions)) },
            html! { @if sum.unpriced > 0 { (view::grouped(sum.unpriced)) } },
        ]
    };
    let rows: Vec<_> = totals.iter().map(row).collect();
    let headings = ["Currency", "Sum", "Credited", "Due", "Transactions", "Unpriced pledges"];
    view::table_of(&headings, &NUMBERS, &rows, "No transactions in this month.")
}

async fn table<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    months: &[MonthUsage],
) -> Markup {
    let names = context.names_of(months.iter().map(|usage| &*usage.of.scope.unit)).await;
    let of_unit = |usage: &MonthUsage| {
        let page = link::path(&["units", &usage.of.scope.unit, "usage"]);
        let page = link::with(&page, &[("mode", usage.of.scope.mode.name())]);
        rows(context, usage, &names.link_to(&page, &usage.of.scope.unit))
    };
    let rows: Vec<_> = months.iter().flat_map(of_unit).collect();
    let headings = HEADINGS.map(|heading| if heading == "Month" { "Unit" } else { heading });
    view::table_of(&headings, &NUMBERS, &rows, "No transactions in this month.")
}
