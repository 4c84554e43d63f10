//! The page that marks several months as paid. Each month is a change of its own, with an operation ID of its own: a month that is
//! refused does not stop the others.

use super::payments::{list, next_page, position, selected};
use super::table::{LIST, amount, month};
use crate::office::payments::operation::payments::stated;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::Payment;
use crate::office::payments::rule::due_months::due_months;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{PaidAt, ScopeMonth};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};
use maud::{Markup, html};

/// Months on a page. Marking one takes up to 9 ledger queries, and D1 allows 1,000 in an invocation.
const MOST: usize = 25;

const PATH: &str = "/payments/several";
const TITLE: &str = "Mark several months as paid";
/// Prefixes of the fields of a month. The rest of a field's name is that of the month's record, `live:unit_1:2026-01`.
const CHOSEN: &str = "mark.";
const INVOICE: &str = "invoice.";
const AMOUNT: &str = "amount.";
/// The day on which all chosen months were paid.
const PAID_ON: &str = "paid-at";

/// Shows the unpaid months that match the filters of the list of payments, and the form that marks them as paid. Ledger cost: 7 to
/// 9 queries; 3 if no month is listed. KV cost: 1 read.
pub(crate) async fn several<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    page(context, query, None, "").await
}

/// Marks the chosen months as paid, and says what became of each. If the form is incomplete, shows it again, and marks nothing.
/// Ledger cost: at most 9 queries for each month.
pub(crate) async fn mark<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let chosen: Vec<_> = form.with_prefix(CHOSEN).map(|(name, _)| name).collect();
    let paid_at = PaidAt::parse(&[form.text(PAID_ON), "T00:00:00Z"].concat());
    let lacks_invoice = chosen.iter().any(|name| form.text(&[INVOICE, name].concat()).is_empty());
    let problem = match &paid_at {
        _ if chosen.is_empty() => "choose at least one month".to_owned(),
        _ if chosen.len() > MOST => format!("choose fewer months: at most {MOST} at a time"),
        _ if lacks_invoice => "enter the invoice number of each chosen month".to_owned(),
        None => "enter the day on which the months were paid".to_owned(),
        Some(_) => String::new(),
    };
    let Some(paid_at) = paid_at.filter(|_| problem.is_empty()) else {
        let query = Form::parse(form.text(LIST).as_bytes());
        return page(context, &query, Some(form), &problem).await;
    };
    let mut outcomes = Vec::with_capacity(chosen.len());
    for name in chosen {
        let of = month_of(name)?;
        let outcome = mark_one(context, form, name, (of.clone(), paid_at.clone())).await;
        outcomes.push((of, outcome));
    }
    Ok(outcome_page(context, form, &outcomes).await)
}

fn month_of(name: &str) -> Result<ScopeMonth> {
    SettlementKey::parse_suffix(name)
        .ok_or_else(|| Refusal::invalid("this form is not complete. Open the list again"))
}

async fn mark_one<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    name: &str,
    (of, paid_at): (ScopeMonth, PaidAt),
) -> Result<(), OperatorError> {
    let amounts = form.text(&[AMOUNT, name].concat()).split_whitespace().map(stated);
    let payment = Payment {
        of,
        amounts: amounts.collect::<Result<_, _>>().map_err(OperatorError::Invalid)?,
        paid_at,
        invoice: form.text(&[INVOICE, name].concat()).to_owned(),
        accept_unpriced: 0,
    };
    let author = context.author.of_step(name);
    payments::mark(context.store, context.ledger, &author, &payment).await.map(drop)
}

// ---- The form ------------------------------------------------------------------------------------

/// Shows the form; again, with what was entered, if it was sent and has a problem.
async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
    sent: Option<&Form>,
    problem: &str,
) -> Result {
    let mut filter = selected(query)?;
    filter.is_paid = Some(false);
    let (ledger, now_ms) = (context.ledger, context.clock.now_ms());
    let after = position(query)?;
    let page = due_months(context.store, ledger, now_ms, &filter, after.as_ref(), MOST).await?;
    let months: Vec<_> = page.months.iter().filter(|it| it.of.month.has_ended(now_ms)).collect();
    let names = context.names_of(months.iter().map(|usage| &*usage.of.scope.unit)).await;
    let rows: Vec<_> = months.iter().map(|usage| row(usage, &names, sent)).collect();
    let day = view::Field {
        name: PAID_ON,
        label: "Paid on",
        kind: "date",
        value: sent.map_or("", |form| form.text(PAID_ON)),
        required: true,
        ..view::Field::default()
    };
    let form = html! {
        (view::hidden(LIST, &list(query)))
        (view::table_of(&HEADINGS, &["Due"], &rows, "No unpaid month matches."))
        @if !rows.is_empty() { (day.render()) button { "Mark the chosen months as paid" } }
    };
    let content = html! {
        @if !problem.is_empty() { (view::form_problem(problem, None)) }
        p.lead { "Each month is marked with the amount that is due. A month that is refused does not stop the others." }
        section {
            (context.form(PATH, &form))
            @if let Some(last) = &page.next {
                p { a rel="next" href=(next_page(PATH, query, last)) { "Next " (MOST) " →" } }
            }
        }
        (back(query))
    };
    let status = if problem.is_empty() { 200 } else { 422 };
    Ok(Page { status, ..Page::new(TITLE, content) })
}

const HEADINGS: [&str; 5] = ["Mark", "Month", "Unit", "Due", "Invoice number"];

/// Renders a month. A month with unpriced pledges has no box: the page of that month asks whether they are accepted.
fn row(usage: &MonthUsage, names: &UnitNames, sent: Option<&Form>) -> Vec<Markup> {
    let of = &usage.of;
    let key = SettlementKey(of);
    let name = key.suffix();
    let unpriced: usize = usage.sums.iter().map(|due| due.unpriced).sum();
    let about = html! { (view::month(of.month)) " of " (of.scope.unit) }.into_string();
    let field = |prefix: &str| [prefix, &*name].concat();
    let is_chosen = sent.is_none_or(|form| form.has(&field(CHOSEN)));
    let invoice = sent.map_or("", |form| form.text(&field(INVOICE)));
    let amounts: Vec<_> =
        usage.sums.iter().map(|due| [&*due.currency_code, "=", &*due.due].concat()).collect();
    let query = [("mode", of.scope.mode.name()), ("month", &*of.month.to_string())];
    let single = link::with(&link::path(&["units", &of.scope.unit, "paid"]), &query);
    vec![
        html! {
            @if unpriced == 0 {
                input type="checkbox" name=(field(CHOSEN)) value="yes" checked[is_chosen] aria-label={ "Mark " (about) };
                (view::hidden(&field(AMOUNT), &amounts.join(" ")))
            } @else {
                a href=(single) { (unpriced) " unpriced …" }
            }
        },
        month(of),
        names.link(&of.scope.unit),
        html! {
            @for (index, due) in usage.sums.iter().enumerate() {
                @if index > 0 { br; }
                (amount(&due.due, due))
            }
        },
        html! {
            @if unpriced == 0 {
                input name=(field(INVOICE)) value=(invoice) aria-label={ "Invoice number, " (about) };
            }
        },
    ]
}

fn back(query: &Form) -> Markup {
    html! { p { a href={ "/payments?" (list(query)) } { "Back to the payments" } } }
}

// ---- The outcome ---------------------------------------------------------------------------------

type Outcome = (ScopeMonth, Result<(), OperatorError>);

async fn outcome_page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    outcomes: &[Outcome],
) -> Page {
    let names = context.names_of(outcomes.iter().map(|(of, _)| &*of.scope.unit)).await;
    let failed = outcomes.iter().filter(|(_, outcome)| outcome.is_err()).count();
    let row = |(of, outcome): &Outcome| {
        vec![
            month(of),
            names.link(&of.scope.unit),
            match outcome {
                Ok(()) => html! { span.tag { "Marked as paid" } },
                Err(error) => {
                    html! { span.tag.alarm { "Not marked" } " " (view::inline_code(&view::sentence(&error.to_string()))) }
                }
            },
        ]
    };
    let rows: Vec<_> = outcomes.iter().map(row).collect();
    let content = html! {
        @if failed > 0 {
            (view::form_problem(&format!("{failed} of {} months were not marked as paid", outcomes.len()), None))
        } @else {
            (view::notice(&html! { (view::counted(outcomes.len() as u64, "month")) " marked as paid." }))
        }
        section { (view::table(&["Month", "Unit", "Outcome"], &rows, "")) }
        (back(&Form::parse(form.text(LIST).as_bytes())))
    };
    let status = if failed == outcomes.len() { 422 } else { 200 };
    Page { status, ..Page::new("Payments", content) }
}
