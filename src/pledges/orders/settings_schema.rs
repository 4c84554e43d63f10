//! The JSON Schema (2020-12) of a connection's settings, from their [table](super::settings_table).

use super::settings_field::{Field, Shape};
use super::settings_table::SETTINGS;

/// Returns the JSON Schema of the settings.
pub fn json_schema() -> String {
    let object = object(SETTINGS.0);
    [
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Settings of a connection to a shop system","#,
        object.strip_prefix('{').unwrap_or_default(),
    ]
    .concat()
}

fn schema(shape: &Shape) -> String {
    match shape {
        Shape::Text { most } => format!(r#"{{"type":"string","minLength":1,"maxLength":{most}}}"#),
        // At least one digit that is not 0.
        Shape::Positive => {
            r#"{"type":"string","maxLength":40,"pattern":"^(?=.*[1-9])[0-9]*\\.?[0-9]*$"}"#
                .to_owned()
        }
        Shape::Integer { least, most } => {
            format!(r#"{{"type":"integer","minimum":{least},"maximum":{most}}}"#)
        }
        Shape::Boolean => r#"{"type":"boolean"}"#.to_owned(),
        Shape::Choice(choices) => format!(r#"{{"enum":["{}"]}}"#, choices.join(r#"",""#)),
        Shape::Uri => r#"{"type":"string","format":"uri","maxLength":2000}"#.to_owned(),
        Shape::Currency => r#"{"type":"string","pattern":"^[A-Z]{3}$"}"#.to_owned(),
        Shape::Language => format!(r#"{{"type":"string","pattern":"{LANGUAGE}"}}"#),
        Shape::List(shape, most) => {
            format!(r#"{{"type":"array","maxItems":{most},"items":{}}}"#, schema(shape))
        }
        Shape::Object(fields) => object(fields),
        Shape::OneOf(fields) => {
            let object = object(fields);
            let rest = object.strip_prefix('{').unwrap_or_default();
            [r#"{"minProperties":1,"maxProperties":1,"#, rest].concat()
        }
        Shape::Map(shape, most) => format!(
            r#"{{"type":"object","maxProperties":{most},"propertyNames":{{"pattern":"{LANGUAGE}"}},"additionalProperties":{}}}"#,
            schema(shape)
        ),
    }
}

/// The pattern of a language tag.
const LANGUAGE: &str = "^[A-Za-z0-9]{2,3}([-_][A-Za-z0-9]{1,8})*$";

fn object(fields: &[Field]) -> String {
    let required = fields.iter().filter(|field| field.is_required).map(|field| field.name);
    let required: Vec<_> = required.collect();
    let required = match required.as_slice() {
        [] => String::new(),
        names => format!(r#""required":["{}"],"#, names.join(r#"",""#)),
    };
    let properties: Vec<_> = fields.iter().map(property).collect();
    let properties = properties.join(",");
    format!(
        r#"{{"type":"object","additionalProperties":false,{required}"properties":{{{properties}}}}}"#
    )
}

fn property(field: &Field) -> String {
    let description = serde_json::to_string(field.description).unwrap_or_default();
    let schema = schema(&field.shape);
    let rest = schema.strip_prefix('{').unwrap_or_default();
    format!(r#""{}":{{"description":{description},{rest}"#, field.name)
}
