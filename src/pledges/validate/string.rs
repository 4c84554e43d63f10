use std::borrow::Cow;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawString<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) has_escapes: bool,
    pub(crate) is_utf8: bool,
}

impl<'a> RawString<'a> {
    /// Returns the value of a string without escapes: its own bytes.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.bytes)
    }

    /// Decodes the value into `buffer`, which must have as many bytes as the raw string. Returns `None` if an
    /// escape is half of a surrogate pair.
    ///
    /// Without `EXACT`, each escaped character beyond ASCII becomes the single byte 0x80.
    pub(crate) fn decode<'b, const EXACT: bool>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let mut text = self.bytes;
        let mut room = &mut *buffer;
        while let [byte, rest @ ..] = text {
            // A byte that is not escaped may be part of a character. It is copied unchanged.
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

/// The value of a JSON string. The value of a string without escapes is a part of the input. A string with
/// escapes is decoded into a buffer. The next string with escapes overwrites this buffer.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a, 'b> {
    /// A part of the input.
    Input(&'a [u8]),
    /// The value with its escapes decoded.
    Decoded(&'b [u8]),
}

impl<'a> Text<'a, '_> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Text::Input(bytes) | Text::Decoded(bytes) => bytes,
        }
    }

    /// Converts the value to a string that outlives the buffer. The value is UTF-8, because validation has
    /// already refused any other bytes. Here, such bytes would become an empty string.
    pub fn into_cow(self) -> Cow<'a, str> {
        match self {
            Text::Input(bytes) => Cow::Borrowed(str::from_utf8(bytes).unwrap_or_default()),
            Text::Decoded(bytes) => {
                Cow::Owned(str::from_utf8(bytes).unwrap_or_default().to_owned())
            }
        }
    }
}

/// Reads four hexadecimal digits. Returns the UTF-16 code unit and the rest.
pub(super) fn hex4(text: &[u8]) -> Option<(u32, &[u8])> {
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

/// Reads an escape. `escape` begins after the backslash. Returns the code point and the rest.
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

/// Reads the digits of a `\u` escape, and the second escape of a surrogate pair. Returns the code
/// point and the rest.
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

/// Writes a character as UTF-8. Returns the rest of the buffer.
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
        .try_fold(room, |room, index| put_byte(0x80 | (char >> (6 * index) & 0x3F) as u8, room))
}

fn put_byte(byte: u8, room: &mut [u8]) -> Option<&mut [u8]> {
    let (first, rest) = room.split_first_mut()?;
    *first = byte;
    Some(rest)
}
