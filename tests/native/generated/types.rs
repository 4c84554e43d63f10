//! Generates the JSON Schema and the TypeScript types.

use super::form::format_name;
use super::nodes::nodes;
use super::{FROM, is_current};
use crate::descriptions::{object_type, slot_doc};
use impact_pledge::pledges::schema::{Array, Format, Kind, Object, REQUEST, Slot};
use impact_pledge::pledges::validate::Code;
use serde_json::{Value, json};
use std::fmt::Write as _;
use strum::VariantArray as _;

pub fn json_schema(slot: Option<Slot>, kind: Kind) -> Value {
    let mut schema = match kind {
        Kind::Text(format) => format_name(format).map_or_else(
            || json!({ "type": "string" }),
            |name| json!({ "type": "string", "format": name }),
        ),
        Kind::PositiveNumber => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Kind::Object(object) => object_schema(object),
        Kind::Array(array) => array_schema(array),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    };
    schema["description"] = slot.map_or(object_type(None).unwrap().1, slot_doc).into();
    schema
}

fn object_schema(object: &'static Object) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    for member in object.members {
        schema["properties"][member.name] = json_schema(Some(member.slot), member.kind);
    }
    let required: Vec<_> =
        object.members.iter().filter(|member| member.required).map(|member| member.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn array_schema(array: &'static Array) -> Value {
    let mut schema = json!({ "type": "array", "items": json_schema(Some(array.slot), array.item) });
    if array.min_items > 0 {
        schema["minItems"] = array.min_items.into();
    }
    if let Some(most) = array.max_items {
        schema["maxItems"] = most.into();
    }
    schema
}

/// Concatenates parts into lines of about `width` characters.
pub fn filled(parts: impl Iterator<Item = String>, start: &str, width: usize) -> String {
    let mut text = start.to_owned();
    for part in parts {
        let length = text.len() - text.rfind('\n').unwrap_or_default();
        if length > start.len() && length + part.len() > width {
            text += start;
        }
        text += &part;
    }
    text
}

/// Returns a schema as JSON text. Its own keywords come first. Its items, or each of its properties, follow on lines of
/// their own.
fn schema_text(schema: &Value, indent: usize) -> String {
    let mut own = schema.clone();
    let own = own.as_object_mut().unwrap();
    let (items, properties) = (own.remove("items"), own.remove("properties"));
    let start = format!("\n{:indent$}", "");
    let facts = own.iter().map(|(name, value)| format!("\"{name}\":{value},"));
    let facts = filled(facts, &start, 104);
    let facts = facts.trim_matches(|end: char| end == ',' || end.is_whitespace());
    let start = format!("{{{facts},{start}");
    if let Some(items) = items {
        return format!("{start}\"items\":{}}}", schema_text(&items, indent + 2));
    }
    let Some(properties) = properties else { return format!("{{{facts}}}") };
    let line = |(name, schema): (&String, &Value)| {
        format!("\n{:indent$}  \"{name}\":{}", "", schema_text(schema, indent + 4))
    };
    let lines: Vec<_> = properties.as_object().unwrap().iter().map(line).collect();
    format!("{start}\"properties\":{{{}}}}}", lines.join(","))
}

#[test]
fn the_json_schema_is_current() {
    let schema = json_schema(None, Kind::Object(&REQUEST));
    let text = schema_text(&schema, 2);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
    let js = format!(
        "// {FROM}.\n\n/** Returns a new copy of the schema, which the caller may change. */\nexport const jsonSchema = (): Record<string, unknown> => ({text});\n"
    );
    is_current("generated/json-schema.ts", &js);
}

fn type_of(slot: Slot, kind: Kind) -> String {
    match kind {
        Kind::Text(_) => "string".to_owned(),
        Kind::PositiveNumber => "number".to_owned(),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
        Kind::Choice(_) => "NotificationType".to_owned(),
        Kind::Object(_) => object_type(Some(slot)).unwrap().0.to_owned(),
        Kind::Array(array) => format!("readonly {}[]", type_of(array.slot, array.item)),
    }
}

fn interface(slot: Option<Slot>, object: &'static Object) -> String {
    let (name, doc) = object_type(slot).unwrap();
    let mut ts = format!("\n/** {doc} */\nexport interface {name} {{\n");
    for member in object.members {
        let (kind, mark) =
            (type_of(member.slot, member.kind), if member.required { "" } else { "?" });
        let or_absent = if member.required { "" } else { " | undefined" };
        let note = match member.kind {
            Kind::Text(Format::Email) => " (an RFC 5321 mailbox)",
            Kind::Text(Format::Uri) => " (a URI with a scheme)",
            Kind::Text(Format::DateTime) => " (an RFC 3339 date-time)",
            _ => "",
        };
        let doc = slot_doc(member.slot).strip_suffix('.').unwrap();
        writeln!(ts, "  /** {doc}{note}. */ {}{mark}: {kind}{or_absent};", member.name).unwrap();
    }
    ts + "}\n"
}

fn union(values: impl Iterator<Item = &'static str>) -> String {
    filled(values.map(|value| format!(" | \"{value}\"")), "\n ", 118)
}

pub fn request_types() -> String {
    let mut ts = String::new();
    for node in nodes() {
        match node.kind {
            Kind::Object(object) => ts += &interface(node.slot, object),
            Kind::Choice(choices) => {
                let all = union(choices.iter().copied());
                ts += &format!(
                    "\n/** A service that alerts the recipient: `Email`, if the operator has switched e-mails on; the \
                     others are recorded only. */\nexport type NotificationType ={all};\n"
                );
            }
            _ => {}
        }
    }
    let codes = union(Code::VARIANTS.iter().map(Into::into));
    ts += &format!(
        "\n/** The kind of an issue. The list of codes is closed. */\nexport type IssueCode ={codes};\n"
    );
    ts
}

#[test]
fn the_types_are_current() {
    is_current("generated/request.ts", &format!("// {FROM}.\n{}", request_types()));
}
