//! Tests that the hand-written types of the answers have the members of the schema.

use super::types::request_types;
use impact_pledge::pledges::schema::{CREATED, Kind, Object, RETRIEVED};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the members of a type in `answers.ts`, which is written by hand: name, whether it may be
/// absent, and type. `Answered` derives the members from a type of the request, with null for absent ones.
#[track_caller]
fn declared(types: &str, name: &str) -> Vec<(String, bool, String)> {
    if let Some((_, base)) = types.split_once(&format!("\nexport type {name} = Answered<")) {
        let base = declared(types, base.split('>').next().unwrap());
        let answered = |(name, _, kind): (String, bool, String)| {
            (name, false, kind.replace(" | undefined", " | null"))
        };
        return base.into_iter().map(answered).collect();
    }
    let head = format!("\nexport interface {name} {{\n");
    let start = types.find(&head).unwrap_or_else(|| panic!("`{name}` is missing")) + head.len();
    let body = types[start..].split("\n}").next().unwrap();
    let code = body.lines().filter_map(|line| line.rsplit(" */ ").next());
    let members = code.filter_map(|line| line.strip_suffix(';')?.trim().split_once(": "));
    let member = |(name, kind): (&str, &str)| {
        (name.trim_end_matches('?').to_owned(), name.ends_with('?'), kind.to_owned())
    };
    members.map(member).collect()
}

/// Asserts that a type in `answers.ts` has the members of an object of the schema. Returns the number of members,
/// including nested ones.
#[track_caller]
fn is_declared(types: &str, name: &str, object: &Object) -> usize {
    let declared = declared(types, name);
    let names = |members: &[&'static str]| members.iter().copied().collect::<BTreeSet<_>>();
    let expected: Vec<_> = object.members.iter().map(|member| member.name).collect();
    let all: BTreeSet<_> = declared.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(all, names(&expected), "{name}");
    let mut count = declared.len();
    for (member, is_absent, kind) in declared {
        let row = object.members.iter().find(|row| row.name == member).unwrap();
        let bare = kind.strip_suffix(" | null");
        assert_eq!(bare.is_some(), !row.required, "{name}.{member}: null");
        assert!(!(is_absent && row.required), "{name}.{member} is always there");
        count += is_typed(types, bare.unwrap_or(&kind), row.kind);
    }
    count
}

#[track_caller]
fn is_typed(types: &str, declared: &str, kind: Kind) -> usize {
    let is = |expected: &str| {
        assert!(declared == expected || declared.ends_with(&format!(" | ({expected} & {{}})")));
        0
    };
    match kind {
        // The client converts an amount to a string.
        Kind::Text(_) | Kind::Decimal => is("string"),
        Kind::PositiveNumber => is("number"),
        Kind::Boolean => is("boolean"),
        Kind::Object(object) => is_declared(types, declared, object),
        Kind::Array(array) => is_typed(types, declared.strip_suffix("[]").unwrap(), array.item),
        Kind::Choice(choices) => {
            let choices: Vec<_> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
            let union = format!("\nexport type {declared} = {};\n", choices.join(" | "));
            assert!(types.contains(&union), "{declared}");
            0
        }
    }
}

#[test]
fn the_types_of_the_answers_are_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates/answers.ts");
    let types = fs::read_to_string(path).unwrap() + &request_types();
    assert_eq!(is_declared(&types, "PledgeTransaction", &CREATED), 33);
    assert_eq!(is_declared(&types, "RetrievedPledgeTransaction", &RETRIEVED), 37);
}
