//! The credits of a transaction, and the form that adds one.

use super::rule as credits;
use super::rule::{Credit, CreditRequest, Credits, Left, MAX_REASON_BYTES, OfferingQuantity, Part};
use crate::buyer::visible::shown;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::Record;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::{Field, id_link, money};
use crate::office::shared::page::{link, operation};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode, Refused};
use crate::pledges::hash::first_bytes;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Maximum number of offerings for which the form has a field.
const MAX_FIELDS: usize = 20;

// ---- On the page of a transaction ----------------------------------------------------------------

/// Renders the credits of a transaction and, if something is left to be credited, the form that adds a credit. Ledger
/// cost: 1 query. KV cost: 2 reads.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    id: &str,
    times: &ListTimes<'_, C>,
) -> Result<Markup> {
    let Credits { credits, left } = match credits::of(context.store, context.ledger, record).await {
        Err(OperatorError::Ledger(error)) => return Ok(view::problem(&error.to_string())),
        credits => credits?,
    };
    Ok(html! {
        @if !credits.is_empty() { (table(&credits, times)) }
        @if left.is_nothing() { p.soft { "Nothing is left to be credited." } }
        @else { (form(id, &left, &Form::default(), &FormProblem::default())) }
    })
}

fn table(credits: &[Credit], times: &ListTimes<'_, impl TimeZones>) -> Markup {
    let row = |credit: &Credit| {
        vec![
            money(&credit.amount, &credit.currency_code),
            quantities(&credit.quantities),
            html! { (view::month(credit.booked_month).replace(' ', "\u{a0}")) },
            html! { div.wide { (view::untrusted_text(&credit.reason)) } },
            html! { (times.cell(&credit.at)) " by " (view::untrusted_text(&credit.by)) },
        ]
    };
    let rows: Vec<_> = credits.iter().map(row).collect();
    let credited = times.heading("Credited");
    let headings = ["Amount", "Quantities", "Booked in", "Reason", &credited];
    view::table_of(&headings, &["Amount"], &rows, "")
}

fn quantities(quantities: &[OfferingQuantity]) -> Markup {
    let more = quantities.len().saturating_sub(MAX_FIELDS);
    html! {
        @if quantities.is_empty() { "None" }
        @for it in quantities.iter().take(MAX_FIELDS) {
            div { (it.quantity) " " (view::untrusted_text(&it.offering)) }
        }
        @if more > 0 { div { "and " (more) " more" } }
    }
}

/// Renders the form that adds a credit, with the entered values and an error message. Only the form on the
/// confirmation page contains an operation ID.
fn form(id: &str, left: &Left, entered: &Form, problem: &FormProblem) -> Markup {
    let (amount, code) = (&left.amount, &left.currency_code);
    let content = html! {
        @if left.divisible {
            (Field {
                name: "amount",
                label: &format!("Amount in {code}"),
                value: entered.text("amount"),
                hint: &format!("Leave empty to credit all that is left: {amount} {code} and every quantity."),
                problem: problem.of("amount"),
                ..Field::default()
            }.render())
            (parts(left, entered, problem))
        } @else {
            p { "A charge of this size can only be credited in full: " strong { (money(amount, code)) } "." }
        }
        (Field {
            name: "reason",
            label: "Reason",
            value: entered.text("reason"),
            hint: &format!("One line of at most {MAX_REASON_BYTES} bytes. Do not name the recipient: the reason stays even if the recipient's data is erased."),
            required: true,
            problem: problem.of("reason"),
            ..Field::default()
        }.render())
        (cancelled_field(entered, problem.of(CANCELLED.0)))
        @if problem.field() == Some(CHARGED) || entered.given(CHARGED).is_some() {
            (Field {
                name: CHARGED,
                label: "Was the transaction charged?",
                value: entered.text(CHARGED),
                problem: problem.of(CHARGED),
                ..Field::default()
            }.render_select(&WAS_CHARGED))
        }
        button.quiet { "Credit …" }
    };
    view::form(&link::path(&["transactions", id, "credit"]), &content)
}

/// The name of a hidden field of the confirmation page. Its value is the number of credits that the
/// transaction had when the page was made.
const SEEN: &str = "seen";

/// Name and value of the checkbox that marks the transaction as cancelled on its timeline.
const CANCELLED: (&str, &str) = ("cancelled", "yes");

/// The name of the field that says whether a transaction was charged, and its options. The form has it only if the
/// transaction may have come after its month was marked as paid.
const CHARGED: &str = "charged";
const WAS_CHARGED: [(&str, &str); 3] = [
    ("", "Choose"),
    ("no", "No: it came after the month was marked as paid"),
    ("yes", "Yes: the payment contains it"),
];

fn was_charged(form: &Form) -> Option<bool> {
    match form.text(CHARGED) {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn is_cancelled(form: &Form) -> bool {
    form.text(CANCELLED.0) == CANCELLED.1
}

fn cancelled_field(entered: &Form, problem: &str) -> Markup {
    let (name, value) = CANCELLED;
    let field = Field {
        name,
        label: "Tell the buyer on the timeline that the pledge was cancelled",
        value,
        hint: "Possible only if you credit all that is left. It cannot be undone.",
        problem,
        ..Field::default()
    };
    field.render_box(is_cancelled(entered))
}

fn parts(left: &Left, entered: &Form, problem: &FormProblem) -> Markup {
    html! {
        @for OfferingQuantity { offering, quantity } in left.quantities.iter().take(MAX_FIELDS) {
            @let name = quantity_of(offering);
            (Field {
                name: &name,
                label: &format!("Quantity of {}", label(offering)),
                value: entered.text(&name),
                hint: &format!("At most {quantity}. Also enter an amount, which may be 0."),
                problem: problem.of(&name),
                ..Field::default()
            }.render())
        }
        @if left.quantities.len() > MAX_FIELDS {
            p { small { "The command " code { "credits add" } " credits quantities of other offerings." } }
        }
    }
}

/// The prefix of the names of the quantity fields. A digest of the offering's ID follows the
/// prefix, because a form may change characters of the ID itself.
const QUANTITY: &str = "quantity-";

fn quantity_of(offering: &str) -> String {
    [QUANTITY, &digest(offering)].concat()
}

fn digest(offering: &str) -> String {
    base16ct::lower::encode_string(&first_bytes::<8>(Sha256::digest(offering)))
}

/// Shortens an offering's ID, and replaces its control characters.
fn label(offering: &str) -> String {
    offering.chars().take(80).map(shown).collect()
}

// ---- The form ------------------------------------------------------------------------------------

/// Asks for confirmation of the credit that a form describes. Adds the credit once it is confirmed. Cost: at most 9
/// ledger queries and 14 KV calls.
pub(crate) async fn credit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    match answer(context, id, form).await {
        Err(OperatorError::Invalid(refused)) => ask(context, id, form, refused).await,
        answer => Ok(answer?),
    }
}

async fn answer<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result<Page, OperatorError> {
    let request = request(context, id, form).await?;
    let (store, ledger, author) = (context.store, context.ledger, &context.author);
    if form.text("step") == "credit" && context.has_operation() {
        return Ok(made(&credits::add(store, ledger, author, &request).await?));
    }
    let credit = credits::check(store, ledger, author, &request).await?;
    Ok(confirm(context, &credit, form))
}

async fn request<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result<CreditRequest, OperatorError> {
    let quantities = quantities_in(context, id, form).await?;
    let part = match form.given("amount") {
        Some(amount) => Some(Part { amount: amount.to_owned(), quantities }),
        None if quantities.is_empty() => None,
        None => {
            let problem =
                "nothing was credited: enter an amount in addition to the quantities: it may be 0";
            return Err(OperatorError::at("amount", RefusalCode::Required, problem));
        }
    };
    let (transaction, reason) = (id.trim().to_owned(), form.text("reason").to_owned());
    let seen = form.given(SEEN).and_then(|seen| seen.parse().ok());
    let (tell_buyer, was_charged) = (is_cancelled(form), was_charged(form));
    Ok(CreditRequest { transaction, part, reason, tell_buyer, was_charged, seen })
}

/// Reads the quantities that a person entered in the form. The name of each field contains a digest that identifies its
/// offering.
async fn quantities_in<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result<Vec<OfferingQuantity>, OperatorError> {
    let entered: Vec<_> = form.with_prefix(QUANTITY).collect();
    if entered.is_empty() {
        return Ok(Vec::new());
    }
    let record = transactions::get(context.store, id).await?;
    let pledged = credits::offerings(context.store, &record).await?;
    let named: BTreeMap<_, _> = pledged.into_iter().map(|it| (digest(&it), it)).collect();
    let stated = |(digest, quantity): &(&str, &str)| {
        let offering = named.get(*digest).cloned();
        let offering = offering.ok_or_else(|| OperatorError::invalid(BROKEN))?;
        Ok(OfferingQuantity { offering, quantity: (*quantity).to_owned() })
    };
    entered.iter().map(stated).collect()
}

const BROKEN: &str =
    "nothing was credited: the form was damaged on its way. Reload the page and fill it in again";

/// Replaces the offering of a wrong quantity with its digest, which the name of the field has instead.
fn with_digest(mut refused: Refused) -> Refused {
    if let Some(ArgumentName { item: Some(offering), .. }) = &mut refused.argument {
        *offering = digest(offering);
    }
    refused
}

/// Shows the form again, with the entered values and an error.
async fn ask<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    entered: &Form,
    refused: Refused,
) -> Result {
    let problem = FormProblem::from(with_digest(refused));
    let record = transactions::get(context.store, id).await?;
    let found = credits::of(context.store, context.ledger, &record).await?;
    let times = context.times_of(record.unit().ok().as_deref()).await;
    let content = html! {
        p.lead { "Transaction " (id_link(id)) }
        section {
            @if !found.credits.is_empty() { (table(&found.credits, &times)) }
            @if found.left.is_nothing() { p { "Nothing is left to be credited." } }
            @else { (form(id, &found.left, entered, &problem)) }
        }
    };
    let content = problem.above(&content);
    Ok(Page { status: 422, ..Page::new("Credit", content) })
}

fn facts(credit: &Credit) -> Markup {
    view::facts(&[
        ("Amount", html! { strong { (money(&credit.amount, &credit.currency_code)) } }),
        ("Charge", money(&credit.charge, &credit.currency_code)),
        ("Quantities", quantities(&credit.quantities)),
        ("Booked in", html! { (view::month(credit.booked_month)) }),
        ("Reason", view::untrusted_text(&credit.reason)),
    ])
}

fn confirm<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    credit: &Credit,
    form: &Form,
) -> Page {
    let id = &credit.transaction;
    let is_later = credit.booked_month != credit.order_month;
    let content = html! {
        p.lead { "Credit the transaction " (id_link(id)) "? This cannot be undone." }
        section {
            (facts(credit))
            @if is_cancelled(form) { p { "The buyer's timeline will say that this pledge was cancelled." } }
            @if is_later {
                p { "The month of the transaction is marked as paid, so the credit reduces what is due for " (view::month(credit.booked_month)) "." }
            }
            @if was_charged(form) == Some(false) {
                p { "The transaction was never charged, so the credit does not change what is due." }
            }
            (context.form(&link::path(&["transactions", id, "credit"]), &html! {
                (view::hidden("step", "credit"))
                (view::hidden(SEEN, &credit.number.saturating_sub(1).to_string()))
                (view::hidden("amount", form.text("amount")))
                (view::hidden("reason", form.text("reason")))
                @if is_cancelled(form) { (view::hidden(CANCELLED.0, CANCELLED.1)) }
                @if let Some(charged) = form.given(CHARGED) { (view::hidden(CHARGED, charged)) }
                @for (digest, quantity) in form.with_prefix(QUANTITY) {
                    (view::hidden(&[QUANTITY, digest].concat(), quantity))
                }
                button.alarm { "Credit " (view::grouped(&credit.amount)) " " (credit.currency_code) }
            }))
        }
        p { a href=(link::path(&["transactions", id])) { "Cancel" } }
    };
    Page::new("Credit", content)
}

fn made(Done { outcome: credit, before }: &Done<Credit>) -> Page {
    let usage = link::path(&["units", &credit.scope.unit, "usage"]);
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { (id_link(&credit.transaction)) " was credited." }))
        section { (facts(credit)) }
        p { a href=(link::with(&usage, &[("mode", credit.scope.mode.name())])) { "Usage" } }
    };
    Page::new("Credited", content)
}
