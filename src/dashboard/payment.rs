//! Marks a month of a unit as paid, and undoes the marking.

use super::form::Form;
use super::page::Page;
use super::view::{self, Field};
use super::{PageContext, Refusal, Result, link, operation};
use crate::operator::delays::{APPLIED_SECONDS, SHOWN_SECONDS};
use crate::operator::payments::{self, Paid, Payment, ShopMonth, StatedAmount};
use crate::operator::{Done, OperatorError};
use crate::pledge::CurrencyCode;
use crate::service::{Clock, Entropy};
use crate::settlement::{Month, PaidAt, Settlement};
use crate::store::OperatorStore;
use maud::{Markup, html};
use strum::VariantArray as _;

/// Shows the form for a payment, or saves the payment. Cost: at most 9 ledger queries, 5 KV calls.
pub(super) async fn mark_paid<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let of = shop_month(id, form)?;
    if form.text("step") != "mark" {
        return Ok(ask(context, &of, form, None));
    }
    match mark(context, &of, form).await {
        Ok(paid) => Ok(marked(&of, &paid)),
        Err(OperatorError::Invalid(problem)) => Ok(ask(context, &of, form, Some(&problem))),
        Err(error) => Err(error.into()),
    }
}

/// Parses the month and mode in a form.
fn shop_month(unit: &str, form: &Form) -> Result<ShopMonth> {
    let month = Month::parse(form.text("month"));
    let month = month.ok_or_else(|| Refusal::invalid("write the month as 2026-10"))?;
    Ok(ShopMonth { unit: unit.to_owned(), mode: form.mode()?, month })
}

async fn mark<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ShopMonth,
    form: &Form,
) -> Result<Done<Paid>, OperatorError> {
    if !context.has_operation() {
        return Err(invalid("some fields are missing. Reload the page and try again"));
    }
    payments::mark(context.store, context.ledger, &context.author, &payment(of, form)?).await
}

fn invalid(problem: &str) -> OperatorError {
    OperatorError::Invalid(["nothing was marked: ", problem].concat())
}

fn payment(of: &ShopMonth, form: &Form) -> Result<Payment, OperatorError> {
    let stated = |code: &CurrencyCode| {
        let amount = form.given(&amount_of(*code))?.to_owned();
        Some(StatedAmount { amount, currency_code: Some(*code) })
    };
    let amounts: Vec<_> = CurrencyCode::VARIANTS.iter().filter_map(stated).collect();
    if amounts.is_empty() {
        return Err(invalid("enter the amount that was paid"));
    }
    let accept_unpriced = match form.given("unpriced") {
        None => Ok(0),
        Some(text) => text
            .parse()
            .map_err(|_| invalid("the number of unpriced pledges must be a whole number")),
    };
    Ok(Payment {
        of: of.clone(),
        amounts,
        paid_at: paid_at(form.text("day"))?,
        invoice: form.text("invoice").to_owned(),
        accept_unpriced: accept_unpriced?,
    })
}

/// Parses a day, which must exist in the calendar. Returns its beginning in UTC.
fn paid_at(day: &str) -> Result<PaidAt, OperatorError> {
    let time = PaidAt::parse(&[day, "T00:00:00Z"].concat());
    let time = time.filter(|time| day.len() == 10 && time.as_str().starts_with(day));
    time.ok_or_else(|| invalid("write the payment date as 2026-11-05"))
}

fn amount_of(code: CurrencyCode) -> String {
    ["amount-", code.code()].concat()
}

// ---- Mark ----------------------------------------------------------------------------------------

/// Renders `Oct 2026 of the unit x (live mode)`.
fn heading(of: &ShopMonth) -> Markup {
    html! {
        (view::month(of.month)) " of the unit " a href=(link::path(&["units", &of.unit])) { (view::untrusted_text(&of.unit)) }
        " (" (of.mode.name()) " mode)"
    }
}

fn hidden(of: &ShopMonth, step: &str) -> Markup {
    html! {
        (view::hidden("mode", of.mode.name()))
        (view::hidden("month", &of.month.to_string()))
        (view::hidden("step", step))
    }
}

fn back(of: &ShopMonth, label: &str) -> Markup {
    let page = link::path(&["units", &of.unit, "usage"]);
    html! { p { a href={ (page) "?mode=" (of.mode.name()) } { (label) } } }
}

/// The form, with the entered values and an error, if any.
fn ask<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ShopMonth,
    form: &Form,
    problem: Option<&str>,
) -> Page {
    let content = html! {
        @if let Some(problem) = problem {
            (view::form_problem(problem, field_of(problem).filter(|field| *field != AMOUNT)))
        }
        p.lead { (heading(of)) }
        section {
            (context.form(&link::path(&["units", &of.unit, "paid"]), &html! {
                (hidden(of, "mark"))
                (view::hidden("currencies", form.text("currencies")))
                (fields(form, problem.unwrap_or_default()))
                button { "Mark as paid" }
            }))
        }
        (back(of, "Cancel"))
    };
    let status = if problem.is_some() { 422 } else { 200 };
    Page { status, ..Page::new("Mark as paid", content) }
}

/// The name of the amounts' fields in [`FIELDS`].
const AMOUNT: &str = "amount";

/// The fields of the form, each with words of the errors about it.
const FIELDS: [(&str, &[&str]); 4] = [
    ("invoice", &["number of an invoice"]),
    ("unpriced", &["unpriced"]),
    ("day", &["was paid on", "`day`"]),
    (AMOUNT, &["amount", "sum of"]),
];

/// Returns the field that an error is about.
fn field_of(problem: &str) -> Option<&'static str> {
    let mut found = FIELDS.iter().filter(|(_, words)| words.iter().any(|it| problem.contains(it)));
    found.next().map(|(field, _)| *field)
}

fn fields(form: &Form, problem: &str) -> Markup {
    let wrong = field_of(problem);
    let at = |field| if wrong == Some(field) { problem } else { "" };
    let currencies: Vec<_> = form.text("currencies").split(' ').collect();
    let known = CurrencyCode::VARIANTS.iter().filter(|code| currencies.contains(&code.code()));
    let mut codes: Vec<_> = known.copied().collect();
    if codes.is_empty() {
        codes = CurrencyCode::VARIANTS.to_vec();
    }
    let is_one = codes.len() == 1;
    html! {
        div.row {
            @for code in codes {
                (Field {
                    name: &amount_of(code),
                    label: &["Amount in ", code.code()].concat(),
                    value: form.text(&amount_of(code)),
                    hint: "Amount received, e.g. 1234.50.",
                    required: is_one,
                    problem: at(AMOUNT),
                    ..Field::default()
                }.render())
            }
        }
        (Field {
            name: "day",
            label: "Paid on",
            value: form.text("day"),
            kind: "date",
            required: true,
            problem: at("day"),
            ..Field::default()
        }.render())
        (Field {
            name: "invoice",
            label: "Invoice number",
            value: form.text("invoice"),
            required: true,
            problem: at("invoice"),
            ..Field::default()
        }.render())
        (Field {
            name: "unpriced",
            label: "Accepted unpriced pledges",
            value: form.text("unpriced"),
            hint: "Number of unpriced pledges that you accept at 0.00. Leave empty if there are none; the page Usage lists them.",
            problem: at("unpriced"),
            ..Field::default()
        }.render())
    }
}

fn marked(of: &ShopMonth, Done { outcome, before }: &Done<Paid>) -> Page {
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (heading(of)) " was marked as paid." }))
        section { (facts(&outcome.settlement)) }
        p { small { (in_force()) } }
        (back(of, "Usage"))
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
                (sum.amount) " " (view::untrusted_text(&sum.currency_code))
                small {
                    ", transactions: " (sum.transactions)
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
pub(super) async fn undo_paid<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let of = shop_month(id, form)?;
    let (is_confirmed, seen) = (form.text("step") == "undo", form.text("at"));
    let was_done = context.was_done().await?.is_some();
    let now = if was_done { None } else { payments::get(context.store, &of).await? };
    match now {
        _ if was_done => undo(context, &of, seen).await,
        Some(now) if is_confirmed && now.at == seen => undo(context, &of, seen).await,
        Some(now) => Ok(confirm(context, &of, &now, is_confirmed)),
        None => Err(Refusal::invalid(format!(
            "nothing was undone: {} of this unit ({} mode) is not marked as paid. A payment of the last \
             {SHOWN_SECONDS} s may not show yet",
            of.month,
            of.mode.name()
        ))),
    }
}

async fn undo<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ShopMonth,
    seen: &str,
) -> Result {
    let paid =
        payments::undo(context.store, context.ledger, &context.author, of, Some(seen)).await?;
    Ok(undone(of, &paid))
}

fn confirm<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    of: &ShopMonth,
    now: &Settlement,
    is_other: bool,
) -> Page {
    let content = html! {
        @if is_other {
            (view::problem("nothing was undone: the payment was changed after you opened this page. It is now as below"))
        }
        p.lead { (heading(of)) " is marked as paid. Undo this?" }
        section {
            (facts(now))
            (context.form(&link::path(&["units", &of.unit, "unpaid"]), &html! {
                (hidden(of, "undo"))
                (view::hidden("at", &now.at))
                button.alarm { "Undo this payment" }
            }))
        }
        (back(of, "Cancel"))
    };
    Page { status: if is_other { 422 } else { 200 }, ..Page::new("Undo a payment", content) }
}

fn undone(of: &ShopMonth, Done { outcome: paid, before }: &Done<Paid>) -> Page {
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (heading(of)) " is no longer marked as paid." }))
        section { h2 { "Previous payment" } (facts(&paid.settlement)) }
        p { small { "It is kept in the audit log. " (in_force()) } }
        (back(of, "Usage"))
    };
    Page::new("Payment undone", content)
}
