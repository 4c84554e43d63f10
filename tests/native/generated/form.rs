//! Generates the table of the form.

use super::types::filled;
use super::{FROM, is_current};
use impact_pledge::pledges::schema::{Format, Kind, Member, Object, REQUEST};
use serde_json::json;

fn fields() -> String {
    let shape = shape(Kind::Object(&REQUEST), false, 0);
    let formats: Vec<_> = (0..)
        .map_while(Format::from_repr)
        .map(|format| format_name(format).unwrap_or(""))
        .collect();
    let formats = json!(formats);
    format!(
        "// {FROM}.\n\nimport type {{ Shape }} from \"../form/shape.ts\";\n\n/** The shape of a request as a form fills it in: objects have `members`, arrays an `item`; any other value is a field. */\nexport const REQUEST: Shape = {shape};\n/** The names of the text formats, by number. */\nexport const FORMATS: string[] = {formats};\n"
    )
}

fn shape(kind: Kind, is_required: bool, indent: usize) -> String {
    let mut facts = Vec::new();
    if is_required {
        facts.push("isRequired: true".to_owned());
    }
    match kind {
        Kind::Object(object) => facts.push(format!("members: {}", shapes(object, indent + 1))),
        Kind::Array(array) => {
            facts.extend((array.min_items > 0).then(|| format!("least: {}", array.min_items)));
            facts.extend(array.max_items.map(|most| format!("most: {most}")));
            facts.push(format!("item: {}", shape(array.item, false, indent)));
        }
        Kind::PositiveNumber => facts.push("isNumber: true".to_owned()),
        Kind::Text(format) => {
            facts.extend(format_name(format).map(|name| format!("format: \"{name}\"")))
        }
        Kind::Choice(choices) => facts.push(format!("choices: {}", json!(choices))),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
    if facts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", facts.join(", ")) }
}

/// Returns the format's name in JSON Schema.
pub fn format_name(format: Format) -> Option<&'static str> {
    match format {
        Format::Any => None,
        Format::Email => Some("email"),
        Format::Uri => Some("uri"),
        Format::DateTime => Some("date-time"),
    }
}

/// Writes the members of an object: on one line if they fit, otherwise one on each line.
fn shapes(object: &Object, indent: usize) -> String {
    let shape = |member: &Member| {
        format!(" {}: {},", member.name, shape(member.kind, member.required, indent))
    };
    let shapes: Vec<_> = object.members.iter().map(shape).collect();
    let line = shapes.concat();
    if !line.contains('\n') && line.len() < 96 {
        return format!("{{{} }}", line.trim_end_matches(','));
    }
    let (start, end) = ("  ".repeat(indent), "  ".repeat(indent - 1));
    let width = if line.contains('\n') { 0 } else { 120 };
    format!("{{{}\n{end}}}", filled(shapes.into_iter(), &format!("\n{}", &start[1..]), width))
}

#[test]
fn the_table_of_the_form_is_current() {
    is_current("generated/fields.ts", &fields());
}
