//! Finds transaction IDs, API keys and other secrets in the text of a search.

use crate::pledges::api::EDIT_KEY_PARAMETER;
use crate::pledges::auth::ApiKey;
use crate::pledges::types::TransactionId;

/// The prefix that API keys of both modes share.
pub(super) const KEY: &str = "service_sk_";
/// The prefix of the name of an API key's record. The hash of the key follows it.
pub(super) const KEY_RECORD: &str = "key:";
/// The prefix of a transaction's ID, and the length of the whole ID.
pub(super) const ID: (&str, usize) = ("ptran_", 48);

/// Returns whether a text may contain an API key or an edit key.
pub(crate) fn is_secret(text: &str) -> bool {
    let is_edit_key = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_edit_key || text.contains(KEY) || text.contains(EDIT_KEY_PARAMETER)
}

/// Converts what a person typed to a search term. An API key becomes the name of its record, which contains
/// only the key's hash, so that no key is in a URL. An e-mail address copied from a mail program, such as
/// `Ada <ada@shop.example>`, becomes the address alone.
pub(crate) fn term(text: &str) -> String {
    match pasted(text) {
        Some(key) => [KEY_RECORD, &ApiKey::new(key).hash().to_hex()].concat(),
        None => address(text).unwrap_or(text).to_owned(),
    }
}

/// Returns the e-mail address in `Ada <ada@shop.example>` or `mailto:ada@shop.example`; `None` for any other text.
fn address(text: &str) -> Option<&str> {
    let inner = match text.strip_suffix('>') {
        Some(named) => named.rsplit_once('<')?.1,
        None => text,
    };
    let address = inner.strip_prefix("mailto:").unwrap_or(inner).trim();
    (address.len() < text.len() && address.contains('@')).then_some(address)
}

/// Returns the transaction ID in a text, such as the URL of a timeline or of a page of the dashboard.
pub(crate) fn transaction_id(text: &str) -> Option<&str> {
    let at = text.find(ID.0)?;
    let id = text.get(at..at + ID.1)?;
    TransactionId::parse(id).map(|_| id)
}

/// Returns the API key in a text, without any punctuation that follows it.
pub(crate) fn pasted(text: &str) -> Option<&str> {
    let at = text.find(KEY)?;
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    let key = text.get(at..)?.split(is_end).next()?;
    Some(key.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '>']))
}

/// An order number that a search term may mean, and the name of the shop that stands beside it.
#[derive(Debug, PartialEq, Eq)]
pub struct Reading {
    pub number: String,
    pub shop: Option<String>,
}

/// Words that people write before an order number, the longest first.
const ORDER_WORDS: [&str; 6] =
    ["order number", "order no.", "order no", "order nr.", "order nr", "order"];
/// Words between an order number and the name of a shop.
const BETWEEN: [&str; 4] = ["of", "at", "from", "in"];

/// Returns what a search term may mean besides itself, the most literal first: the number in `order 1053`; and a number
/// with the name of a shop before or after it, as in `#1053, Northwind`.
pub fn readings(term: &str) -> Vec<Reading> {
    let number = without_order_word(term);
    let alone = (number != term).then(|| Reading { number: number.to_owned(), shop: None });
    let joined = number.split_whitespace().collect::<Vec<_>>().join(" ").replace("# ", "#");
    let before = joined.split_once(' ').and_then(|(number, shop)| beside(number, shop));
    let after = joined.rsplit_once(' ').and_then(|(shop, number)| beside(number, shop));
    [alone, before, after].into_iter().flatten().collect()
}

fn beside(number: &str, shop: &str) -> Option<Reading> {
    let is_punctuation = |c: char| matches!(c, ',' | ';' | ':' | '·' | '(' | ')');
    let number = number.trim_matches(is_punctuation);
    let mut words: Vec<_> = shop.split(' ').map(|word| word.trim_matches(is_punctuation)).collect();
    words.retain(|word| !word.is_empty() && !word.eq_ignore_ascii_case("order"));
    if words.first().is_some_and(|word| BETWEEN.iter().any(|it| word.eq_ignore_ascii_case(it))) {
        words.remove(0);
    }
    let is_number = number.chars().any(|c| c.is_ascii_digit());
    (is_number && !words.is_empty())
        .then(|| Reading { number: number.to_owned(), shop: Some(words.join(" ")) })
}

fn without_order_word(term: &str) -> &str {
    let rest = |word: &&str| {
        let start = term.get(..word.len())?;
        let rest = term.get(word.len()..)?;
        let is_word = start.eq_ignore_ascii_case(word) && rest.starts_with([' ', ':', '#']);
        is_word.then(|| rest.trim_start_matches([' ', ':']))
    };
    ORDER_WORDS.iter().find_map(rest).filter(|rest| !rest.is_empty()).unwrap_or(term)
}
