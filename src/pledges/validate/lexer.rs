//! The tokens of JSON (RFC 8259), read without allocation.

use super::format;
use super::string::{RawString, hex4};
use strum::{Display, VariantArray};

/// What JSON's grammar expects at the byte where the input stops being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, VariantArray)]
#[repr(u8)]
pub(crate) enum Expected {
    #[strum(to_string = "a value")]
    Value,
    #[strum(to_string = "a value or the end of the array or object")]
    ValueOrEnd,
    #[strum(to_string = "a comma or the end of the array or object")]
    CommaOrEnd,
    #[strum(to_string = "a member's name in double quotes")]
    Name,
    #[strum(to_string = "a colon")]
    Colon,
    #[strum(to_string = "the end of the text")]
    End,
    #[strum(to_string = "a digit")]
    Digit,
    #[strum(to_string = "an escape instead of a control character")]
    EscapedControl,
    #[strum(to_string = "an escape that JSON has")]
    Escape,
    #[strum(to_string = "four hexadecimal digits")]
    HexDigits,
    #[strum(to_string = "the closing quote of a string")]
    ClosingQuote,
}

/// Reads tokens from the front of the input. A failed read stops at the first byte that is not JSON.
pub(crate) struct Lexer<'a> {
    rest: &'a [u8],
}

type Lexed<T> = Result<T, Expected>;

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Lexer { rest: bytes }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Skips white space. Returns the next byte without consuming it, or 0 at the end.
    #[inline(never)] // here and below: makes the wasm that browsers download 0.15 KB smaller
    pub(crate) fn peek(&mut self) -> u8 {
        loop {
            match self.rest {
                [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] => self.rest = rest,
                [next, ..] => return *next,
                [] => return 0,
            }
        }
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek();
        self.rest.is_empty()
    }

    pub(crate) fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Consumes the next byte if it is `byte`. Returns whether it was.
    #[inline(never)]
    fn consume(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Skips white space and consumes `byte`.
    ///
    /// # Errors
    /// `expected`, if another byte is next.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, expected: Expected) -> Lexed<()> {
        if self.peek() != byte {
            return Err(expected);
        }
        self.advance();
        Ok(())
    }

    /// Consumes the comma before the next item of an array or object, or the closing bracket `end`. Before
    /// the first item, no comma is expected. Returns whether there is another item.
    #[inline]
    pub(crate) fn has_next_item(&mut self, first: bool, end: u8) -> Lexed<bool> {
        let next = self.peek();
        let is_end = next == end;
        if first && !is_end {
            return if self.remaining() > 0 { Ok(true) } else { Err(Expected::ValueOrEnd) };
        }
        if !is_end && next != b',' {
            return Err(Expected::CommaOrEnd);
        }
        self.advance();
        Ok(!is_end)
    }

    /// Reads `true`, `false` or `null`.
    pub(crate) fn read_literal(&mut self) -> Lexed<()> {
        let rest = ["true", "null", "false"].iter().find_map(|word| {
            let (first, rest) = self.rest.split_at_checked(word.len())?;
            (first == word.as_bytes()).then_some(rest)
        });
        self.rest = rest.ok_or(Expected::Value)?;
        Ok(())
    }

    /// Reads a string, whose opening quote is next.
    pub(crate) fn read_string(&mut self) -> Lexed<RawString<'a>> {
        self.advance();
        let mut raw = RawString { bytes: self.rest, has_escapes: false, is_utf8: true };
        loop {
            self.rest = format::skip(self.rest, format::PLAIN);
            self.rest = match self.rest {
                [b'"', rest @ ..] => {
                    raw.bytes = self.consumed_since(raw.bytes);
                    self.rest = rest;
                    return Ok(raw);
                }
                [b'\\', rest @ ..] => {
                    raw.has_escapes = true;
                    after_escape(rest)?
                }
                [0..b' ', ..] => return Err(Expected::EscapedControl),
                [_, rest @ ..] => after_char(self.rest).unwrap_or_else(|| {
                    raw.is_utf8 = false;
                    rest
                }),
                [] => return Err(Expected::ClosingQuote),
            };
        }
    }

    /// Reads a number. Returns its text.
    pub(crate) fn read_number(&mut self) -> Lexed<&'a [u8]> {
        let start = self.rest;
        self.consume(b'-');
        if !self.consume(b'0') {
            self.read_digits()?;
        }
        if self.consume(b'.') {
            self.read_digits()?;
        }
        if self.consume(b'e') || self.consume(b'E') {
            let _sign = self.consume(b'+') || self.consume(b'-');
            self.read_digits()?;
        }
        Ok(self.consumed_since(start))
    }

    #[inline(never)]
    fn read_digits(&mut self) -> Lexed<()> {
        let before = self.rest.len();
        self.rest = format::skip(self.rest, format::DIGIT);
        (self.rest.len() < before).then_some(()).ok_or(Expected::Digit)
    }

    /// Returns the bytes consumed since an earlier position in the input. `start` is the rest of the input at
    /// that position.
    fn consumed_since(&self, start: &'a [u8]) -> &'a [u8] {
        start.get(..start.len() - self.rest.len()).unwrap_or_default()
    }
}

/// Reads an escape sequence in a string. `escape` begins after the backslash. Returns the text after the
/// sequence.
fn after_escape(escape: &[u8]) -> Lexed<&[u8]> {
    match escape {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => Ok(rest),
        [b'u', digits @ ..] => hex4(digits).map(|(_, rest)| rest).ok_or(Expected::HexDigits),
        _ => Err(Expected::Escape),
    }
}

/// Reads a UTF-8 character (RFC 3629). Returns the rest.
fn after_char(text: &[u8]) -> Option<&[u8]> {
    let (lead, rest) = text.split_first()?;
    let (count, least) = match lead {
        0..0x80 => (0, 0),
        0xC0..0xE0 => (1, 0x80),
        0xE0..0xF0 => (2, 0x800),
        0xF0..0xF8 => (3, 0x10000),
        _ => return None,
    };
    let (tail, rest) = rest.split_at_checked(count)?;
    let bits = u32::from(*lead & (0x7F >> count));
    let char = tail.iter().try_fold(bits, |bits, byte| {
        (byte & 0xC0 == 0x80).then_some(bits << 6 | u32::from(byte & 0x3F))
    })?;
    (char >= least && char::from_u32(char).is_some()).then_some(rest)
}
