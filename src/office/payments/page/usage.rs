//! Usage and payments of a unit in one mode, by month.

use super::chart::{Bar, chart};
use crate::office::audit::rule::THE_OPERATOR;
use crate::office::orders::page::orders;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage;
use crate::office::payments::rule::usage::{MonthUsage, Usage};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view::{grouped, id_link};
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::coverage::Coverage;
use crate::office::shared::rule::csv;
use crate::office::shared::rule::csv::BYTE_ORDER_MARK;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{date_time, day_of};
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};
use strum::VariantArray as _;

/// Maximum number of months on a page.
const MAX_MONTHS: usize = 120;

/// Shows the usage of a unit by month. Ledger cost: 6 queries, and 1 more for each month whose sum differs
/// from its payment (at most 20). KV cost: 1 list, and 1 read per 100 paid months.
pub(crate) async fn usage<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let scope = Scope { unit: unit.to_owned(), mode: query.mode()? };
    let usage = of_scope(context, &scope).await?;
    Ok(page(context, &scope, &usage))
}

/// Returns the CSV export of [`usage()`], at the same cost.
pub(crate) async fn usage_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let scope = Scope { unit: unit.to_owned(), mode: query.mode()? };
    let usage = of_scope(context, &scope).await?;
    let day = date_time(context.clock.now_ms());
    Ok(file(&["usage", unit, scope.mode.name(), day_of(&day)], &usage))
}

/// Returns the usage of a scope. People of shops see "the operator" instead of the person who marked a month as paid.
async fn of_scope<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    scope: &Scope,
) -> Result<Usage> {
    let mut usage = usage::of_scope(context.store, context.ledger, scope).await?;
    if context.is_of_shop() {
        let settled = usage.months.iter_mut().filter_map(|month| month.settled.as_mut());
        settled.for_each(|settled| THE_OPERATOR.clone_into(&mut settled.by));
    }
    Ok(usage)
}

fn page<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    scope: &Scope,
    Usage { months, coverage }: &Usage,
) -> Page {
    let Scope { unit, mode } = scope;
    let shown = months.get(..MAX_MONTHS).unwrap_or(months);
    let path = |last| link::path(&["units", unit, last]);
    let in_mode = |last| link::with(&path(last), &[("mode", mode.name())]);
    let content = html! {
        p.lead { "The unit " a href=(link::path(&["units", unit])) { (view::untrusted_text(unit)) } }
        (view::modes(&path("usage"), *mode, None))
        section {
            @if months.is_empty() { p { "This unit has no transactions in " (mode.name()) " mode." } }
            @else { (charts(shown)) (table(context, shown)) }
            @if shown.len() < months.len() {
                p { small { "Only the newest " (MAX_MONTHS) " months are shown. The CSV file has all." } }
            }
            p { small { "A transaction counts in the month in which it was created (UTC)." } }
            (view::coverage(coverage))
            ul.links {
                @if !months.is_empty() { li { a href=(in_mode("usage.csv")) { "Download CSV" } } }
                li { a href=(in_mode("quantities")) { "Quantities by offering" } }
                li { a href=(orders::address(&[("unit", &**unit), ("mode", mode.name())])) { "Transactions" } }
                @if context.may(Permission::Account) {
                    li { a href=(link::payments_of(scope)) { "Payments" } }
                    li { a href=(link::with("/usage", &[("mode", mode.name())])) { "All units" } }
                }
            }
        }
    };
    Page::new("Usage", content)
}

fn charts(months: &[MonthUsage]) -> Markup {
    let Some(last) = months.first() else { return html! {} };
    let codes = CurrencyCode::VARIANTS.iter().map(|currency| currency.code());
    html! {
        div.columns { @for code in codes { (chart(code, last.of.month, &bars(months, code))) } }
    }
}

/// Returns the bars of one currency's chart, oldest month first.
fn bars<'m>(months: &'m [MonthUsage], code: &str) -> Vec<Bar<'m>> {
    let bar = |usage: &'m MonthUsage| {
        let sum = usage.sums.iter().find(|sum| sum.currency_code == code)?;
        Some(Bar { month: usage.of.month, amount: &sum.amount, is_paid: usage.settled.is_some() })
    };
    months.iter().rev().filter_map(bar).collect()
}

fn table<S, C: Clock, E>(context: &PageContext<'_, S, C, E>, months: &[MonthUsage]) -> Markup {
    let rows: Vec<_> = months
        .iter()
        .flat_map(|usage| {
            let month = view::month(usage.of.month).replace(' ', "\u{a0}");
            rows(context, usage, &html! { (month) })
        })
        .collect();
    view::table_of(&HEADINGS, &NUMBERS, &rows, "")
}

pub(crate) const HEADINGS: [&str; 7] =
    ["Month", "Sum", "Credited", "Due", "Payment", "Transactions", "Unpriced pledges"];

/// The headings of the columns that contain numbers.
pub(crate) const NUMBERS: [&str; 5] =
    ["Sum", "Credited", "Due", "Transactions", "Unpriced pledges"];

/// Renders the credits in a sum, and the amounts carried from earlier months and to later ones. Renders
/// nothing if there are none.
pub(crate) fn credited(sum: &Due) -> Markup {
    html! {
        @if sum.credited != "0.00" { (grouped(&sum.credited)) }
        @if sum.carried != "0.00" { div { small { (grouped(&sum.carried)) " carried from earlier months" } } }
        @if let Some(excess) = sum.excess() { div { small { (grouped(excess)) " carried to a later month" } } }
    }
}

/// Renders the table rows of a month, one for each currency. `first` is the content of each row's first cell.
pub(crate) fn rows<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    usage: &MonthUsage,
    first: &Markup,
) -> Vec<Vec<Markup>> {
    let has_ended = usage.of.month.has_ended(context.clock.now_ms());
    let row = |(index, sum): (usize, &Due)| {
        let is_first = index == 0;
        vec![
            first.clone(),
            html! { (grouped(&sum.amount)) " " (view::untrusted_text(&sum.currency_code)) },
            credited(sum),
            html! { (grouped(&sum.due)) },
            html! {
                div.wide {
                    (payment(usage, sum, has_ended))
                    @if is_first { (statement(usage)) (late(usage)) }
                }
            },
            html! { (grouped(sum.transactions)) },
            html! {
                @if sum.unpriced > 0 {
                    (grouped(sum.unpriced)) " "
                    a href=(of_month(usage, &[("state", "unpriced")])) aria-label={ "List the unpriced pledges of " (view::month(usage.of.month)) } { "List" }
                }
            },
        ]
    };
    usage.sums.iter().enumerate().map(row).collect()
}

fn statement(usage: &MonthUsage) -> Markup {
    let of = link::statement(&usage.of);
    let name =
        ["Statement of ", &view::month(usage.of.month), " for ", &usage.of.scope.unit].concat();
    html! { a href=(of) aria-label=(name) { "Statement" } }
}

pub(crate) fn of_month(usage: &MonthUsage, more: &[(&str, &str)]) -> String {
    let ScopeMonth { scope, month } = &usage.of;
    let month = month.to_string();
    let of = [("unit", &*scope.unit), ("mode", scope.mode.name()), ("month", &month)];
    orders::address(&[of.as_slice(), more].concat())
}

/// Renders whether a sum was paid. Adds a warning if the paid amount differs from the amount due.
pub(crate) fn payment(usage: &MonthUsage, sum: &Due, has_ended: bool) -> Markup {
    match (&usage.settled, usage.paid_of(sum)) {
        (Some(settled), Some(amount)) => html! {
            div {
                "Paid on " (view::day(settled.paid_at.as_str())) ", invoice " (view::untrusted_text(&settled.invoice))
                @if amount != sum.due { " " span.tag.alarm { "paid " (grouped(amount)) } }
            }
            div { small { "marked by " (view::untrusted_text(&settled.by)) } }
        },
        _ if has_ended && !sum.is_owed() => html! { span.tag { "nothing due" } " " },
        _ if has_ended => html! { span.tag.note { "unpaid" } " " },
        _ => html! { span.tag { "in progress" } " " },
    }
}

/// Lists the transactions that were added or changed after a month was marked as paid.
fn late(usage: &MonthUsage) -> Markup {
    let Some(settled) = usage.settled.as_ref().filter(|_| !usage.late.is_empty()) else {
        return html! {};
    };
    html! {
        div {
            small {
                "Added or changed since the month was marked as paid: "
                @for (index, id) in usage.late.iter().enumerate() {
                    @if index > 0 { ", " }
                    (id_link(id))
                }
                ". " a href=(of_month(usage, &[("since", &settled.at)])) { "List all" }
            }
        }
    }
}

// ---- The file ------------------------------------------------------------------------------------

const COLUMNS: [&str; 16] = [
    "unit",
    "mode",
    "month",
    "currency",
    "amount",
    "transactions",
    "unpriced",
    "complete_up_to",
    "paid_at",
    "paid_amount",
    "invoice",
    "marked_by",
    "marked_at",
    "credited",
    "carried",
    "due",
];

pub(crate) fn file(name: &[&str], Usage { months, coverage }: &Usage) -> Page {
    let headings = COLUMNS.map(str::to_owned).to_vec();
    let lines =
        months.iter().flat_map(|usage| usage.sums.iter().map(|sum| line(usage, sum, coverage)));
    let lines = csv::lines(std::iter::once(headings).chain(lines));
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Page::csv(name, file.into_bytes())
}

fn line(usage: &MonthUsage, sum: &Due, coverage: &Coverage) -> Vec<String> {
    let mut line = vec![
        csv::text(&usage.of.scope.unit),
        usage.of.scope.mode.name().to_owned(),
        usage.of.month.to_string(),
        csv::text(&sum.currency_code),
        csv::text(&sum.amount),
        sum.transactions.to_string(),
        sum.unpriced.to_string(),
        csv::text(coverage.complete_up_to.as_deref().unwrap_or_default()),
    ];
    if let Some(settled) = &usage.settled {
        let amount = settled.of(&sum.currency_code).map(|paid| &*paid.amount).unwrap_or_default();
        let Settlement { paid_at, invoice, by, at, .. } = settled;
        line.extend([paid_at.as_str(), amount, invoice, by, at].map(csv::text));
    }
    line.resize(COLUMNS.len() - 3, String::new());
    line.extend([&sum.credited, &sum.carried, &sum.due].map(|amount| csv::text(amount)));
    line
}
