//! Reads openapi.yaml, and validates values against its schemas. Supports only the keywords of JSON Schema
//! that openapi.yaml uses.

use impact_pledge::pledges::validate::format::{is_date_time, is_email, is_uri};
use regex_lite::Regex;
use serde_json::Value;
use std::path::Path;

/// The document.
pub struct OpenApi(pub Value);

const KEYWORDS: [&str; 16] = [
    "$ref",
    "additionalProperties",
    "const",
    "description",
    "enum",
    "example",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "minItems",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

impl OpenApi {
    /// Reads the document.
    #[track_caller]
    pub fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.yaml");
        OpenApi(yaml_serde::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    /// Returns the value that a reference (`$ref`) names. Returns any other value unchanged.
    #[track_caller]
    pub fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let Some(reference) = value["$ref"].as_str() else { return value };
        let target = reference.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
        target.unwrap_or_else(|| unreachable!("`{reference}` leads nowhere"))
    }

    /// Returns the schema of an answer's body; `None` if the document has no schema for it.
    pub fn answer(&self, method: &str, path: &str, status: u16) -> Option<&Value> {
        let operation = self.0["paths"].get(path)?.get(method)?;
        let response = self.resolve(operation["responses"].get(status.to_string())?);
        Some(self.resolve(&response["content"]["application/json"]["schema"]))
    }

    /// Returns whether a value is valid against a schema.
    #[track_caller]
    pub fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let schema = self.resolve(schema);
        for keyword in schema.as_object().unwrap().keys() {
            assert!(KEYWORDS.contains(&&**keyword), "`{keyword}` is not checked");
        }
        self.accepts_type(schema, value)
            && accepts_text(schema, value)
            && accepts_number(schema, value)
            && self.accepts_array(schema, value)
            && self.accepts_object(schema, value)
    }

    fn accepts_type(&self, schema: &Value, value: &Value) -> bool {
        let is = |name: &Value| match name.as_str().unwrap() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => unreachable!("`{other}` is no type"),
        };
        let known = match &schema["type"] {
            Value::Array(names) => names.iter().any(is),
            name => is(name),
        };
        known
            && schema.get("const").is_none_or(|only| only == value)
            && schema["enum"].as_array().is_none_or(|choices| choices.contains(value))
    }

    fn accepts_array(&self, schema: &Value, value: &Value) -> bool {
        let Some(items) = value.as_array() else { return true };
        let count = items.len() as u64;
        schema["minItems"].as_u64().is_none_or(|least| count >= least)
            && schema["maxItems"].as_u64().is_none_or(|most| count <= most)
            && items.iter().all(|item| self.accepts(&schema["items"], item))
    }

    fn accepts_object(&self, schema: &Value, value: &Value) -> bool {
        let Some(members) = value.as_object() else { return true };
        let required = schema["required"].as_array().into_iter().flatten();
        let open = schema["additionalProperties"] != Value::Bool(false);
        required.map(|name| name.as_str().unwrap()).all(|name| members.contains_key(name))
            && members.iter().all(|(name, member)| match schema["properties"].get(name) {
                Some(schema) => self.accepts(schema, member),
                None => open,
            })
    }
}

fn accepts_text(schema: &Value, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return true };
    let matches = |pattern: &str| Regex::new(pattern).unwrap().is_match(text);
    let formatted = match schema["format"].as_str() {
        None => true,
        Some("email") => is_email(text.as_bytes()),
        Some("uri") => is_uri(text.as_bytes()),
        Some("date-time") => is_date_time(text.as_bytes()),
        Some(other) => unreachable!("`{other}` is no format of the contract"),
    };
    formatted && schema["pattern"].as_str().is_none_or(matches)
}

fn accepts_number(schema: &Value, value: &Value) -> bool {
    let Some(number) = value.as_f64() else { return true };
    schema["exclusiveMinimum"].as_f64().is_none_or(|limit| number > limit)
}
