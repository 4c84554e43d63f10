//! The payments of a unit in one mode, by month.

use super::chart::{Bar, chart};
use super::table::Months;
use crate::office::audit::rule::THE_OPERATOR;
use crate::office::payments::operation::sums::listing;
use crate::office::payments::rule::usage;
use crate::office::payments::rule::usage::{MonthUsage, Usage};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{date_time, day_of};
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};
use strum::VariantArray as _;

/// Maximum number of months on a page.
const MAX_MONTHS: usize = 120;

/// Shows what a unit owes and has paid, by month. Ledger cost: 6 queries, and 1 more for each month whose sum differs
/// from its payment (at most 20). KV cost: 1 list, and 1 read per 100 paid months.
pub(crate) async fn payments<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let (scope, usage) = of_unit(context, unit, query).await?;
    Ok(page(context, &scope, &usage))
}

/// Returns the CSV export of [`payments()`], at the same cost.
pub(crate) async fn payments_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    let (scope, usage) = of_unit(context, unit, query).await?;
    let day = date_time(context.clock.now_ms());
    Ok(file(&["payments", unit, scope.mode.name(), day_of(&day)], usage))
}

/// Returns months as a CSV file: a line for each currency of a month.
pub(super) fn file(name: &[&str], Usage { months, coverage }: Usage) -> Page {
    let sums: Vec<_> = months.into_iter().flat_map(MonthUsage::into_sums).collect();
    Page::csv(name, &listing(&sums, &coverage))
}

/// Returns the unit in the mode of the query, with its usage. People of shops see "the operator" instead of the person who marked a month as paid.
async fn of_unit<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result<(Scope, Usage)> {
    let scope = Scope { unit: unit.to_owned(), mode: query.mode()? };
    let mut usage = usage::of_scope(context.store, context.ledger, &scope).await?;
    if context.is_of_shop() {
        let settled = usage.months.iter_mut().filter_map(|month| month.settled.as_mut());
        settled.for_each(|settled| THE_OPERATOR.clone_into(&mut settled.by));
    }
    Ok((scope, usage))
}

fn page<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    Scope { unit, mode }: &Scope,
    Usage { months, coverage }: &Usage,
) -> Page {
    let shown = months.get(..MAX_MONTHS).unwrap_or(months);
    let path = |last| link::path(&["units", unit, last]);
    let marks = context.may(Permission::Account);
    let table = Months { now_ms: context.clock.now_ms(), names: None, marks, list: "" };
    let content = html! {
        p.lead { "The unit " a href=(link::path(&["units", unit])) { (view::untrusted_text(unit)) } }
        (view::modes(&path("payments"), *mode, None))
        section {
            @if months.is_empty() { p { "This unit has no transactions in " (mode.name()) " mode." } }
            @else { (charts(shown)) (table.table(shown)) }
            @if shown.len() < months.len() {
                p { small { "Only the newest " (MAX_MONTHS) " months are shown. The CSV file has all." } }
            }
            p { small { "A transaction counts in the month in which it was created (UTC)." } }
            (view::coverage(coverage))
            @if !months.is_empty() {
                p { a href=(link::with(&path("payments.csv"), &[("mode", mode.name())])) { "Download CSV" } }
            }
        }
    };
    Page::new("Payments", content)
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
