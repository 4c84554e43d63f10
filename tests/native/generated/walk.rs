//! Generates the TypeScript functions that walk through a value and check it.

use super::form::format_name;
use super::nodes::nodes;
use super::{FROM, is_current};
use impact_pledge::pledges::schema::{Array, Format, Kind, Member, Object, Slot};
use impact_pledge::pledges::validate::format::ORDINARY;
use std::fmt::Write as _;

pub const VARIABLES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

fn index(slot: Option<Slot>) -> u32 {
    slot.map_or(0, |slot| slot as u32 + 1)
}

fn function(slot: Option<Slot>) -> String {
    slot.map_or("walkRequest".to_owned(), |slot| format!("walk{slot:?}"))
}

/// The functions that the generated walk calls.
const PARTS: &str = "checkNumber, checkText, isObject, isText, notPlain, reportMember, reportNotAllowed, reportUnknown, walkItems, withUnknown";

fn walk() -> String {
    let mut js = format!(
        "// {FROM}.\n\nimport {{ {PARTS} }} from \"../validate/walk.ts\";\n\nconst {{ valueOf }} = Object.prototype;\n"
    );
    js += "// Ordinary texts of the formats, from `src/pledges/validate/format.rs`.\n";
    for (format, ordinary) in ORDINARY {
        let ordinary = ordinary.replace("//", r"\/\/"); // within a class a slash stands for itself
        writeln!(js, "const {} = /{ordinary}/;", format_constant(format)).unwrap();
    }
    for node in nodes() {
        match node.kind {
            Kind::Object(object) => js += &object_walk(node.slot, object),
            Kind::Choice(choices) => js += &choice_walk(node.slot, choices),
            _ => {}
        }
    }
    js
}

/// Returns the name of the constant with the regular expression for a format's ordinary texts.
fn format_constant(format: Format) -> String {
    format_name(format).unwrap().to_uppercase().replace('-', "_")
}

/// Generates the function that walks through the members of an object.
fn object_walk(slot: Option<Slot>, object: &'static Object) -> String {
    let members: Vec<_> = object.members.iter().zip(VARIABLES).collect();
    let variables: Vec<_> = members.iter().map(|(_, name)| format!("{name}: unknown")).collect();
    let export = if slot.is_none() { "export " } else { "" };
    let mut js = format!(
        "\n{export}function {}(value: unknown): void {{\n  if (!isObject(value)) return reportMember(value, {});\n  let name: string, names: string[] | undefined, {};\n  if (value.toJSON || value.valueOf !== valueOf) notPlain();\n  for (name in value) {{\n    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;\n    switch (name) {{\n",
        function(slot),
        index(slot),
        variables.join(", ")
    );
    for (member, name) in &members {
        let member = member.name;
        writeln!(js, "      case \"{member}\": {name} = value.{member}; break;").unwrap();
    }
    js += "      default: names = withUnknown(names, name, value[name]);\n    }\n  }\n";
    for (member, name) in &members {
        writeln!(js, "  {};", check(member, name)).unwrap();
    }
    writeln!(js, "  if (names) reportUnknown(names, {});\n}}", index(slot)).unwrap();
    js
}

/// Generates the check of a member's value.
fn check(member: &Member, name: &str) -> String {
    let index = index(Some(member.slot));
    match member.kind {
        Kind::Text(Format::Any) => format!("if (!isText({name})) reportMember({name}, {index})"),
        Kind::Text(format) => {
            let ordinary = format_constant(format);
            format!("checkText({name}, {index}, {}, {ordinary})", format as u8)
        }
        Kind::PositiveNumber => format!("checkNumber({name}, {index})"),
        Kind::Object(_) => {
            format!("{}{}({name})", unless_absent(member, name), function(Some(member.slot)))
        }
        Kind::Array(array) => unless_absent(member, name) + &array_call(array, name, index),
        Kind::Choice(_) => panic!("no member is a choice by itself"),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
}

/// Returns the condition that saves a call for an optional member that is absent. A minimal request has three
/// such members.
fn unless_absent(member: &Member, name: &str) -> String {
    if member.required { String::new() } else { format!("if ({name} !== undefined) ") }
}

fn array_call(array: &Array, name: &str, index: u32) -> String {
    let most = array.max_items.map_or("Infinity".to_owned(), |most| most.to_string());
    let walk = function(Some(array.slot));
    format!("walkItems({name}, {index}, {}, {most}, {walk})", array.min_items)
}

fn choice_walk(slot: Option<Slot>, choices: &[&str]) -> String {
    let tests: Vec<_> = choices.iter().map(|choice| format!("text !== \"{choice}\"")).collect();
    let wrong = format!("reportNotAllowed(text, {})", index(slot));
    format!(
        "\nfunction {}(text: unknown): void {{\n  if ({}) {wrong};\n}}\n",
        function(slot),
        tests.join(" && ")
    )
}

#[test]
fn the_walk_is_current() {
    is_current("generated/walk.ts", &walk());
}
