//! The search, with which everything begins.

use super::form::Form;
use super::frame::Page;
use super::transaction::{self, level};
use super::{Desk, Result, orders, view};
use crate::api::EDIT_KEY_PARAMETER;
use crate::auth::{KEY_ID_LENGTH, KeyLevel, check_id};
use crate::handle::{Clock, Entropy};
use crate::ledger::{Direction, Place};
use crate::operator::OperatorError;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::keys::{self, KeyNote, KeyRow};
use crate::operator::register::{self, Unknown};
use crate::operator::roles::Act;
use crate::operator::transactions::{self, By, Found, Wanted};
use crate::pledge::TransactionId;
use crate::scope::Mode;
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Most orders of a page.
const MAX_ROWS: usize = 50;
/// Most bytes of what is looked for.
const MAX_TEXT: usize = 4_000;
/// How an API key begins, whatever its mode.
const KEY: &str = "service_sk_";
/// How a transaction's ID begins, and its length.
const ID: (&str, usize) = ("ptran_", 48);
/// What orders are found by.
const REFERENCE: &str = "reference";
const EMAIL: &str = "email";

/// The search, or for those who may not search, where to go. No call of Workers KV.
pub(super) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    query: &Form,
) -> Result {
    let content = html! {
        @if desk.may(Act::Support) {
            section { (search_form(&query.only(&["unit"]), false)) }
        } @else {
            p.lead { "See what all units owe, or choose one to see its months." }
        }
        ul.links {
            li { a href="/orders" { "Newest orders" } }
            @if desk.may(Act::Account) { li { a href="/usage" { "Usage of all units" } } }
            li { a href="/units" { "Units" } }
        }
        @if desk.may(Act::Operate) {
            p { a href="/person" { "Erase a person" } ", all that a unit has of one e-mail address" }
        }
    };
    Ok(Page::new("Find", content))
}

/// The form. What was looked for is shown again, unless it is a secret.
fn search_form(form: &Form, is_wrong: bool) -> Markup {
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
        label: "Unit",
        hint: "Leave it empty to search all units.",
        value: form.text("unit"),
        invalid: is_wrong,
        ..view::Field::default()
    };
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let content = html! {
        (text.render())
        div.fields { (unit.render()) (view::select("mode", "Mode", &modes, form.text("mode"))) }
        button { "Find" }
    };
    view::form("/find", &content)
}

/// Whether a text may have an API key or an edit key in it: such a one is not shown again.
fn is_secret(text: &str) -> bool {
    let is_edit_key = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_edit_key || text.contains(KEY) || text.contains(EDIT_KEY_PARAMETER)
}

fn again(form: &Form, problem: &str, is_wrong_unit: bool) -> Page {
    let content = html! { (view::problem(problem)) section { (search_form(form, is_wrong_unit)) } };
    Page { status: 422, ..Page::new("Find", content) }
}

/// Finds what a text may be: a transaction, a key, a unit or a team, or the orders of a reference or an address. At most ten
/// calls of Workers KV, besides those that look for a misspelt unit in the register, and two queries of the ledger for each
/// 10,000 shops.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (text, unit) = (form.text("text"), form.text("unit"));
    if text.is_empty() || text.len() > MAX_TEXT {
        return Ok(again(form, "enter something to search for", false));
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
    Page::new("Nothing found", html! { (content) section { (search_form(form, false)) } })
}

// ---- Without a unit ------------------------------------------------------------------------------

/// Looks for a unit or a team of this ID, and for the orders of all units that have this reference or address.
async fn without_unit<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let text = form.text("text");
    let operates = desk.may(Act::Operate);
    let mut levels = vec![KeyLevel::Unit(text.to_owned()), KeyLevel::Team(text.to_owned())];
    levels
        .retain(|level| level.check().is_ok() && (operates || matches!(level, KeyLevel::Unit(_))));
    let unknown = register::look_up(desk.store, &levels).await?;
    levels.retain(|level| unknown.iter().all(|unknown| unknown.level != *level));
    let orders = match search(desk, form).await {
        Err(OperatorError::Invalid(problem)) => Err(problem),
        found => Ok(found?),
    };
    if let Ok(found) = &orders
        && !found.found.transactions.is_empty()
    {
        return Ok(orders_page(desk, form, found, &known(&levels, operates)));
    }
    let content = html! {
        (known(&levels, operates))
        @if levels.is_empty() { p.lead { "No unit, team, key or order matches this." } }
        @if text.contains(ID.0) {
            p { "A transaction's ID has " (ID.1) " characters: a part of it may be missing." }
        }
        (suggestions(&unknown, operates))
        @match &orders {
            Ok(found) => (advice(found)),
            Err(problem) => {
                p { "Orders of all units could not be searched. Choose the unit to find an order by its reference." }
                (view::problem(problem))
            }
        }
        section { h2 { "Search again" } (search_form(form, false)) }
    };
    Ok(Page::new(if levels.is_empty() { "Nothing found" } else { "Found" }, content))
}

fn known(levels: &[KeyLevel], operates: bool) -> Markup {
    html! { @for known in levels { p.lead { "The " (level(known, operates)) "." } } }
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

// ---- Orders --------------------------------------------------------------------------------------

/// The orders of a reference, or of an address.
struct FoundBy {
    by: &'static str,
    found: Found,
}

/// Finds orders by reference, and by what may be an address.
async fn search<S: OperatorStore, C, E>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result<FoundBy, OperatorError> {
    let text = form.text("text").to_owned();
    let unit = form.given("unit").map(str::to_owned);
    let wanted = Wanted { unit, mode: Mode::from_name(form.text("mode")) };
    let from = form.given("older").and_then(Place::parse);
    let from = from.map_or(Direction::Newest, Direction::Older);
    if form.text("by") != EMAIL {
        let by = By::Reference(text.clone());
        let of = (&wanted, &by);
        let found = transactions::find(desk.store, desk.ledger, of, &from, MAX_ROWS).await?;
        if !found.transactions.is_empty() || !text.contains('@') {
            return Ok(FoundBy { by: REFERENCE, found });
        }
    }
    let of = (&wanted, &By::Email(text));
    let found = transactions::find(desk.store, desk.ledger, of, &from, MAX_ROWS).await?;
    Ok(FoundBy { by: EMAIL, found })
}

/// Finds orders of a unit by their reference or an address.
async fn within<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let found = match search(desk, form).await {
        Err(OperatorError::Invalid(problem)) => return Ok(again(form, &problem, false)),
        found => found?,
    };
    if !found.found.transactions.is_empty() {
        return Ok(orders_page(desk, form, &found, &html! {}));
    }
    let unit = [KeyLevel::Unit(form.text("unit").to_owned())];
    let unknown = register::look_up(desk.store, &unit).await?;
    Ok(nothing(
        form,
        &html! {
            p.lead { "No order of the unit " (view::told(form.text("unit"))) " matches this." }
            @if !unknown.is_empty() { p { "The register has no such unit." } }
            (suggestions(&unknown, desk.may(Act::Operate)))
            (advice(&found))
        },
    ))
}

/// Why an order may not be found.
fn advice(found: &FoundBy) -> Markup {
    html! {
        ul {
            li { "It may belong to another unit, or to the other mode." }
            li { "Write a reference as the shop wrote it, capitals included." }
            @if found.found.coverage.is_none() {
                li { "An order of the last " (SHOWN_SECONDS) " s may not be listed yet." }
            }
            @if found.by == EMAIL { li { "An erased order is not found by its address." } }
        }
        @if let Some(coverage) = &found.found.coverage { (view::coverage(coverage)) }
    }
}

/// The orders that were found.
fn orders_page<S, C, E>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
    FoundBy { by, found }: &FoundBy,
    above: &Markup,
) -> Page {
    let unit = form.given("unit");
    let content = html! {
        (above)
        p.lead {
            @match unit {
                Some(unit) => { "In the unit " (transaction::unit(unit)) }
                None => "In all units",
            }
        }
        (orders::table(desk, &found.transactions, unit.is_none()))
        @if let Some(older) = found.older() { (older_form(form, by, &older)) }
        @match &found.coverage {
            Some(coverage) => (view::coverage(coverage)),
            None => (view::made_just_now()),
        }
        section { h2 { "Search again" } (search_form(&form.only(&["unit", "mode"]), false)) }
    };
    Page::new("Orders", content)
}

/// The form for the next page: an address is no part of a page's own.
fn older_form(form: &Form, by: &str, older: &Place) -> Markup {
    let content = html! {
        @for name in ["text", "unit", "mode"] { (view::hidden(name, form.text(name))) }
        (view::hidden("by", by))
        (view::hidden("older", &older.to_string()))
        button.quiet { "Older" }
    };
    view::form("/find", &content)
}
