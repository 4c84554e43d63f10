//! Compares openapi.yaml with the code: the request's schema with the table of rules, and the schemas of
//! answers with answers that the service encodes.

use crate::descriptions::object_type;
use crate::generated::types::json_schema;
use crate::json_schema::OpenApi;
use crate::{fixtures, texts};
use impact_pledge::pledges::api;
use impact_pledge::pledges::api::{Operation, Problem};
use impact_pledge::pledges::schema::{CREATED, ERROR, Kind, Object, REQUEST, RETRIEVED};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::types::{PledgeTransaction, RetrievedPledgeTransaction};
use impact_pledge::pledges::validate;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl OpenApi {
    #[track_caller]
    fn schema(&self, name: &str) -> &Value {
        self.0.pointer(&format!("/components/schemas/{name}")).unwrap()
    }
}

const CREATE: (&str, &str) = ("post", "/v2/pledge-transaction");
const GET: (&str, &str) = ("get", "/v2/pledge-transaction/{id}");

// ---- The request -------------------------------------------------------------------------------

fn request_name() -> &'static str {
    object_type(None).unwrap().0
}

/// Replaces each `$ref` in a request's schema with the schema that it names. A description next to the `$ref`
/// is kept.
fn inlined(document: &OpenApi, schema: &Value, names: &mut BTreeSet<String>) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        names.insert(reference.rsplit('/').next().unwrap().to_owned());
    }
    let mut whole = document.resolve(schema).clone();
    if let Some(description) = schema.get("description") {
        whole["description"] = description.clone();
    }
    if let Some(items) = whole.get_mut("items") {
        *items = inlined(document, items, names);
    }
    let properties = whole.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten() {
        *property = inlined(document, property, names);
    }
    whole
}

#[test]
fn the_request_is_the_table() {
    let document = OpenApi::read();
    let mut names = BTreeSet::new();
    let reference = json!({ "$ref": format!("#/components/schemas/{}", request_name()) });
    let schema = inlined(&document, &reference, &mut names);
    assert_eq!(schema, json_schema(None, Kind::Object(&REQUEST)));
    let all = document.0["components"]["schemas"].as_object().unwrap();
    let requests = all.keys().filter(|name| name.ends_with("Request")).cloned();
    assert_eq!(requests.collect::<BTreeSet<_>>(), names, "schemas that the table has not");
    let body = &document.0["paths"][CREATE.1][CREATE.0]["requestBody"];
    assert_eq!(
        (&body["required"], &body["content"]["application/json"]["schema"]),
        (&json!(true), &reference)
    );
    let mut count = 0;
    for example in examples(&body["content"]) {
        assert!(validate::check(&serde_json::to_vec(example).unwrap()).is_empty(), "{example}");
        count += 1;
    }
    assert!(count >= 2);
}

/// Codes of issues that JSON Schema cannot express, such as duplicate members or invalid Unicode.
const BEYOND: [&str; 6] = [
    "duplicate_member",
    "lone_surrogate",
    "invalid_utf8",
    "too_deep",
    "malformed_json",
    "not_finite",
];

#[test]
fn the_request_schema_decides_the_rows_of_the_rules() {
    let document = OpenApi::read();
    let schema = document.schema(request_name());
    let mut checked = 0;
    for (file, content) in fixtures::files::<Value>("validation") {
        for row in content["rows"].as_array().unwrap() {
            let issues = row["issues"].as_array().unwrap();
            let beyond = issues.iter().any(|i| BEYOND.contains(&i["code"].as_str().unwrap()));
            let Some(value) = value_of(row).filter(|_| !beyond) else { continue };
            let accepted = document.accepts(schema, &value);
            assert_eq!(accepted, issues.is_empty(), "{file}: {}", row["name"]);
            checked += 1;
        }
    }
    assert!(checked > 600, "only {checked} rows");
}

fn value_of(row: &Value) -> Option<Value> {
    match row["json"].as_str() {
        Some(text) => serde_json::from_str(text).ok(),
        None if row.get("hex").is_some() => None,
        None => Some(row["value"].clone()),
    }
}

// ---- The answers -------------------------------------------------------------------------------

/// Members that a client accepts although this service does not send them.
const NOT_SENT: [&str; 2] =
    ["/RetrievedPledgeTransaction/id", "/RetrievedPledgeTransaction/recipient"];

/// Asserts that the client accepts every value that this schema in openapi.yaml allows in an answer. Returns
/// the number of schemas that were checked.
#[track_caller]
fn is_taken(document: &OpenApi, schema: &Value, kind: Kind, path: &str) -> usize {
    let schema = document.resolve(schema);
    let types: BTreeSet<&str> = match &schema["type"] {
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
        name => [name.as_str().unwrap()].into(),
    };
    let known: &[&str] = match kind {
        Kind::Text(_) | Kind::Choice(_) => &["string"],
        Kind::PositiveNumber => &["number"],
        Kind::Boolean => &["boolean"],
        Kind::Decimal => &["string", "number"],
        Kind::Object(_) => &["object"],
        Kind::Array(_) => &["array"],
    };
    assert!(types.iter().all(|name| *name == "null" || known.contains(name)), "{path}: {types:?}");
    1 + match kind {
        Kind::Object(object) => members_are_taken(document, schema, object, path),
        Kind::Array(array) => is_taken(document, &schema["items"], array.item, path),
        Kind::Choice(choices) => {
            assert_eq!(schema["enum"], json!(choices), "{path}");
            0
        }
        Kind::PositiveNumber => {
            assert_eq!(schema["exclusiveMinimum"], 0, "{path}");
            0
        }
        _ => 0,
    }
}

#[track_caller]
fn members_are_taken(document: &OpenApi, schema: &Value, object: &Object, path: &str) -> usize {
    let properties = schema["properties"].as_object().unwrap();
    let always: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    let known = |name: &&String| object.members.iter().any(|member| member.name == **name);
    assert_eq!(properties.keys().find(|name| !known(name)), None, "{path}: no such member");
    let mut count = 0;
    for member in object.members {
        let path = format!("{path}/{}", member.name);
        let Some(property) = properties.get(member.name) else {
            assert!(NOT_SENT.contains(&&*path), "{path} is missing");
            continue;
        };
        let is_null = document.resolve(property)["type"].to_string().contains("\"null\"");
        let is_always = always.iter().any(|name| **name == member.name);
        assert!(!member.required || is_always && !is_null, "{path} must be there");
        count += is_taken(document, property, member.kind, &path);
    }
    count
}

#[test]
fn the_answers_are_the_tables() {
    let document = OpenApi::read();
    for (name, object, places) in [
        ("PledgeTransaction", &CREATED, 36),
        ("RetrievedPledgeTransaction", &RETRIEVED, 36),
        ("Error", &ERROR, 4),
    ] {
        let path = format!("/{name}");
        let counted = is_taken(&document, document.schema(name), Kind::Object(object), &path);
        assert_eq!(counted, places, "{name}");
    }
}

// ---- Operations --------------------------------------------------------------------------------

/// Returns every problem, with the operations that can answer with it.
fn problems() -> Vec<(Problem, &'static [(&'static str, &'static str)])> {
    let text = "`/reference` is required".to_owned();
    vec![
        (Problem::Unauthorized(Operation::Create), &[CREATE]),
        (Problem::Unauthorized(Operation::Get), &[GET]),
        (Problem::UnitRequired(Operation::Create), &[CREATE]),
        (Problem::UnitRequired(Operation::Get), &[GET]),
        (Problem::PlainHttp, &[CREATE, GET]),
        (Problem::TransactionNotFound, &[GET]),
        (Problem::TooManyRefusedKeys, &[CREATE, GET]),
        (Problem::StoreUnavailable, &[CREATE, GET]),
        (Problem::Internal(String::new()), &[CREATE, GET]),
        (Problem::UnsupportedMediaType, &[CREATE]),
        (Problem::ContentTooLarge, &[CREATE]),
        (Problem::RecordTooLarge, &[CREATE]),
        (Problem::UnreadableBody, &[CREATE]),
        (Problem::SlowBody, &[CREATE]),
        (Problem::InvalidRequest(text), &[CREATE]),
        (Problem::InvalidIdempotencyKey, &[CREATE]),
        (Problem::IdempotencyKeyReused, &[CREATE]),
        (Problem::WriteUnconfirmed { repeatable: false }, &[CREATE]),
        (Problem::WriteUnconfirmed { repeatable: true }, &[CREATE]),
        (Problem::Busy, &[CREATE]),
        (Problem::SecretMissing, &[CREATE]),
        (Problem::Misconfigured(""), &[CREATE]),
        (Problem::PricesUnreadable(String::new()), &[CREATE]),
        (Problem::InvalidHost, &[CREATE]),
    ]
}

#[test]
fn paths_and_methods_are_the_contract_s() {
    let document = OpenApi::read();
    let paths = document.0["paths"].as_object().unwrap();
    let operations: Vec<_> = paths
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |m| (&**m, &**path))
        })
        .collect();
    assert_eq!(operations, [CREATE, GET]);
    assert_eq!(CREATE.1, api::PLEDGE_TRANSACTION_PATH);
    assert_eq!(GET.1, format!("{}/{{id}}", api::PLEDGE_TRANSACTION_PATH));
    assert_eq!(document.0["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn statuses_are_those_that_the_code_gives() {
    let document = OpenApi::read();
    for operation @ (method, path) in [CREATE, GET] {
        let problems = problems();
        let ends = problems.iter().filter(|(_, operations)| operations.contains(&operation));
        let mut expected: BTreeSet<_> =
            ends.map(|(problem, _)| problem.status().to_string()).collect();
        expected.insert("200".to_owned());
        let responses = document.0["paths"][path][method]["responses"].as_object().unwrap();
        assert_eq!(responses.keys().cloned().collect::<BTreeSet<_>>(), expected, "{method} {path}");
    }
}

#[test]
fn every_problem_has_the_body_that_the_document_says() {
    let document = OpenApi::read();
    for (problem, operations) in problems() {
        for (method, path) in operations {
            let schema = document.answer(method, path, problem.status()).unwrap();
            for is_live in [None, Some(false), Some(true)] {
                let body = serde_json::to_value(problem.body(is_live, Some("1"))).unwrap();
                assert!(document.accepts(schema, &body), "{method} {path}: {body}");
            }
            let response =
                &document.0["paths"][path][method]["responses"][problem.status().to_string()];
            let response = document.resolve(response);
            if let Some((name, _)) = problem.header() {
                let headers = response["headers"].as_object().unwrap();
                assert!(headers.keys().any(|header| header.eq_ignore_ascii_case(name)), "`{name}`");
            }
        }
    }
}

#[test]
fn parameters_and_security_are_the_code_s() {
    let document = OpenApi::read();
    let parameters = document.0["components"]["parameters"].as_object().unwrap();
    let names: BTreeSet<_> =
        parameters.values().map(|p| p["name"].as_str().unwrap().to_lowercase()).collect();
    let expected = [api::header::UNIT_ID, api::header::IDEMPOTENCY_KEY].map(str::to_owned);
    assert_eq!(names, BTreeSet::from(expected));
    let key = &document.0["components"]["securitySchemes"]["apiKey"];
    assert_eq!(
        (&key["type"], &key["scheme"], &key["bearerFormat"]),
        (&json!("http"), &json!("bearer"), &json!("JWT"))
    );
    for mode in [Mode::Test, Mode::Live] {
        assert!(key["description"].as_str().unwrap().contains(mode.key_prefix()));
    }
    let limit = format!("{} MiB", api::MAX_BODY_BYTES / 1024 / 1024);
    let body = &document.0["paths"][CREATE.1][CREATE.0]["requestBody"]["description"];
    assert!(body.as_str().unwrap().contains(&limit));
}

#[test]
fn an_idempotency_key_is_what_the_code_reads() {
    let document = OpenApi::read();
    let schema = &document.0["components"]["parameters"]["IdempotencyKey"]["schema"];
    for row in texts::rows("idempotency-key") {
        let text = row.text.trim_matches([' ', '\t']); // as HTTP does
        assert_eq!(document.accepts(schema, &json!(text)), row.read.is_some(), "`{text}`");
    }
}

// ---- Examples ----------------------------------------------------------------------------------

fn examples(content: &Value) -> impl Iterator<Item = &Value> {
    let examples = content["application/json"]["examples"].as_object().unwrap();
    examples.values().map(|example| &example["value"])
}

#[test]
fn examples_of_answers_are_what_is_encoded() {
    let document = OpenApi::read();
    for ((method, path), name) in
        [(CREATE, "PledgeTransaction"), (GET, "RetrievedPledgeTransaction")]
    {
        for example in examples(&document.0["paths"][path][method]["responses"]["200"]["content"]) {
            let text = example.to_string();
            let again = match (method, path) {
                CREATE => json!(serde_json::from_str::<PledgeTransaction<'_>>(&text).unwrap()),
                _ => json!(serde_json::from_str::<RetrievedPledgeTransaction<'_>>(&text).unwrap()),
            };
            assert_eq!(&again, example);
            assert!(document.accepts(document.schema(name), example));
        }
    }
    let schema = document.schema("Charge");
    for (amount, is_ours) in [(json!("1.50"), true), (json!("1.5"), false), (json!(1.5), false)] {
        let charge = json!({ "amount": amount, "currencyCode": "USD", "paidAt": null });
        assert_eq!(document.accepts(schema, &charge), is_ours, "{charge}");
    }
}
