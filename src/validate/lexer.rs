//! The tokens of JSON (RFC 8259), read off the front of bytes, without allocation.

use super::format;
use strum::{Display, VariantArray};

/// What JSON's grammar allows where the bytes are not JSON.
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

/// The rest of the input; where it stands when a token is refused is where JSON ends.
pub(crate) struct Lexer<'a> {
    rest: &'a [u8],
}

/// A string between its quotes, as it stands in the input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Raw<'a> {
    pub(crate) bytes: &'a [u8],
    has_escapes: bool,
    pub(crate) is_utf8: bool,
}

type Token<T> = Result<T, Expected>;

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Lexer { rest: bytes }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The byte behind the white space, which is not consumed; 0 at the end.
    #[inline(never)] // as all that are: 0.15 KB of what a shopper downloads
    pub(crate) fn peek(&mut self) -> u8 {
        loop {
            match self.rest {
                [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] => self.rest = rest,
                [next, ..] => return *next,
                [] => return 0,
            }
        }
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek();
        self.rest.is_empty()
    }

    /// Consumes the byte that was [peeked](Self::peek) at.
    pub(crate) fn bump(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Consumes this byte, if it is the next.
    #[inline(never)]
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        if is_next {
            self.bump();
        }
        is_next
    }

    /// Consumes this byte behind white space.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, expected: Expected) -> Token<()> {
        if self.peek() != byte {
            return Err(expected);
        }
        self.bump();
        Ok(())
    }

    /// Whether an array or object goes on: consumes a comma between items, or the closing bracket.
    #[inline]
    pub(crate) fn goes_on(&mut self, first: bool, end: u8) -> Token<bool> {
        let next = self.peek();
        let is_end = next == end;
        if first && !is_end {
            return if self.left() > 0 { Ok(true) } else { Err(Expected::ValueOrEnd) };
        }
        if !is_end && next != b',' {
            return Err(Expected::CommaOrEnd);
        }
        self.bump();
        Ok(!is_end)
    }

    /// One of the three words.
    pub(crate) fn word(&mut self) -> Token<()> {
        let rest = ["true", "null", "false"].iter().find_map(|word| {
            let (first, rest) = self.rest.split_at_checked(word.len())?;
            (first == word.as_bytes()).then_some(rest)
        });
        self.rest = rest.ok_or(Expected::Value)?;
        Ok(())
    }

    /// A string.
    pub(crate) fn string(&mut self) -> Token<Raw<'a>> {
        self.bump();
        let mut raw = Raw { bytes: self.rest, has_escapes: false, is_utf8: true };
        loop {
            self.rest = format::skip(self.rest, format::PLAIN);
            self.rest = match self.rest {
                [b'"', rest @ ..] => {
                    raw.bytes = self.since(raw.bytes);
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

    /// A number's text.
    pub(crate) fn number(&mut self) -> Token<&'a [u8]> {
        let start = self.rest;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(self.since(start))
    }

    #[inline(never)]
    fn digits(&mut self) -> Token<()> {
        let before = self.rest.len();
        self.rest = format::skip(self.rest, format::DIGIT);
        (self.rest.len() < before).then_some(()).ok_or(Expected::Digit)
    }

    /// What was consumed since the rest was `start`.
    fn since(&self, start: &'a [u8]) -> &'a [u8] {
        start.get(..start.len() - self.rest.len()).unwrap_or_default()
    }
}

fn after_escape(escape: &[u8]) -> Token<&[u8]> {
    match escape {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => Ok(rest),
        [b'u', digits @ ..] => hex4(digits).map(|(_, rest)| rest).ok_or(Expected::HexDigits),
        _ => Err(Expected::Escape),
    }
}

/// Four hexadecimal digits as a UTF-16 code unit, and what follows them.
fn hex4(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<4>()?;
    let mut unit = 0;
    for digit in digits {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - (b'a' - 10),
            b'A'..=b'F' => digit - (b'A' - 10),
            _ => return None,
        };
        unit = unit << 4 | u32::from(digit);
    }
    Some((unit, rest))
}

/// What follows a character of UTF-8 (RFC 3629).
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

impl<'a> Raw<'a> {
    /// The string's value, where it is in the input as it is.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.bytes)
    }

    /// The string's value, in `buffer`, which must be as long; `None` for half of a surrogate pair.
    /// If not `EXACT`, an escaped character beyond ASCII becomes some byte beyond ASCII.
    pub(crate) fn decode<'b, const EXACT: bool>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let mut text = self.bytes;
        let mut room = &mut *buffer;
        while let [byte, rest @ ..] = text {
            // A byte that is not escaped may be a part of a character: it goes as it is.
            (text, room) = match byte {
                b'\\' => {
                    let (char, rest) = unescape(rest)?;
                    (
                        rest,
                        if EXACT { put(char, room) } else { put_byte(char.min(0x80) as u8, room) }?,
                    )
                }
                _ => (rest, put_byte(*byte, room)?),
            };
        }
        let left = room.len();
        buffer.get(..buffer.len() - left)
    }
}

/// The code point of an escape, and what follows it; `escape` begins behind the backslash.
fn unescape(escape: &[u8]) -> Option<(u32, &[u8])> {
    let (kind, rest) = escape.split_first()?;
    let char = match kind {
        b'b' => 8,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'u' => return unescape_unit(rest),
        itself => u32::from(*itself),
    };
    Some((char, rest))
}

fn unescape_unit(digits: &[u8]) -> Option<(u32, &[u8])> {
    let (unit, rest) = hex4(digits)?;
    match (unit, rest) {
        (0xD800..0xDC00, [b'\\', b'u', digits @ ..]) => {
            let (low, rest) = hex4(digits)?;
            let low = low.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            Some((0x10000 + ((unit - 0xD800) << 10) + low, rest))
        }
        (0xD800..0xE000, _) => None,
        _ => Some((unit, rest)),
    }
}

/// Puts a character into a buffer as UTF-8, and gives the rest of the buffer.
fn put(char: u32, room: &mut [u8]) -> Option<&mut [u8]> {
    let (lead, tail) = match char {
        0..0x80 => (0, 0),
        0x80..0x800 => (0xC0, 1),
        0x800..0x10000 => (0xE0, 2),
        _ => (0xF0, 3),
    };
    let room = put_byte(lead | (char >> (6 * tail)) as u8, room)?;
    (0..tail)
        .rev()
        .try_fold(room, |room, place| put_byte(0x80 | (char >> (6 * place) & 0x3F) as u8, room))
}

fn put_byte(byte: u8, room: &mut [u8]) -> Option<&mut [u8]> {
    let (first, rest) = room.split_first_mut()?;
    *first = byte;
    Some(rest)
}
