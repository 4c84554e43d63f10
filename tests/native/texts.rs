//! Tests how texts are parsed into values: each row contains a text and its expected value.

use crate::fixtures;
use crate::mail::{greeted_as, sender_of};
use impact_pledge::buyer::recipient::{Language, Profile};
use impact_pledge::buyer::total::rounded_down;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::charge::UnitPrice;
use impact_pledge::pledges::decimal::Decimal;
use impact_pledge::pledges::http::is_sent_origin;
use impact_pledge::pledges::idempotency::IdempotencyKey;
use impact_pledge::pledges::mailbox::mailbox;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::types::{Amount, TransactionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The text of the expected value. `None` means that the row's text must be refused.
    pub read: Option<String>,
    /// The expected error message. With `None`, any message is right.
    says: Option<String>,
}

impl Row {
    fn is<T: Serialize, E: ToString>(&self, outcome: Result<T, E>) -> bool {
        match outcome {
            Ok(value) => self.is_value(&serde_json::to_value(value).unwrap()),
            Err(error) => {
                let is_said = self.says.as_ref().is_none_or(|says| *says == error.to_string());
                self.read.is_none() && is_said
            }
        }
    }

    /// Whether the parsed value is the one that the row expects. An object is compared with the row's text as JSON.
    fn is_value(&self, value: &Value) -> bool {
        let Some(read) = &self.read else { return false };
        match value {
            Value::String(text) => text == read,
            Value::Object(_) => serde_json::from_str::<Value>(read).unwrap() == *value,
            other => {
                let text = other.to_string();
                text == *read
            }
        }
    }
}

/// Returns the rows of one file.
#[track_caller]
pub fn rows(name: &str) -> Vec<Row> {
    let mut files = fixtures::files::<File>("texts").into_iter();
    files.find(|(file, _)| file == name).unwrap().1.rows
}

/// A function that returns whether the parser reads a row's text as the row expects.
type Reads = fn(&Row) -> bool;

const READERS: [(&str, Reads); 14] = [
    ("accept-language", |row| row.is(Ok::<_, String>(Language::accepted(&row.text).tag()))),
    ("allowed-origin", |row| row.read == is_sent_origin(&row.text).then(|| row.text.clone())),
    ("amount", |row| row.is(Amount::parse(&row.text).ok_or(""))),
    ("authorization", |row| {
        ApiKey::from_authorization(&row.text) == row.read.as_deref().map(ApiKey::new)
    }),
    ("idempotency-key", |row| {
        IdempotencyKey::parse(&row.text) == row.read.clone().and_then(IdempotencyKey::new)
    }),
    ("mail-sender", |row| row.read == Some(sender_of(&row.text))),
    ("mail-text", |row| row.read == greeted_as(&row.text)),
    ("mailbox", |row| row.read == Some(mailbox(&row.text))),
    ("month", |row| {
        let month = serde_json::from_value::<Month>(Value::from(&*row.text));
        row.is(month.map(|month| month.to_string()))
    }),
    ("price-list", |row| row.is(prices::parse(row.text.as_bytes()))),
    ("price", |row| row.is(UnitPrice::parse(&row.text).ok_or(""))),
    ("profile", |row| row.is(serde_json::from_str::<Profile>(&row.text))),
    ("public-total", |row| {
        row.is(Decimal::parse(&row.text).and_then(|quantity| rounded_down(&quantity)).ok_or(""))
    }),
    ("transaction-id", |row| {
        row.is(TransactionId::parse(&row.text).map(TransactionId::into_string).ok_or(""))
    }),
];

#[test]
fn every_text_is_read_as_its_row_says() {
    let files = fixtures::files::<File>("texts");
    let names: Vec<_> = files.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, READERS.map(|(name, _)| name), "a reader for each file");
    let mut wrong = Vec::new();
    for ((name, file), (_, reads)) in files.iter().zip(READERS) {
        assert!(!file.about.is_empty() && !file.rows.is_empty(), "{name}");
        let rows = file.rows.iter().filter(|row| !reads(row));
        wrong.extend(rows.map(|row| format!("{name}: {row:.300?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
