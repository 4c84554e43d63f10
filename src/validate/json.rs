//! JSON bytes against the schema, in one pass that reports everything.

use super::number::{Magnitude, magnitude};
use super::report::{Code, Found, Place, Report};
use super::rules;
use crate::schema::{Array, Format, Kind, Object, REQUEST, Slot};
use hifijson::str::LexWrite as _;
use hifijson::token::{Expect, Lex};
use hifijson::{SliceLexer, escape, num};
use std::borrow::Cow;

/// How deep a value may nest; the request itself needs 4.
pub const MAX_DEPTH: u32 = 64;

/// Takes the accepted values of a request, in the order of the bytes.
pub trait Sink<'a> {
    /// The object of this slot begins.
    fn begin(&mut self, _slot: Slot) {}
    /// A string that has the format of its slot.
    fn text(&mut self, _slot: Slot, _text: Text<'a, '_>) {}
    /// The text of a positive number.
    fn number(&mut self, _slot: Slot, _text: &'a str) {}
    /// One of the strings of a choice, by its index.
    fn choice(&mut self, _slot: Slot, _index: usize) {}
}

/// Keeps nothing: for those who want the problems only.
impl Sink<'_> for () {}

/// A JSON string's value: in the input where it has no escapes, else in a buffer used again for
/// the next one.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a, 'b> {
    /// As it stands in the input.
    Input(&'a str),
    /// With its escapes decoded.
    Decoded(&'b str),
}

impl<'a> Text<'a, '_> {
    fn as_str(&self) -> &str {
        match self {
            Text::Input(text) | Text::Decoded(text) => text,
        }
    }

    /// The text, to keep.
    pub fn into_cow(self) -> Cow<'a, str> {
        match self {
            Text::Input(text) => Cow::Borrowed(text),
            Text::Decoded(text) => Cow::Owned(text.to_owned()),
        }
    }
}

/// Walks a request, giving the accepted values to `sink` and every problem to `report`.
pub fn walk<'a>(bytes: &'a [u8], sink: &mut impl Sink<'a>, report: &mut Report<'a>) {
    let mut lexer = SliceLexer::new(bytes);
    let mut walk = Walk { sink, report, decoded: String::new() };
    let root = Place::root(&REQUEST);
    let end = lexer
        .exactly_one(Lex::ws_peek, |next, lexer| walk.value(next, lexer, &root, Slot::Reference));
    if let Err(Stop::Syntax(expected)) = end {
        let offset = bytes.len() - lexer.as_slice().len();
        report.push(Place::malformed(offset, expected));
    }
}

/// Why the walk cannot go on.
enum Stop {
    /// What JSON's grammar wants at the lexer's position.
    Syntax(&'static str),
    /// Already reported.
    TooDeep,
}

impl From<Expect> for Stop {
    fn from(expect: Expect) -> Self {
        Stop::Syntax(match expect {
            Expect::Value => "a value",
            Expect::ValueOrEnd => "a value or the end of the array or object",
            Expect::CommaOrEnd => "a comma or the end of the array or object",
            Expect::String => "a member's name in double quotes",
            Expect::Colon => "a colon",
            Expect::Eof => "the end of the text",
        })
    }
}

impl From<num::Error> for Stop {
    fn from(_: num::Error) -> Self {
        Stop::Syntax("a digit")
    }
}

impl From<hifijson::str::Error> for Stop {
    fn from(error: hifijson::str::Error) -> Self {
        use hifijson::str::Error;
        Stop::Syntax(match error {
            Error::Control => "an escape instead of a control character",
            Error::Escape(escape::Error::InvalidHex(_)) => "four hexadecimal digits",
            Error::Escape(_) => "an escape that JSON has",
            Error::Eof | Error::Utf8(_) => "the closing quote of a string",
        })
    }
}

type Flow<T = ()> = Result<T, Stop>;

struct Walk<'r, 'a, S> {
    sink: &'r mut S,
    report: &'r mut Report<'a>,
    /// The last string that had escapes.
    decoded: String,
}

impl<'a, S: Sink<'a>> Walk<'_, 'a, S> {
    fn value(
        &mut self,
        next: u8,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        slot: Slot,
    ) -> Flow {
        match (place.kind(), next) {
            (Kind::Object(object), b'{') => self.object(lexer, place, object, slot),
            (Kind::Array(array), b'[') => self.array(lexer, place, array, slot),
            (Kind::Text(format), b'"') => self.text(lexer, place, format, slot),
            (Kind::Choice(choices), b'"') => self.choice(lexer, place, choices, slot),
            (Kind::PositiveNumber, b'-' | b'0'..=b'9') => self.number(lexer, place, slot),
            _ => {
                self.report.push(place.invalid_type(found(next)?));
                self.skip(next, lexer, place, 0)
            }
        }
    }

    fn object(
        &mut self,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        object: &'static Object,
        slot: Slot,
    ) -> Flow {
        self.sink.begin(slot);
        let mut seen = 0_u32;
        lexer.discarded().seq(b'}', Lex::ws_peek, |next, lexer| {
            let name = member_name(next, lexer, &mut self.decoded)?;
            let next = lexer.ws_peek().ok_or(Expect::Value)?;
            let known = match name {
                Ok(name) => rules::member(object, name.as_str())
                    .ok_or_else(|| place.unknown_member(object, name.into_cow())),
                Err(code) => Err(place.issue(code)),
            };
            match known {
                Ok((index, member)) => {
                    let place = place.member(index, member);
                    let first = seen & (1 << index) == 0;
                    seen |= 1 << index;
                    self.member(next, lexer, &place, member.slot, first)
                }
                Err(issue) => {
                    self.report.push(issue);
                    self.skip(next, lexer, place, 1)
                }
            }
        })?;
        rules::required(object, seen, place, self.report);
        Ok(())
    }

    fn member(
        &mut self,
        next: u8,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        slot: Slot,
        first: bool,
    ) -> Flow {
        if first {
            return self.value(next, lexer, place, slot);
        }
        self.report.push(place.issue(Code::DuplicateMember));
        self.skip(next, lexer, place, 0)
    }

    fn array(
        &mut self,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        array: &'static Array,
        slot: Slot,
    ) -> Flow {
        let mut count = 0_u32;
        lexer.discarded().seq(b']', Lex::ws_peek, |next, lexer| {
            let item = place.item(count, array.item);
            count = count.saturating_add(1);
            self.value(next, lexer, &item, slot)
        })?;
        rules::length(array, count, place, self.report);
        Ok(())
    }

    fn text(
        &mut self,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        format: Format,
        slot: Slot,
    ) -> Flow {
        let text = string(lexer, &mut self.decoded)?;
        match text.and_then(|text| rules::text(format, text.as_str()).map(|()| text)) {
            Ok(text) => self.sink.text(slot, text),
            Err(code) => self.report.push(place.issue(code)),
        }
        Ok(())
    }

    fn choice(
        &mut self,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        choices: &'static [&'static str],
        slot: Slot,
    ) -> Flow {
        let text = string(lexer, &mut self.decoded)?;
        match text.and_then(|text| rules::choice(choices, text.as_str())) {
            Ok(index) => self.sink.choice(slot, index),
            Err(code) => self.report.push(place.issue(code)),
        }
        Ok(())
    }

    fn number(&mut self, lexer: &mut SliceLexer<'a>, place: &Place<'_>, slot: Slot) -> Flow {
        use hifijson::num::LexWrite as _;
        let (text, _) = lexer.num_string().validated()?;
        match magnitude(text) {
            Magnitude::Positive => self.sink.number(slot, text),
            Magnitude::NotPositive => self.report.push(place.issue(Code::NotPositive)),
            Magnitude::Infinite => self.report.push(place.issue(Code::NotFinite)),
        }
        Ok(())
    }

    /// Passes over a value that is already refused.
    fn skip(
        &mut self,
        next: u8,
        lexer: &mut SliceLexer<'a>,
        place: &Place<'_>,
        depth: u32,
    ) -> Flow {
        if depth + place.depth() > MAX_DEPTH {
            self.report.push(place.issue(Code::TooDeep));
            return Err(Stop::TooDeep);
        }
        match found(next)? {
            Found::String => raw_string(lexer.discarded()).map(drop),
            Found::Number => Ok(num::Lex::num_ignore(lexer).validate().map(drop)?),
            Found::Array => lexer
                .discarded()
                .seq(b']', Lex::ws_peek, |next, lexer| self.skip(next, lexer, place, depth + 1)),
            Found::Object => lexer.discarded().seq(b'}', Lex::ws_peek, |next, lexer| {
                raw_member_name(next, lexer)?;
                let next = lexer.ws_peek().ok_or(Expect::Value)?;
                self.skip(next, lexer, place, depth + 1)
            }),
            Found::Null | Found::Boolean | Found::Other => {
                lexer.null_or_bool().map(drop).ok_or(Expect::Value.into())
            }
        }
    }
}

/// The type of the value that begins with this byte.
fn found(next: u8) -> Flow<Found> {
    Ok(match next {
        b'"' => Found::String,
        b'{' => Found::Object,
        b'[' => Found::Array,
        b'-' | b'0'..=b'9' => Found::Number,
        b't' | b'f' => Found::Boolean,
        b'n' => Found::Null,
        _ => return Err(Expect::Value.into()),
    })
}

/// A member's name and the colon behind it, as raw bytes.
fn raw_member_name<'a>(next: u8, lexer: &mut SliceLexer<'a>) -> Flow<&'a [u8]> {
    lexer.expect(|_| Some(next), b'"').ok_or(Expect::String)?;
    let raw = raw_string(lexer)?;
    lexer.expect(Lex::ws_peek, b':').ok_or(Expect::Colon)?;
    Ok(raw)
}

/// A member's name, or what is wrong with it as text; the colon behind it is read too.
fn member_name<'a, 'b>(
    next: u8,
    lexer: &mut SliceLexer<'a>,
    decoded: &'b mut String,
) -> Flow<Result<Text<'a, 'b>, Code>> {
    let start = lexer.as_slice().get(1..).unwrap_or_default();
    let raw = raw_member_name(next, lexer)?;
    Ok(decode(start, raw, decoded))
}

/// The string at the lexer, or what is wrong with it as text.
fn string<'a, 'b>(
    lexer: &mut SliceLexer<'a>,
    decoded: &'b mut String,
) -> Flow<Result<Text<'a, 'b>, Code>> {
    let start = lexer.discarded().as_slice();
    let raw = raw_string(lexer)?;
    Ok(decode(start, raw, decoded))
}

/// `start` is the input behind the opening quote, `raw` what of it is the string.
fn decode<'a, 'b>(
    start: &[u8],
    raw: &'a [u8],
    decoded: &'b mut String,
) -> Result<Text<'a, 'b>, Code> {
    let text = std::str::from_utf8(raw).map_err(|_| Code::InvalidUtf8)?;
    if !raw.contains(&b'\\') {
        return Ok(Text::Input(text));
    }
    decoded.clear();
    decode_escapes(start, decoded)?;
    Ok(Text::Decoded(decoded))
}

/// The bytes of a string up to its closing quote, escapes as they stand.
fn raw_string<'a>(lexer: &mut SliceLexer<'a>) -> Flow<&'a [u8]> {
    let mut raw: &'a [u8] = &[];
    lexer.str_bytes(&mut raw)?;
    Ok(raw)
}

/// Decodes a string that [`raw_string`] has accepted: only a lone surrogate can be wrong.
fn decode_escapes(start: &[u8], decoded: &mut String) -> Result<(), Code> {
    let mut lexer = SliceLexer::new(start);
    lexer
        .str_fold(
            decoded,
            |bytes, decoded| {
                decoded.push_str(std::str::from_utf8(bytes)?);
                Ok(())
            },
            |lexer, decoded| {
                use hifijson::Read as _;
                use hifijson::escape::Lex as _;
                let next = lexer.take_next().ok_or(NotText)?;
                decoded.push(lexer.escape(next)?);
                Ok(())
            },
        )
        .map(drop)
        .map_err(|NotText| Code::LoneSurrogate)
}

struct NotText;

impl From<hifijson::str::Error> for NotText {
    fn from(_: hifijson::str::Error) -> Self {
        NotText
    }
}

impl From<escape::Error> for NotText {
    fn from(_: escape::Error) -> Self {
        NotText
    }
}

impl From<std::str::Utf8Error> for NotText {
    fn from(_: std::str::Utf8Error) -> Self {
        NotText
    }
}
