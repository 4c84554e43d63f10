//! The start page with the search form, and the results of a search.
//!
//! A search is posted, and answered with a redirect to an address without personal data: the page of a transaction, or
//! `/find` with a [sealed](sealed) term.

mod key;
mod results;
mod sealed;

use super::form::Form;
use super::layout::Page;
use super::{PageContext, Result, link, view};
use crate::api::EDIT_KEY_PARAMETER;
use crate::auth::{ApiKey, check_id};
use crate::operator::roles::Permission;
use crate::operator::{OperatorError, transactions};
use crate::pledge::TransactionId;
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};
use sealed::{MAX_TERM, Sealer};

pub(super) use sealed::SEARCH_HOURS;

/// The prefix of a transaction's ID, and the length of the whole ID.
const ID: (&str, usize) = ("ptran_", 48);
/// The query parameter with the sealed term.
const TOKEN: &str = "q";

/// The start page: links, and the search form for people who may search. Reads nothing from Workers KV.
pub(super) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let content = html! {
        @if context.may(Permission::Support) {
            section { (SearchForm::new("", query).render()) }
        } @else {
            p.lead { "See the usage of all units, or choose a unit to see its months." }
        }
        ul.links {
            li { a href="/orders" { "Newest transactions" } }
            @if context.may(Permission::Account) { li { a href="/usage" { "Usage of all units" } } }
            li { a href="/units" { "Units" } }
        }
        @if context.may(Permission::Operate) {
            p { a href="/person" { "Erase a person" } ": all transactions of one e-mail address in a unit" }
        }
    };
    Ok(Page::new("Find", content))
}

/// The search form: the term, and the filters `unit` and `mode`.
struct SearchForm<'f> {
    term: &'f str,
    filters: &'f Form,
    is_wrong_unit: bool,
}

impl<'f> SearchForm<'f> {
    fn new(term: &'f str, filters: &'f Form) -> Self {
        SearchForm { term, filters, is_wrong_unit: false }
    }

    /// Renders the form. It shows the term without control characters, unless it is a secret.
    fn render(&self) -> Markup {
        let term: String = self.term.chars().filter(|character| !character.is_control()).collect();
        let text = view::Field {
            name: "text",
            label: "What are you looking for?",
            value: if is_secret(&term) { "" } else { &term },
            hint: "A transaction ID, an order number (reference), an e-mail address, a unit, or an API key.",
            required: true,
            ..view::Field::default()
        };
        let unit = view::Field {
            name: "unit",
            label: "Unit",
            hint: "Leave empty to search all units.",
            value: self.filters.text("unit"),
            invalid: self.is_wrong_unit,
            ..view::Field::default()
        };
        let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
        let content = html! {
            (text.render())
            div.fields { (unit.render()) (view::select("mode", "Mode", &modes, self.filters.text("mode"))) }
            button { "Find" }
        };
        view::form("/find", &content)
    }

    /// The page that shows the form again, with the reason why there are no results.
    fn again(&self, problem: &str) -> Page {
        let content = html! { (view::problem(problem)) section { (self.render()) } };
        Page { status: 422, ..Page::new("Find", content) }
    }
}

/// Whether a text may contain an API key or an edit key.
fn is_secret(text: &str) -> bool {
    let is_edit_key = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_edit_key || text.contains(key::PREFIX) || text.contains(EDIT_KEY_PARAMETER)
}

/// Redirects a search to its results. KV cost: 1 read.
///
/// Before the first API key, the namespace has no secret that could seal a term. The answer is then the page of results.
pub(super) async fn search<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let text = form.text("text");
    let box_again = SearchForm::new(text, form);
    if let Some(problem) = problem(text) {
        return Ok(box_again.again(&problem));
    }
    if let Some(Err(problem)) = form.given("unit").map(check_id) {
        return Ok(SearchForm { is_wrong_unit: true, ..box_again }.again(&problem));
    }
    if let Some(id) = transaction_id(text) {
        return Ok(Page::redirect(link::path(&["transactions", id])));
    }
    let term = term(text);
    match sealer(context).await? {
        None => results::show(context, &term, None, form).await,
        Some(sealer) => {
            let token = sealer.seal(context.clock, context.entropy, &term).unwrap_or_default();
            Ok(Page::redirect(address(&token, form, &[])))
        }
    }
}

fn problem(text: &str) -> Option<String> {
    match text.len() {
        0 => Some("enter something to search for".to_owned()),
        1..=MAX_TERM => None,
        _ => Some(format!("the search text is too long: enter at most {MAX_TERM} characters")),
    }
}

/// Returns the part of a text to search for. Of an API key it is the hash, so that the key itself is in no address.
fn term(text: &str) -> String {
    match key::pasted(text) {
        Some(key) => [key::RECORD, &ApiKey::new(key).hash().to_hex()].concat(),
        None => text.to_owned(),
    }
}

/// Returns the transaction ID in a text, such as the URL of a timeline or of a page of the dashboard.
fn transaction_id(text: &str) -> Option<&str> {
    let at = text.find(ID.0)?;
    let id = text.get(at..at + ID.1)?;
    TransactionId::parse(id).map(|_| id)
}

/// Returns the sealer of the signed-in person; `None` if the namespace has no secret.
async fn sealer<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Option<Sealer>> {
    let person = context.author.by().trim_ascii().to_ascii_lowercase();
    match transactions::find_secret(context.store).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        secret => Ok(Some(Sealer::new(&secret?, person))),
    }
}

/// Returns the address of results, with the filters.
fn address(token: &str, filters: &Form, more: &[(&str, &str)]) -> String {
    let kept = ["unit", "mode"].map(|name| Some((name, filters.given(name)?)));
    let parameters: Vec<_> = kept.into_iter().flatten().chain(more.iter().copied()).collect();
    link::with("/find", &[&[(TOKEN, token)], parameters.as_slice()].concat())
}

/// Shows the results of a sealed term, or the search form if there is no term. KV cost: at most 12 calls, plus the calls that
/// look for a unit with a similar ID. Ledger cost: 2 queries per 10,000 shops, and 4 more.
pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let box_again = SearchForm::new("", query);
    let Some(token) = query.given(TOKEN) else {
        return Ok(Page::new("Find", html! { section { (box_again.render()) } }));
    };
    if let Some(Err(problem)) = query.given("unit").map(check_id) {
        return Ok(SearchForm { is_wrong_unit: true, ..box_again }.again(&problem));
    }
    let term = sealer(context).await?.and_then(|sealer| sealer.open(context.clock, token));
    match term {
        Some(term) => results::show(context, &term, Some(token), query).await,
        None => Ok(box_again.again(&closed())),
    }
}

/// The same text for every token that does not open, so that it does not tell why.
fn closed() -> String {
    format!(
        "this address shows no results: it belongs to another person, or the search is more than {SEARCH_HOURS} hours \
         old. Search again"
    )
}
