//! Erases all transactions of a person in a unit, in steps.
//!
//! The person's e-mail address is only in the form. It never appears in a URL, a record or a receipt.

use super::orders;
use super::transaction;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{
    ERASABLE_MINUTES, ErasureCursor, Found, PersonStep, SearchKey, TransactionFilter,
};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::{Scoped, Units};
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view::id_link;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::coverage::DamagedRecords;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::pledges::auth::{KeyLevel, check_id};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{TimeZones, date_time, parse_ms};
use crate::pledges::types::TransactionId;
use maud::{Markup, html};

/// Maximum number of KV lists per step. A list has 1,000 transactions.
const LISTS: usize = 40;
/// Maximum number of transactions that a step erases. Each takes several KV calls.
const AT_MOST: usize = 20;
/// Maximum number of transactions that are shown before anything is erased.
const MAX_ROWS: usize = 20;
/// Maximum number of lines of a receipt.
const MAX_LINES: usize = 1_000;

/// Shows the form for a unit and an e-mail address. Reads nothing from Workers KV.
pub(crate) async fn person<S: OperatorStore, C: Clock, E: Entropy>(
    _context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    let unit = query.given("unit").or_else(|| units.single()).unwrap_or_default();
    Ok(Page::new(TITLE, question([unit, ""], None)))
}

const TITLE: &str = "Erase a person";

/// Renders the form. `problem` contains a field that is not valid, and what is wrong with it.
fn question([unit, address]: [&str; 2], problem: Option<(&str, &str)>) -> Markup {
    let field = |name, label, hint, value| view::Field {
        name,
        label,
        hint,
        value,
        required: true,
        problem: problem.filter(|(wrong, _)| *wrong == name).map_or("", |(_, problem)| problem),
        ..view::Field::default()
    };
    let content = html! {
        (field("unit", "Unit", "", unit).render())
        (field("address", "E-mail address", "In full; capitals do not matter.", address).render())
        button { "Find transactions" }
    };
    html! {
        p.lead {
            "Erases a person's data from a unit's transactions, in live and test mode. The recipient's \
             details and all texts are deleted from each transaction with this e-mail address."
        }
        section { (view::form("/person", &content)) }
    }
}

/// Erases all transactions of a person, in steps. First shows a preview of the transactions that the ledger
/// lists, and asks for the unit's ID as confirmation. Then each step erases at most [`AT_MOST`]
/// transactions, including transactions that are only in Workers KV. A step may be repeated.
///
/// Cost of the preview: 3 ledger queries. Cost of a step: 1 ledger query and at most [`LISTS`] KV lists. In
/// addition, at most 17 KV calls and 1 ledger query for each transaction.
pub(crate) async fn erase_person<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    owner: &Scoped<Option<KeyLevel>>,
    form: &Form,
) -> Result {
    let unit = owner.as_ref().filter(|owner| matches!(owner, KeyLevel::Unit(_)));
    let (unit, address) = (unit.map_or("", KeyLevel::id), form.text("address"));
    let problem = check_id(unit).err().map(|problem| ("unit", problem));
    let problem =
        problem.or_else(|| (!address.contains('@')).then(|| ("address", NO_ADDRESS.to_owned())));
    if let Some((field, problem)) = problem {
        let content = html! {
            (view::form_problem(&problem, Some(field)))
            (question([form.text("unit"), address], Some((field, &problem))))
        };
        return Ok(Page { status: 422, ..Page::new(TITLE, content) });
    }
    match form.given("confirm") {
        None => look(context, unit, address).await,
        Some(typed) if typed == unit => step(context, form, unit, address).await,
        Some(_) => {
            let problem = "nothing was erased: type the unit ID that is shown above";
            let content = html! {
                (view::form_problem(problem, Some("confirm")))
                (summary(unit))
                (confirmation(context, unit, address, problem))
            };
            Ok(Page { status: 422, ..Page::new(TITLE, content) })
        }
    }
}

const NO_ADDRESS: &str = "enter a complete e-mail address";

// ---- Find ----------------------------------------------------------------------------------------

async fn look<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    address: &str,
) -> Result {
    let by = SearchKey::Email(address.to_owned());
    let ledger = context.ledger;
    let of = (&of_unit(unit), &by);
    let found = transactions::find(context.store, ledger, of, &Direction::Newest, MAX_ROWS).await?;
    let content = html! {
        (summary(unit))
        (found_rows(context, unit, &found).await)
        (confirmation(context, unit, address, ""))
        p {
            small {
                "A transaction can be erased " (ERASABLE_MINUTES) " minutes after it was created."
            }
        }
    };
    Ok(Page::new(TITLE, content))
}

fn of_unit(unit: &str) -> TransactionFilter {
    TransactionFilter { unit: Some(unit.to_owned()), mode: None }
}

fn summary(unit: &str) -> Markup {
    html! { p.lead { "Transactions with the e-mail address that you entered, in the unit " (transaction::unit(unit)) "." } }
}

async fn found_rows<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    found: &Found,
) -> Markup {
    let table = orders::table(context, &found.transactions, Some(unit)).await;
    html! {
        @if found.transactions.is_empty() { p { "The ledger has no transaction with this e-mail address." } }
        @else { (table) }
        @if found.more { p { "These are the newest " (MAX_ROWS) ". Older ones will be erased, too." } }
        @if let Some(coverage) = &found.coverage { (view::coverage(coverage)) }
    }
}

fn confirmation<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    address: &str,
    problem: &str,
) -> Markup {
    let field = view::Field {
        name: "confirm",
        label: "Type the unit ID to confirm",
        required: true,
        problem,
        ..view::Field::default()
    };
    let content = html! {
        (view::hidden("unit", unit))
        (view::hidden("address", address))
        (field.render())
        button.alarm { "Erase permanently" }
    };
    html! {
        section {
            h2 { "Erase" }
            p {
                "This erases these transactions. All records of the unit are checked, and other \
                 transactions with this e-mail address are erased, too. This cannot be undone. \
                 Offerings, quantities, times and charges are kept for accounting. Backups and the \
                 shop's own systems still have the data."
            }
            (context.form("/person", &content))
        }
    }
}

// ---- Erase ---------------------------------------------------------------------------------------

async fn step<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    unit: &str,
    address: &str,
) -> Result {
    let from = match form.given("at") {
        None => None,
        Some(at) => Some(ErasureCursor::parse(at).ok_or_else(|| Refusal::invalid(BROKEN))?),
    };
    let (records, author) = ((context.store, context.ledger), &context.author);
    let of = (&of_unit(unit), address);
    let from = from.as_ref();
    let done = transactions::erase_person_step(records, author, of, from, AT_MOST, LISTS).await?;
    let Done { outcome: step, before } = done;
    let receipt = Receipt::new(form, &step);
    let times = context.times_of(Some(unit)).await;
    let content = html! {
        (operation::before(before.as_ref()))
        @if step.next.is_none() { (erased_all(&receipt)) }
        (summary(unit))
        (outcome(&step, &times))
        (damaged(&step.damaged))
        @match &step.next {
            Some(next) => (go_on(context, unit, address, next, &receipt)),
            None => (end(&receipt, unit, author.by(), &date_time(context.clock.now_ms()))),
        }
    };
    let title = match step.next {
        Some(_) => "Erasing a person",
        None if receipt.left.is_empty() => "Person erased",
        None => "Person not completely erased",
    };
    Ok(Page::new(title, content))
}

const BROKEN: &str =
    "the form was incomplete, and nothing was erased. Start again on the page “Erase a person”";

fn outcome(step: &PersonStep, times: &ListTimes<'_, impl TimeZones>) -> Markup {
    let erased = step.erased.iter().map(|erased| {
        let before = erased.before.as_ref();
        let state = html! { @if before.is_some() { "Already erased" } @else { "Erased" } };
        vec![id_link(&erased.id), state, times.text(&erased.at)]
    });
    let refused = step.refused.iter().map(|(id, why)| {
        vec![
            id_link(id),
            html! { span.tag.alarm { "Not erased" } },
            html! { (view::sentence(why)) },
        ]
    });
    let rows: Vec<_> = erased.chain(refused).collect();
    html! {
        p { "Records of the unit checked in this step: " (step.listed) "." }
        (view::table(&["Transaction", "Outcome", "Time or reason"], &rows, "Nothing was erased in this step."))
    }
}

/// The results of all steps of an erasure so far. The form passes them on to the next step.
struct Receipt {
    /// One line for each erased transaction: its ID, and the time of its erasure.
    erased: Vec<String>,
    left: Vec<String>,
}

impl Receipt {
    fn new(form: &Form, step: &PersonStep) -> Self {
        let earlier = |name: &str| form.text(name).lines().map(str::trim).collect::<Vec<_>>();
        let now = step.erased.iter().map(|erased| format!("{} {}", erased.id, erased.at));
        let mut erased: Vec<_> =
            earlier("erased").into_iter().filter_map(read).chain(now).collect();
        let now = step.refused.iter().map(|(id, _)| id.clone());
        let mut left: Vec<_> = earlier("left").into_iter().filter_map(id).chain(now).collect();
        for lines in [&mut erased, &mut left] {
            lines.sort();
            lines.dedup();
            lines.truncate(MAX_LINES);
        }
        Receipt { erased, left }
    }

    fn text(&self, unit: &str, by: &str, now: &str) -> String {
        let mut text = format!(
            "Erasure of one e-mail address in the unit {unit}\nErased: {}\nNot erased: {}\nBy {by}, finished \
             {now}\n",
            self.erased.len(),
            self.left.len(),
        );
        let left = self.left.iter().map(|id| format!("{id} not erased"));
        for line in self.erased.iter().cloned().chain(left) {
            text += "\n";
            text += &line;
        }
        text
    }
}

/// Parses a line from the receipt of an earlier step. Returns `None` if the line is not a transaction's ID
/// and a time.
fn read(line: &str) -> Option<String> {
    let (id, at) = line.split_once(' ')?;
    (TransactionId::parse(id).is_some() && parse_ms(at).is_some()).then(|| line.to_owned())
}

fn id(line: &str) -> Option<String> {
    TransactionId::parse(line).map(TransactionId::into_string)
}

fn go_on<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    address: &str,
    next: &ErasureCursor,
    receipt: &Receipt,
) -> Markup {
    let content = html! {
        @for (name, value) in [("unit", unit), ("address", address), ("confirm", unit)] {
            (view::hidden(name, value))
        }
        (view::hidden("at", &next.to_string()))
        (view::hidden("erased", &receipt.erased.join("\n")))
        (view::hidden("left", &receipt.left.join("\n")))
        button.alarm { "Continue erasing" }
    };
    html! {
        p { "Transactions erased so far: " strong { (receipt.erased.len()) } ". There are more records to check." }
        (context.form("/person", &content))
    }
}

fn erased_all(receipt: &Receipt) -> Markup {
    view::done(&html! {
        p {
            "Transactions erased: " strong { (receipt.erased.len()) } ". All records of the unit were checked."
        }
        @if !receipt.left.is_empty() {
            p.problem {
                "Transactions that could not be erased yet: " (receipt.left.len()) ". "
                a href="/person" { "Start again" } " in " (ERASABLE_MINUTES) " minutes."
            }
        }
    })
}

fn end(receipt: &Receipt, unit: &str, by: &str, now: &str) -> Markup {
    html! {
        section {
            h2 { "Receipt" }
            p {
                "Copy this receipt. It does not contain the e-mail address. If a form was sent twice, or more than "
                (MAX_LINES) " transactions were erased, the receipt may lack some; the audit log has them all."
            }
            (view::copyable_lines(&receipt.text(unit, by, now)))
        }
        p {
            small { "Lists and pages may still show erased data for about " (SHOWN_SECONDS) " s. Backups and the shop's own systems still have the data." }
        }
    }
}

fn damaged(damaged: &DamagedRecords) -> Markup {
    html! {
        @if damaged.count > 0 {
            p.problem { "Damaged records that could not be checked: " (damaged.count) "." }
        }
    }
}
