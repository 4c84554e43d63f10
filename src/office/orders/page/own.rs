//! The search page that people of shops use. It covers only their own units: results, suggestions, counts and
//! errors do not depend on the data of other shops. The browser is redirected to an address that contains the
//! search term in encrypted (sealed) form.

use super::find;
use super::find::{FoundBy, found_by};
use super::orders;
use crate::office::keys::rule as keys;
use crate::office::keys::rule::KeyRow;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{SearchKey, TransactionFilter};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::single;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::Refused;
use crate::office::shared::rule::roles::MemberRight;
use crate::pledges::auth::{KeyHash, KeyLevel};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, Key as _, OperatorStore};
use maud::{Markup, html};

/// Transactions per page.
const MAX_ROWS: usize = 50;

/// Maximum number of units for which the form offers a menu. A person with more units types the ID.
const MAX_OPTIONS: usize = 100;

/// Renders the search form. Its field contains the text that was searched for, unless the text may be a
/// secret.
pub(crate) fn search_form<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    text: &str,
    filters: &Form,
    problem: &FormProblem,
) -> Markup {
    let text = view::Field {
        name: "text",
        label: "What are you looking for?",
        value: if find::is_secret(text) { "" } else { text },
        hint: match context.access.memberships.has(MemberRight::Manage) {
            true => {
                "A transaction ID, an order number (reference), an e-mail address, or an API key."
            }
            false => "A transaction ID or an order number (reference).",
        },
        required: true,
        problem: problem.of("text"),
        ..view::Field::default()
    };
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let units = context.access.memberships.units(MemberRight::View);
    let content = html! {
        (text.render())
        div.fields {
            (unit_field(&units, filters.text("unit")))
            (view::select("mode", "Mode", &modes, filters.text("mode")))
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

/// Redirects a search to its results: the page of a transaction, or [`find`] with the encrypted term. KV
/// cost: 1 read.
///
/// If there is no secret with which to encrypt the term, returns the page of results without a redirect.
pub(crate) async fn search<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
    form: &Form,
) -> Result {
    let text = form.text("text");
    if let Some(problem) = find::problem(text) {
        return Ok(again(context, (text, form), &FormProblem::at("text", problem)));
    }
    if let Some(id) = find::transaction_id(text) {
        return Ok(Page::redirect(link::path(&["transactions", id])));
    }
    let term = find::term(text);
    match find::seal(context, &term).await? {
        None => Search { context, units, term: &term, token: None, query: form }.show().await,
        Some(token) => Ok(Page::redirect(find::address(&token, form, &[]))),
    }
}

/// Shows the results for the encrypted search term in the query. Searches the person's own keys, units and
/// teams by ID, and the transactions of `units` by reference or e-mail address. Shows the search form if
/// the query has no term.
///
/// Cost: at most 4 KV reads and 10 ledger queries.
pub(crate) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &[String],
    query: &Form,
) -> Result {
    let Some(token) = query.given(find::TOKEN) else {
        let content =
            html! { section { (search_form(context, "", query, &FormProblem::default())) } };
        return Ok(Page::new("Find", content));
    };
    match find::open(context, token).await? {
        Some(term) => {
            Search { context, units, term: &term, token: Some(token), query }.show().await
        }
        None => Ok(again(context, ("", query), &Refused::from(find::closed()).into())),
    }
}

fn again<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    (text, filters): (&str, &Form),
    problem: &FormProblem,
) -> Page {
    let content = html! { section { (search_form(context, text, filters, problem)) } };
    Page { status: 422, ..Page::new("Find", problem.above(&content)) }
}

/// Returns the API key that a text names, if the person manages the key's unit or team. KV cost: 1 read.
///
/// The text must contain the key itself or its whole hash. The shorter ID is not enough: a search by ID
/// takes longer if the key exists. This would reveal that another shop has such a key.
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

/// Parses a text that is the whole hash of an API key, or the name of a key's record. Returns the hash.
fn whole_hash(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(CredentialKey::PREFIX).unwrap_or(text);
    KeyHash::from_hex(digits).map(|_| digits)
}

const NOT_BY_EMAIL: &str =
    "only managers can search by e-mail address: enter the order number or the ID";

/// A search in progress. The form `query` contains the filters, and the position in the list of results.
struct Search<'r, S, C, E> {
    context: &'r PageContext<'r, S, C, E>,
    units: &'r [String],
    term: &'r str,
    /// The encrypted search term in the address of the results; `None` if the results have no address.
    token: Option<&'r str>,
    query: &'r Form,
}

impl<S: OperatorStore, C: Clock, E: Entropy> Search<'_, S, C, E> {
    async fn show(&self) -> Result {
        if let Some(key) = own_key(self.context, self.term).await? {
            return Ok(find::key_page(self.context, &key, true));
        }
        match self.transactions().await {
            Err(OperatorError::Invalid(why)) => {
                let problem = FormProblem::at("text", why.text);
                Ok(again(self.context, (self.term, self.query), &problem))
            }
            found => {
                let found = found?;
                let only = find::only(&found.found, self.query);
                Ok(match only.filter(|_| own_place(self.context, self.term).is_none()) {
                    Some(page) => page,
                    None => self.results(&found).await,
                })
            }
        }
    }

    /// Searches the transactions of the units for the search term. An e-mail address is searched for only in the units
    /// that the person manages, because viewers see addresses masked.
    async fn transactions(&self) -> Result<FoundBy, OperatorError> {
        let (store, ledger) = (self.context.store, self.context.ledger);
        let managed = self.context.access.memberships.units(MemberRight::Manage);
        let find = async |of: (&TransactionFilter, &SearchKey), from: &Direction| {
            let units = match of.1 {
                SearchKey::Reference(_) => self.units,
                SearchKey::Email(_) if managed.is_empty() => {
                    return Err(OperatorError::invalid(NOT_BY_EMAIL));
                }
                SearchKey::Email(_) => &managed,
            };
            transactions::find_within(store, ledger, units, of, from, MAX_ROWS).await
        };
        let units = async |_: &str| None; // all units of a person are searched
        found_by(self.term, self.query, find, units).await
    }

    async fn results(&self, FoundBy { by, found }: &FoundBy) -> Page {
        let place = own_place(self.context, self.term);
        let unit = self.query.given("unit").or_else(|| single(self.units));
        let table = orders::table(self.context, &found.transactions, unit).await;
        let has_none = found.transactions.is_empty();
        let filters = self.query.only(&["unit", "mode"]);
        let content = html! {
            @if let Some(place) = &place { p.lead { "Your unit or team " (place_link(place)) "." } }
            @if has_none { @if place.is_none() { p.lead { "Nothing in your units matches this." } } }
            @else { (table) }
            @if let Some(token) = self.token { (find::pages(token, self.query, by, found)) }
            @if has_none {
                ul {
                    li { "An erased transaction cannot be found by its e-mail address." }
                }
            }
            @if let Some(coverage) = &found.coverage { (view::coverage(coverage)) }
            section { h2 { "Search again" } (search_form(self.context, "", &filters, &FormProblem::default())) }
        };
        Page::new(if has_none && place.is_none() { "No match" } else { "Search results" }, content)
    }
}

fn own_place<S, C, E>(context: &PageContext<'_, S, C, E>, id: &str) -> Option<KeyLevel> {
    let own = &context.access.memberships;
    let places = [KeyLevel::Unit(id.to_owned()), KeyLevel::Team(id.to_owned())];
    places.into_iter().find(|place| own.may(MemberRight::View, place))
}

pub(crate) fn place_link(place: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(place)) { (view::untrusted_text(place.id())) } }
}
