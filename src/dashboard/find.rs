//! The search, with which everything begins.

use super::form::Form;
use super::frame::Page;
use super::transaction::{self, id_link, level, money};
use super::{Act, Desk, Result, view};
use crate::api::EDIT_KEY_PARAMETER;
use crate::auth::{KEY_ID_LENGTH, KeyLevel, check_id};
use crate::handle::{Clock, Entropy};
use crate::operator::OperatorError;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::keys::{self, KeyNote, KeyRow};
use crate::operator::register::{self, Unknown};
use crate::operator::transactions::{self, By, Damaged, FoundStep, Position, Row, Wanted};
use crate::pledge::TransactionId;
use crate::scope::Mode;
use crate::store::OperatorStore;
use maud::{Markup, html};

/// How many lists of Workers KV a step of a search makes: each has 1,000 transactions.
pub(super) const LISTS: usize = 40;
/// Most rows of a step that are shown.
const MAX_ROWS: usize = 100;
/// Most finds of earlier steps that are kept.
const MAX_EARLIER: usize = 50;
/// Most bytes of what is looked for.
const MAX_TEXT: usize = 4_000;
/// How an API key begins, whatever its mode.
const KEY: &str = "service_sk_";
/// How a transaction's ID begins, and its length.
const ID: (&str, usize) = ("ptran_", 48);

/// The search, or for those who may not search, where to go. No call of Workers KV.
pub(super) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    query: &Form,
) -> Result {
    let content = html! {
        @if desk.may(Act::Support) {
            section { (search(&query.only(&["unit"]), false)) }
        } @else {
            p.lead { "Choose a unit to see what it owes, month by month." }
            p { a href="/units" { "Units" } }
        }
        @if desk.may(Act::Operate) {
            p { a href="/person" { "Erase a person" } ", all that a unit has of one e-mail address" }
        }
    };
    Ok(Page::new("Find", content))
}

/// The form. What was looked for is shown again, unless it is a secret.
fn search(form: &Form, lacks_unit: bool) -> Markup {
    let text = form.text("text");
    let text = view::Field {
        name: "text",
        label: "What are you looking for?",
        value: if is_secret(text) { "" } else { text },
        hint: "A transaction's ID, an order's reference, an e-mail address, a unit, or an API key.",
        required: true,
        ..view::Field::default()
    };
    let unit = view::Field {
        name: "unit",
        label: "Unit, for a reference or an address",
        value: form.text("unit"),
        invalid: lacks_unit,
        ..view::Field::default()
    };
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let content = html! {
        (text.render())
        div.fields { (unit.render()) (view::select("mode", "Made by keys of", &modes, form.text("mode"))) }
        button { "Find" }
    };
    view::form("/find", &content)
}

/// Whether a text may have an API key or an edit key in it: such a one is not shown again.
fn is_secret(text: &str) -> bool {
    let is_edit_key = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_edit_key || text.contains(KEY) || text.contains(EDIT_KEY_PARAMETER)
}

fn again(form: &Form, problem: &str, lacks_unit: bool) -> Page {
    let content = html! { (view::problem(problem)) section { (search(form, lacks_unit)) } };
    Page { status: 422, ..Page::new("Find", content) }
}

/// Finds what a text may be: a transaction, a key, a unit or a team, or within a unit the transactions of
/// a reference or an address. At most 50 calls of Workers KV, besides those that look for a misspelt unit
/// in the register.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (text, unit) = (form.text("text"), form.text("unit"));
    if text.is_empty() || text.len() > MAX_TEXT {
        return Ok(again(form, "write what you look for, in one line", false));
    }
    if let Some(Err(problem)) = form.given("unit").map(check_id) {
        return Ok(again(form, &problem, true));
    }
    if let Some(id) = transaction_id(text) {
        return transaction::transaction(desk, id).await;
    }
    if let Some(text) = key_text(text) {
        let key = find_key(desk.store, text).await?;
        let is_pasted = text.starts_with(KEY);
        match key {
            Some(key) => return Ok(key_page(&key, desk.may(Act::Operate))),
            None if is_pasted => return Ok(no_key(form)),
            None => {}
        }
    }
    match unit {
        "" => without_unit(desk, form).await,
        _ => within(desk, form).await,
    }
}

/// The ID in a text, such as the address of a timeline or of a page here.
fn transaction_id(text: &str) -> Option<&str> {
    let at = text.find(ID.0)?;
    let id = text.get(at..at + ID.1)?;
    TransactionId::parse(id).map(|_| id)
}

// ---- A key ---------------------------------------------------------------------------------------

/// The part of a text that may be an API key, its hash, or its ID.
fn key_text(text: &str) -> Option<&str> {
    if let Some(at) = text.find(KEY) {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
        return text.get(at..)?.split(is_end).next();
    }
    let digits = text.strip_prefix("key:").unwrap_or(text);
    let is_hexadecimal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hexadecimal && (KEY_ID_LENGTH..=64).contains(&digits.len())).then_some(digits)
}

async fn find_key(store: &impl OperatorStore, text: &str) -> Result<Option<KeyRow>> {
    match keys::get(store, text).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        found => Ok(found?),
    }
}

fn key_page(key: &KeyRow, operates: bool) -> Page {
    let content = html! {
        @match &key.note {
            Some(note) if operates => {
                p.lead { "An API key of the " (level(&note.level, true)) "." }
                section { (key_facts(key, note)) }
                p {
                    "Replace or revoke it in the settings of the " (level(&note.level, true)) "."
                }
            }
            Some(note) => p.lead { "An API key of the " (level(&note.level, false)) "." },
            None => {
                p.lead { "An API key, whose note cannot be read." }
                p { "Its ID is " code { (key.name.id) } "." }
            }
        }
        @if let Some(problem) = key.problem.as_ref().filter(|_| operates) {
            p.problem { (view::sentence(problem)) }
        }
        p { "A key is a secret: who sent it in a message should have it replaced." }
    };
    Page::new("API key", content)
}

fn key_facts(key: &KeyRow, note: &KeyNote) -> Markup {
    let mut rows = vec![
        ("ID", html! { code { (key.name.id) } }),
        ("Mode", transaction::mode(note.mode.is_live())),
        ("Made", html! { (view::time(&note.created)) " by " (view::told(&note.by)) }),
    ];
    let texts = [
        ("Label", Some(&note.label).filter(|label| !label.is_empty())),
        ("Replaces", note.predecessor.as_ref()),
        ("Replaced by", note.successor.as_ref()),
    ];
    rows.extend(texts.into_iter().filter_map(|(name, text)| Some((name, view::told(text?)))));
    rows.push(match &note.ends {
        Some(ends) => ("Ends", view::time(ends)),
        None => ("Ends", html! { "When somebody revokes it" }),
    });
    view::facts(&rows)
}

fn no_key(form: &Form) -> Page {
    nothing(
        form,
        &html! {
            p.lead { "There is no such API key here." }
            p {
                "It may have been revoked, it may have ended, it may be one of another environment, or a \
                 part of it may be missing. One that was made within the last " (SHOWN_SECONDS)
                " s may not be shown yet."
            }
        },
    )
}

fn nothing(form: &Form, content: &Markup) -> Page {
    Page::new("Nothing found", html! { (content) section { (search(form, false)) } })
}

// ---- Without a unit ------------------------------------------------------------------------------

/// Looks for a unit or a team, or asks for the unit.
async fn without_unit<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let text = form.text("text");
    if text.contains('@') {
        let problem = "say which unit's: an e-mail address is looked for within one unit";
        return Ok(again(form, problem, true));
    }
    let operates = desk.may(Act::Operate);
    let mut levels = vec![KeyLevel::Unit(text.to_owned()), KeyLevel::Team(text.to_owned())];
    levels
        .retain(|level| level.check().is_ok() && (operates || matches!(level, KeyLevel::Unit(_))));
    let unknown = register::look_up(desk.store, &levels).await?;
    levels.retain(|level| unknown.iter().all(|unknown| unknown.level != *level));
    let content = html! {
        @for known in &levels { p.lead { "The " (level(known, operates)) "." } }
        @if levels.is_empty() { p.lead { "This is the ID of nothing that is here." } }
        @if text.contains(ID.0) {
            p { "A transaction's ID has " (ID.1) " characters: a part of it may be missing." }
        }
        (suggestions(&unknown, operates))
        section {
            h2 { "Is it an order's reference?" }
            p { "Then say which unit's: a reference is looked for within one unit." }
            (search(form, levels.is_empty()))
        }
    };
    Ok(Page::new(if levels.is_empty() { "Nothing found" } else { "Found" }, content))
}

/// The IDs of the register that are like what was looked for.
fn suggestions(unknown: &[Unknown], operates: bool) -> Markup {
    let near = unknown.iter().filter_map(|unknown| {
        let id = unknown.suggestion.clone()?;
        Some(match unknown.level {
            KeyLevel::Unit(_) => KeyLevel::Unit(id),
            KeyLevel::Team(_) => KeyLevel::Team(id),
        })
    });
    html! { @for near in near { p { "Did you mean the " (level(&near, operates)) "?" } } }
}

// ---- Within a unit -------------------------------------------------------------------------------

/// A search so far, which a form carries to its next step.
struct Search<'f> {
    form: &'f Form,
    /// How many transactions were looked through before.
    seen: usize,
    /// What was found before.
    earlier: Vec<&'f str>,
}

impl<'f> Search<'f> {
    fn new(form: &'f Form) -> Self {
        let ids = form.text("found").split(' ').filter(|id| TransactionId::parse(id).is_some());
        Search {
            form,
            seen: form.text("seen").parse().unwrap_or_default(),
            earlier: ids.take(MAX_EARLIER).collect(),
        }
    }
}

/// Looks for a reference, and for what may be an address, among a unit's transactions: for a reference
/// one list for each mode, for an address [`LISTS`] and a button that goes on.
async fn within<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let step = step(desk.store, form).await?;
    let search = Search::new(form);
    let is_end = step.next.is_none();
    if is_end && step.transactions.is_empty() && search.earlier.is_empty() {
        let unit = [KeyLevel::Unit(form.text("unit").to_owned())];
        let unknown = register::look_up(desk.store, &unit).await?;
        return Ok(none_within(&search, &step, &unknown, desk.may(Act::Operate)));
    }
    Ok(found_within(&search, &step, is_end))
}

async fn step(store: &impl OperatorStore, form: &Form) -> Result<FoundStep> {
    let (text, unit) = (form.text("text").to_owned(), form.text("unit").to_owned());
    let wanted = Wanted { unit: Some(unit), mode: Mode::from_name(form.text("mode")) };
    let at = form.given("at").and_then(Position::parse);
    let by = By::Email(text.clone());
    if at.is_none() {
        let reference = By::Reference(text);
        let step = transactions::find_step(store, &wanted, &reference, None, 4).await?;
        if !step.transactions.is_empty() || !form.text("text").contains('@') {
            return Ok(FoundStep { next: None, ..step });
        }
    }
    Ok(transactions::find_step(store, &wanted, &by, at.as_ref(), LISTS).await?)
}

fn none_within(search: &Search<'_>, step: &FoundStep, unknown: &[Unknown], operates: bool) -> Page {
    nothing(
        search.form,
        &html! {
            p.lead { "No transaction of the unit " (view::told(search.form.text("unit"))) " has this." }
            @if !unknown.is_empty() { p { "The register has no such unit." } }
            (suggestions(unknown, operates))
            (looked_through(search, step))
            ul {
                li { "It may be another unit's, or of the other mode." }
                li { "A reference must be written as the shop wrote it, capitals included." }
                li { "One that was made within the last " (SHOWN_SECONDS) " s may not be listed yet." }
                li { "One that was erased is not found by its reference or address any more." }
            }
        },
    )
}

fn found_within(search: &Search<'_>, step: &FoundStep, is_end: bool) -> Page {
    let rows: Vec<_> = step.transactions.iter().take(MAX_ROWS).map(row).collect();
    let unshown = step.transactions.len() - rows.len();
    let headings = ["Transaction", "Created", "Mode", "Charge", "Notes"];
    let content = html! {
        p.lead { "In the unit " (transaction::unit(search.form.text("unit"))) }
        (view::table_of(&headings, &["Charge"], &rows, "None in this step."))
        @if unshown > 0 { p { "And " (unshown) " more. Choose a mode, or look for a reference." } }
        @if !search.earlier.is_empty() {
            p { "Found in the steps before: " }
            ul { @for id in &search.earlier { li { (id_link(id)) } } }
        }
        (looked_through(search, step))
        @if !is_end { (go_on(search, step)) }
        (view::made_just_now())
        section { h2 { "Look for something else" } (search_within(search.form)) }
    };
    Page::new(if rows.is_empty() && !is_end { "Still looking" } else { "Transactions" }, content)
}

/// The search once more, in the same unit.
fn search_within(form: &Form) -> Markup {
    search(&form.only(&["unit", "mode"]), false)
}

fn row(row: &Row) -> Vec<Markup> {
    vec![
        id_link(&row.id),
        view::time(&row.created_at),
        transaction::mode(row.mode.is_live()),
        money(&row.amount, row.currency_code.code()),
        html! {
            @if row.erased.is_some() { span.tag.alarm { "Erased" } " " }
            @if row.unpriced > 0 { span.tag.note { (row.unpriced) " without a price" } }
        },
    ]
}

fn looked_through(search: &Search<'_>, step: &FoundStep) -> Markup {
    html! {
        @if search.form.text("text").contains('@') {
            p.soft { (search.seen.saturating_add(step.listed)) " transactions were looked through." }
        }
        (damaged(&step.damaged))
    }
}

/// That records could not be read.
pub(super) fn damaged(damaged: &Damaged) -> Markup {
    html! {
        @if damaged.count > 0 {
            p.problem { (damaged.count) " records are damaged and left out: tell an operator." }
        }
    }
}

fn go_on(search: &Search<'_>, step: &FoundStep) -> Markup {
    let Some(next) = &step.next else { return html! {} };
    let now = step.transactions.iter().map(|row| row.id.as_str());
    let found: Vec<_> = search.earlier.iter().copied().chain(now).take(MAX_EARLIER).collect();
    let seen = search.seen.saturating_add(step.listed).to_string();
    let content = html! {
        @for name in ["text", "unit", "mode"] { (view::hidden(name, search.form.text(name))) }
        (view::hidden("at", &next.to_string()))
        (view::hidden("seen", &seen))
        (view::hidden("found", &found.join(" ")))
        button { "Go on" }
    };
    view::form("/find", &content)
}
