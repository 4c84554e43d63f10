//! What is wrong with a request: closed codes, paths and, in one place, their text.

use super::json::Text;
use super::lexer::{Expected, Raw};
use super::number::{Magnitude, exactly};
use super::place::Place;
use crate::schema::{Array, Kind};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter, Write};

/// What kind of problem an [`Issue`] is. The list is closed: a translation by code is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// The value is of another JSON type, `null` included.
    InvalidType,
    /// A required member is absent.
    Required,
    /// The member is not in the contract.
    UnknownMember,
    /// The member appears twice in one object.
    DuplicateMember,
    /// The array has fewer items than it must have.
    TooFewItems,
    /// The array has more items than it may have.
    TooManyItems,
    /// The number is 0 or less.
    NotPositive,
    /// The number is `NaN`, infinite, or beyond what an IEEE 754 double holds.
    NotFinite,
    /// The string is not one of those allowed.
    NotAllowed,
    /// The string is not an RFC 5321 mailbox.
    InvalidEmail,
    /// The string is not an RFC 3986 URI with a scheme.
    InvalidUri,
    /// The string is not an RFC 3339 date-time.
    InvalidDateTime,
    /// The string holds half of a UTF-16 surrogate pair.
    LoneSurrogate,
    /// The bytes of the string are not UTF-8.
    InvalidUtf8,
    /// The value nests deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// The bytes are not JSON.
    MalformedJson,
    /// The JavaScript value could not be read, for instance because a getter threw.
    Unreadable,
    /// The pointer names no member of the request.
    UnknownPointer,
    /// There are more problems than were asked for. Only the package has this: the service's
    /// message counts the rest in words of its own.
    MoreIssues,
}

impl Code {
    /// Every code, in order of declaration.
    pub const ALL: &'static [Code] = &[
        Code::InvalidType,
        Code::Required,
        Code::UnknownMember,
        Code::DuplicateMember,
        Code::TooFewItems,
        Code::TooManyItems,
        Code::NotPositive,
        Code::NotFinite,
        Code::NotAllowed,
        Code::InvalidEmail,
        Code::InvalidUri,
        Code::InvalidDateTime,
        Code::LoneSurrogate,
        Code::InvalidUtf8,
        Code::TooDeep,
        Code::MalformedJson,
        Code::Unreadable,
        Code::UnknownPointer,
        Code::MoreIssues,
    ];

    /// The code as JavaScript sees it, such as `invalid_type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::InvalidType => "invalid_type",
            Code::Required => "required",
            Code::UnknownMember => "unknown_member",
            Code::DuplicateMember => "duplicate_member",
            Code::TooFewItems => "too_few_items",
            Code::TooManyItems => "too_many_items",
            Code::NotPositive => "not_positive",
            Code::NotFinite => "not_finite",
            Code::NotAllowed => "not_allowed",
            Code::InvalidEmail => "invalid_email",
            Code::InvalidUri => "invalid_uri",
            Code::InvalidDateTime => "invalid_date_time",
            Code::LoneSurrogate => "lone_surrogate",
            Code::InvalidUtf8 => "invalid_utf8",
            Code::TooDeep => "too_deep",
            Code::MalformedJson => "malformed_json",
            Code::Unreadable => "unreadable",
            Code::UnknownPointer => "unknown_pointer",
            Code::MoreIssues => "more_issues",
        }
    }
}

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of the contract, with its place in the schema.
    Member {
        /// Index in [`Object::members`].
        index: u8,
        /// The member's name.
        name: &'static str,
    },
    /// An item of an array, counted from 0.
    Index(u32),
    /// A member that the contract does not have.
    Unknown(Cow<'a, str>),
}

impl Step<'_> {
    /// Schema order, with unknown members last in the order in which they were met.
    fn order(&self) -> (u8, u32) {
        match self {
            Step::Member { index, .. } => (0, u32::from(*index)),
            Step::Index(index) => (0, *index),
            Step::Unknown(_) => (1, 0),
        }
    }
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

    fn order(&self, other: &Self) -> Ordering {
        self.0.iter().map(Step::order).cmp(other.0.iter().map(Step::order))
    }
}

/// The path as an RFC 6901 JSON Pointer, such as `/pledges/0/impact/amount`.
impl Display for Path<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            out.write_char('/')?;
            match step {
                Step::Member { name, .. } => out.write_str(name)?,
                Step::Index(index) => out.write_str(itoa::Buffer::new().format(*index))?,
                Step::Unknown(name) => write_pointer_token(out, name)?,
            }
        }
        Ok(())
    }
}

fn write_pointer_token(out: &mut Formatter<'_>, name: &str) -> fmt::Result {
    name.chars().try_for_each(|char| match char {
        '~' => out.write_str("~0"),
        '/' => out.write_str("~1"),
        other => out.write_char(other),
    })
}

/// The type of a value that should have been of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Found {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// A JavaScript value that JSON has no word for, such as a function or a `bigint`.
    Other,
}

impl Found {
    /// Every type, in order of declaration.
    pub const ALL: &'static [Found] = &[
        Found::Null,
        Found::Boolean,
        Found::Number,
        Found::String,
        Found::Array,
        Found::Object,
        Found::Other,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Found::Null => "null",
            Found::Boolean => "a boolean",
            Found::Number => "a number",
            Found::String => "a string",
            Found::Array => "an array",
            Found::Object => "an object",
            Found::Other => "a value that JSON cannot carry",
        }
    }
}

/// Takes the problems of a request, in the order in which the walk meets them.
pub(crate) trait Problems<'a> {
    /// Whether texts are kept or shown. The rules alone ask only for ASCII.
    const KEEPS_TEXTS: bool = true;
    /// Whether nothing is wrong so far; always, where nobody wants the values.
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
    /// What a number's text is worth; `None` if that is put off.
    fn magnitude(&mut self, _place: &Place<'_>, text: &[u8]) -> Option<Magnitude> {
        Some(exactly(text))
    }
}

/// What the text of an issue needs to know beyond its code.
#[derive(Clone, Copy, Debug)]
enum About {
    /// What the value must be.
    Kind(&'static Kind),
    /// What the value must be, and is.
    Type(&'static Kind, Found),
    /// What JSON's grammar wants at this byte.
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
            About::Type(kind, found) => {
                write_all(out, &["must be ", type_of(kind), ", not ", found.as_str()])
            }
            About::Syntax(expected, offset) => {
                let offset = itoa::Buffer::new().format(offset).to_owned();
                write_all(
                    out,
                    &["must be JSON: ", name_of(expected), " expected at byte ", &offset],
                )
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

const fn name_of(expected: Expected) -> &'static str {
    match expected {
        Expected::Value => "a value",
        Expected::ValueOrEnd => "a value or the end of the array or object",
        Expected::CommaOrEnd => "a comma or the end of the array or object",
        Expected::Name => "a member's name in double quotes",
        Expected::Colon => "a colon",
        Expected::End => "the end of the text",
        Expected::Digit => "a digit",
        Expected::EscapedControl => "an escape instead of a control character",
        Expected::Escape => "an escape that JSON has",
        Expected::HexDigits => "four hexadecimal digits",
        Expected::ClosingQuote => "the closing quote of a string",
    }
}

fn write_rule(out: &mut Formatter<'_>, code: Code, kind: &Kind) -> fmt::Result {
    match (code, kind) {
        (Code::UnknownMember, Kind::Object(object)) => {
            out.write_str("is not a member of the contract; allowed here are ")?;
            write_list(out, object.members.iter().map(|member| member.name), "and")
        }
        (Code::NotAllowed, Kind::Choice(choices)) => {
            out.write_str("must be one of ")?;
            write_list(out, choices.iter().copied(), "or")
        }
        (Code::TooFewItems, Kind::Array(array)) => {
            write_limit(out, "must have at least ", array.min_items)
        }
        (Code::TooManyItems, Kind::Array(Array { max_items: Some(most), .. })) => {
            write_limit(out, "must have at most ", *most)
        }
        _ => out.write_str(rule(code)),
    }
}

const fn rule(code: Code) -> &'static str {
    match code {
        Code::InvalidType => "must be of another type",
        Code::Required => "is required",
        Code::UnknownMember => "is not a member of the contract",
        Code::DuplicateMember => "must appear only once in its object",
        Code::TooFewItems => "must have more items",
        Code::TooManyItems => "must have fewer items",
        Code::NotPositive => "must be greater than 0",
        Code::NotFinite => "must be a finite number, at most about 1.8e308",
        Code::NotAllowed => "must be one of the values allowed",
        Code::InvalidEmail => "must be an e-mail address such as `ada@example.org`",
        Code::InvalidUri => "must be a URI with a scheme such as `https://example.org/orders/1`",
        Code::InvalidDateTime => "must be an RFC 3339 date-time such as `2026-01-31T12:00:00Z`",
        Code::LoneSurrogate => "must be Unicode text, without half of a surrogate pair",
        Code::InvalidUtf8 => "must be UTF-8",
        Code::TooDeep => "must not nest deeper than 64 levels",
        Code::MalformedJson => "must be JSON",
        Code::Unreadable => "could not be read",
        Code::UnknownPointer => "is not a place in the request",
        Code::MoreIssues => "has more problems than these: another ", // the package says how many
    }
}

fn write_all(out: &mut Formatter<'_>, parts: &[&str]) -> fmt::Result {
    parts.iter().try_for_each(|part| out.write_str(part))
}

fn write_limit(out: &mut Formatter<'_>, start: &str, limit: u32) -> fmt::Result {
    let noun = if limit == 1 { " item" } else { " items" };
    write_all(out, &[start, itoa::Buffer::new().format(limit), noun])
}

fn write_list<'n>(
    out: &mut Formatter<'_>,
    mut names: impl ExactSizeIterator<Item = &'n str>,
    last: &str,
) -> fmt::Result {
    let count = names.len();
    names.try_fold(0, |index, name| {
        if index > 0 {
            let last_one = index + 1 == count;
            write_all(out, &if last_one { [" ", last, " "] } else { [", ", "", ""] })?;
        }
        write_all(out, &["`", name, "`"])?;
        Ok::<_, fmt::Error>(index + 1)
    })?;
    Ok(())
}

/// All problems of one request, in the order of the schema.
#[derive(Debug)]
pub struct Report<'a> {
    issues: Vec<Issue<'a>>,
    limit: usize,
    count: usize,
}

impl<'a> Report<'a> {
    /// A report that keeps every problem.
    pub fn unbounded() -> Self {
        Self::keeping(usize::MAX / 2)
    }

    /// A report that keeps the first `limit` problems in the order of the schema, and counts the
    /// rest: memory stays bounded however many there are.
    pub fn keeping(limit: usize) -> Self {
        Report { issues: Vec::new(), limit, count: 0 }
    }

    fn push(&mut self, issue: Issue<'a>) {
        self.count += 1;
        self.issues.push(issue);
        if self.issues.len() >= self.limit.saturating_mul(2) {
            self.sort_and_truncate();
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
        self.issues.sort_by(|a, b| a.path.order(&b.path));
        self.issues.truncate(self.limit);
    }
}

impl<'a> Problems<'a> for Report<'a> {
    fn is_clean(&self) -> bool {
        self.is_empty()
    }

    fn issue(&mut self, place: &Place<'_>, code: Code) {
        self.push(Issue { path: Path::to(place), code, about: About::Kind(place.kind()) });
    }

    fn invalid_type(&mut self, place: &Place<'_>, found: Found) {
        let about = About::Type(place.kind(), found);
        self.push(Issue { path: Path::to(place), code: Code::InvalidType, about });
    }

    fn unknown_member(&mut self, place: &Place<'_>, _: Raw<'a>, name: Text<'a, '_>) {
        let mut path = Path::to(place);
        path.0.push(Step::Unknown(name.into_cow()));
        self.push(Issue { path, code: Code::UnknownMember, about: About::Kind(place.kind()) });
    }

    fn malformed(&mut self, offset: usize, expected: Expected) {
        let about = About::Syntax(expected, offset);
        self.push(Issue { path: Path::default(), code: Code::MalformedJson, about });
    }
}

/// Most characters of a path in a summary: more than any of the contract's own.
const MAX_PATH_LENGTH: usize = 100;

/// Writes problems with their paths on one line, and how many more there are. Its length is
/// bounded, whatever names a caller makes up.
pub(crate) fn summary(issues: &[Issue<'_>], count: usize) -> String {
    let mut text = String::new();
    for issue in issues {
        let separator = if text.is_empty() { "" } else { "; " };
        // Writing to a String cannot fail.
        let _ = match issue.path.steps() {
            [] => write!(text, "{separator}the body {issue}"),
            _ => write!(text, "{separator}`{}` {issue}", printable(&issue.path.to_string())),
        };
    }
    match count.saturating_sub(issues.len()) {
        0 => text,
        rest => text + "; and " + itoa::Buffer::new().format(rest) + " more",
    }
}

/// The first characters of a path, with control characters escaped: a caller may print them.
fn printable(path: &str) -> String {
    let mut shown = String::new();
    for char in path.chars().take(MAX_PATH_LENGTH) {
        match char.is_control() {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    if path.chars().nth(MAX_PATH_LENGTH).is_some() {
        shown.push('…');
    }
    shown
}
