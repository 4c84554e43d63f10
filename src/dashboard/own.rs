//! The search for people of shops, which covers only their own units. Results, suggestions, counts and errors do not
//! depend on the data of other shops.

use super::find::{self, FoundBy, found_by};
use super::form::Form;
use super::guard::Target;
use super::page::Page;
use super::{PageContext, Result, link, orders, transaction, view};
use crate::auth::{KeyHash, KeyLevel};
use crate::ledger::{Direction, PageCursor};
use crate::operator::OperatorError;
use crate::operator::keys::{self, KeyRow};
use crate::operator::roles::MemberRight;
use crate::operator::transactions::{self, SearchKey, TransactionFilter};
use crate::service::{Clock, Entropy};
use crate::store::{CredentialKey, Key as _, OperatorStore};
use maud::{Markup, html};

/// Transactions per page.
const MAX_ROWS: usize = 50;

/// Maximum number of units for which the form offers a menu. A person with more units types the ID.
const MAX_OPTIONS: usize = 100;

/// Renders the search form. Its field contains the text that was searched for, unless that may be a secret.
pub(super) fn search_form<S, C, E>(context: &PageContext<'_, S, C, E>, form: &Form) -> Markup {
    let text = form.text("text");
    let text = view::Field {
        name: "text",
        label: "What are you looking for?",
        value: if find::is_secret(text) { "" } else { text },
        hint: "A transaction ID, an order number (reference), an e-mail address, or an API key.",
        required: true,
        ..view::Field::default()
    };
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let units = context.access.memberships.units(MemberRight::Manage);
    let content = html! {
        (text.render())
        div.fields {
            (unit_field(&units, form.text("unit")))
            (view::select("mode", "Mode", &modes, form.text("mode")))
        }
        button { "Find" }
    };
    view::form("/find", &content)
}

fn unit_field(units: &[String], chosen: &str) -> Markup {
    if units.len() > MAX_OPTIONS {
        let hint = "Leave empty to search all your units.";
        let field = view::Field {
            name: "unit",
            label: "Unit",
            hint,
            value: chosen,
            ..view::Field::default()
        };
        return field.render();
    }
    let own = units.iter().map(|unit| (&**unit, &**unit));
    let options: Vec<_> = std::iter::once(("", "All your units")).chain(own).collect();
    view::select("unit", "Unit", &options, chosen)
}

/// Searches the person's own transactions, keys, units and teams by ID, and the transactions of `units` by reference or
/// e-mail address. Cost: at most 3 KV reads and 10 ledger queries.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
    form: &Form,
) -> Result {
    let text = form.text("text");
    if let Some(problem) = find::problem(text) {
        return Ok(again(context, form, &problem));
    }
    if let Some(id) = find::transaction_id(text) {
        let record = context.record(Target { right: MemberRight::View, id, form }).await?;
        return transaction::transaction(context, &record).await;
    }
    if let Some(key) = own_key(context, text).await? {
        return Ok(find::key_page(&key, true));
    }
    let found = match search(context, units, form).await {
        Err(OperatorError::Invalid(problem)) => return Ok(again(context, form, &problem)),
        found => found?,
    };
    Ok(results(context, form, &found).await)
}

fn again<S, C, E>(context: &PageContext<'_, S, C, E>, form: &Form, problem: &str) -> Page {
    let content = html! { (view::problem(problem)) section { (search_form(context, form)) } };
    Page { status: 422, ..Page::new("Find", content) }
}

/// Returns the API key that a text names, if the person manages the key's unit or team. KV cost: 1 read.
///
/// The text contains the key itself or its whole hash. Keys are not looked up by their shorter ID, because that would
/// take longer if another shop has the key than if no key exists.
async fn own_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    text: &str,
) -> Result<Option<KeyRow>> {
    let Some(text) = find::pasted(text).or_else(|| whole_hash(text)) else { return Ok(None) };
    let key = match keys::get(context.store, text).await {
        Err(OperatorError::Invalid(_)) => None,
        found => found?,
    };
    Ok(key.filter(|key| key.note.as_ref().is_some_and(|note| context.manages(&note.level))))
}

/// Returns the hash in a text that is the whole hash of an API key, or the name of a key's record.
fn whole_hash(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(CredentialKey::PREFIX).unwrap_or(text);
    KeyHash::from_hex(digits).map(|_| digits)
}

/// Searches the transactions of `units`.
async fn search<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
    form: &Form,
) -> Result<FoundBy, OperatorError> {
    let (store, ledger) = (context.store, context.ledger);
    let find = async |of: (&TransactionFilter, &SearchKey), from: &Direction| {
        transactions::find_within(store, ledger, units, of, from, MAX_ROWS).await
    };
    found_by(form.text("text"), form, find).await
}

async fn results<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    FoundBy { by, found }: &FoundBy,
) -> Page {
    let place = own_place(context, form.text("text"));
    let table = orders::table(context, &found.transactions, true).await;
    let has_none = found.transactions.is_empty();
    let content = html! {
        @if let Some(place) = &place { p.lead { "Your unit or team " (place_link(place)) "." } }
        @if has_none { @if place.is_none() { p.lead { "Nothing in your units matches this." } } }
        @else { (table) }
        @if let Some(older) = found.older() { (older_form(form, by, &older)) }
        @if has_none {
            ul {
                li { "An erased transaction cannot be found by its e-mail address." }
            }
        }
        @if let Some(coverage) = &found.coverage { (view::coverage(coverage)) }
        section { h2 { "Search again" } (search_form(context, &form.only(&["unit", "mode"]))) }
    };
    Page::new(if has_none && place.is_none() { "No match" } else { "Search results" }, content)
}

/// Returns the unit or team with this ID, if the person belongs to it.
fn own_place<S, C, E>(context: &PageContext<'_, S, C, E>, id: &str) -> Option<KeyLevel> {
    let own = &context.access.memberships;
    let places = [KeyLevel::Unit(id.to_owned()), KeyLevel::Team(id.to_owned())];
    places.into_iter().find(|place| own.may(MemberRight::View, place))
}

/// Renders the form that requests the next page. The browser posts it, because an e-mail address must not be part of a
/// URL.
fn older_form(form: &Form, by: &str, older: &PageCursor) -> Markup {
    let content = html! {
        @for name in ["text", "unit", "mode"] { (view::hidden(name, form.text(name))) }
        (view::hidden("by", by))
        (view::hidden("older", &older.to_string()))
        button.quiet { "Older" }
    };
    view::form("/find", &content)
}

/// Renders the ID of a unit or team as a link to its page.
pub(super) fn place_link(place: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(place)) { (view::untrusted_text(place.id())) } }
}
