//! Generates files of the package from the schema, and compares them with those in the repository.
//!
//! `UPDATE=1 cargo test --test native generated` updates them.

use crate::descriptions::{object_type, slot_doc};
use impact_pledge::api::MAX_BODY_BYTES;
use impact_pledge::operations::spec as operations;
use impact_pledge::operations::{GROUPS, Operation, Spec};
use impact_pledge::operator::delays::{
    APPLIED_SECONDS, MAILED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS,
};
use impact_pledge::operator::notifications::WAITING_HOURS;
use impact_pledge::operator::roles::Role;
use impact_pledge::schema::{
    Array, CREATED, Format, Kind, Member, Object, REQUEST, RETRIEVED, Slot,
};
use impact_pledge::store::{
    CredentialKey, FAILED_MAIL_DAYS, Key as _, MemberKey, NOTIFICATION_DAYS, PriceListKey,
    ProfileKey, TransactionKey,
};
use impact_pledge::validate::compact::{CompactIssue, UNDECIDED, expand};
use impact_pledge::validate::format::ORDINARY;
use impact_pledge::validate::json::marker;
use impact_pledge::validate::node::ITEM_SHIFT;
use impact_pledge::validate::{Code, MAX_DEPTH, ValueType};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use strum::{IntoEnumIterator as _, VariantArray as _};

const FROM: &str =
    "generated from src/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew";

#[track_caller]
fn is_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates").join(file);
    let current = fs::read_to_string(&path).unwrap_or_default();
    if current == expected {
        return;
    }
    if std::env::var_os("UPDATE").is_none() {
        panic!(
            "`pkg-templates/{file}` is stale; run `UPDATE=1 cargo test --test native generated`"
        );
    }
    fs::write(path, expected).unwrap();
}

#[test]
fn commands_state_the_delays_of_their_causes() {
    let rows = [
        ("a list or a read of Workers KV shows a write", "SHOWN_SECONDS", SHOWN_SECONDS),
        ("prices, payments and profiles apply everywhere", "APPLIED_SECONDS", APPLIED_SECONDS),
        (
            "a revoked key, or a unit that was removed from its team, is refused",
            "REFUSED_SECONDS",
            REFUSED_SECONDS,
        ),
        ("the delivery state of an e-mail shows", "MAILED_SECONDS", MAILED_SECONDS),
        ("an e-mail without a result counts as failed", "WAITING_HOURS", WAITING_HOURS),
        ("the outcome of an e-mail is deleted", "NOTIFICATION_DAYS", NOTIFICATION_DAYS.into()),
        (
            "a failed e-mail is removed from the list of failures",
            "FAILED_MAIL_DAYS",
            FAILED_MAIL_DAYS.into(),
        ),
    ];
    let head = "/** How long it takes until something happens. Written by `UPDATE=1 cargo test --test native generated`. */\n";
    let line = |(what, name, value)| {
        format!("/** How long until {what}. */\nexport const {name} = {value};\n")
    };
    is_current("../scripts/lib/delays.mjs", &[head.to_owned(), rows.map(line).concat()].concat());
}

/// Returns the groups of operations, each with its operations.
fn groups() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static Spec>)> {
    GROUPS.iter().map(|(group, about)| {
        let specs = Operation::iter().map(Operation::spec);
        (*group, *about, specs.filter(|spec| spec.group == *group).collect())
    })
}

#[test]
fn the_command_line_has_the_operations_of_the_table() {
    let named = |(group, about, operations)| json!({ "group": group, "about": about, "operations": operations });
    let table: Vec<_> = groups().map(named).collect();
    let text = serde_json::to_string_pretty(&table).unwrap() + "\n";
    is_current("../scripts/lib/operations.json", &text);
}

#[test]
fn the_reference_of_commands_is_current() {
    let mut index = include_str!("commands.md").to_owned();
    for (group, about, operations) in groups() {
        let link =
            |spec: &&Spec| format!("[`{}`](commands/{group}.md#{})", spec.name, anchor(spec));
        let links: Vec<_> = operations.iter().map(link).collect();
        writeln!(index, "| `{group}` | {about} | {} |", links.join(", ")).unwrap();
        let hand_written = if group == "transactions" { BACKUP } else { "" };
        let page = page(group, about, &operations, hand_written);
        is_current(&format!("../docs/commands/{group}.md"), &page);
    }
    is_current("../docs/commands.md", &index);
}

/// The sections about `transactions backup` and `restore`, which are scripts and not in the table of operations.
const BACKUP: &str = include_str!("generated/backup.md");

/// Returns the page of a group's commands, with hand-written sections at its end. The links in the texts begin at `docs`.
fn page(group: &str, about: &str, operations: &[&Spec], hand_written: &str) -> String {
    let sections: String = operations.iter().map(|spec| described(spec)).collect();
    let sections = sections + hand_written;
    let link = regex_lite::Regex::new(r"\]\(([a-z-]+\.md)").unwrap();
    format!(
        "# Commands: {group}\n\nFor operators. {} [Commands](../commands.md) describes what all commands have in common.\n{}",
        sentence(about),
        link.replace_all(&sections, "](../$1")
    )
}

/// Returns the address of an operation's section on its page.
fn anchor(spec: &Spec) -> String {
    let heading = format!("{}{}", spec.full_name(), positions(spec));
    let kept = heading.chars().filter(|char| char.is_ascii_alphanumeric() || " -".contains(*char));
    kept.collect::<String>().replace(' ', "-")
}

/// Returns an operation's arguments without the options, as the usage line has them.
fn positions(spec: &Spec) -> String {
    let positions = spec.arguments.iter().filter(|it| !it.is_option).map(|it| {
        let name = if it.is_repeatable { format!("{}...", it.name) } else { it.name.to_owned() };
        if it.is_required { format!(" <{name}>") } else { format!(" [{name}]") }
    });
    positions.collect()
}

/// Returns an operation's section of the reference.
fn described(spec: &Spec) -> String {
    let confirms = match (spec.confirms, spec.confirms_if) {
        (false, _) => String::new(),
        (true, "") => " Asks for a confirmation.".to_owned(),
        (true, when) => format!(" Asks for a confirmation if {when}."),
    };
    let about = sentence(spec.about);
    let roles: Vec<&str> =
        Role::iter().filter(|it| it.may(spec.permission)).map(Into::into).collect();
    let roles = format!(" Dashboard roles: {}.", roles.join(", "));
    let positions = positions(spec);
    let mut text = format!("\n## {}{positions}\n\n{about}{confirms}{roles}\n", spec.full_name());
    let rows = spec.arguments.iter().map(|it| {
        let required = if it.is_required { ", required" } else { "" };
        let several = if it.is_repeatable { ", repeatable" } else { "" };
        let default = it.default.filter(|text| !text.is_empty());
        let default = default.map(|text| format!(", default `{text}`")).unwrap_or_default();
        let kind = match it.kind {
            operations::Kind::Choice { choices } => format!(" ({})", choices.join(", ")),
            _ => String::new(),
        };
        format!("- `{}`{required}{several}{default}{kind}: {}\n", it.written(), it.help)
    });
    let rows: String = rows.collect();
    if !rows.is_empty() {
        text = text + "\n" + &rows;
    }
    if !spec.answers.is_empty() {
        write!(text, "\n`--json`: {}.\n", spec.answers).unwrap();
    }
    if !spec.note.is_empty() {
        write!(text, "\n```text\n{}\n```\n", spec.note).unwrap();
    }
    text
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|char| char.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}

// ---- Nodes -------------------------------------------------------------------------------------

/// A node of the request's tree; its position in the list is its index.
struct Node {
    slot: Option<Slot>,
    kind: Kind,
    is_required: bool,
}

fn nodes() -> Vec<Node> {
    let mut all = Vec::new();
    add_nodes(None, Kind::Object(&REQUEST), true, &mut all);
    all
}

fn add_nodes(slot: Option<Slot>, kind: Kind, is_required: bool, all: &mut Vec<Node>) {
    assert_eq!(
        slot.map_or(0, |slot| slot as usize + 1),
        all.len(),
        "slots are in the schema's order"
    );
    all.push(Node { slot, kind, is_required });
    match kind {
        Kind::Object(object) => {
            assert!(object.members.len() <= VARIABLES.len(), "the walk has variables for so many");
            for member in object.members {
                add_nodes(Some(member.slot), member.kind, member.required, all);
            }
        }
        Kind::Array(array) => add_nodes(Some(array.slot), array.item, true, all),
        _ => {}
    }
}

fn pointer(index: u8) -> String {
    let issue = expand(index, Code::Required, 0).unwrap();
    let text = issue.path().to_string().replace("/0", "/*");
    assert!(text.matches('*').count() <= 1, "no array lies in another");
    text
}

fn message(index: u8, code: Code, detail: u8) -> Option<String> {
    let text = expand(index, code, detail)?.to_string();
    let is_syntax = code == Code::MalformedJson;
    let text = if is_syntax { text.strip_suffix('0').unwrap().to_owned() } else { text };
    let is_open = is_syntax || code == Code::MoreIssues;
    assert_eq!(text.ends_with(' '), is_open, "a number goes behind a blank");
    Some(text)
}

// ---- Tables ------------------------------------------------------------------------------------

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

/// Returns the end of the message of an unknown member: the names of the object's members.
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

/// Returns the message of a code, or its parts: a beginning, the texts that can follow, and an end.
/// The type of the value follows the expected type. The list of an object's members is left out.
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

/// Returns the part of each text between a start and an end.
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

// ---- Kinds of issues -----------------------------------------------------------------------------

/// Imports the type of a row.
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

/// Generates the table of kinds for forms. It has no messages, because forms show texts for shoppers, except the one message
/// from which `meta` takes the types.
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

// ---- The walk of a value ---------------------------------------------------------------------

const VARIABLES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

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
    js += "// Ordinary texts of the formats, from `src/validate/format.rs`.\n";
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

/// Generates the walk of an object.
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
        Kind::Object(_) => format!("{}({name})", function(Some(member.slot))),
        Kind::Array(array) => array_call(array, name, index),
        Kind::Choice(_) => panic!("no member is a choice by itself"),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
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

// ---- The form's table ----------------------------------------------------------------------------

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
fn format_name(format: Format) -> Option<&'static str> {
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

// ---- JSON Schema and TypeScript ------------------------------------------------------------------

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
fn filled(parts: impl Iterator<Item = String>, start: &str, width: usize) -> String {
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

/// Writes a schema as JSON text: its own keywords, then on lines of their own its items or each of
/// its properties.
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

fn request_types() -> String {
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

// ---- Facts of the service -----------------------------------------------------------------------

#[test]
fn the_facts_of_the_service_are_current() {
    let prefixes = json!({
        "catalogue": PriceListKey::PREFIX,
        "key": CredentialKey::PREFIX,
        "member": MemberKey::PREFIX,
        "profile": ProfileKey::PREFIX,
        "transaction": TransactionKey::PREFIX,
    });
    let from = FROM.replace("src/schema.rs", "src/api/names.rs and src/store/key.rs");
    let ts = format!(
        "// {from}.\n\n/** The maximum size of a request's body, in bytes. */\nexport const MAX_BODY_BYTES = \
         {MAX_BODY_BYTES};\n\n/** The prefixes of the names of records, by kind. */\n\
         export const PREFIXES = {prefixes};\n"
    );
    is_current("generated/service.ts", &ts);
}

// ---- The types of the answers --------------------------------------------------------------------

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

/// Returns the number of members, including nested ones.
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
