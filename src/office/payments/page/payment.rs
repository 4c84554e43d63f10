//! Marks a month of a unit as paid, and undoes the marking.

use super::usage;
use crate::office::orders::page::orders;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::due_months::due_month;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::{Paid, Payment, StatedAmount};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::Field;
use crate::office::shared::page::{link, operation};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode, Refused};
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{PaidAt, ScopeMonth, Settlement};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};
use strum::VariantArray as _;

/// Shows the payment form with the amounts due, or saves the payment. Cost: at most 17 ledger queries, 7 KV
/// calls.
pub(crate) async fn mark_paid<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let of = month_of(id, form)?;
    if form.text("step") != "mark" {
        return ask(context, &of, form, None).await;
    }
    match mark(context, &of, form).await {
        Ok(paid) => Ok(marked(&of, form, &paid)),
        Err(OperatorError::Invalid(refused)) => ask(context, &of, form, Some(refused)).await,
        Err(error) => Err(error.into()),
    }
}

/// Parses the month and mode in a form. The month is required, because a default could be another month than
/// the person meant.
fn month_of(unit: &str, form: &Form) -> Result<ScopeMonth> {
    let month = orders::month(form.text("month"))?;
    Ok(ScopeMonth { scope: Scope { unit: unit.to_owned(), mode: form.mode()? }, month })
}

async fn mark<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ScopeMonth,
    form: &Form,
) -> Result<Done<Paid>, OperatorError> {
    if !context.has_operation() {
        let problem = "nothing was marked: some fields are missing. Reload the page and try again";
        return Err(OperatorError::invalid(problem));
    }
    payments::mark(context.store, context.ledger, &context.author, &payment(of, form)?).await
}

fn payment(of: &ScopeMonth, form: &Form) -> Result<Payment, OperatorError> {
    let stated = |code: &CurrencyCode| {
        let amount = form.given(&amount_of(*code))?.to_owned();
        Some(StatedAmount { amount, currency_code: Some(*code) })
    };
    let amounts: Vec<_> = CurrencyCode::VARIANTS.iter().filter_map(stated).collect();
    if amounts.is_empty() {
        let problem = "nothing was marked: enter the amount that was paid";
        return Err(OperatorError::at(AMOUNT, RefusalCode::Required, problem));
    }
    let accept_unpriced = form.given("accept-unpriced").map_or(Ok(0), |text| {
        let problem = "nothing was marked: the number of unpriced pledges must be a whole number";
        let refused = || OperatorError::at("accept-unpriced", RefusalCode::Invalid, problem);
        text.parse().map_err(|_| refused())
    });
    Ok(Payment {
        of: of.clone(),
        amounts,
        paid_at: paid_at(form.text("paid-at"))?,
        invoice: form.text("invoice").to_owned(),
        accept_unpriced: accept_unpriced?,
    })
}

/// Parses a day, which must exist in the calendar. Returns its beginning in UTC.
fn paid_at(day: &str) -> Result<PaidAt, OperatorError> {
    let time = PaidAt::parse(&[day, "T00:00:00Z"].concat());
    let time = time.filter(|time| day.len() == 10 && time.as_str().starts_with(day));
    let problem = "nothing was marked: enter the payment date in the form 2026-11-05";
    time.ok_or_else(|| OperatorError::at("paid-at", RefusalCode::Invalid, problem))
}

/// The argument with the amounts. The form has a field for the amount in each currency.
const AMOUNT: &str = "amount";

fn amount_of(code: CurrencyCode) -> String {
    [AMOUNT, "-", code.code()].concat()
}

// ---- Mark ----------------------------------------------------------------------------------------

/// Renders `Oct 2026 of the unit x (live mode)`.
fn heading(of: &ScopeMonth) -> Markup {
    html! {
        (view::month(of.month)) " of the unit " a href=(link::path(&["units", &of.scope.unit])) { (view::untrusted_text(&of.scope.unit)) }
        " (" (of.scope.mode.name()) " mode)"
    }
}

/// The name of the field with the query of the list of payments from which the person came.
pub(crate) const LIST: &str = "list";

fn hidden(of: &ScopeMonth, form: &Form, step: &str) -> Markup {
    html! {
        @if let Some(list) = form.given(LIST) { (view::hidden(LIST, list)) }
        (view::hidden("mode", of.scope.mode.name()))
        (view::hidden("month", &of.month.to_string()))
        (view::hidden("step", step))
    }
}

/// Renders a link to the list of payments from which the person came, or else to the payments of the shop.
fn back(of: &ScopeMonth, form: &Form, label: &str) -> Markup {
    let list = form.given(LIST).map(|list| ["/payments?", list].concat());
    html! { p { a href=(list.unwrap_or_else(|| link::payments_of(&of.scope))) { (label) } } }
}

/// Shows what is due, and the form. At first, the form contains the amounts due. After an error, it shows
/// the error and the entered values.
async fn ask<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ScopeMonth,
    form: &Form,
    refused: Option<Refused>,
) -> Result {
    let dues = due_month(context.store, context.ledger, of).await?.sums;
    let codes = currencies(form, &dues);
    let problem = refused.map(|refused| FormProblem::from(with_currency(refused, &codes)));
    let problem = problem.unwrap_or_default();
    let content = html! {
        p.lead { (heading(of)) }
        section { h2 { "Due" } (due_table(&dues)) }
        section {
            h2 { "Payment" }
            (context.form(&link::path(&["units", &of.scope.unit, "paid"]), &html! {
                (hidden(of, form, "mark"))
                (fields(form, &dues, &codes, &problem))
                button { "Mark as paid" }
            }))
        }
        (back(of, form, "Cancel"))
    };
    Ok(Page { status: problem.status(), ..Page::new("Mark as paid", problem.above(&content)) })
}

fn due_table(dues: &[Due]) -> Markup {
    let row = |due: &Due| {
        vec![
            view::untrusted_text(&due.currency_code),
            html! { (view::grouped(&due.amount)) },
            usage::credited(due),
            html! { strong { (view::grouped(&due.due)) } },
            html! { (view::grouped(due.transactions)) },
            html! { @if due.unpriced > 0 { strong { (due.unpriced) } } },
        ]
    };
    let rows: Vec<_> = dues.iter().map(row).collect();
    let headings = ["Currency", "Sum", "Credited", "Due", "Transactions", "Unpriced pledges"];
    view::table_of(
        &headings,
        headings.get(1..).unwrap_or_default(),
        &rows,
        "No transactions in this month.",
    )
}

fn due_in(dues: &[Due], code: CurrencyCode) -> Option<&Due> {
    dues.iter().find(|due| due.currency_code == code.code())
}

/// Returns the currencies that get an amount field: each currency that is due or was entered. If there is no
/// such currency, returns all currencies.
fn currencies(form: &Form, dues: &[Due]) -> Vec<CurrencyCode> {
    let has_field = |code: &CurrencyCode| {
        due_in(dues, *code).is_some() || form.given(&amount_of(*code)).is_some()
    };
    let known: Vec<_> = CurrencyCode::VARIANTS.iter().copied().filter(has_field).collect();
    if known.is_empty() { CurrencyCode::VARIANTS.to_vec() } else { known }
}

/// Assigns an error about all amounts to the field of the first currency.
fn with_currency(mut refused: Refused, codes: &[CurrencyCode]) -> Refused {
    if let Some(ArgumentName { field: AMOUNT, item: item @ None }) = &mut refused.argument {
        *item = codes.first().map(|code| code.code().to_owned());
    }
    refused
}

fn fields(form: &Form, dues: &[Due], codes: &[CurrencyCode], problem: &FormProblem) -> Markup {
    let is_entered = form.text("step") == "mark";
    let is_one = codes.len() == 1;
    let value = |code: CurrencyCode| match due_in(dues, code) {
        Some(due) if !is_entered => due.due.clone(),
        _ => form.text(&amount_of(code)).to_owned(),
    };
    html! {
        div.row {
            @for code in codes.iter().copied() {
                @let name = amount_of(code);
                (Field {
                    name: &name,
                    label: &["Amount in ", code.code()].concat(),
                    value: &value(code),
                    hint: "Amount received, e.g. 1234.50. It must equal the amount due.",
                    required: is_one,
                    problem: problem.of(&name),
                    ..Field::default()
                }.render())
            }
        }
        (Field {
            name: "paid-at",
            label: "Paid on",
            value: form.text("paid-at"),
            kind: "date",
            required: true,
            problem: problem.of("paid-at"),
            ..Field::default()
        }.render())
        (Field {
            name: "invoice",
            label: "Invoice number",
            value: form.text("invoice"),
            required: true,
            problem: problem.of("invoice"),
            ..Field::default()
        }.render())
        (Field {
            name: "accept-unpriced",
            label: "Accepted unpriced pledges",
            value: form.text("accept-unpriced"),
            hint: "Number of unpriced pledges that you accept at 0.00. Leave empty if there are none.",
            problem: problem.of("accept-unpriced"),
            ..Field::default()
        }.render())
    }
}

fn marked(of: &ScopeMonth, form: &Form, Done { outcome, before }: &Done<Paid>) -> Page {
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (heading(of)) " was marked as paid." }))
        section { (facts(&outcome.settlement)) }
        p { small { (in_force()) } }
        (back(of, form, "Payments"))
    };
    Page::new("Marked as paid", content)
}

fn in_force() -> Markup {
    html! { "The API shows this within about " (APPLIED_SECONDS) " s." }
}

fn facts(Settlement { paid_at, sums, invoice, by, at }: &Settlement) -> Markup {
    let amounts = html! {
        @for sum in sums {
            div {
                (view::grouped(&sum.amount)) " " (view::untrusted_text(&sum.currency_code))
                small {
                    ", transactions: " (view::grouped(sum.transactions))
                    @if sum.unpriced > 0 { ", unpriced pledges: " (sum.unpriced) }
                }
            }
        }
    };
    view::facts(&[
        ("Amount", amounts),
        ("Paid on", view::day(paid_at.as_str())),
        ("Invoice", view::untrusted_text(invoice)),
        ("Marked as paid", html! { (view::time(at)) " by " (view::untrusted_text(by)) }),
    ])
}

// ---- Undo ----------------------------------------------------------------------------------------

/// Shows a payment, and undoes it after confirmation. Cost: at most 3 ledger queries, 5 KV calls.
pub(crate) async fn undo_paid<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let of = month_of(id, form)?;
    let is_confirmed = form.text("step") == "undo";
    let was_done = context.was_done().await?.is_some();
    let now = if was_done { None } else { payments::get(context.ledger, &of).await? };
    match now {
        _ if was_done => undo(context, &of, form).await,
        Some(now) if is_confirmed && now.at == form.text("at") => undo(context, &of, form).await,
        Some(now) => Ok(confirm(context, &of, form, &now)),
        None => Err(Refusal::invalid(format!(
            "nothing was undone: {} of this unit ({} mode) is not marked as paid",
            view::month(of.month),
            of.scope.mode.name()
        ))),
    }
}

async fn undo<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ScopeMonth,
    form: &Form,
) -> Result {
    let seen = Some(form.text("at"));
    let paid = payments::undo(context.store, context.ledger, &context.author, of, seen).await?;
    Ok(undone(of, form, &paid))
}

fn confirm<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ScopeMonth,
    form: &Form,
    now: &Settlement,
) -> Page {
    let is_other = form.text("step") == "undo";
    let content = html! {
        @if is_other {
            (view::problem("nothing was undone: the payment was changed after you opened this page. \
                            Check the payment below"))
        }
        p.lead { (heading(of)) " is marked as paid. Undo this?" }
        section {
            (facts(now))
            (context.form(&link::path(&["units", &of.scope.unit, "unpaid"]), &html! {
                (hidden(of, form, "undo"))
                (view::hidden("at", &now.at))
                button.alarm { "Undo this payment" }
            }))
        }
        (back(of, form, "Cancel"))
    };
    Page { status: if is_other { 422 } else { 200 }, ..Page::new("Undo a payment", content) }
}

fn undone(of: &ScopeMonth, form: &Form, Done { outcome: paid, before }: &Done<Paid>) -> Page {
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (heading(of)) " is no longer marked as paid." }))
        section { h2 { "Previous payment" } (facts(&paid.settlement)) }
        p { small { "The payment is kept in the audit log. " (in_force()) } }
        (back(of, form, "Payments"))
    };
    Page::new("Payment undone", content)
}
