//! Receives a search, and shows its results.

use super::form::{SearchForm, TOKEN, address};
use super::results;
use super::sealed::{MAX_TERM, SEARCH_HOURS, TermSealer};
use super::term::{term, transaction_id};
use crate::office::orders::rule as transactions;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::link;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::auth::check_id;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Redirects a search to its results. KV cost: 1 read.
///
/// Until the first API key is created, the namespace has no secret with which the search term could be
/// encrypted. The response is then the page of results itself, without a redirect.
pub(crate) async fn search<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let text = form.text("text");
    let box_again = SearchForm::of(context, text, form);
    if let Some(problem) = problem(text) {
        return Ok(SearchForm { problem: &problem, ..box_again }.again(&problem));
    }
    if let Some(Err(problem)) = form.given("unit").map(check_id) {
        return Ok(SearchForm { is_wrong_unit: true, ..box_again }.again(&problem));
    }
    if let Some(id) = transaction_id(text) {
        return Ok(Page::redirect(link::path(&["transactions", id])));
    }
    let term = term(text);
    match seal(context, &term).await? {
        None => results::show(context, &term, None, form).await,
        Some(token) => Ok(Page::redirect(address(&token, form, &[]))),
    }
}

/// Encrypts a search term for the signed-in person; `None` if the namespace has no secret. KV cost: 1 read.
pub(crate) async fn seal<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    term: &str,
) -> Result<Option<String>> {
    let seal = |sealer: TermSealer| sealer.seal(context.clock, context.entropy, term);
    Ok(sealer(context).await?.map(seal).map(Option::unwrap_or_default))
}

/// Decrypts the token of a search. Returns `None` if the token is invalid, has expired, or belongs to another
/// person. KV cost: 1 read.
pub(crate) async fn open<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    token: &str,
) -> Result<Option<String>> {
    Ok(sealer(context).await?.and_then(|sealer| sealer.open(context.clock, token)))
}

/// Says why a text cannot be searched for; `None` if it can.
pub(crate) fn problem(text: &str) -> Option<String> {
    match text.len() {
        0 => Some("enter something to search for".to_owned()),
        1..=MAX_TERM => None,
        _ => Some(format!("the search text is too long: enter at most {MAX_TERM} bytes")),
    }
}

/// Returns the cipher for the search terms of the signed-in person; `None` if the namespace has no secret.
async fn sealer<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Option<TermSealer>> {
    let person = context.author.by().trim_ascii().to_ascii_lowercase();
    match transactions::find_secret(context.store).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        secret => Ok(Some(TermSealer::new(&secret?, person))),
    }
}

/// Shows the results for the encrypted search term in the query. Shows the search form if the query has no
/// search term.
///
/// KV cost: at most 12 calls, plus the calls that look for a unit with a similar ID. Ledger cost: 4 queries,
/// plus 2 per 10,000 shops.
pub(crate) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let box_again = SearchForm::of(context, "", query);
    let Some(token) = query.given(TOKEN) else {
        return Ok(Page::new("Find", html! { section { (box_again.render()) } }));
    };
    if let Some(Err(problem)) = query.given("unit").map(check_id) {
        return Ok(SearchForm { is_wrong_unit: true, ..box_again }.again(&problem));
    }
    match open(context, token).await? {
        Some(term) => results::show(context, &term, Some(token), query).await,
        None => Ok(box_again.again(&closed())),
    }
}

/// Returns the message for a search address that is invalid or has expired. The message does not say which,
/// so it gives no hint to somebody who forges a token.
pub(crate) fn closed() -> String {
    format!(
        "this address shows no results: it belongs to another person, or the search is more than {SEARCH_HOURS} hours \
         old. Search again"
    )
}
