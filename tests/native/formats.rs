//! Tests the text formats against tables of examples, and against reference implementations that share no code with
//! them.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

use crate::fixtures;
use crate::ordinary::is_ordinary;
use impact_pledge::pledges::validate::format::{is_date_time, is_email, is_uri};
use impact_pledge::pledges::validate::instant::instant;
use proptest::prelude::*;
use regex_lite::Regex;
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

type Check = fn(&[u8]) -> bool;

const FORMATS: [(&str, Check); 3] =
    [("date-time", is_date_time), ("email", is_email), ("uri", is_uri)];

// ---- Rows of data ------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    format: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    value: String,
    valid: bool,
    why: String,
}

/// Returns the rows of all formats. Each format's rows are in the file with its name.
fn rows() -> impl Iterator<Item = (Check, Row)> {
    let files = fixtures::files::<Fixture>("formats");
    assert_eq!(files.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), FORMATS.map(|it| it.0));
    files.into_iter().zip(FORMATS).flat_map(|((_, file), (name, is_valid))| {
        assert_eq!(file.format, name);
        file.rows.into_iter().map(move |row| (is_valid, row))
    })
}

#[test]
fn every_row_is_checked_right_and_the_oracles_agree() {
    let mut values = BTreeSet::new();
    for (is_valid, Row { value, valid, why }) in rows() {
        assert_eq!(is_valid(value.as_bytes()), valid, "`{value}`: {why}");
        assert!(!why.is_empty(), "`{value}` has no reason");
        agree(&value);
        values.insert(value);
    }
    assert!(values.len() >= 250, "{} rows", values.len());
}

// ---- Oracles -----------------------------------------------------------------------------------

/// The grammar of RFC 5321, translated rule by rule into one regular expression.
static MAILBOX: LazyLock<Regex> = LazyLock::new(|| {
    let atom = r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+";
    let quoted = r#""(?:[ !#-\[\]-~]|\\[ -~])*""#;
    let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
    let literal = r"\[(?:[Ii][Pp][Vv]6:(?P<v6>[^\]]*)|(?P<v4>[^\]]*))\]";
    let local_part = format!(r"(?:{atom}(?:\.{atom})*|{quoted})");
    Regex::new(&format!(r"\A{local_part}@(?:{label}(?:\.{label})*|{literal})\z")).unwrap()
});

fn mailbox_oracle(text: &str) -> bool {
    let Some(parts) = MAILBOX.captures(text) else { return false };
    match (parts.name("v6"), parts.name("v4")) {
        (Some(address), _) => smtp_ipv6_oracle(address.as_str()),
        (None, Some(address)) => smtp_ipv4_oracle(address.as_str()),
        (None, None) => true,
    }
}

/// Checks an IPv4 address by the rule `Snum` of RFC 5321: at most three digits, including leading zeros.
fn smtp_ipv4_oracle(text: &str) -> bool {
    let octets: Vec<_> = text.split('.').collect();
    let is_snum = |octet: &&str| {
        (1..=3).contains(&octet.len())
            && octet.bytes().all(|byte| byte.is_ascii_digit())
            && octet.parse::<u8>().is_ok()
    };
    octets.len() == 4 && octets.iter().all(is_snum)
}

/// Checks an IPv6 address by RFC 5321. Uses std's parser, which follows RFC 3986, and handles two differences.
/// In RFC 5321, IPv4 parts may have leading zeros, and `::` must stand for at least two groups.
fn smtp_ipv6_oracle(text: &str) -> bool {
    let (groups, ipv4) = match text.rsplit_once(':') {
        Some((groups, ipv4)) if ipv4.contains('.') => (groups, ipv4),
        _ => (text, ""),
    };
    if ipv4.is_empty() {
        return text.parse::<Ipv6Addr>().is_ok() && gap_is_wide(text, 6);
    }
    let plain = format!("{groups}:192.0.2.1");
    smtp_ipv4_oracle(ipv4) && plain.parse::<Ipv6Addr>().is_ok() && gap_is_wide(groups, 4)
}

fn gap_is_wide(text: &str, most_groups: usize) -> bool {
    !text.contains("::") && !text.ends_with(':')
        || text.split(':').filter(|group| !group.is_empty()).count() <= most_groups
}

fn uri_oracle(text: &str) -> bool {
    fluent_uri::Uri::parse(text).is_ok()
}

/// Parses a date-time with the crate `time`. This crate accepts any byte in place of `T`. It accepts a leap second
/// only at the end of a month.
fn date_time_oracle(text: &str) -> Option<bool> {
    let known = OffsetDateTime::parse(text, &Rfc3339).is_ok();
    let bytes = text.as_bytes();
    match (known, bytes.get(10), bytes.get(17..19)) {
        (true, Some(b'T' | b't'), _) => Some(true),
        (false, _, Some(b"60")) => None,
        _ => Some(false),
    }
}

#[track_caller]
fn agree(text: &str) {
    assert_eq!(is_email(text.as_bytes()), mailbox_oracle(text), "email `{text}`");
    assert_eq!(is_uri(text.as_bytes()), uri_oracle(text), "uri `{text}`");
    if let Some(expected) = date_time_oracle(text) {
        assert_eq!(is_date_time(text.as_bytes()), expected, "date-time `{text}`");
        let parsed = OffsetDateTime::parse(text, &Rfc3339).ok().filter(|_| expected);
        assert_eq!(instant(text), parsed.map(OffsetDateTime::unix_timestamp), "instant `{text}`");
    }
    is_ordinary(text);
}

// ---- All inputs of a small set -----------------------------------------------------------------

#[test]
fn every_byte_in_every_place_of_usual_texts() {
    let texts = [
        "ada.love-lace@shop.example",
        "\"a \\b\"@[192.168.10.1]",
        "a@[IPv6:1:22:333:4444::1.20.30.40]",
        "https://ada:pw%41@shop.example:8080/orders/1815?a=b#c",
        "a://[1:22:333:4444::1.20.30.40]:1/",
        "a://[v1.abc:d]",
        "urn:tree:o%2fk",
        "2024-05-17T09:30:00Z",
        "2024-05-17t09:30:00.25+01:00",
    ];
    for (text, index) in texts.iter().flat_map(|text| (0..text.len()).map(move |at| (text, at))) {
        for byte in (0..=0x80).chain([0xa0, 0xff]) {
            agree(&mutate(text, index, byte, Mutation::Insert));
            agree(&mutate(text, index, byte, Mutation::Replace));
        }
        agree(&mutate(text, index, 0, Mutation::Remove));
    }
}

#[test]
fn every_octet() {
    for number in 0..=1_000 {
        for octet in [format!("{number}"), format!("{number:02}"), format!("{number:03}")] {
            agree(&format!("a@[{octet}.0.0.0]"));
            agree(&format!("a@[IPv6:::{octet}.0.0.0]"));
            agree(&format!("a://[::0.0.0.{octet}]"));
        }
    }
}

#[test]
fn every_count_of_groups_before_and_after_a_gap() {
    for (before, after) in (0..=9).flat_map(|before| (0..=9).map(move |after| (before, after))) {
        let (before, after) = (vec!["f"; before].join(":"), vec!["0"; after].join(":"));
        for gap in ["", ":", "::", ":::"] {
            for end in ["", ":", "1.2.3.4", ":1.2.3.4", ":1.2.3.4:", ":1.2.3.4:5", "::"] {
                let address = format!("{before}{gap}{after}{end}");
                agree(&format!("a@[IPv6:{address}]"));
                agree(&format!("a://[{address}]"));
            }
        }
    }
}

#[test]
fn every_day_and_every_leap_day() {
    (0..=9999).for_each(|year| agree(&format!("{year:04}-02-29T12:00:00Z")));
    for year in [1900, 2000, 2023, 2024] {
        for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
            agree(&format!("{year}-{month:02}-{day:02}T12:00:00Z"));
        }
    }
}

#[test]
fn every_two_digits_of_a_time() {
    for number in 0..=99 {
        agree(&format!("2024-05-17T{number:02}:00:00Z"));
        agree(&format!("2024-05-17T00:{number:02}:00Z"));
        agree(&format!("2024-05-17T00:00:{number:02}Z"));
        agree(&format!("2024-05-17T00:00:00+{number:02}:00"));
        agree(&format!("2024-05-17T00:00:00-00:{number:02}"));
    }
}

#[test]
fn a_leap_second_belongs_to_one_minute_of_each_offset() {
    for offset in -1439..=1439_i32 {
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
        for late in [-720, -60, -2, -1, 0, 1, 2, 60, 720] {
            let local = (1439 + offset + late).rem_euclid(1440);
            let (hour, minute) = (local / 60, local % 60);
            let text = format!("2016-12-31T{hour:02}:{minute:02}:60{sign}{hours:02}:{minutes:02}");
            assert_eq!(is_date_time(text.as_bytes()), late == 0, "`{text}`");
        }
    }
}

// ---- Rows with mistakes ------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
enum Mutation {
    Insert,
    Replace,
    Remove,
}

/// The valid texts of all rows, without empty ones.
static VALID: LazyLock<Vec<String>> = LazyLock::new(|| {
    let valid = rows().filter(|(_, row)| row.valid && !row.value.is_empty());
    valid.map(|(_, row)| row.value).collect()
});

/// Inserts, replaces or removes one character.
fn mutate(text: &str, index: usize, byte: u8, mutation: Mutation) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let index = index % characters.len().max(1);
    let (removed, inserted) = match mutation {
        Mutation::Insert => (0, Some(char::from(byte))),
        Mutation::Replace => (1, Some(char::from(byte))),
        Mutation::Remove => (1, None),
    };
    characters.splice(index..(index + removed).min(characters.len()), inserted);
    characters.into_iter().collect()
}

fn mutation() -> impl Strategy<Value = Mutation> {
    proptest::sample::select(&[Mutation::Insert, Mutation::Replace, Mutation::Remove])
}

/// Generates bytes that a grammar treats in a special way, and also any other bytes.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(b"@.:-+[]%#?/\"\\ 069afTZv".as_slice()), any::<u8>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn oracles_agree_after_one_or_two_mutations(
        row in any::<prop::sample::Index>(),
        mutations in proptest::collection::vec((any::<usize>(), byte(), mutation()), 1..=2),
    ) {
        let text = row.get(&VALID).clone();
        agree(&mutations.into_iter().fold(text, |text, (index, byte, mutation)| {
            mutate(&text, index, byte, mutation)
        }));
    }

    #[test]
    fn oracles_agree_on_any_text(text in any::<String>(), ascii in "[ -~]{0,40}") {
        agree(&text);
        agree(&ascii);
    }
}
