//! The contract's text formats, as JSON Schema defines them: `email`, `uri` and `date-time`.
//!
//! All three are grammars over ASCII, so they are checked byte by byte, without allocation. A
//! function named `after_…` matches one rule at the front of its input and returns what follows it.

use crate::pledges::schema::Format;

/// Matches an RFC 5321 `Mailbox`: a dotted or quoted local part, `@`, and a domain or an address literal.
///
/// Checks only the grammar, because JSON Schema refers to the ABNF rule. The maximum lengths are not
/// checked: 64 bytes for the local part, 255 for the domain, 63 for a label. RFC 5321 section 4.5.3.1 asks
/// to avoid limits where possible. An address literal is an IPv4 address or has the tag `IPv6:`, the only
/// registered tag.
///
/// Not a mailbox: `.a@b.c`, `a..b@c.d`, `a b@c.d`, `Ann <a@b.c>`, `a@b_c`, `a@-b.c`, `a@b.c.`,
/// `a@[1.2.3.256]`, `a@[IPv6:1::2::3]`, `ü@b.c`.
#[must_use]
pub fn is_email(text: &[u8]) -> bool {
    let local_part = match text {
        [b'"', quoted @ ..] => after_quoted_string(quoted),
        dotted => after_dot_string(dotted),
    };
    match local_part {
        Some([b'@', b'[', literal @ .., b']']) => is_address_literal(literal),
        Some([b'@', domain @ ..]) => is_domain(domain),
        _ => false,
    }
}

/// Matches an RFC 3986 `URI`: a scheme, a colon, an optional authority, a path, and an optional query and fragment.
///
/// Not a URI: `/path`, `//host/path`, `1a:b`, `a_b:c`, `a:b c`, `a:%4`, `a:#b#c`, `a://b:c`, `a://[::1`, `a://b@c@d`,
/// `a:é`.
#[must_use]
pub fn is_uri(text: &[u8]) -> bool {
    match after_scheme(text) {
        Some([b'/', b'/', authority @ ..]) => after_authority(authority).is_some_and(is_uri_tail),
        Some(path) => is_uri_tail(path),
        None => false,
    }
}

/// Matches an RFC 3339 `date-time`: a date that exists, a time of day and its offset from UTC.
///
/// `T` and `Z` may be lower case. Second 60 is a leap second. It exists only at 23:59 UTC, whatever the local
/// time: `2016-12-31T15:59:60-08:00` is valid. A leap second may be on any day, because the days of future
/// leap seconds are not known.
///
/// Not a date-time: `2023-02-29T00:00:00Z`, `2024-01-01T24:00:00Z`, `2024-01-01 00:00:00Z`, `2024-01-01T00:00:00`,
/// `2024-01-01T00:00:00+24:00`, `2024-01-01T12:00:60Z`.
#[must_use]
pub fn is_date_time(text: &[u8]) -> bool {
    let Some((stamp, rest)) = text.split_first_chunk::<19>() else { return false };
    // Only the digits, in four bits each: year, month, day, hour, minute, second.
    let mut digits = 0_u64;
    for (byte, mark) in stamp.iter().zip(b"0000-00-00T00:00:00") {
        match byte {
            b'0'..=b'9' if *mark == b'0' => digits = digits << 4 | u64::from(byte & 15),
            b't' if *mark == b'T' => {}
            _ if byte == mark && *mark != b'0' => {}
            _ => return false,
        }
    }
    is_date((digits >> 24) as u32) && is_time(digits as u32 & 0xFF_FFFF, rest)
}

// ---- Ordinary texts ----------------------------------------------------------------------------

/// Regular expressions for ordinary texts, one for each format. The npm package accepts a matching text at
/// once, without calling the WebAssembly. The functions above check all other texts, and texts longer than
/// 254 characters.
///
/// A text that matches is always valid, and the expressions take linear time: each repetition ends at a
/// character that it cannot repeat. `tests/native/ordinary.rs` proves both. The expressions are ASCII and
/// anchored, in the syntax that JavaScript and `regex-lite` share. They match:
///
/// - E-mail addresses of letters, digits and `_'+-`, with at most two dots before the `@`. After the `@`,
///   there are at most four single dots and hyphens.
/// - URIs of web pages without user. The path, query and fragment may contain percent-encoded bytes.
/// - Date-times in upper case, without leap seconds and 29 February.
pub const ORDINARY: [(Format, &str); 3] = [
    (
        Format::Email,
        concat!(
            r"^[\w'+-]+(?:\.[\w'+-]+(?:\.[\w'+-]+|)|)@[A-Za-z\d]+(?:[.-][A-Za-z\d]+",
            r"(?:[.-][A-Za-z\d]+(?:[.-][A-Za-z\d]+(?:[.-][A-Za-z\d]+|)|)|)|)$",
        ),
    ),
    (
        Format::Uri,
        concat!(
            r"^https?://[\w.-]+(?::\d+|)",
            r"(?:[/?][!$&-;=?-Z_a-z~]*(?:%[A-Fa-f\d]{2}[!$&-;=?-Z_a-z~]*)*|)",
            r"(?:#[!$&-;=?-Z_a-z~]*(?:%[A-Fa-f\d]{2}[!$&-;=?-Z_a-z~]*)*|)$",
        ),
    ),
    (
        Format::DateTime,
        concat!(
            r"^\d\d\d\d-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])",
            r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)",
            r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+|)(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$",
        ),
    ),
];

// ---- Byte classes ------------------------------------------------------------------------------

const ALPHA: u8 = 1;
pub(super) const DIGIT: u8 = 1 << 1;
const HEX: u8 = 1 << 2;
/// Printable ASCII that needs no escape in a JSON string: all except quotes and backslashes.
pub(super) const PLAIN: u8 = 1 << 3;
/// RFC 5321 `atext`.
const ATEXT: u8 = 1 << 4;
/// The bytes of a scheme after its first letter.
const SCHEME: u8 = 1 << 5;
/// RFC 3986 `unreserved` and `sub-delims`: the bytes of a registered name.
const REG_NAME: u8 = 1 << 6;
/// The bytes of a path, a query or a fragment.
const TAIL: u8 = 1 << 7;

/// The classes of every byte; bytes beyond ASCII have none.
static CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut rest: &mut [u8] = &mut table;
    let mut byte = 0_u8;
    while let [first, others @ ..] = rest {
        *first = classes_of(byte);
        byte = byte.wrapping_add(1);
        rest = others;
    }
    table
};

const fn classes_of(byte: u8) -> u8 {
    let alphanumeric = byte.is_ascii_alphanumeric();
    let atext = alphanumeric || among(byte, b"!#$%&'*+-/=?^_`{|}~");
    let scheme = alphanumeric || among(byte, b"+-.");
    let reg_name = alphanumeric || among(byte, b"-._~!$&'()*+,;=");
    let tail = reg_name || among(byte, b":@/?");
    byte.is_ascii_alphabetic() as u8 * ALPHA
        + byte.is_ascii_digit() as u8 * DIGIT
        + byte.is_ascii_hexdigit() as u8 * HEX
        + matches!(byte, b' '..=b'~' if byte != b'"' && byte != b'\\') as u8 * PLAIN
        + atext as u8 * ATEXT
        + scheme as u8 * SCHEME
        + reg_name as u8 * REG_NAME
        + tail as u8 * TAIL
}

const fn among(byte: u8, bytes: &[u8]) -> bool {
    match bytes {
        [first, rest @ ..] => byte == *first || among(byte, rest),
        [] => false,
    }
}

#[inline]
fn classes(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

#[inline]
fn is(byte: u8, any: u8) -> bool {
    classes(byte) & any != 0
}

/// Skips the leading bytes of `class`, which must be a single class. Returns the rest.
#[inline(never)]
pub(super) fn skip(text: &[u8], class: u8) -> &[u8] {
    run(text, class)
}

/// Does the same as [`skip`], but is inlined for loops in which a call would be slow. For speed, it checks
/// four bytes at a time.
#[inline]
fn run(mut text: &[u8], class: u8) -> &[u8] {
    while let [a, b, c, d, rest @ ..] = text
        && classes(*a) & classes(*b) & classes(*c) & classes(*d) & class != 0
    {
        text = rest;
    }
    while let [byte, rest @ ..] = text
        && is(*byte, class)
    {
        text = rest;
    }
    text
}

/// Skips the leading bytes of `class`, at least one. Returns the rest.
#[inline]
fn after_some(text: &[u8], class: u8) -> Option<&[u8]> {
    let rest = skip(text, class);
    (rest.len() < text.len()).then_some(rest)
}

// ---- E-mail addresses --------------------------------------------------------------------------

/// Matches one or more runs of `atext` characters (RFC 5321), separated by single dots.
fn after_dot_string(mut text: &[u8]) -> Option<&[u8]> {
    let mut last = b'.';
    while let [byte, rest @ ..] = text
        && (is(*byte, ATEXT) || *byte == b'.' && last != b'.')
    {
        (last, text) = (*byte, rest);
    }
    (last != b'.').then_some(text)
}

/// Matches a quoted string. `text` begins after the opening quote.
fn after_quoted_string(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', b' '..=b'~', rest @ ..] => rest,
            [b' '..=b'[' | b']'..=b'~', rest @ ..] => rest,
            _ => return None,
        }
    }
}

/// Matches labels of letters, digits and inner hyphens, separated by single dots.
fn is_domain(text: &[u8]) -> bool {
    let mut last = b'.';
    for byte in text {
        let follows = match byte {
            b'.' => is(last, ALPHA | DIGIT),
            b'-' => last != b'.',
            _ => is(*byte, ALPHA | DIGIT),
        };
        if !follows {
            return false;
        }
        last = *byte;
    }
    is(last, ALPHA | DIGIT)
}

fn is_address_literal(text: &[u8]) -> bool {
    match text {
        [b'I' | b'i', b'P' | b'p', b'V' | b'v', b'6', b':', address @ ..] => {
            is_ipv6(address, Rfc::Smtp)
        }
        address => is_ipv4(address, Rfc::Smtp),
    }
}

// ---- IP addresses ------------------------------------------------------------------------------

/// The RFC whose rules for IP addresses apply.
#[derive(Clone, Copy, PartialEq)]
enum Rfc {
    /// RFC 3986: numbers in IPv4 have no leading zeros; `::` stands for at least one group.
    Uri,
    /// RFC 5321: numbers in IPv4 may have leading zeros, up to three digits; `::` stands for at least two
    /// groups.
    Smtp,
}

fn is_ipv6(text: &[u8], rfc: Rfc) -> bool {
    let most_beside_gap = if rfc == Rfc::Uri { 7 } else { 6 };
    let head = if let [b':', ..] = text { Some((0, text)) } else { after_groups(text, rfc) };
    match head {
        Some((head, [])) => head == 8,
        Some((head, [b':', b':'])) => head <= most_beside_gap,
        Some((head, [b':', b':', tail @ ..])) => {
            matches!(after_groups(tail, rfc), Some((tail, [])) if head + tail <= most_beside_gap)
        }
        _ => false,
    }
}

/// Counts the 16-bit groups of an IPv6 address, up to its end or to `::`. Returns the count and the rest.
///
/// An IPv4 address at the end counts as two groups.
fn after_groups(mut text: &[u8], rfc: Rfc) -> Option<(usize, &[u8])> {
    let mut count = 1;
    loop {
        let rest = skip(text, HEX);
        match (text.len() - rest.len(), rest) {
            (1..=4, [] | [b':', b':', ..]) => return Some((count, rest)),
            (1..=4, [b':', rest @ ..]) => text = rest,
            (_, [b'.', ..]) if is_ipv4(text, rfc) => return Some((count + 1, &[])),
            _ => return None,
        }
        count += 1;
    }
}

/// Matches four numbers from 0 to 255, of one to three digits each.
fn is_ipv4(text: &[u8], rfc: Rfc) -> bool {
    let (mut dots, mut digits, mut value) = (0, 0, 0);
    for byte in text {
        match byte {
            b'.' if digits > 0 => (dots, digits, value) = (dots + 1, 0, 0),
            b'0'..=b'9' if digits == 0 || value > 0 || rfc == Rfc::Smtp => {
                digits += 1;
                value = value * 10 + u32::from(byte - b'0');
            }
            _ => return false,
        }
        if digits > 3 || value > 255 || dots > 3 {
            return false;
        }
    }
    dots == 3 && digits > 0
}

// ---- URIs --------------------------------------------------------------------------------------

fn after_scheme(text: &[u8]) -> Option<&[u8]> {
    let [first, rest @ ..] = text else { return None };
    match skip(rest, SCHEME) {
        [b':', rest @ ..] if is(*first, ALPHA) => Some(rest),
        _ => None,
    }
}

fn after_authority(text: &[u8]) -> Option<&[u8]> {
    after_host_and_port(text).or_else(|| match skip_userinfo(text) {
        [b'@', rest @ ..] => after_host_and_port(rest),
        _ => None,
    })
}

/// Matches a host and an optional port. IPv4 addresses need no rule of their own, because each is also a registered
/// name.
fn after_host_and_port(text: &[u8]) -> Option<&[u8]> {
    let rest = match text {
        [b'[', literal @ ..] => after_ip_literal(literal)?,
        _ => skip_encoded(text, REG_NAME),
    };
    let rest = match rest {
        [b':', port @ ..] => skip(port, DIGIT),
        _ => rest,
    };
    matches!(rest, [] | [b'/' | b'?' | b'#', ..]).then_some(rest)
}

fn skip_userinfo(mut text: &[u8]) -> &[u8] {
    loop {
        match skip_encoded(text, REG_NAME) {
            [b':', rest @ ..] => text = rest,
            rest => return rest,
        }
    }
}

/// Matches an address in brackets. `text` begins after the opening bracket.
fn after_ip_literal(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().position(|byte| *byte == b']')?;
    let (address, [_, rest @ ..]) = text.split_at_checked(length)? else { return None };
    let known = match address {
        [b'V' | b'v', version @ ..] => is_future_ip(version),
        _ => is_ipv6(address, Rfc::Uri),
    };
    known.then_some(rest)
}

/// Matches an RFC 3986 `IPvFuture`. `text` begins after the `v`.
fn is_future_ip(text: &[u8]) -> bool {
    match after_some(text, HEX) {
        Some([b'.', address @ ..]) => {
            !address.is_empty() && address.iter().all(|byte| is(*byte, REG_NAME) || *byte == b':')
        }
        _ => false,
    }
}

/// Matches the path, query and fragment of a URI. All three allow the same bytes. There may be one `#`.
fn is_uri_tail(text: &[u8]) -> bool {
    match skip_encoded(text, TAIL) {
        [] => true,
        [b'#', fragment @ ..] => skip_encoded(fragment, TAIL).is_empty(),
        _ => false,
    }
}

/// Skips the leading bytes of `class` and percent-encoded bytes. Returns the rest.
fn skip_encoded(mut text: &[u8], class: u8) -> &[u8] {
    loop {
        text = match run(text, class) {
            [b'%', high, low, rest @ ..] if is(*high, HEX) && is(*low, HEX) => rest,
            rest => return rest,
        }
    }
}

// ---- Dates and times ---------------------------------------------------------------------------

/// Returns whether a date exists. `date` is `YYYYMMDD` with four bits for each digit.
fn is_date(date: u32) -> bool {
    let (century, year) = (date >> 24, date >> 16 & 0xFF);
    let leap = decimal(if year == 0 { century } else { year }) % 4 == 0;
    let days = match date >> 8 & 0xFF {
        0x02 => 0x28 + u32::from(leap),
        0x04 | 0x06 | 0x09 | 0x11 => 0x30,
        0x01..=0x12 => 0x31,
        _ => 0,
    };
    (1..=days).contains(&(date & 0xFF))
}

/// Returns whether a time of day exists. `time` is `hhmmss` with four bits for each digit. `rest` is the text
/// after it: the fraction of a second and the offset from UTC.
fn is_time(time: u32, rest: &[u8]) -> bool {
    let (hour, minute, second) = (time >> 16, time >> 8 & 0xFF, time & 0xFF);
    let Some(offset) = after_fraction(rest).and_then(offset_minutes) else { return false };
    // A leap second is at 23:59 UTC, of this day or of the previous day.
    let at_leap = || matches!(decimal(hour) * 60 + decimal(minute) - offset, 1439 | -1);
    hour < 0x24 && minute < 0x60 && (second < 0x60 || second == 0x60 && at_leap())
}

/// Converts two decimal digits, stored in four bits each, to a number.
fn decimal(digits: u32) -> i32 {
    ((digits >> 4) * 10 + (digits & 15)) as i32
}

fn after_fraction(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'.', digits @ ..] => after_some(digits, DIGIT),
        _ => Some(text),
    }
}

/// Returns the offset of local time from UTC in minutes: -1439 to 1439, positive if local time is ahead.
fn offset_minutes(text: &[u8]) -> Option<i32> {
    let (sign, h1, h0, m1, m0) = match text {
        [b'Z' | b'z'] => return Some(0),
        [sign @ (b'+' | b'-'), h1, h0, b':', m1, m0] => (sign, h1, h0, m1, m0),
        _ => return None,
    };
    let (hour, minute) = (two_digits(*h1, *h0)?, two_digits(*m1, *m0)?);
    let minutes = (hour < 24 && minute < 60).then_some(hour * 60 + minute)?;
    Some(if *sign == b'+' { minutes } else { -minutes })
}

fn two_digits(tens: u8, ones: u8) -> Option<i32> {
    match (tens, ones) {
        (b'0'..=b'9', b'0'..=b'9') => {
            Some(decimal(u32::from(tens & 15) << 4 | u32::from(ones & 15)))
        }
        _ => None,
    }
}
