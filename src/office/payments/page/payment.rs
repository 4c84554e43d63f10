//! The page that marks a month of a unit as paid.

use super::table::LIST;
use crate::office::payments::operation::payments::MARK;
use crate::office::payments::rule::due_months::due_month;
use crate::office::payments::rule::dues::Due;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::{Item, OperationForm};
use crate::office::shared::page::form::Form;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, month, view};
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::OperatorStore;
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};
use strum::VariantArray as _;

const HINT: &str = "Amount received, e.g. 1234.50. It must equal the amount due.";

/// Shows what is due for a month, and the form that marks it as paid. At first, the form contains the amounts due. Cost: at
/// most 9 ledger queries, 4 KV calls.
pub(crate) async fn paid<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    query: &Form,
) -> Result {
    if context.is_done() {
        return changed(context, unit, query).await;
    }
    let of = month_of(unit, query)?;
    let dues = due_month(context.store, context.ledger, &of).await?.sums;
    let codes = currencies(&dues);
    let label = |code: &CurrencyCode| ["Amount in ", code.code()].concat();
    let labels: Vec<_> = codes.iter().map(label).collect();
    let due = |code| due_in(&dues, code).map_or("", |due| &*due.due);
    let items: Vec<_> = std::iter::zip(codes, &labels)
        .map(|(code, label)| Item { item: code.code(), label, value: due(code), hint: HINT })
        .collect();
    let content = html! {
        p.lead { (heading(&of)) }
        section { h2 { "Due" } (due_table(&dues)) }
        section {
            h2 { "Payment" }
            (context.operation_form(OperationForm {
                fixed: &[
                    (LIST, query.text(LIST)),
                    ("mode", of.scope.mode.name()),
                    ("month", &of.month.to_string()),
                ],
                items: &[("amount", &items)],
                ..OperationForm::new(&MARK, &link::path(&["units", &of.scope.unit, "paid"]))
            }))
        }
        (back(&of, query, "Cancel"))
    };
    Ok(Page::new("Mark as paid", content))
}

/// Shows the way back after a payment was marked or undone.
pub(crate) async fn changed<S, C, E>(
    _: &PageContext<'_, S, C, E>,
    unit: &str,
    form: &Form,
) -> Result {
    let of = month_of(unit, form)?;
    let content = html! { p { (heading(&of)) } (back(&of, form, "Payments")) };
    Ok(Page::new("Payments", content))
}

/// Parses the month and mode in a query or a form. The month is required, because a default could be another month than
/// the person meant.
fn month_of(unit: &str, form: &Form) -> Result<ScopeMonth> {
    let month = month::parse(form.text("month"))?;
    Ok(ScopeMonth { scope: Scope { unit: unit.to_owned(), mode: form.mode()? }, month })
}

/// Renders `Oct 2026 of the unit x (live mode)`.
fn heading(of: &ScopeMonth) -> Markup {
    html! {
        (view::month(of.month)) " of the unit " a href=(link::path(&["units", &of.scope.unit])) { (view::untrusted_text(&of.scope.unit)) }
        " (" (of.scope.mode.name()) " mode)"
    }
}

/// Renders a link to the list of payments from which the person came, or else to the payments of the shop.
fn back(of: &ScopeMonth, form: &Form, label: &str) -> Markup {
    let list = form.given(LIST).map(|list| ["/payments?", list].concat());
    html! { p { a href=(list.unwrap_or_else(|| link::payments_of(&of.scope))) { (label) } } }
}

pub(super) fn due_table(dues: &[Due]) -> Markup {
    table(&Listing::new(
        dues,
        "No transactions in this month.",
        &[
            ("Currency", &|it| Fact::words(&it.currency_code)),
            ("Sum", &|it| Fact::number(&it.amount)),
            ("Credited", &|it| Fact::some(&it.credited)),
            ("Carried from earlier months", &|it| Fact::some(&it.carried)),
            ("Carried to a later month", &|it| Fact::some(it.excess().unwrap_or_default())),
            ("Due", &|it| Fact::number(&it.due).strong()),
            ("Transactions", &|it| Fact::number(it.transactions)),
            ("Unpriced pledges", &|it| Fact::some(it.unpriced).strong()),
        ],
    ))
}

fn due_in(dues: &[Due], code: CurrencyCode) -> Option<&Due> {
    dues.iter().find(|due| due.currency_code == code.code())
}

/// Returns the currencies that get an amount field: each currency that is due. If there is none, returns all currencies.
fn currencies(dues: &[Due]) -> Vec<CurrencyCode> {
    let is_due = |code: &CurrencyCode| due_in(dues, *code).is_some();
    let known: Vec<_> = CurrencyCode::VARIANTS.iter().copied().filter(is_due).collect();
    if known.is_empty() { CurrencyCode::VARIANTS.to_vec() } else { known }
}
