//! Texts that become values: rows of a text and what is read of it.

use crate::fixtures;
use impact_pledge::auth::ApiKey;
use impact_pledge::charge::UnitPrice;
use impact_pledge::idempotency::IdempotencyKey;
use impact_pledge::operator::transactions::Month;
use impact_pledge::pledge::{Amount, TransactionId};
use impact_pledge::timeline::Language;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub text: String,
    /// `None` if the text is refused.
    pub read: Option<String>,
}

/// The rows of one file.
#[track_caller]
pub fn rows(name: &str) -> Vec<Row> {
    let mut files = fixtures::files::<File>("texts").into_iter();
    files.find(|(file, _)| file == name).unwrap().1.rows
}

/// Whether the reader reads the text so.
type Reads = fn(&str, Option<&str>) -> bool;

const READERS: [(&str, Reads); 7] = [
    ("accept-language", |text, read| Some(Language::accepted(text).tag()) == read),
    ("amount", |text, read| {
        Amount::parse(text).map(|amount| json!(amount).to_string()).as_deref() == read
    }),
    ("authorization", |text, read| ApiKey::from_authorization(text) == read.map(ApiKey::new)),
    ("idempotency-key", |text, read| {
        IdempotencyKey::parse(text) == read.and_then(|key| IdempotencyKey::new(key.to_owned()))
    }),
    ("month", |text, read| match Month::parse(text) {
        Ok(month) => Some(month) == read.map(|read| Month::parse(read).unwrap()),
        Err(error) => {
            let message = format!("`{text}` is not a month: write it as `2026-11`");
            read.is_none() && error.to_string() == message
        }
    }),
    ("price", |text, read| match UnitPrice::parse(text) {
        Some(price) => Some(json!(price)) == read.map(|read| json!(read)),
        None => read.is_none(),
    }),
    ("transaction-id", |text, read| {
        TransactionId::parse(text).map(TransactionId::into_string).as_deref() == read
    }),
];

#[test]
fn every_text_is_read_as_its_row_says() {
    let files = fixtures::files::<File>("texts");
    let names: Vec<_> = files.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, READERS.map(|(name, _)| name), "a reader for each file");
    for ((name, file), (_, reads)) in files.iter().zip(READERS) {
        assert!(!file.about.is_empty() && !file.rows.is_empty(), "{name}");
        for row in &file.rows {
            assert!(reads(&row.text, row.read.as_deref()), "{name}: {row:?}");
        }
    }
}
