//! The start page with the search form, and the results of a search.

use super::form::Form;
use super::guard::Target;
use super::keys::change_forms as key_forms;
use super::page::Page;
use super::transaction::{self, level};
use super::{PageContext, Result, orders, view};
use crate::api::EDIT_KEY_PARAMETER;
use crate::auth::{KEY_ID_LENGTH, KeyLevel, check_id};
use crate::ledger::{Direction, PageCursor};
use crate::operator::OperatorError;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::keys::{self, KeyMetadata, KeyRow};
use crate::operator::register::{self, Unregistered};
use crate::operator::roles::{MemberRight, Permission};
use crate::operator::transactions::{self, Found, SearchKey, TransactionFilter};
use crate::pledge::TransactionId;
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Transactions per page.
const MAX_ROWS: usize = 50;
/// Maximum length of a search text, in bytes.
pub(super) const MAX_TEXT: usize = 4_000;
/// The prefix that API keys of both modes share.
pub(super) const KEY: &str = "service_sk_";
/// The prefix of a transaction's ID, and the length of the whole ID.
const ID: (&str, usize) = ("ptran_", 48);
/// The two ways to find transactions: by reference, and by e-mail address.
const REFERENCE: &str = "reference";
const EMAIL: &str = "email";

/// The search form of the start page, for people who may search.
pub(super) fn search_section<S, C, E>(context: &PageContext<'_, S, C, E>, query: &Form) -> Markup {
    html! {
        @if context.may(Permission::Support) {
            section { (search_form(&query.only(&["unit"]), false)) }
        }
    }
}

/// The search form. It shows the search text again, unless that is a secret.
fn search_form(form: &Form, is_wrong: bool) -> Markup {
    let text = form.text("text");
    let text = view::Field {
        name: "text",
        label: "What are you looking for?",
        value: if is_secret(text) { "" } else { text },
        hint: "A transaction ID, an order number (reference), an e-mail address, a unit, or an API key.",
        required: true,
        ..view::Field::default()
    };
    let unit = view::Field {
        name: "unit",
        label: "Unit",
        hint: "Leave empty to search all units.",
        value: form.text("unit"),
        problem: if is_wrong { "This is not the ID of a unit." } else { "" },
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

/// Whether a text may contain an API key or an edit key.
pub(super) fn is_secret(text: &str) -> bool {
    let is_edit_key = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_edit_key || text.contains(KEY) || text.contains(EDIT_KEY_PARAMETER)
}

fn again(form: &Form, problem: &str, is_wrong_unit: bool) -> Page {
    let content = html! {
        (view::form_problem(problem, is_wrong_unit.then_some("unit")))
        section { (search_form(form, is_wrong_unit)) }
    };
    Page { status: 422, ..Page::new("Find", content) }
}

/// Finds the transaction, key, unit or team with this ID, or the transactions with this reference or e-mail address. KV
/// cost: at most 11 calls, plus the calls that look for a unit with a similar ID. Ledger cost: 2 queries per 10,000
/// shops.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
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
        let record = context.record(Target { right: MemberRight::View, id, form }).await?;
        return transaction::transaction(context, &record).await;
    }
    if let Some(text) = key_text(text) {
        let key = find_key(context.store, text).await?;
        let is_pasted = text.starts_with(KEY);
        match key {
            Some(key) => return Ok(key_page(&key, context.may(Permission::Operate))),
            None if is_pasted => return Ok(no_key(form)),
            None => {}
        }
    }
    match unit {
        "" => without_unit(context, form).await,
        _ => within(context, form).await,
    }
}

/// Returns the transaction ID in a text, such as the URL of a timeline or of a page of the dashboard.
pub(super) fn transaction_id(text: &str) -> Option<&str> {
    let at = text.find(ID.0)?;
    let id = text.get(at..at + ID.1)?;
    TransactionId::parse(id).map(|_| id)
}

// ---- A key ---------------------------------------------------------------------------------------

/// Returns the part of a text that may be an API key, or the hash or ID of a key.
pub(super) fn key_text(text: &str) -> Option<&str> {
    if let Some(at) = text.find(KEY) {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
        return text.get(at..)?.split(is_end).next();
    }
    let digits = text.strip_prefix("key:").unwrap_or(text);
    let is_hexadecimal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hexadecimal && (KEY_ID_LENGTH..=64).contains(&digits.len())).then_some(digits)
}

pub(super) async fn find_key(store: &impl OperatorStore, text: &str) -> Result<Option<KeyRow>> {
    match keys::get(store, text).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        found => Ok(found?),
    }
}

pub(super) fn key_page(key: &KeyRow, operates: bool) -> Page {
    let content = html! {
        @match &key.note {
            Some(note) if operates => {
                p.lead { "An API key of the " (level(&note.level, true)) "." }
                section { (key_facts(key, note)) (key_forms(&key.name, &note.level)) }
            }
            Some(note) => p.lead { "An API key of the " (level(&note.level, false)) "." },
            None => {
                p.lead { "An API key whose details cannot be read." }
                p { "Its ID is " code { (key.name.id) } "." }
            }
        }
        @if let Some(problem) = key.problem.as_ref().filter(|_| operates) {
            p.problem { (view::sentence(problem)) }
        }
        p { "Anyone who has seen a key can use it. If it was sent in a message, replace it." }
    };
    Page::new("API key", content)
}

fn key_facts(key: &KeyRow, note: &KeyMetadata) -> Markup {
    let mut rows = vec![
        ("ID", html! { code { (key.name.id) } }),
        ("Mode", transaction::mode(note.mode.is_live())),
        ("Created", html! { (view::time(&note.created)) " by " (view::untrusted_text(&note.by)) }),
    ];
    let texts = [
        ("Label", Some(&note.label).filter(|label| !label.is_empty())),
        ("Replaces", note.predecessor.as_ref()),
        ("Replaced by", note.successor.as_ref()),
    ];
    rows.extend(
        texts.into_iter().filter_map(|(name, text)| Some((name, view::untrusted_text(text?)))),
    );
    rows.push(match &note.ends {
        Some(ends) => ("Expires", view::time(ends)),
        None => ("Expires", html! { "Never" }),
    });
    view::facts(&rows)
}

fn no_key(form: &Form) -> Page {
    nothing(
        form,
        &html! {
            p.lead { "No API key matches this." }
            p {
                "The key may have been revoked or expired, it may belong to another environment, or a \
                 part of it may be missing. A key of the last " (SHOWN_SECONDS)
                " s may not show yet."
            }
        },
    )
}

fn nothing(form: &Form, content: &Markup) -> Page {
    Page::new("No match", html! { (content) section { (search_form(form, false)) } })
}

// ---- Without a unit ------------------------------------------------------------------------------

/// Searches for a unit or a team with this ID, and for transactions of all units with this reference or e-mail address.
async fn without_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let text = form.text("text");
    let operates = context.may(Permission::Operate);
    let mut levels = vec![KeyLevel::Unit(text.to_owned()), KeyLevel::Team(text.to_owned())];
    levels
        .retain(|level| level.check().is_ok() && (operates || matches!(level, KeyLevel::Unit(_))));
    let unknown = register::look_up(context.store, &levels).await?;
    levels.retain(|level| unknown.iter().all(|unknown| unknown.level != *level));
    let orders = match search(context, form).await {
        Err(OperatorError::Invalid(problem)) => Err(problem),
        found => Ok(found?),
    };
    if let Ok(found) = &orders
        && !found.found.transactions.is_empty()
    {
        return Ok(orders_page(context, form, found, &known(&levels, operates)).await);
    }
    let content = html! {
        (known(&levels, operates))
        @if levels.is_empty() { p.lead { "No unit, team, key or transaction matches this." } }
        @if text.contains(ID.0) {
            p { "A transaction ID has " (ID.1) " characters. A part of it may be missing." }
        }
        (suggestions(&unknown, operates))
        @match &orders {
            Ok(found) => (advice(found)),
            Err(problem) => {
                p { "The transactions of all units could not be searched. To find a transaction by its reference, enter its unit." }
                (view::problem(problem))
            }
        }
        section { h2 { "Search again" } (search_form(form, false)) }
    };
    Ok(Page::new(if levels.is_empty() { "No match" } else { "Search results" }, content))
}

fn known(levels: &[KeyLevel], operates: bool) -> Markup {
    html! { @for known in levels { p.lead { "The " (level(known, operates)) "." } } }
}

/// Suggests units and teams with IDs similar to the search text.
fn suggestions(unknown: &[Unregistered], operates: bool) -> Markup {
    let near = unknown.iter().filter_map(|unknown| {
        let id = unknown.suggestion.clone()?;
        Some(match unknown.level {
            KeyLevel::Unit(_) => KeyLevel::Unit(id),
            KeyLevel::Team(_) => KeyLevel::Team(id),
        })
    });
    html! { @for near in near { p { "Did you mean the " (level(&near, operates)) "?" } } }
}

// ---- Transactions --------------------------------------------------------------------------------

/// The transactions that were found by reference or by e-mail address.
struct FoundBy {
    by: &'static str,
    found: Found,
}

/// Finds transactions by reference and, if that finds none and the text contains `@`, by e-mail address.
async fn search<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result<FoundBy, OperatorError> {
    let text = form.text("text").to_owned();
    let unit = form.given("unit").map(str::to_owned);
    let filter = TransactionFilter { unit, mode: Mode::from_name(form.text("mode")) };
    let from = form.given("older").and_then(PageCursor::parse);
    let from = from.map_or(Direction::Newest, Direction::Older);
    if form.text("by") != EMAIL {
        let by = SearchKey::Reference(text.clone());
        let of = (&filter, &by);
        let found = transactions::find(context.store, context.ledger, of, &from, MAX_ROWS).await?;
        if !found.transactions.is_empty() || !text.contains('@') {
            return Ok(FoundBy { by: REFERENCE, found });
        }
    }
    let of = (&filter, &SearchKey::Email(text));
    let found = transactions::find(context.store, context.ledger, of, &from, MAX_ROWS).await?;
    Ok(FoundBy { by: EMAIL, found })
}

/// Finds transactions of a unit by reference or e-mail address.
async fn within<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let found = match search(context, form).await {
        Err(OperatorError::Invalid(problem)) => return Ok(again(form, &problem, false)),
        found => found?,
    };
    if !found.found.transactions.is_empty() {
        return Ok(orders_page(context, form, &found, &html! {}).await);
    }
    let unit = [KeyLevel::Unit(form.text("unit").to_owned())];
    let unknown = register::look_up(context.store, &unit).await?;
    Ok(nothing(
        form,
        &html! {
            p.lead { "No transaction of the unit " (view::untrusted_text(form.text("unit"))) " matches this." }
            @if !unknown.is_empty() { p { "There is no unit with this ID." } }
            (suggestions(&unknown, context.may(Permission::Operate)))
            (advice(&found))
        },
    ))
}

/// Lists reasons why the search may have missed a transaction.
fn advice(found: &FoundBy) -> Markup {
    html! {
        ul {
            li { "It may belong to another unit or to the other mode." }
            li { "References are case-sensitive: enter them as the shop writes them." }
            @if found.found.coverage.is_none() {
                li { "Transactions of the last " (SHOWN_SECONDS) " s may not be listed yet." }
            }
            @if found.by == EMAIL { li { "An erased transaction cannot be found by its e-mail address." } }
        }
        @if let Some(coverage) = &found.found.coverage { (view::coverage(coverage)) }
    }
}

/// The list of transactions that were found.
async fn orders_page<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    FoundBy { by, found }: &FoundBy,
    above: &Markup,
) -> Page {
    let unit = form.given("unit");
    let table = orders::table(context, &found.transactions, unit.is_none()).await;
    let content = html! {
        (above)
        p.lead {
            @match unit {
                Some(unit) => { "In the unit " (transaction::unit(unit)) }
                None => "In all units",
            }
        }
        (table)
        @if let Some(older) = found.older() { (older_form(form, by, &older)) }
        @match &found.coverage {
            Some(coverage) => (view::coverage(coverage)),
            None => (view::staleness_note()),
        }
        section { h2 { "Search again" } (search_form(&form.only(&["unit", "mode"]), false)) }
    };
    Page::new("Transactions", content)
}

/// The form that requests the next page. It is posted, because an e-mail address must not be part of a URL.
fn older_form(form: &Form, by: &str, older: &PageCursor) -> Markup {
    let content = html! {
        @for name in ["text", "unit", "mode"] { (view::hidden(name, form.text(name))) }
        (view::hidden("by", by))
        (view::hidden("older", &older.to_string()))
        button.quiet { "Older" }
    };
    view::form("/find", &content)
}
