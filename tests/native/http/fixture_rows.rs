//! Tests the rows of `tests/fixtures/http`.

use crate::json_schema::OpenApi;
use crate::rows::{File, Names, Row};
use crate::{fixtures, rows};
use serde_json::Value;
use std::collections::BTreeSet;
use support::memory::MemoryStore;
use support::service::{Answer, ORIGIN, PATH, TestRequest, TestService, seed};

/// Each answer must be the one in its row. It must also agree with `openapi.yaml`, if this file describes the
/// operation that the row calls.
#[test]
fn every_row_has_its_answer_which_openapi_allows() {
    let document = OpenApi::read();
    let (mut wrong, mut answered) = (Vec::new(), BTreeSet::new());
    for (file_name, file) in ["http", "records"].into_iter().flat_map(fixtures::files::<File>) {
        let service = TestService::new(stored(&file), &file.allowed_origins);
        let origin = if file.origin.is_empty() { ORIGIN } else { &file.origin };
        let mut names = Names::from([
            ("origin".to_owned(), origin.into()),
            ("run".to_owned(), "9b2f0c1e-53f7-4d6e-8a55-0d5b6b1e7c10".into()),
        ]);
        for row in &file.rows {
            let answer = service.send(&request_of(row, &names).at(origin));
            let mut found = differences(&answer, row, &mut names);
            if let Some((method, path)) = operation(row) {
                let schema = document.answer(method, path, answer.status);
                if !schema.is_some_and(|schema| document.accepts(schema, &answer.json())) {
                    found.push(format!("openapi.yaml has no such {}", answer.status));
                }
                answered.insert((method, answer.status));
            }
            wrong.extend(found.iter().map(|text| format!("{file_name}: {}: {text}", row.name)));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    let mut expected: BTreeSet<_> = [200, 401, 403, 404].map(|status| ("get", status)).into();
    expected.extend([200, 400, 401, 403, 413, 415, 422, 503].map(|status| ("post", status)));
    assert_eq!(answered, expected);
}

/// Returns a store with the records that a fixture file lists. If the file lists none, the store has the
/// development data.
fn stored(file: &File) -> MemoryStore {
    let store = MemoryStore::default();
    for (name, record) in &file.records {
        store.keep(name, record.value.as_bytes(), record.metadata.to_string().as_bytes());
    }
    if file.records.is_empty() {
        seed(&store);
    }
    store
}

fn request_of(row: &Row, names: &Names) -> TestRequest {
    let mut headers = row.request.headers(names);
    let body = row.request.body(names).unwrap_or_default();
    if !row.request.chunked {
        headers.insert("content-length".to_owned(), body.len().to_string());
    }
    let path = rows::fill_text(&row.request.path, names);
    TestRequest { headers, body: Ok(body), ..TestRequest::new(&row.request.method, &path, "") }
}

fn differences(answer: &Answer, row: &Row, names: &mut Names) -> Vec<String> {
    if answer.status != row.response.status {
        return vec![format!("status {}, `{:.300}`", answer.status, answer.text)];
    }
    rows::capture(row, &answer.text, names);
    let mut wrong = always(answer, row.request.method == "HEAD");
    for (name, expected) in &row.response.headers {
        let seen = answer.headers.get(name).map_or(Value::Null, |value| value.as_str().into());
        wrong.extend(rows::differences(&rows::fill(expected, names), &seen, name));
    }
    if let Some(expected) = &row.response.json {
        wrong.extend(rows::differences(&rows::fill(expected, names), &answer.json(), "body"));
    }
    if let Some(expected) = &row.response.text {
        let seen = answer.text.as_str().into();
        wrong.extend(rows::differences(&rows::fill(expected, names), &seen, "body"));
    }
    wrong
}

/// The answers that anybody may cache. Rows say which these are.
const PUBLIC: &str = "public, max-age=3600";

/// Checks an answer by the rules that apply to every answer. Returns the rules that the answer breaks.
fn always(answer: &Answer, is_head: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |name: &str, value: &str| {
        if answer.headers.get(name).map(|seen| &**seen) != Some(value) {
            wrong.push(format!("`{name}` must be `{value}`"));
        }
    };
    if answer.headers.get("cache-control").is_none_or(|value| value != PUBLIC) {
        must("cache-control", "no-store");
    }
    if answer.status != 204 {
        must("x-content-type-options", "nosniff");
    }
    if answer.text.starts_with('{') {
        must("content-type", "application/json");
    }
    if is_head && !answer.text.is_empty() {
        wrong.push("HEAD has a body".to_owned());
    }
    wrong
}

/// Returns the operation of openapi.yaml that a row calls.
fn operation(row: &Row) -> Option<(&'static str, &'static str)> {
    let path = row.request.path.split('?').next()?;
    match (&*row.request.method, path.strip_prefix(PATH)?.strip_prefix('/')) {
        ("POST", None) if path == PATH => Some(("post", PATH)),
        ("GET", Some(id)) if !id.is_empty() && !id.contains('/') => {
            Some(("get", "/v2/pledge-transaction/{id}"))
        }
        _ => None,
    }
}

#[test]
fn rows_are_many_and_each_is_one_of_a_kind() {
    let files = fixtures::files::<File>("http");
    assert!(files.iter().all(|(_, file)| !file.about.is_empty() && !file.rows.is_empty()));
    for (name, file) in &files {
        let names: BTreeSet<_> = file.rows.iter().map(|row| &row.name).collect();
        assert_eq!(names.len(), file.rows.len(), "`{name}` has a row twice");
    }
    let statuses: BTreeSet<_> =
        files.iter().flat_map(|(_, file)| &file.rows).map(|row| row.response.status).collect();
    assert_eq!(statuses, BTreeSet::from([200, 204, 400, 401, 403, 404, 405, 413, 415, 422]));
}
