//! Reads rows of requests and expected answers, fills in their placeholders, and compares answers with them.

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct File {
    pub about: String,
    #[serde(default)]
    pub allowed_origins: String,
    /// The scheme and host of the requests. If empty, the test runner uses its own.
    #[serde(default)]
    pub origin: String,
    /// The stored records by name. If there are none, the test uses the development data.
    #[serde(default)]
    pub records: BTreeMap<String, KeptRecord>,
    pub rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRecord {
    pub value: String,
    pub metadata: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    pub request: RowRequest,
    pub response: RowResponse,
    #[serde(default)]
    pub capture: BTreeMap<String, Capture>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowRequest {
    pub method: String,
    pub path: String,
    pub key: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub json: Option<Value>,
    pub text: Option<String>,
    pub hex: Option<String>,
    pub repeat: Option<Repeat>,
    #[serde(default)]
    pub chunked: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    #[serde(default)]
    before: String,
    text: String,
    times: usize,
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowResponse {
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, Value>,
    pub json: Option<Value>,
    pub text: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Capture {
    At(String),
    Part { at: String, r#match: String },
}

/// The values of `{name}` in rows.
pub type Names = BTreeMap<String, Value>;

impl RowRequest {
    /// Returns the request body with its `{name}` placeholders filled in. `None` means no body.
    pub fn body(&self, names: &Names) -> Option<Vec<u8>> {
        if let Some(repeat) = &self.repeat {
            let middle = repeat.text.repeat(repeat.times);
            return Some([&*repeat.before, &middle, &repeat.after].concat().into_bytes());
        }
        if let Some(hex) = &self.hex {
            return Some(base16ct::lower::decode_vec(hex).unwrap());
        }
        let json = self.json.as_ref().map(|json| fill(json, names).to_string());
        json.or_else(|| self.text.clone()).map(String::into_bytes)
    }

    /// Returns all headers by their lower-case names.
    pub fn headers(&self, names: &Names) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        if let Some(key) = &self.key {
            headers.insert("authorization".to_owned(), format!("Bearer {key}"));
        }
        if self.json.is_some() {
            headers.insert("content-type".to_owned(), "application/json".to_owned());
        }
        let own = self.headers.iter();
        headers.extend(own.map(|(name, value)| (name.to_lowercase(), fill_text(value, names))));
        headers
    }
}

/// Replaces `{name}` placeholders by captured values. A string that consists only of one placeholder becomes
/// the captured value itself.
pub fn fill(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => {
            let whole = names.iter().find(|(name, _)| *text == format!("{{{name}}}"));
            whole.map_or_else(|| fill_text(text, names).into(), |(_, value)| value.clone())
        }
        Value::Array(items) => items.iter().map(|item| fill(item, names)).collect(),
        Value::Object(members) => {
            let filled = members.iter().map(|(name, member)| (name.clone(), fill(member, names)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

pub fn fill_text(text: &str, names: &Names) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| match value {
        Value::String(value) => text.replace(&format!("{{{name}}}"), value),
        _ => text,
    })
}

/// Adds the values that a row captures from an answer.
#[track_caller]
pub fn capture(row: &Row, text: &str, names: &mut Names) {
    for (name, capture) in &row.capture {
        let value = match capture {
            Capture::At(at) => part(text, at),
            Capture::Part { at, r#match } => {
                let whole = part(text, at);
                let found = Regex::new(r#match).unwrap().captures(whole.as_str().unwrap());
                found.unwrap().get(1).unwrap().as_str().into()
            }
        };
        names.insert(name.clone(), value);
    }
}

#[track_caller]
fn part(text: &str, at: &str) -> Value {
    if at == "$text" {
        return text.into();
    }
    let json: Value = serde_json::from_str(text).unwrap();
    json.pointer(at).unwrap().clone()
}

/// Returns the differences between the expected and the actual value.
pub fn differences(expected: &Value, seen: &Value, pointer: &str) -> Vec<String> {
    if let Some((matcher, argument)) = matcher(expected) {
        let fits = fits(matcher, argument, seen);
        return if fits { vec![] } else { vec![format!("{pointer}: {seen} is not {expected}")] };
    }
    match (expected, seen) {
        (Value::Object(expected), Value::Object(seen)) => objects(expected, seen, pointer),
        (Value::Array(expected), Value::Array(seen)) if expected.len() == seen.len() => {
            let items = expected.iter().zip(seen).enumerate();
            items
                .flat_map(|(index, (e, s))| differences(e, s, &format!("{pointer}/{index}")))
                .collect()
        }
        (Value::Number(expected), Value::Number(seen)) if expected.as_f64() == seen.as_f64() => {
            vec![]
        }
        _ if expected == seen => vec![],
        _ => vec![format!("{pointer}: {seen} is not {expected}")],
    }
}

fn objects(expected: &Map<String, Value>, seen: &Map<String, Value>, pointer: &str) -> Vec<String> {
    let unexpected = seen.keys().filter(|name| !expected.contains_key(*name));
    let unexpected = unexpected.map(|name| format!("{pointer}/{name}: should not be there"));
    let members = expected.iter().flat_map(|(name, value)| match seen.get(name) {
        Some(seen) => differences(value, seen, &format!("{pointer}/{name}")),
        None => vec![format!("{pointer}/{name}: is missing")],
    });
    members.chain(unexpected).collect()
}

fn matcher(expected: &Value) -> Option<(&str, &Value)> {
    let members = expected.as_object()?;
    let (name, argument) = members.iter().next()?;
    name.starts_with('$').then_some((&**name, argument))
}

fn fits(matcher: &str, argument: &Value, seen: &Value) -> bool {
    let text = || seen.as_str().unwrap_or_default();
    let argument = || argument.as_str().unwrap();
    match matcher {
        "$any" => true,
        "$match" => seen.is_string() && Regex::new(argument()).unwrap().is_match(text()),
        "$lacks" => seen.is_string() && !text().contains(argument()),
        _ => unreachable!("`{matcher}` is no matcher"),
    }
}
