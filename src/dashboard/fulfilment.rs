//! What was pledged and done in a month, by offering, over all units: for example, how many trees to plant for October.

use super::form::Form;
use super::month::MonthSelection;
use super::page::{Content, Page};
use super::view::{self, Field};
use super::{PageContext, Refusal, Result, operation};
use crate::ledger::fulfilments::{Fulfilment, NewFulfilment, Removal};
use crate::operator::csv::{self, BYTE_ORDER_MARK};
use crate::operator::fulfilments::{self, Balance, Balances};
use crate::operator::roles::Permission;
use crate::operator::{Done, OperatorError, bound};
use crate::service::{Clock, Entropy};
use crate::settlement::Month;
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Path of the page.
const PATH: &str = "/fulfilment";
/// Maximum number of offerings on a page, and in a CSV file.
const MAX_ROWS: usize = 500;
const MAX_LINES: usize = 50_000;
/// Number of earlier months whose open quantities the page shows.
const EARLIER: usize = 11;

/// What the page shows above its tables.
#[derive(Default)]
struct FormResult<'f> {
    notice: Markup,
    /// The values of a form that is shown again.
    form: Option<&'f Form>,
    /// Why the form was not carried out.
    problem: Option<String>,
    /// Whether the person has to confirm that more is recorded than is open.
    is_beyond: bool,
}

/// Shows a month. Ledger cost: 10 or 12 queries.
pub(super) async fn fulfilment<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query)?;
    page(context, selection, FormResult::default()).await
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
    result: FormResult<'_>,
) -> Result {
    let ledger = bound(context.ledger)?;
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found = fulfilments::balances(ledger, mode, &months, MAX_ROWS).await?;
    let recorded = fulfilments::list(ledger, mode, &months, view::MAX_ROWS).await?;
    let earlier = earlier(context, selection).await?;
    let status = if result.problem.is_some() { 422 } else { 200 };
    let content = html! {
        (result.notice)
        p.lead { "Pledged and done in " (view::month(selection.month)) ", through all units" }
        (selection.links(PATH))
        section {
            h2 { "By offering" }
            (table(&found.balances))
            @if found.more { p { "Only the first " (MAX_ROWS) " offerings are shown. The CSV file has all." } }
            (view::coverage(&found.coverage))
            @if let Some(first) = &found.left_out.first {
                p.problem {
                    "Transactions of any month with too many quantities, missing from all sums here: "
                    (found.left_out.count) ", the first is " (view::untrusted_text(first)) "."
                }
            }
            ul.links {
                li { a href=(selection.address("/fulfilment.csv")) { "Download CSV" } }
                li { a href=(selection.address("/usage")) { "Usage" } }
            }
        }
        (still_open(&earlier))
        section { h2 { "What was done" } (list(context, &recorded)) }
        @if context.may(Permission::Operate) { (record_section(context, selection, &found, &result)) }
    };
    Ok(Page { status, ..Page::new("Fulfilment", content) })
}

fn table(balances: &[Balance]) -> Markup {
    let row = |balance: &Balance| {
        let Balance { offering, pledged, credited, done, open, surplus, .. } = balance;
        vec![
            view::untrusted_text(offering),
            html! { (pledged) },
            html! { @if credited != "0" { (credited) } },
            html! { @if done != "0" { (done) } },
            html! {
                @if surplus != "0" { (surplus) " more than pledged" }
                @else if open == "0" { "All done" }
                @else { strong { (open) } }
            },
        ]
    };
    let rows: Vec<_> = balances.iter().map(row).collect();
    let headings = ["Offering", "Pledged", "Credited", "Done", "To be done"];
    let numbers = ["Pledged", "Credited", "Done", "To be done"];
    view::table_of(&headings, &numbers, &rows, "Nothing was pledged in this month.")
}

// ---- Earlier months ------------------------------------------------------------------------------

/// Returns what is open for the pledges of the months before this one.
async fn earlier<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
) -> Result<Vec<Balance>> {
    let before = std::iter::successors(selection.month.previous(), |month| month.previous());
    let months: Vec<Month> = before.take(EARLIER).collect();
    let found =
        fulfilments::balances(bound(context.ledger)?, Some(selection.mode), &months, MAX_ROWS)
            .await;
    match found {
        // The ledger keeps none of these months.
        Err(OperatorError::Invalid(_)) => Ok(Vec::new()),
        found => {
            let mut balances = found?.balances;
            balances.retain(|balance| balance.open != "0");
            Ok(balances)
        }
    }
}

fn still_open(earlier: &[Balance]) -> Markup {
    let row = |balance: &Balance| {
        let of = MonthSelection { mode: balance.mode, month: balance.month };
        vec![
            html! { a href=(of.address(PATH)) { (view::month(balance.month)) } },
            view::untrusted_text(&balance.offering),
            html! { strong { (balance.open) } },
        ]
    };
    let rows: Vec<_> = earlier.iter().map(row).collect();
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "To be done for earlier months" }
                (view::table_of(&["Month", "Offering", "To be done"], &["To be done"], &rows, ""))
                p.soft { "The " (EARLIER) " months before." }
            }
        }
    }
}

// ---- What was done -------------------------------------------------------------------------------

fn list<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    recorded: &[Fulfilment],
) -> Markup {
    let row = |fulfilment: &Fulfilment| {
        let Fulfilment { id, done, by, at, .. } = fulfilment;
        vec![
            view::untrusted_text(&done.offering),
            html! { (done.quantity) },
            view::day(&[&done.done_on, "T00:00:00Z"].concat()),
            details(done),
            html! { (view::untrusted_text(by)) " on " (view::time(at)) },
            html! { @if context.may(Permission::Operate) { (remove_button(done, id)) } },
        ]
    };
    let rows: Vec<_> = recorded.iter().map(row).collect();
    let headings = ["Offering", "Quantity", "Done on", "Details", "Recorded by", "Remove"];
    view::table_of(
        &headings,
        &["Quantity"],
        &rows,
        "Nothing is recorded as done for this month yet.",
    )
}

fn details(NewFulfilment { partner, place, report, .. }: &NewFulfilment) -> Markup {
    html! {
        @for text in [partner, place].into_iter().flatten() { div { (view::untrusted_text(text)) } }
        @if let Some(report) = report {
            div { a href=(report) rel="noreferrer" { "Report" } }
        }
    }
}

/// The form without an operation ID leads to the confirmation.
fn remove_button(done: &NewFulfilment, id: &str) -> Markup {
    view::form(
        "/fulfilment/remove",
        &html! {
            (view::hidden("id", id))
            button.quiet aria-label={ "Remove " (done.quantity) " " (done.offering) } { "Remove" }
        },
    )
}

// ---- Record --------------------------------------------------------------------------------------

/// Records what was done, after confirmation if more is recorded than is open. Shows the month. Ledger cost: at most 21
/// calls. KV cost: 1 write.
pub(super) async fn record<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    if !context.has_operation() {
        return Err(Refusal::invalid("some fields are missing. Reload the page and try again"));
    }
    let selection = MonthSelection::read(context, form)?;
    let new = new(selection, form);
    let is_beyond = form.text("beyond").is_empty()
        && context.was_done().await?.is_none()
        && fulfilments::beyond(bound(context.ledger)?, &new).await?.is_some();
    let refused = |problem: String, is_beyond| FormResult {
        form: Some(form),
        problem: Some(problem),
        is_beyond,
        ..FormResult::default()
    };
    if is_beyond {
        let problem =
            "this is more than is still to be done for this month. Check it, then confirm";
        return page(context, selection, refused(problem.to_owned(), true)).await;
    }
    match fulfilments::add(context.store, context.ledger, &context.author, &new).await {
        Ok(added) => page(context, selection, recorded(&added)).await,
        Err(OperatorError::Invalid(problem)) => {
            page(context, selection, refused(problem, false)).await
        }
        Err(error) => Err(error.into()),
    }
}

fn new(MonthSelection { mode, month }: MonthSelection, form: &Form) -> NewFulfilment {
    let given = |name| form.given(name).map(str::to_owned);
    NewFulfilment {
        mode,
        month,
        offering: form.text("offering").to_owned(),
        quantity: form.text("quantity").to_owned(),
        done_on: form.text("day").to_owned(),
        partner: given("partner"),
        place: given("place"),
        report: given("report"),
    }
}

fn recorded(Done { outcome, before }: &Done<Fulfilment>) -> FormResult<'static> {
    let Fulfilment { done, .. } = outcome;
    let words = html! { (done.quantity) " " (view::untrusted_text(&done.offering)) " was recorded as done." };
    let notice = html! { (operation::before(before.as_ref())) (view::done(&words)) };
    FormResult { notice, ..FormResult::default() }
}

fn record_section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
    found: &Balances,
    FormResult { form, problem, is_beyond, .. }: &FormResult<'_>,
) -> Markup {
    let empty = Form::default();
    let form = form.unwrap_or(&empty);
    let problem = problem.as_deref().unwrap_or_default();
    let wrong = field_of(problem);
    let field = |name, label, hint, required| Field {
        name,
        label,
        hint,
        required,
        value: form.text(name),
        problem: if wrong == Some(name) { problem } else { "" },
        kind: if name == "day" { "date" } else { "" },
    };
    html! {
        section #record {
            h2 { "Record what was done" }
            @if !problem.is_empty() { (view::form_problem(problem, wrong)) }
            (context.form(PATH, &html! {
                (view::hidden("mode", selection.mode.name()))
                (view::hidden("month", &selection.month.to_string()))
                (offering_field(found, form))
                (field("quantity", "Quantity", "For example 1200.", true).render())
                (field("day", "Done on", "", true).render())
                (field("partner", "Partner", "The organisation that did it; not a person.", false).render())
                (field("place", "Place", "", false).render())
                (field("report", "Report", "A web address, with https://.", false).render())
                @if *is_beyond {
                    label {
                        input type="checkbox" name="beyond" value="yes" required;
                        "Record more than is still to be done"
                    }
                }
                button { "Record" }
            }))
        }
    }
}

/// Words of errors, each with the field that the error is about.
const FIELDS: [(&str, &str); 6] = [
    ("the quantity", "quantity"),
    ("more than is still to be done", "quantity"),
    ("the partner", "partner"),
    ("the place", "place"),
    ("the report", "report"),
    ("the day on which", "day"),
];

/// Returns the field that an error is about.
fn field_of(problem: &str) -> Option<&'static str> {
    let is_day = problem.ends_with("is in the future");
    let named = || FIELDS.iter().find(|(words, _)| problem.contains(words));
    if is_day { Some("day") } else { named().map(|(_, field)| *field) }
}

fn offering_field(found: &Balances, form: &Form) -> Markup {
    let label = |balance: &Balance| format!("{} ({} to be done)", balance.offering, balance.open);
    let labels: Vec<_> = found.balances.iter().map(label).collect();
    let names = found.balances.iter().map(|balance| &*balance.offering);
    let options: Vec<_> = names.zip(labels.iter().map(String::as_str)).collect();
    view::select("offering", "Offering", &options, form.raw("offering"))
}

// ---- Remove --------------------------------------------------------------------------------------

/// Asks for confirmation, then removes a fulfilment, and shows its month. Ledger cost: at most 17 calls. KV cost: 1 write.
pub(super) async fn remove<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let id = form.text("id");
    if !context.has_operation() {
        return confirm(context, id).await;
    }
    let removed = fulfilments::remove(context.store, context.ledger, &context.author, id).await?;
    let Fulfilment { done, .. } = &removed.outcome;
    let words = html! {
        (done.quantity) " " (view::untrusted_text(&done.offering)) " was removed. It stays in the audit log."
    };
    let notice = html! { (operation::before(removed.before.as_ref())) (view::done(&words)) };
    let selection = MonthSelection { mode: done.mode, month: done.month };
    page(context, selection, FormResult { notice, ..FormResult::default() }).await
}

async fn confirm<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Result {
    let found = fulfilments::get(bound(context.ledger)?, id).await?;
    let Fulfilment { done, by, at, removed, .. } = &found;
    if let Some(Removal { at, by }) = removed {
        return Err(Refusal::invalid(format!("nothing was removed: {by} removed it at {at}")));
    }
    let selection = MonthSelection { mode: done.mode, month: done.month };
    let content = html! {
        section {
            (view::facts(&[
                ("Offering", view::untrusted_text(&done.offering)),
                ("Quantity", html! { (done.quantity) }),
                ("Pledged in", html! { (view::month(done.month)) " (" (done.mode.name()) " mode)" }),
                ("Done on", view::day(&[&done.done_on, "T00:00:00Z"].concat())),
                ("Details", details(done)),
                ("Recorded by", html! { (view::untrusted_text(by)) " on " (view::time(at)) }),
            ]))
            (context.form("/fulfilment/remove", &html! {
                (view::hidden("id", id))
                button.alarm { "Remove" }
            }))
        }
        p { "Nothing was changed yet. " a href=(selection.address(PATH)) { "Back" } }
    };
    Ok(Page::new("Remove what was recorded?", content))
}

// ---- CSV -----------------------------------------------------------------------------------------

const HEADINGS: [&str; 9] = [
    "month",
    "mode",
    "offering",
    "pledged",
    "credited",
    "done",
    "to_be_done",
    "surplus",
    "complete_up_to",
];

/// CSV export of a month. Ledger cost: 5 or 6 queries.
pub(super) async fn fulfilment_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let selection = MonthSelection::read(context, query)?;
    let (mode, months) = (Some(selection.mode), [selection.month]);
    let found = fulfilments::balances(bound(context.ledger)?, mode, &months, MAX_LINES).await?;
    if found.more {
        return Err(Refusal::invalid(format!(
            "{} has more than {MAX_LINES} offerings: download the CSV files of its units",
            selection.month
        )));
    }
    let complete_up_to = found.coverage.complete_up_to.as_deref().unwrap_or_default();
    let line = |balance: &Balance| {
        let Balance { offering, pledged, credited, done, open, surplus, .. } = balance;
        let month = balance.month.to_string();
        let mode = balance.mode.name();
        [&*month, mode, offering, pledged, credited, done, open, surplus, complete_up_to]
            .map(csv::text)
    };
    let headings = HEADINGS.map(str::to_owned);
    let lines = csv::lines(std::iter::once(headings).chain(found.balances.iter().map(line)));
    let name = format!("fulfilment-{}-{}.csv", selection.mode.name(), selection.month);
    let file = [BYTE_ORDER_MARK, &lines].concat();
    Ok(Page { status: 200, content: Content::Csv(name, file.into_bytes()) })
}
