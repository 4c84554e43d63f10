//! Generates the tables of the validator, and its kinds of issues, from the nodes of the request.

use super::nodes::{Node, message, nodes, pointer};
use super::{FROM, is_current};
use impact_pledge::pledges::schema::Kind;
use impact_pledge::pledges::validate::compact::{CompactIssue, UNDECIDED};
use impact_pledge::pledges::validate::json::marker;
use impact_pledge::pledges::validate::node::ITEM_SHIFT;
use impact_pledge::pledges::validate::{Code, MAX_DEPTH, ValueType};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use strum::VariantArray as _;

// ---- Tables -----------------------------------------------------------------------------------

/// Returns the type that a value must be of.
const fn expected_type(kind: Kind) -> ValueType {
    match kind {
        Kind::Object(_) => ValueType::Object,
        Kind::Text(_) | Kind::Choice(_) => ValueType::String,
        Kind::Array(_) => ValueType::Array,
        Kind::PositiveNumber => ValueType::Number,
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
}

/// Returns the end of the message for an unknown member. It lists the names of the members that the object can have.
fn listed(kind: Kind) -> String {
    let Kind::Object(object) = kind else { panic!("only an object has unknown members") };
    let names: Vec<_> = object.members.iter().map(|member| member.name).collect();
    format!("{}`", names.join("`, `"))
}

fn can_have(kind: Kind, code: Code) -> bool {
    match (code, kind) {
        (Code::UnknownMember, kind) => matches!(kind, Kind::Object(_)),
        (Code::TooFewItems, Kind::Array(array)) => array.min_items > 0,
        (Code::TooManyItems, Kind::Array(array)) => array.max_items.is_some(),
        (Code::TooFewItems | Code::TooManyItems, _) => false,
        (Code::NotAllowed, kind) => matches!(kind, Kind::Choice(_)),
        _ => true,
    }
}

/// Returns the message of a code. If the message has variants, returns its parts: the beginning, the texts that can
/// follow, and the end. In the message for a wrong type, the type of the value follows. The message for an unknown
/// member is without the list of the object's members, which [`listed`] returns.
fn messages(code: Code, nodes: &[Node]) -> Value {
    let indices = || (0..).zip(nodes).filter(|(_, node)| can_have(node.kind, code));
    let all = |index| (0..).map_while(move |detail| message(index, code, detail));
    match code {
        Code::InvalidType => {
            let types = between("must be an object, not ", all(0), "");
            for (index, node) in indices() {
                let start = format!("must be {}, not ", types[expected_type(node.kind) as usize]);
                assert_eq!(between(&start, all(index), ""), types);
            }
            json!(["must be ", types, ", not "])
        }
        Code::MalformedJson => {
            let (start, end) = ("must be JSON: ", " expected at byte ");
            json!([start, between(start, all(0), end), end])
        }
        _ => {
            let list =
                |kind| if code == Code::UnknownMember { listed(kind) } else { String::new() };
            let texts = indices().map(|(index, node)| {
                let text = message(index, code, 0).unwrap();
                text.strip_suffix(&list(node.kind)).unwrap().to_owned()
            });
            let texts: BTreeSet<_> = texts.collect();
            assert_eq!(texts.len(), 1, "a message depends on its node");
            json!(texts.first().unwrap())
        }
    }
}

/// Removes a common start and a common end from each text.
#[track_caller]
fn between(start: &str, texts: impl Iterator<Item = String>, end: &str) -> Vec<String> {
    let middle = |text: String| text.strip_prefix(start)?.strip_suffix(end).map(str::to_owned);
    texts.map(|text| middle(text).unwrap()).collect()
}

fn number_of(code: Code) -> usize {
    Code::VARIANTS.iter().position(|other| *other == code).unwrap()
}

fn tables() -> String {
    let nodes = nodes();
    let types: String =
        nodes.iter().map(|node| (expected_type(node.kind) as u8).to_string()).collect();
    let pointers: Vec<_> = (0..nodes.len() as u8).map(pointer).collect();
    let required = (0..nodes.len()).filter(|index| nodes[*index].is_required);
    let required: u32 = required.map(|index| 1 << index).sum();
    let mut js = format!("// {FROM}.\n\n");
    // Numbers come first, because bundlers inline them.
    let mut line = |text: String| writeln!(js, "{text}").unwrap();
    line("/** The number of words of a compact issue, and the lowest bit of the item in its sort key. */".into());
    line(format!(
        "export const ISSUE_WORDS = {}, ITEM_SHIFT = {ITEM_SHIFT};",
        size_of::<CompactIssue>() / size_of::<u32>()
    ));
    line("/** The maximum depth of a value, and the markers for values that JSON cannot represent. */".into());
    line(format!(
        "export const MAX_DEPTH = {MAX_DEPTH}, OTHER = \"\\x0{}\", ABSENT = \"\\x0{}\", UNREADABLE = \"\\x0{}\", GIVEN_UP = \"\\x0{}\";",
        marker::OTHER,
        marker::ABSENT,
        marker::UNREADABLE,
        marker::GIVEN_UP
    ));
    line("/** The numbers that stand for some codes. */".into());
    line(format!(
        "export const INVALID_TYPE = {}, REQUIRED_MEMBER = {}, UNKNOWN_MEMBER = {}, DUPLICATE_MEMBER = {}, TOO_FEW_ITEMS = {}, TOO_MANY_ITEMS = {}, NOT_POSITIVE = {}, NOT_FINITE = {}, NOT_ALLOWED = {}, MORE_ISSUES = {}, UNDECIDED = {UNDECIDED};",
        number_of(Code::InvalidType),
        number_of(Code::Required),
        number_of(Code::UnknownMember),
        number_of(Code::DuplicateMember),
        number_of(Code::TooFewItems),
        number_of(Code::TooManyItems),
        number_of(Code::NotPositive),
        number_of(Code::NotFinite),
        number_of(Code::NotAllowed),
        number_of(Code::MoreIssues)
    ));
    line("/** A bit for each required node, by its index. */".into());
    line(format!("export const REQUIRED = {required:#x};"));
    line(
        "/** The pointers of the request's nodes by their indices, with `*` for an item. */".into(),
    );
    line(format!("export const POINTERS = {}.split(\" \");", json!(pointers.join(" "))));
    line("/** The types of the nodes by their indices: a digit each, a number in the list of types. */".into());
    line(format!("export const TYPES = {};", json!(types)));
    js
}

// ---- Kinds of issues --------------------------------------------------------------------------

/// The import of the TypeScript type of the table's rows.
const KIND: &str = "import type { Kind } from \"../validate/types.ts\";\n\n";

fn kinds() -> String {
    let nodes = nodes();
    let mut js = format!("// {FROM}.\n\n{KIND}");
    let mut line = |text: String| writeln!(js, "{text}").unwrap();
    line("/** The kinds of issues by the numbers of their codes. A message that ends with a blank is followed by a number, a type or a list. */".into());
    line("export const KINDS: (Kind | undefined)[] = [".into());
    for code in Code::VARIANTS {
        let is_common = !ONLY_OF_BYTES.contains(code) && *code != Code::UnknownPointer;
        line(format!("  {},", if is_common { kind(*code, &nodes) } else { String::new() }));
    }
    line("];".into());
    line(
        "/** The kinds that only JSON bytes have: pages that check values do not download them. */"
            .into(),
    );
    line("export const KINDS_OF_BYTES: Record<number, Kind> = {".into());
    for code in ONLY_OF_BYTES {
        line(format!("  {}: {},", number_of(code), kind(code, &nodes)));
    }
    line("};".into());
    line("/** The kind of a pointer that the contract does not have. */".into());
    line(format!("export const UNKNOWN_POINTER: Kind = {};", kind(Code::UnknownPointer, &nodes)));
    js
}

/// Generates the table of kinds for forms. Forms show their own texts to shoppers, so the table has only one message:
/// the one from which `meta` takes the names of types.
fn kinds_of_forms() -> String {
    let nodes = nodes();
    let mut js = format!("// {FROM}.\n\n{KIND}");
    js += "/** The kinds of issues in a form by the numbers of their codes, without the messages, except the one that names types. */\n";
    js += "export const KINDS: (Kind | undefined)[] = [\n";
    for code in Code::VARIANTS {
        let message = match code {
            Code::InvalidType => messages(*code, &nodes),
            _ => json!(""),
        };
        writeln!(js, "  {},", row(*code, &message, &nodes)).unwrap();
    }
    js + "];\n"
}

/// The codes that occur only for JSON bytes, never for a JavaScript value.
const ONLY_OF_BYTES: [Code; 3] = [Code::DuplicateMember, Code::InvalidUtf8, Code::MalformedJson];

/// Returns a row of the table of kinds, with its message.
fn kind(code: Code, nodes: &[Node]) -> String {
    row(code, &messages(code, nodes), nodes)
}

fn row(code: Code, message: &Value, nodes: &[Node]) -> String {
    let name: &str = code.into();
    let meta = meta(code, nodes).map(|meta| format!(", {meta}")).unwrap_or_default();
    format!("[\"{name}\", {message}{meta}]")
}

/// Returns the limits and the lists of allowed values that belong to a code.
fn meta(code: Code, nodes: &[Node]) -> Option<Value> {
    let node = nodes.iter().find(|node| can_have(node.kind, code))?;
    Some(match (code, node.kind) {
        (Code::TooFewItems, Kind::Array(array)) => json!({"minimum": array.min_items}),
        (Code::TooManyItems, Kind::Array(array)) => json!({"maximum": array.max_items?}),
        (Code::NotAllowed, Kind::Choice(choices)) => json!({"allowed": choices}),
        (Code::NotPositive, _) => json!({"minimum": 0, "exclusive": true}),
        _ => return None,
    })
}

#[test]
fn the_tables_are_current() {
    is_current("generated/tables.ts", &tables());
    is_current("generated/kinds.ts", &kinds());
    is_current("generated/kinds-of-forms.ts", &kinds_of_forms());
}
