//! JSON bytes against the schema, in one pass that reports everything.

use super::lexer::{Expected, Lexer, Raw};
use super::place::Place;
use super::report::{Code, Found, Problems};
use super::rules;
use crate::schema::{Array, Kind, Object, Slot};
use std::borrow::Cow;

/// How deep a value may nest; the request itself needs 4.
pub const MAX_DEPTH: u32 = 64;

/// Receives the accepted values, in the order of the bytes.
pub trait Sink<'a> {
    /// Whether they are an answer's. Its optional members may be null, and it has kinds of values
    /// that the request has not: a walk of the request is compiled without them.
    const IS_ANSWER: bool = false;
    /// The object of this slot begins.
    fn begin(&mut self, _slot: Slot) {}
    /// A string that has the format of its slot.
    fn text(&mut self, _slot: Slot, _text: Text<'a, '_>) {}
    /// A positive number.
    fn number(&mut self, _slot: Slot, _double: f64) {}
    /// The text of a number that an answer has in place of a decimal.
    fn decimal(&mut self, _slot: Slot, _text: &'a [u8]) {}
    /// One of the strings of a choice, by its index.
    fn choice(&mut self, _slot: Slot, _index: usize) {}
}

/// Keeps nothing: for a check alone.
impl Sink<'_> for () {}

/// A JSON string's value: in the input, or, where it has escapes, in a buffer that is used again.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a, 'b> {
    /// As it stands in the input.
    Input(&'a [u8]),
    /// With its escapes decoded.
    Decoded(&'b [u8]),
}

impl<'a> Text<'a, '_> {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Text::Input(bytes) | Text::Decoded(bytes) => bytes,
        }
    }

    /// The text, to keep. The walk gives none that is not UTF-8.
    pub fn into_cow(self) -> Cow<'a, str> {
        match self {
            Text::Input(bytes) => Cow::Borrowed(str::from_utf8(bytes).unwrap_or_default()),
            Text::Decoded(bytes) => {
                Cow::Owned(str::from_utf8(bytes).unwrap_or_default().to_owned())
            }
        }
    }
}

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// JSON as it came.
    Json,
    /// What JavaScript made of a value: JSON with the bytes of [`marker`] among its values.
    Value,
}

/// Stand for values that JSON has no word for.
pub mod marker {
    /// A function, a symbol or a `bigint`.
    pub const OTHER: u8 = 1;
    /// Reading it threw.
    pub const UNREADABLE: u8 = 2;
    /// It is more than is read; nothing follows.
    pub const GIVEN_UP: u8 = 3;
}

/// Walks a body of this kind, giving the accepted values to `sink` and every problem to `report`.
pub(crate) fn walk<'a>(
    bytes: &'a [u8],
    body: &'static Kind,
    sink: &mut impl Sink<'a>,
    report: &mut impl Problems<'a>,
) {
    let has_escapes = bytes.contains(&b'\\');
    let mut scratch = vec![0; if has_escapes { bytes.len() } else { 0 }];
    walk_with(bytes, body, Source::Json, &mut scratch, sink, report);
}

/// As [`walk`]. `scratch`, as long as the input, is for strings that have escapes.
pub(crate) fn walk_with<'a>(
    bytes: &'a [u8],
    body: &'static Kind,
    source: Source,
    scratch: &mut [u8],
    sink: &mut impl Sink<'a>,
    report: &mut impl Problems<'a>,
) {
    let mut walk = Walk { lexer: Lexer::new(bytes), source, scratch, sink, report };
    if let Err(Stop::Syntax(expected)) = walk.all(&Place::root(body)) {
        let offset = bytes.len() - walk.lexer.left();
        report.malformed(offset, expected);
    }
}

/// Why the walk cannot go on.
enum Stop {
    /// The bytes stop being JSON at the lexer's position.
    Syntax(Expected),
    /// Already reported.
    Reported,
}

impl From<Expected> for Stop {
    fn from(expected: Expected) -> Self {
        Stop::Syntax(expected)
    }
}

type Flow<T = ()> = Result<T, Stop>;

struct Walk<'r, 'a, S, P> {
    lexer: Lexer<'a>,
    source: Source,
    /// Holds the last string that had escapes.
    scratch: &'r mut [u8],
    sink: &'r mut S,
    report: &'r mut P,
}

impl<'a, S: Sink<'a>, P: Problems<'a>> Walk<'_, 'a, S, P> {
    fn all(&mut self, place: &Place<'_>) -> Flow {
        let next = self.next()?;
        self.value(next, place)?;
        if self.lexer.is_at_end() { Ok(()) } else { Err(Expected::End.into()) }
    }

    /// The byte that a value begins with.
    fn next(&mut self) -> Flow<u8> {
        match self.lexer.peek() {
            marker::OTHER..=marker::GIVEN_UP if self.source == Source::Json => {
                Err(Expected::Value.into())
            }
            next => Ok(next),
        }
    }

    fn value(&mut self, next: u8, place: &Place<'_>) -> Flow {
        match (place.kind(), next) {
            (Kind::Object(object), b'{') => self.object(place, object),
            (Kind::Array(array), b'[') => self.array(place, array),
            (Kind::Text(_) | Kind::Choice(_), b'"') => self.string(place),
            (Kind::PositiveNumber, b'-' | b'0'..=b'9') => self.number(place),
            (kind, _) if S::IS_ANSWER && is_of_answers(kind, next, place) => {
                self.answer_value(next, place)
            }
            (_, marker::UNREADABLE | marker::GIVEN_UP) => {
                self.report.issue(place, Code::Unreadable);
                self.skip(next, place, 0)
            }
            _ => {
                let found = self.found(next)?;
                self.report.invalid_type(place, found);
                self.skip(next, place, 0)
            }
        }
    }

    /// Where an accepted value of this place goes: nowhere after the first problem, as nothing
    /// comes of a request that has one.
    fn accepting(&mut self, place: &Place<'_>) -> Option<(Slot, &mut S)> {
        place.slot().filter(|_| self.report.is_clean()).map(|slot| (slot, &mut *self.sink))
    }

    /// A value that only an answer can have.
    fn answer_value(&mut self, next: u8, place: &Place<'_>) -> Flow {
        match next {
            b'"' => self.string(place),
            b'-' | b'0'..=b'9' => {
                let text = self.lexer.number()?;
                if let Some(slot) = place.slot() {
                    self.sink.decimal(slot, text);
                }
                Ok(())
            }
            _ => Ok(self.lexer.word()?),
        }
    }

    fn object(&mut self, place: &Place<'_>, object: &'static Object) -> Flow {
        if let Some((slot, sink)) = self.accepting(place) {
            sink.begin(slot);
        }
        let mut seen = 0_u32;
        self.items(b'}', |walk| walk.member(place, object, &mut seen))?;
        rules::required(object, seen, place, self.report);
        Ok(())
    }

    fn member(&mut self, place: &Place<'_>, object: &'static Object, seen: &mut u32) -> Flow {
        let raw = self.name()?;
        let next = self.next()?;
        let name = unescape::<P>(&raw, self.scratch);
        let known = name.map(|name| (name, rules::member(object, name.as_bytes())));
        match known {
            Ok((_, Some((nth, member)))) => {
                let first = *seen & (1 << nth) == 0;
                *seen |= 1 << nth;
                self.known_member(next, &place.member(nth, member), first)
            }
            Ok((name, None)) => {
                self.report.unknown_member(place, raw, name);
                self.skip(next, place, 1)
            }
            Err(code) => {
                self.report.issue(place, code);
                self.skip(next, place, 1)
            }
        }
    }

    fn known_member(&mut self, next: u8, place: &Place<'_>, first: bool) -> Flow {
        if first {
            return self.value(next, place);
        }
        self.report.issue(place, Code::DuplicateMember);
        self.skip(next, place, 0)
    }

    /// A member's name; the colon behind it is consumed, too.
    fn name(&mut self) -> Flow<Raw<'a>> {
        if self.lexer.peek() != b'"' {
            return Err(Expected::Name.into());
        }
        let raw = self.lexer.string()?;
        self.lexer.expect(b':', Expected::Colon)?;
        Ok(raw)
    }

    fn array(&mut self, place: &Place<'_>, array: &'static Array) -> Flow {
        let mut count = 0_u32;
        self.items(b']', |walk| {
            let item = place.item(count, array);
            count = count.saturating_add(1); // 4 GiB of items end before
            let next = walk.next()?;
            walk.value(next, &item)
        })?;
        rules::length(array, count, place, self.report);
        Ok(())
    }

    /// Gives each item of an array, or each member of an object, to `item`.
    fn items(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Flow) -> Flow {
        self.lexer.bump();
        let mut first = true;
        while self.lexer.goes_on(first, end)? {
            first = false;
            item(self)?;
        }
        Ok(())
    }

    fn string(&mut self, place: &Place<'_>) -> Flow {
        let raw = self.lexer.string()?;
        match unescape::<P>(&raw, self.scratch)
            .and_then(|text| Ok((text, check_string::<S>(place.kind(), text)?)))
        {
            Ok((text, index)) => {
                if self.report.is_clean()
                    && let Some(slot) = place.slot()
                {
                    match index {
                        Some(index) => self.sink.choice(slot, index),
                        None => self.sink.text(slot, text),
                    }
                }
            }
            Err(code) => self.report.issue(place, code),
        }
        Ok(())
    }

    fn number(&mut self, place: &Place<'_>) -> Flow {
        let text = self.lexer.number()?;
        if let Some(double) = self.report.number(place, text)
            && let Some((slot, sink)) = self.accepting(place)
        {
            sink.number(slot, double);
        }
        Ok(())
    }

    /// Passes over a value that is already refused.
    fn skip(&mut self, next: u8, place: &Place<'_>, depth: u32) -> Flow {
        if depth + place.depth() > MAX_DEPTH {
            self.report.issue(place, Code::TooDeep); // the stack has room for so many
            return Err(Stop::Reported);
        }
        match next {
            b'"' => self.lexer.string().map(drop)?,
            b'-' | b'0'..=b'9' => self.lexer.number().map(drop)?,
            b'{' | b'[' => self.items(next + 2 /* its closing bracket */, |walk| {
                if next == b'{' {
                    walk.name()?;
                }
                let next = walk.next()?;
                walk.skip(next, place, depth + 1)
            })?,
            marker::GIVEN_UP => return Err(Stop::Reported), // JavaScript wrote nothing behind it
            marker::OTHER | marker::UNREADABLE => self.lexer.bump(),
            _ => self.lexer.word()?,
        }
        Ok(())
    }

    /// The type of the value that begins with this byte.
    fn found(&self, next: u8) -> Flow<Found> {
        Ok(match next {
            b'"' => Found::String,
            b'{' => Found::Object,
            b'[' => Found::Array,
            b'-' | b'0'..=b'9' => Found::Number,
            b't' | b'f' => Found::Boolean,
            b'n' => Found::Null,
            marker::OTHER => Found::Other,
            _ => return Err(Expected::Value.into()),
        })
    }
}

/// Whether a value that begins with this byte is one that only an answer can have here.
fn is_of_answers(kind: &Kind, next: u8, place: &Place<'_>) -> bool {
    match (kind, next) {
        (Kind::Boolean, b't' | b'f') | (Kind::Decimal, b'"' | b'-' | b'0'..=b'9') => true,
        (_, b'n') => place.is_optional(),
        _ => false,
    }
}

/// Whether a string is what it must be; the index of a choice. Formats are the rules of requests: an
/// answer's texts are taken as they are.
fn check_string<'a, S: Sink<'a>>(kind: &Kind, text: Text<'_, '_>) -> Result<Option<usize>, Code> {
    match kind {
        Kind::Choice(choices) => rules::choice(choices, text.as_bytes()).map(Some),
        Kind::Text(format) if !S::IS_ANSWER => rules::text(*format, text.as_bytes()).map(|()| None),
        _ => Ok(None),
    }
}

/// The value of a string, or what is wrong with it as text.
#[inline(never)]
fn unescape<'a, 'b, P: Problems<'a>>(
    raw: &Raw<'a>,
    scratch: &'b mut [u8],
) -> Result<Text<'a, 'b>, Code> {
    let decoded = match raw.plain() {
        _ if !raw.is_utf8 => return Err(Code::InvalidUtf8), // whatever its escapes are
        Some(bytes) => return Ok(Text::Input(bytes)),
        None if P::KEEPS_TEXTS => raw.decode::<true>(scratch),
        None => raw.decode::<false>(scratch),
    };
    decoded.map(Text::Decoded).ok_or(Code::LoneSurrogate)
}
