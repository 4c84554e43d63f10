//! Values as JSON (RFC 8259), without blanks.

use std::borrow::Cow;

/// What can be written as JSON.
pub trait Encode {
    /// Writes it behind what is in `out`.
    fn encode(&self, out: &mut Vec<u8>);

    /// It alone.
    fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

/// Writes an object of these members: `object!(out, "id": self.id, "charge": self.charge)`.
macro_rules! object {
    ($out:expr, $first:literal: $value:expr $(, $name:literal: $more:expr)* $(,)?) => {{
        $out.extend_from_slice(concat!("{\"", $first, "\":").as_bytes());
        $crate::json::Encode::encode(&$value, $out);
        $(
            $out.extend_from_slice(concat!(",\"", $name, "\":").as_bytes());
            $crate::json::Encode::encode(&$more, $out);
        )*
        $out.push(b'}');
    }};
}
pub(crate) use object;

impl Encode for str {
    fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.len() + 2);
        out.push(b'"');
        let mut rest = self.as_bytes();
        while let Some((plain, byte, after)) = split_at_special(rest) {
            out.extend_from_slice(plain);
            escape(byte, out);
            rest = after;
        }
        out.extend_from_slice(rest);
        out.push(b'"');
    }
}

/// What stands in front of the first byte that a string cannot have as it is, that byte, and the
/// rest.
fn split_at_special(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (words, _) = text.as_chunks::<8>();
    let plain =
        8 * words.iter().take_while(|word| !has_special(u64::from_le_bytes(**word))).count();
    let special = text.iter().skip(plain).position(|byte| is_special(*byte))?;
    let (plain, rest) = text.split_at_checked(plain + special)?;
    let (byte, rest) = rest.split_first()?;
    Some((plain, *byte, rest))
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, 0..b' ' | b'"' | b'\\')
}

/// Whether any of eight bytes is special: below 0x20, or equal to one of two. A byte's highest
/// bit, where it was not set, says so after the subtraction.
const fn has_special(word: u64) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let quote = word ^ (EACH * b'"' as u64);
    let backslash = word ^ (EACH * b'\\' as u64);
    let control = word.wrapping_sub(EACH * b' ' as u64) & !word;
    let either = quote.wrapping_sub(EACH) & !quote | backslash.wrapping_sub(EACH) & !backslash;
    (control | either) & (EACH << 7) != 0
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        b'"' | b'\\' => byte,
        _ => {
            let mut hex = [0; 2];
            let _ = base16ct::lower::encode(&[byte], &mut hex); // two digits have room
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&hex);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

impl Encode for Cow<'_, str> {
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

/// `null`
impl Encode for () {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.encode(out),
            None => ().encode(out),
        }
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut before = b'[';
        for item in self {
            out.push(before);
            item.encode(out);
            before = b',';
        }
        if self.is_empty() {
            out.push(before);
        }
        out.push(b']');
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_slice().encode(out);
    }
}
