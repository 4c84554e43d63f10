//! What is generated from the schema, and whether the files in the repository are that.
//!
//! `UPDATE=1 cargo test --test generated` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a stale file should be named")]
#![expect(clippy::indexing_slicing, reason = "a generator that is wrong should panic")]
#![expect(clippy::string_slice, reason = "a generator that is wrong should panic")]

use impact_pledge::schema::{
    Array, CREATED, Format, Kind, Member, Object, REQUEST, RETRIEVED, Slot, object_type,
};
use impact_pledge::validate::compact::{UNDECIDED, explained};
use impact_pledge::validate::json::odd;
use impact_pledge::validate::texts::{FORMAT, LENGTH, TEXTS};
use impact_pledge::validate::{Code, MAX_DEPTH};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const FROM: &str =
    "generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew";

#[track_caller]
fn is_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates").join(file);
    let current = fs::read_to_string(&path).unwrap_or_default();
    if current == expected {
        return;
    }
    if std::env::var_os("UPDATE").is_none() {
        panic!("`pkg-templates/{file}` is stale; run `UPDATE=1 cargo test --test generated`");
    }
    fs::write(path, expected).unwrap();
}

/// The hand-written part of a file, up to the line that announces the generated one.
#[track_caller]
fn written_by_hand(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates").join(file);
    let text = fs::read_to_string(path).unwrap();
    let line = text.find("// What follows is generated").unwrap();
    let end = line + text[line..].find('\n').unwrap() + 1;
    text[..end].to_owned()
}

// ---- Places ------------------------------------------------------------------------------------

/// One place of the request, in the order of ranks.
struct Spot {
    slot: Option<Slot>,
    kind: Kind,
    is_required: bool,
}

fn spots() -> Vec<Spot> {
    let mut all = Vec::new();
    add_spots(None, Kind::Object(&REQUEST), true, &mut all);
    all
}

fn add_spots(slot: Option<Slot>, kind: Kind, is_required: bool, all: &mut Vec<Spot>) {
    assert_eq!(
        slot.map_or(0, |slot| slot as usize + 1),
        all.len(),
        "slots are in the schema's order"
    );
    all.push(Spot { slot, kind, is_required });
    match kind {
        Kind::Object(object) => {
            assert!(object.members.len() <= VARIABLES.len(), "the encoder has names for so many");
            for member in object.members {
                add_spots(Some(member.slot), member.kind, member.required, all);
            }
        }
        Kind::Array(array) => add_spots(Some(array.slot), array.item, true, all),
        _ => {}
    }
}

fn pointer(rank: u8) -> String {
    let issue = explained(rank, Code::Required, 0).unwrap();
    let text = issue.path().to_string().replace("/0", "/*");
    assert!(text.matches('*').count() <= 1, "no array lies in another");
    text
}

fn message(rank: u8, code: Code, detail: u8) -> Option<String> {
    let text = explained(rank, code, detail)?.to_string();
    let is_syntax = code == Code::MalformedJson;
    let text = if is_syntax { text.strip_suffix('0').unwrap().to_owned() } else { text };
    assert_eq!(text.ends_with(' '), is_syntax, "behind a blank goes the byte where JSON ends");
    Some(text)
}

// ---- Tables ------------------------------------------------------------------------------------

/// Ranks whose messages are all alike are of one class.
fn classes(count: u8) -> Vec<usize> {
    let all = |rank| Code::ALL.iter().map(|code| message(rank, *code, 0)).collect::<Vec<_>>();
    let mut seen = Vec::new();
    (0..count)
        .map(|rank| {
            let messages = all(rank);
            seen.iter().position(|known| *known == messages).unwrap_or_else(|| {
                seen.push(messages);
                seen.len() - 1
            })
        })
        .collect()
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

/// The messages of a code: one text, or beginnings by class and endings by detail.
fn messages(code: Code, spots: &[Spot], classes: &[usize]) -> Value {
    let ranks: Vec<u8> = match code {
        Code::MalformedJson => vec![0],
        _ => (0..)
            .zip(spots)
            .filter(|(_, spot)| can_have(spot.kind, code))
            .map(|(rank, _)| rank)
            .collect(),
    };
    let texts: Vec<Vec<String>> = ranks
        .iter()
        .map(|rank| match code {
            Code::InvalidType | Code::MalformedJson => {
                (0..).map_while(|detail| message(*rank, code, detail)).collect()
            }
            _ => vec![message(*rank, code, 0).unwrap()],
        })
        .collect();
    if texts.iter().all(|text| *text == texts[0] && text.len() == 1) {
        return json!(texts[0][0]);
    }
    let mut starts = vec![json!(""); classes.iter().max().unwrap() + 1];
    let endings: Vec<&str> = texts[0].iter().map(|text| &text[common(&texts[0])..]).collect();
    let last = common_end(&endings);
    for (rank, texts) in ranks.iter().zip(&texts) {
        let start = &texts[0][..texts[0].len() - endings[0].len()];
        let joined: Vec<_> = endings.iter().map(|ending| format!("{start}{ending}")).collect();
        assert_eq!(
            joined, *texts,
            "a message is a beginning of its place and an ending of its detail"
        );
        starts[classes[usize::from(*rank)]] = json!(start);
    }
    let middles: Vec<_> = endings.iter().map(|text| text.strip_suffix(last).unwrap()).collect();
    if texts[0].len() == 1 { json!([starts, [], ""]) } else { json!([starts, middles, last]) }
}

/// The longest ending that texts have in common, from a blank on.
fn common_end<'t>(texts: &[&'t str]) -> &'t str {
    let blanks = texts[0].match_indices(' ').map(|(at, _)| &texts[0][at..]);
    let mut ends = blanks.filter(|end| texts.iter().all(|text| text.ends_with(end)));
    if texts.len() == 1 { "" } else { ends.next().unwrap_or_default() }
}

/// How long a beginning texts have in common; all of it when there is only one.
fn common(texts: &[String]) -> usize {
    let first = &texts[0];
    (0..=first.len())
        .rev()
        .find(|end| texts.iter().all(|text| text.starts_with(&first[..*end])))
        .unwrap()
}

fn number_of(code: Code) -> usize {
    Code::ALL.iter().position(|other| *other == code).unwrap()
}

fn tables() -> String {
    let spots = spots();
    let classes = classes(spots.len() as u8);
    let pointers: Vec<_> = (0..spots.len() as u8).map(pointer).collect();
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert!(spots.len() < 1 << FORMAT, "a rank has {FORMAT} bits");
    let required = (0..spots.len()).filter(|rank| spots[*rank].is_required);
    let required: u32 = required.map(|rank| 1 << rank).sum();
    let mut js = format!("// {FROM}.\n\n");
    let mut line = |text: String| writeln!(js, "{text}").unwrap();
    line("/** How many texts one call takes, and how far up in its word the length of each stands. */".into());
    line(format!("export const TEXTS = {TEXTS}, LENGTH = {LENGTH};"));
    line("/** How deep a value may nest, and the bytes for what JSON has no word for. */".into());
    line(format!(
        "export const MAX_DEPTH = {MAX_DEPTH}, OTHER = \"\\x0{}\", UNREADABLE = \"\\x0{}\", GIVEN_UP = \"\\x0{}\";",
        odd::OTHER,
        odd::UNREADABLE,
        odd::GIVEN_UP
    ));
    line("/** The codes by their numbers, and the numbers of some. */".into());
    line(format!("export const CODES = {}.split(\" \");", json!(codes.join(" "))));
    line(format!(
        "export const REQUIRED_MEMBER = {}, UNKNOWN_MEMBER = {}, TOO_FEW_ITEMS = {}, TOO_MANY_ITEMS = {}, NOT_POSITIVE = {}, NOT_FINITE = {}, NOT_ALLOWED = {}, UNKNOWN_POINTER = {}, UNDECIDED = {UNDECIDED};",
        number_of(Code::Required),
        number_of(Code::UnknownMember),
        number_of(Code::TooFewItems),
        number_of(Code::TooManyItems),
        number_of(Code::NotPositive),
        number_of(Code::NotFinite),
        number_of(Code::NotAllowed),
        number_of(Code::UnknownPointer)
    ));
    line("/** The pointers of the request's places by their ranks, `*` for an item's index, and a bit for each that must be there. */".into());
    line(format!("export const PLACES = {}.split(\" \");", json!(pointers.join(" "))));
    line(format!("export const REQUIRED = {required:#x};"));
    line("/** Places whose messages are alike have one number. */".into());
    line(format!("export const KINDS = {};", json!(classes)));
    line("/** The messages by their codes: a text, or beginnings by the place's kind, middles by the detail and one end. The byte where JSON ends goes behind a blank. */".into());
    line("export const MESSAGES = [".into());
    for code in Code::ALL {
        line(format!("  {},", messages(*code, &spots, &classes)));
    }
    line("];".into());
    js
}

#[test]
fn the_tables_are_current() {
    is_current("generated/tables.js", &tables());
}

// ---- The encoder -------------------------------------------------------------------------------

const VARIABLES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

fn rank(slot: Option<Slot>) -> u32 {
    slot.map_or(0, |slot| slot as u32 + 1)
}

fn function(slot: Option<Slot>) -> String {
    slot.map_or("walkRequest".to_owned(), |slot| format!("walk{slot:?}"))
}

fn encoder() -> String {
    let mut js = written_by_hand("validate/encoder.js");
    for spot in spots() {
        match spot.kind {
            Kind::Object(object) => js += &object_encoder(spot.slot, object),
            Kind::Choice(choices) => js += &choice_encoder(spot.slot, choices),
            _ => {}
        }
    }
    js
}

fn object_encoder(slot: Option<Slot>, object: &'static Object) -> String {
    let members: Vec<_> = object.members.iter().zip(VARIABLES).collect();
    let names: Vec<_> = members.iter().map(|(_, name)| *name).collect();
    let mut js = format!(
        "\nfunction {}(value) {{\n  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;\n  let {}, names;\n  for (const name in value) {{\n    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;\n    switch (name) {{\n",
        function(slot),
        names.join(", ")
    );
    for (member, name) in &members {
        let member = member.name;
        write!(js, "      case \"{member}\":\n        {name} = value.{member};\n        break;\n")
            .unwrap();
    }
    js += "      default:\n        names = withUnknown(names, name, value[name]);\n    }\n  }\n";
    for (member, name) in &members {
        let (test, then) = checks(member, name);
        let wrong = format!("wrong({name}, {})", rank(Some(member.slot)));
        let line = match then {
            Some(then) => format!("if ({test}) {then};\n  else {wrong};"),
            None => format!("if (!{test}) {wrong};"),
        };
        writeln!(js, "  {line}").unwrap();
    }
    writeln!(js, "  if (names) tellUnknown(names, {});\n}}", rank(slot)).unwrap();
    js
}

/// How the encoder asks whether a value is of its type, and what it does with one that is.
fn checks(member: &Member, name: &str) -> (String, Option<String>) {
    let place = rank(Some(member.slot));
    match member.kind {
        Kind::Text(Format::Any) => (format!("isText({name})"), None),
        Kind::Text(format) => {
            let word = (format as u32) << FORMAT | place;
            (format!("typeof {name} === \"string\""), Some(format!("addText({name}, {word})")))
        }
        Kind::PositiveNumber => {
            (format!("typeof {name} === \"number\""), Some(format!("checkNumber({name}, {place})")))
        }
        Kind::Object(_) => {
            let call = format!("{}({name})", function(Some(member.slot)));
            (format!("isObject({name})"), Some(call))
        }
        Kind::Array(array) => {
            let call = array_call(array, name, place);
            (format!("Array.isArray({name})"), Some(call))
        }
        Kind::Choice(_) => panic!("no member is a choice by itself"),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
}

fn array_call(array: &Array, name: &str, place: u32) -> String {
    let most = array.max_items.map_or("Infinity".to_owned(), |most| most.to_string());
    let (item, walk) = (rank(Some(array.slot)), function(Some(array.slot)));
    let is_item = match array.item {
        Kind::Object(_) => "isObject",
        _ => "isString",
    };
    format!("walkItems({name}, {place}, {}, {most}, {item}, {is_item}, {walk})", array.min_items)
}

fn choice_encoder(slot: Option<Slot>, choices: &[&str]) -> String {
    let tests: Vec<_> = choices.iter().map(|choice| format!("text !== \"{choice}\"")).collect();
    let wrong = format!("notAllowed(text, {})", rank(slot));
    format!("\nfunction {}(text) {{\n  if ({}) {wrong};\n}}\n", function(slot), tests.join(" && "))
}

#[test]
fn the_encoder_is_current() {
    is_current("validate/encoder.js", &encoder());
}

// ---- The form's table ----------------------------------------------------------------------------

fn fields() -> String {
    let shape = shape(Kind::Object(&REQUEST), false, 0);
    format!(
        "// {FROM}.\n\n/** What a form can fill in: an object has members in the contract's order, an array has an item; any other value is one field. */\nexport const REQUEST = {shape};\n"
    )
}

fn shape(kind: Kind, is_required: bool, depth: usize) -> String {
    let mut facts = Vec::new();
    if is_required {
        facts.push("isRequired: true".to_owned());
    }
    match kind {
        Kind::Object(object) => facts.push(format!("members: {}", shapes(object, depth + 1))),
        Kind::Array(array) => facts.push(format!("item: {}", shape(array.item, false, depth))),
        Kind::PositiveNumber => facts.push("isNumber: true".to_owned()),
        Kind::Text(_) | Kind::Choice(_) => {}
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    }
    if facts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", facts.join(", ")) }
}

fn shapes(object: &Object, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let line = |member: &Member| {
        format!("{indent}{}: {},\n", member.name, shape(member.kind, member.required, depth))
    };
    let lines: String = object.members.iter().map(line).collect();
    format!("{{\n{lines}{}}}", "  ".repeat(depth - 1))
}

#[test]
fn the_table_of_the_form_is_current() {
    is_current("generated/fields.js", &fields());
}

// ---- JSON Schema and TypeScript ------------------------------------------------------------------

fn json_schema(slot: Option<Slot>, kind: Kind) -> Value {
    let mut schema = match kind {
        Kind::Text(Format::Any) => json!({ "type": "string" }),
        Kind::Text(Format::Email) => json!({ "type": "string", "format": "email" }),
        Kind::Text(Format::Uri) => json!({ "type": "string", "format": "uri" }),
        Kind::Text(Format::DateTime) => json!({ "type": "string", "format": "date-time" }),
        Kind::PositiveNumber => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Kind::Object(object) => object_schema(object),
        Kind::Array(array) => array_schema(array),
        Kind::Boolean | Kind::Decimal => panic!("a request has none"),
    };
    schema["description"] = slot.map_or(object_type(None).unwrap().1, Slot::doc).into();
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

#[test]
fn the_json_schema_is_current() {
    let schema = json_schema(None, Kind::Object(&REQUEST));
    let text = serde_json::to_string_pretty(&schema).unwrap();
    let js = format!(
        "// {FROM}.\n\n/** A copy of its own for every caller. */\nexport const jsonSchema = () => ({text});\n"
    );
    is_current("generated/json-schema.js", &js);
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
        let doc = member.slot.doc().strip_suffix('.').unwrap();
        writeln!(ts, "  /** {doc}{note}. */\n  {}{mark}: {kind}{or_absent};", member.name).unwrap();
    }
    ts + "}\n"
}

fn union(values: impl Iterator<Item = &'static str>) -> String {
    values.map(|value| format!("\n  | \"{value}\"")).collect()
}

#[test]
fn the_types_are_current() {
    let mut ts = written_by_hand("validate.d.ts");
    for spot in spots() {
        match spot.kind {
            Kind::Object(object) => ts += &interface(spot.slot, object),
            Kind::Choice(choices) => {
                let all = union(choices.iter().copied());
                ts += &format!(
                    "\n/** A service that alerts the recipient. */\nexport type NotificationType ={all};\n"
                );
            }
            _ => {}
        }
    }
    let codes = union(Code::ALL.iter().map(|code| code.as_str()));
    ts += &format!(
        "\n/** What kind of problem an issue is. The list is closed. */\nexport type IssueCode ={codes};\n"
    );
    is_current("validate.d.ts", &ts);
}

// ---- The types of the answers --------------------------------------------------------------------

/// The members of an interface in `index.d.ts`, which is written by hand: name, whether it may be
/// absent, and type.
#[track_caller]
fn declared<'t>(types: &'t str, name: &str) -> Vec<(&'t str, bool, &'t str)> {
    let head = format!("\nexport interface {name} {{\n");
    let start = types.find(&head).unwrap_or_else(|| panic!("`{name}` is missing")) + head.len();
    let body = types[start..].split("\n}").next().unwrap();
    let members = body.lines().filter_map(|line| line.strip_suffix(';')?.trim().split_once(": "));
    members
        .map(|(name, kind)| {
            name.strip_suffix('?').map_or((name, false, kind), |name| (name, true, kind))
        })
        .collect()
}

/// Gives the number of members, those of members included.
#[track_caller]
fn is_declared(types: &str, name: &str, object: &Object) -> usize {
    let declared = declared(types, name);
    let names = |members: &[&'static str]| members.iter().copied().collect::<BTreeSet<_>>();
    let expected: Vec<_> = object.members.iter().map(|member| member.name).collect();
    let all: BTreeSet<_> = declared.iter().map(|(name, ..)| *name).collect();
    assert_eq!(all, names(&expected), "{name}");
    let mut count = declared.len();
    for (member, is_absent, kind) in declared {
        let row = object.members.iter().find(|row| row.name == member).unwrap();
        let bare = kind.strip_suffix(" | null");
        assert_eq!(bare.is_some(), !row.required, "{name}.{member}: null");
        assert!(!(is_absent && row.required), "{name}.{member} is always there");
        count += is_typed(types, bare.unwrap_or(kind), row.kind);
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
        // The client makes a string of an amount.
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates/index.d.ts");
    let types = fs::read_to_string(path).unwrap();
    assert_eq!(is_declared(&types, "PledgeTransaction", &CREATED), 33);
    assert_eq!(is_declared(&types, "RetrievedPledgeTransaction", &RETRIEVED), 37);
}
