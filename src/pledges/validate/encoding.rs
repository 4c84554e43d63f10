//! Recognises bodies that cannot be JSON because they are compressed or in another encoding.

use strum::Display;

/// The encoding of a body that is not JSON in UTF-8. As text, it continues an error message after the words
/// "must be JSON in UTF-8".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
pub(super) enum Encoding {
    #[strum(to_string = " without a byte order mark")]
    ByteOrderMark,
    #[strum(to_string = ", not UTF-16")]
    Utf16,
    #[strum(to_string = ", not UTF-32")]
    Utf32,
    #[strum(to_string = ", not compressed by gzip")]
    Gzip,
    #[strum(to_string = ", not compressed by deflate")]
    Deflate,
    #[strum(to_string = ", not compressed by zstd")]
    Zstd,
    /// Other binary data, such as the output of Brotli, which has no characteristic first bytes.
    #[strum(to_string = ", not compressed or other binary data")]
    Binary,
}

impl Encoding {
    /// Recognises an encoding if the text begins with bytes that are typical of it. Text that is meant as
    /// JSON in UTF-8 never begins with such bytes, even if it has mistakes.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xEF, 0xBB, 0xBF, ..] => Some(Encoding::ByteOrderMark),
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some(Encoding::Utf32),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some(Encoding::Utf16),
            [0, 0, 0, 0, ..] => Some(Encoding::Binary),
            // Without a byte order mark. JSON begins with two ASCII characters.
            [_, 0, 0, 0, ..] | [0, 0, 0, _, ..] => Some(Encoding::Utf32),
            [_, 0, _, 0, ..] | [0, _, 0, _, ..] => Some(Encoding::Utf16),
            [0x1F, 0x8B, ..] => Some(Encoding::Gzip),
            [b'x', 0x01 | 0x5E | 0x9C | 0xDA, ..] => Some(Encoding::Deflate), // zlib's four levels
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Encoding::Zstd),
            [first, ..] => is_binary(*first).then_some(Encoding::Binary),
            [] => None,
        }
    }
}

/// Returns whether a body that begins with this byte must be binary. No text in UTF-8 begins with it.
fn is_binary(first: u8) -> bool {
    let is_control = first.is_ascii_control() && !first.is_ascii_whitespace();
    is_control || matches!(first, 0x80..=0xC1 | 0xF5..)
}
