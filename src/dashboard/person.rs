//! Erases all transactions that a unit has of a person, a step at a time.
//!
//! The address is in no address of a page, in no record and in no receipt: the form carries it.

use super::find::{LISTS, damaged};
use super::form::Form;
use super::frame::Page;
use super::transaction::{self, id_link, mode, money};
use super::{Desk, Refusal, Result, view};
use crate::auth::check_id;
use crate::handle::{Clock, Entropy};
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::transactions::{
    self, By, ERASABLE_MINUTES, FoundStep, PersonStep, Position, Row, Wanted,
};
use crate::pledge::TransactionId;
use crate::store::OperatorStore;
use crate::time::{date_time, parse_ms};
use maud::{Markup, html};

/// How many transactions a step erases: each takes some calls of Workers KV.
const AT_MOST: usize = 20;
/// Most rows of a step that are shown.
const MAX_ROWS: usize = 20;
/// Most lines of a receipt.
const MAX_LINES: usize = 1_000;

/// Asks for the person. No call of Workers KV.
pub(super) async fn person<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    query: &Form,
) -> Result {
    Ok(Page::new(TITLE, question(&query.only(&["unit"]))))
}

const TITLE: &str = "Erase a person";

fn question(form: &Form) -> Markup {
    let field = |name, label, hint| view::Field {
        name,
        label,
        hint,
        value: form.text(name),
        required: true,
        ..view::Field::default()
    };
    let content = html! {
        (field("unit", "Unit", "").render())
        (field("address", "E-mail address", "In full; capitals do not matter.").render())
        button { "Look for it" }
    };
    html! {
        p.lead {
            "Takes the recipient and all texts away from each transaction that a unit has of an e-mail \
             address, of live keys and of test keys."
        }
        section { (view::form("/person", &content)) }
    }
}

/// Looks for a person's transactions, and once the unit is typed, erases them: [`AT_MOST`] a step. A look
/// takes at most [`LISTS`] and one call of Workers KV; a step as many, and at most 17 for each
/// transaction. What was erased before is erased once more without harm.
pub(super) async fn erase_person<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (unit, address) = (form.text("unit"), form.text("address"));
    let problem = check_id(unit).err();
    let problem = problem.or_else(|| (!address.contains('@')).then(|| NO_ADDRESS.to_owned()));
    if let Some(problem) = problem {
        let content = html! { (view::problem(&problem)) (question(form)) };
        return Ok(Page { status: 422, ..Page::new(TITLE, content) });
    }
    match form.given("confirm") {
        None => look(desk, unit, address).await,
        Some(typed) if typed == unit => step(desk, form, unit, address).await,
        Some(_) => {
            let problem = view::problem("nothing was erased: type the unit's ID, as it is above");
            let content = html! { (summary(unit)) (problem) (confirmation(unit, address)) };
            Ok(Page { status: 422, ..Page::new(TITLE, content) })
        }
    }
}

const NO_ADDRESS: &str = "write an e-mail address, in full";

// ---- Look ----------------------------------------------------------------------------------------

async fn look<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    unit: &str,
    address: &str,
) -> Result {
    let wanted = Wanted { unit: Some(unit.to_owned()), mode: None };
    let by = By::Email(address.to_owned());
    let found = transactions::find_step(desk.store, &wanted, &by, None, LISTS).await?;
    let is_all = found.next.is_none();
    let content = html! {
        (summary(unit))
        (found_rows(&found))
        (damaged(&found.damaged))
        @if is_all && found.transactions.is_empty() {
            p { "Nothing is to be erased. " a href="/person" { "Look for another address" } }
        } @else {
            (confirmation(unit, address))
        }
        p {
            small {
                "Transactions of the last " (SHOWN_SECONDS) " s may be missing, and can be erased after "
                (ERASABLE_MINUTES) " minutes."
            }
        }
    };
    Ok(Page::new(TITLE, content))
}

fn summary(unit: &str) -> Markup {
    html! { p.lead { "The address that you wrote, in the unit " (transaction::unit(unit)) "." } }
}

fn found_rows(found: &FoundStep) -> Markup {
    let all = &found.transactions;
    let rows: Vec<_> = all.iter().take(MAX_ROWS).map(row).collect();
    let headings = ["Transaction", "Created", "Mode", "Charge"];
    html! {
        p {
            strong { (all.len()) } " transactions of it among the "
            (if found.next.is_none() { "" } else { "first " }) (found.listed) " of the unit."
            @if found.next.is_some() { " There may be more: each step looks further." }
        }
        (view::table_of(&headings, &["Charge"], &rows, "None of these."))
        @if all.len() > rows.len() { p { "And " (all.len() - rows.len()) " more." } }
    }
}

fn row(row: &Row) -> Vec<Markup> {
    vec![
        id_link(&row.id),
        view::time(&row.created_at),
        mode(row.mode.is_live()),
        money(&row.amount, row.currency_code.code()),
    ]
}

fn confirmation(unit: &str, address: &str) -> Markup {
    let field = view::Field {
        name: "confirm",
        label: "The unit's ID, to say that you mean it",
        required: true,
        ..view::Field::default()
    };
    let content = html! {
        (view::hidden("unit", unit))
        (view::hidden("address", address))
        (field.render())
        button.alarm { "Erase them for good" }
    };
    html! {
        section {
            h2 { "Erase" }
            p {
                "This cannot be undone. Offerings, amounts, times and charges stay for the accounts. \
                 Backups still have it, and so has the shop."
            }
            (view::form("/person", &content))
        }
    }
}

// ---- Erase ---------------------------------------------------------------------------------------

async fn step<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
    unit: &str,
    address: &str,
) -> Result {
    let from = match form.given("at") {
        None => None,
        Some(at) => Some(Position::parse(at).ok_or_else(|| Refusal::invalid(BROKEN))?),
    };
    let (store, author) = (desk.store, &desk.author);
    let from = from.as_ref();
    let step =
        transactions::erase_person_step(store, author, unit, address, from, AT_MOST, LISTS).await?;
    let receipt = Receipt::new(form, &step);
    let content = html! {
        @if step.next.is_none() { (erased_all(&receipt)) }
        (summary(unit))
        (outcome(&step))
        (damaged(&step.damaged))
        @match &step.next {
            Some(next) => (go_on(unit, address, next, &receipt)),
            None => (end(&receipt, unit, author.by(), &date_time(desk.clock.now_ms()))),
        }
    };
    let title = match step.next {
        Some(_) => "Erasing a person",
        None if receipt.left.is_empty() => "Erased a person",
        None => "Not all of it is erased",
    };
    Ok(Page::new(title, content))
}

const BROKEN: &str =
    "the form did not arrive whole, and nothing was erased: begin again at the page for a person";

fn outcome(step: &PersonStep) -> Markup {
    let erased = step.erased.iter().map(|erased| {
        let before = erased.before.as_ref();
        let state = html! { "Erased" @if before.is_some() { ", before already" } };
        vec![id_link(&erased.id), state, view::time(&erased.at)]
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
        p { (step.listed) " transactions were looked through in this step." }
        (view::table(&["Transaction", "Outcome", "When, or why not"], &rows, "Nothing was erased in this step."))
    }
}

/// What the steps so far have come to, which a form carries to the next one.
struct Receipt {
    /// An ID and the time of its erasure each.
    erased: Vec<String>,
    /// The IDs of those that were not erased.
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
            "All of one e-mail address in the unit {unit}\nErased: {}\nNot erased: {}\nBy {by}, until \
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

/// A line of an earlier step: an ID, and a time.
fn read(line: &str) -> Option<String> {
    let (id, at) = line.split_once(' ')?;
    (TransactionId::parse(id).is_some() && parse_ms(at).is_some()).then(|| line.to_owned())
}

fn id(line: &str) -> Option<String> {
    TransactionId::parse(line).map(TransactionId::into_string)
}

fn go_on(unit: &str, address: &str, next: &Position, receipt: &Receipt) -> Markup {
    let content = html! {
        @for (name, value) in [("unit", unit), ("address", address), ("confirm", unit)] {
            (view::hidden(name, value))
        }
        (view::hidden("at", &next.to_string()))
        (view::hidden("erased", &receipt.erased.join("\n")))
        (view::hidden("left", &receipt.left.join("\n")))
        button.alarm { "Go on" }
    };
    html! {
        p { strong { (receipt.erased.len()) } " were erased so far. There are more to look through." }
        (view::form("/person", &content))
    }
}

fn erased_all(receipt: &Receipt) -> Markup {
    view::done(&html! {
        p {
            strong { (receipt.erased.len()) } " transactions are erased, and all of the unit were looked \
             through."
        }
        @if !receipt.left.is_empty() {
            p.problem {
                (receipt.left.len()) " could not be erased yet. "
                a href="/person" { "Begin again" } " in " (ERASABLE_MINUTES) " minutes."
            }
        }
    })
}

fn end(receipt: &Receipt, unit: &str, by: &str, now: &str) -> Markup {
    html! {
        section {
            h2 { "Receipt" }
            p {
                "To copy. It does not have the address. If a form was sent twice, or there were over "
                (MAX_LINES) ", the record of changes has those that are missing here."
            }
            (view::copyable_lines(&receipt.text(unit, by, now)))
        }
        p {
            small { "For about " (SHOWN_SECONDS) " s lists and pages may still show what was erased. Backups \
                     still have it, and so has the shop." }
        }
    }
}
