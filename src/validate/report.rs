//! What is wrong with a request: closed codes, paths and, in one place, their text.

use super::json::Text;
use super::lexer::{Expected, Raw};
use super::number;
use super::place::Place;
use crate::schema::{Array, BODY, Kind};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

/// What kind of problem an [`Issue`] is, in JavaScript a string such as `invalid_type`. The list is
/// closed: a translation by code is complete. A code without a message here has one that names the
/// limit or the type, see [`Issue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Code {
    /// The value is of another JSON type, `null` included.
    InvalidType,
    /// A required member is absent.
    #[strum(message = "is required")]
    Required,
    /// The member is not in the contract.
    #[strum(message = "is not a member of the contract")]
    UnknownMember,
    /// The member appears twice in one object.
    #[strum(message = "must appear only once in its object")]
    DuplicateMember,
    /// The array has fewer items than it must have.
    TooFewItems,
    /// The array has more items than it may have.
    TooManyItems,
    /// The number is 0 or less.
    #[strum(message = "must be greater than 0")]
    NotPositive,
    /// The number is `NaN`, infinite, or beyond what an IEEE 754 double holds.
    #[strum(message = "must be a finite number, at most about 1.8e308")]
    NotFinite,
    /// The string is not one of those allowed.
    NotAllowed,
    /// The string is not an RFC 5321 mailbox.
    #[strum(message = "must be an e-mail address such as `ada@example.org`")]
    InvalidEmail,
    /// The string is not an RFC 3986 URI with a scheme.
    #[strum(message = "must be a URI with a scheme such as `https://example.org/`")]
    InvalidUri,
    /// The string is not an RFC 3339 date-time.
    #[strum(message = "must be an RFC 3339 date-time such as `2026-01-31T12:00:00Z`")]
    InvalidDateTime,
    /// The string holds half of a UTF-16 surrogate pair.
    #[strum(message = "must be Unicode text, without half of a surrogate pair")]
    LoneSurrogate,
    /// The bytes of the string are not UTF-8.
    #[strum(message = "must be UTF-8")]
    InvalidUtf8,
    /// The value nests deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[strum(message = "must not nest deeper than 64 levels")]
    TooDeep,
    /// The bytes are not JSON.
    MalformedJson,
    /// The JavaScript value could not be read, for instance because a getter threw.
    #[strum(message = "could not be read")]
    Unreadable,
    /// The pointer names no member of the request.
    #[strum(message = "is not a place in the request")]
    UnknownPointer,
    /// There are more problems than are kept. Only the package has this, and puts their number
    /// behind the message: the service's message counts the rest in words of its own.
    #[strum(message = "has more problems than these: another ")]
    MoreIssues,
}

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of the contract.
    Member(&'static str),
    /// An item of an array, counted from 0.
    Index(u32),
    /// A member that the contract does not have.
    Unknown(Cow<'a, str>),
}

/// Where in the request something is; empty for the request itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path<'a>(Vec<Step<'a>>);

impl<'a> Path<'a> {
    /// The steps from the request down.
    pub fn steps(&self) -> &[Step<'a>] {
        &self.0
    }

    fn to(place: &Place<'_>) -> Self {
        let mut steps: Vec<_> = place.outwards().filter_map(Place::step).collect();
        steps.reverse();
        Path(steps)
    }
}

/// The path as an RFC 6901 JSON Pointer, such as `/pledges/0/impact/amount`.
impl Display for Path<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(out, "/{name}"),
            Step::Index(index) => write!(out, "/{index}"),
            Step::Unknown(name) => write!(out, "/{}", name.replace('~', "~0").replace('/', "~1")),
        })
    }
}

/// The type of a value that should have been of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, VariantArray)]
#[repr(u8)]
pub enum Found {
    /// `null`
    #[strum(to_string = "null")]
    Null,
    /// `true` or `false`
    #[strum(to_string = "a boolean")]
    Boolean,
    /// A number.
    #[strum(to_string = "a number")]
    Number,
    /// A string.
    #[strum(to_string = "a string")]
    String,
    /// An array.
    #[strum(to_string = "an array")]
    Array,
    /// An object.
    #[strum(to_string = "an object")]
    Object,
    /// A JavaScript value that JSON has no word for, such as a function or a `bigint`.
    #[strum(to_string = "an unserializable value")]
    Other,
}

/// Receives the problems of a request, in the order in which the walk meets them.
pub(crate) trait Problems<'a> {
    /// Whether texts are kept or shown. The rules alone read ASCII only.
    const KEEPS_TEXTS: bool = true;
    /// Whether nothing is wrong so far; always, where the values are not kept.
    fn is_clean(&self) -> bool {
        true
    }
    /// The value here breaks a rule.
    fn issue(&mut self, place: &Place<'_>, code: Code);
    /// The value here is of another type than it must be.
    fn invalid_type(&mut self, place: &Place<'_>, found: Found);
    /// The object here has a member that it may not have.
    fn unknown_member(&mut self, place: &Place<'_>, raw: Raw<'a>, name: Text<'a, '_>);
    /// The bytes stop being JSON at this offset.
    fn malformed(&mut self, offset: usize, expected: Expected);
    /// Reports a number that is not finite and above 0. Returns any other, if values are kept.
    fn number(&mut self, place: &Place<'_>, text: &[u8]) -> Option<f64>;
}

/// What the text of an issue needs to know beyond its code.
#[derive(Clone, Copy, Debug)]
enum About {
    /// What the value must be.
    Kind(&'static Kind),
    /// What the value must be, and is.
    Type(&'static Kind, Found),
    /// What JSON's grammar allows at this byte.
    Syntax(Expected, usize),
}

/// One problem of a request: where, what, and in words.
///
/// [`Display`] gives the message alone: what must be done, lower case and without a full stop,
/// to be read after the path.
#[derive(Clone, Debug)]
pub struct Issue<'a> {
    path: Path<'a>,
    code: Code,
    about: About,
    /// The [order](Place::order) of its place.
    order: u64,
}

impl<'a> Issue<'a> {
    /// Where the problem is.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// What kind of problem it is.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl Display for Issue<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.about {
            About::Type(kind, found) => write!(out, "must be {}, not {found}", type_of(kind)),
            About::Syntax(expected, offset) => {
                write!(out, "must be JSON: {expected} expected at byte {offset}")
            }
            About::Kind(kind) => write_rule(out, self.code, kind),
        }
    }
}

fn type_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text(_) | Kind::Choice(_) => "a string",
        Kind::PositiveNumber => "a number",
        Kind::Object(_) => "an object",
        Kind::Array(_) => "an array",
        Kind::Boolean => "a boolean",
        Kind::Decimal => "a decimal",
    }
}

fn write_rule(out: &mut Formatter<'_>, code: Code, kind: &Kind) -> fmt::Result {
    let message = code.get_message().unwrap_or_default();
    match (code, kind) {
        (Code::UnknownMember, Kind::Object(object)) => {
            let names: Vec<_> = object.members.iter().map(|member| member.name).collect();
            write!(out, "{message}; allowed here: `{}`", names.join("`, `"))
        }
        (Code::NotAllowed, Kind::Choice(choices)) => {
            write!(out, "must be one of {}", list(choices))
        }
        (Code::TooFewItems, Kind::Array(array)) => {
            write!(out, "must have at least {}", items(array.min_items))
        }
        (Code::TooManyItems, Kind::Array(Array { max_items: Some(most), .. })) => {
            write!(out, "must have at most {}", items(*most))
        }
        _ => out.write_str(message),
    }
}

fn items(limit: u32) -> String {
    format!("{limit} {}", if limit == 1 { "item" } else { "items" })
}

/// Such as "`a`, `b` or `c`".
fn list(choices: &[&str]) -> String {
    match choices.split_last() {
        Some((last, others @ [_, ..])) => format!("`{}` or `{last}`", others.join("`, `")),
        _ => format!("`{}`", choices.concat()),
    }
}

/// All problems of one request, in the order of the schema.
#[derive(Debug)]
pub struct Report<'a> {
    issues: Vec<Issue<'a>>,
    limit: usize,
    count: usize,
}

impl<'a> Report<'a> {
    /// A report that keeps the first `limit` problems in the order of the schema, and counts the
    /// rest: memory stays bounded however many there are.
    pub fn keeping(limit: usize) -> Self {
        Report { issues: Vec::new(), limit, count: 0 }
    }

    /// `unknown` is the name of a member that the object of this place may not have.
    fn push(&mut self, place: &Place<'_>, unknown: Option<Cow<'a, str>>, code: Code, about: About) {
        let order = place.order(unknown.is_some());
        let mut path = Path::to(place);
        path.0.extend(unknown.map(Step::Unknown));
        self.count += 1;
        self.issues.push(Issue { path, code, about, order });
        if self.issues.len() >= self.limit.saturating_mul(2) {
            self.sort_and_truncate(); // at twice the limit: few sorts
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many problems there are, those not kept included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The problems that were kept.
    pub fn into_issues(mut self) -> Vec<Issue<'a>> {
        self.sort_and_truncate();
        self.issues
    }

    fn sort_and_truncate(&mut self) {
        self.issues.sort_by_key(|issue| issue.order);
        self.issues.truncate(self.limit);
    }
}

impl<'a> Problems<'a> for Report<'a> {
    fn is_clean(&self) -> bool {
        self.is_empty()
    }

    fn issue(&mut self, place: &Place<'_>, code: Code) {
        self.push(place, None, code, About::Kind(place.kind()));
    }

    fn invalid_type(&mut self, place: &Place<'_>, found: Found) {
        self.push(place, None, Code::InvalidType, About::Type(place.kind(), found));
    }

    fn unknown_member(&mut self, place: &Place<'_>, _: Raw<'a>, name: Text<'a, '_>) {
        let name = Some(name.into_cow());
        self.push(place, name, Code::UnknownMember, About::Kind(place.kind()));
    }

    fn malformed(&mut self, offset: usize, expected: Expected) {
        let about = About::Syntax(expected, offset);
        self.push(&Place::root(&BODY), None, Code::MalformedJson, about);
    }

    fn number(&mut self, place: &Place<'_>, text: &[u8]) -> Option<f64> {
        number::check(text, number::to_double).map_err(|code| self.issue(place, code)).ok()
    }
}

/// Most characters of a path in a summary: more than any of the contract's own.
const MAX_PATH_LENGTH: usize = 100;

/// Writes problems with their paths on one line, and how many more there are. Its length is
/// bounded, whatever names a caller makes up.
pub(crate) fn summary(issues: &[Issue<'_>], count: usize) -> String {
    let shown = issues.iter().map(|issue| match issue.path.steps() {
        [] => format!("the body {issue}"),
        _ => format!("`{}` {issue}", printable(&issue.path.to_string())),
    });
    let rest = count.saturating_sub(issues.len());
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    shown.chain(rest).collect::<Vec<_>>().join("; ")
}

/// The first characters of a path, with control characters escaped: a caller may print them.
fn printable(path: &str) -> String {
    let escaped = |char: char| match char.is_control() {
        true => char.escape_default().to_string(),
        false => char.to_string(),
    };
    let mut chars = path.chars();
    let shown: String = chars.by_ref().take(MAX_PATH_LENGTH).map(escaped).collect();
    if chars.next().is_none() { shown } else { shown + "…" }
}
