//! Tests the e-mail to a recipient: a table of contents, and hostile texts.

use crate::fixtures;
use crate::timeline::{EMAIL, full, with};
use impact_pledge::pledge::RetrievedPledgeTransaction;
use impact_pledge::recipient::{Mail, Profile, mail};
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::service::Zones;

#[track_caller]
fn mail_of(record: &Value, profile: Option<&Value>) -> Mail {
    let bytes = record.to_string();
    let record: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&bytes).expect("the record should decode");
    let profile: Option<Profile> =
        profile.map(|profile| serde_json::from_value(profile.clone()).expect("a profile"));
    mail(&record, profile.as_ref(), &Zones).expect("the record has the address of its page")
}

/// Returns the name by which an e-mail greets a recipient with this first name.
pub fn greeted_as(name: &str) -> Option<String> {
    let recipient = json!({ "email": EMAIL, "firstName": name, "name": null });
    let mail = mail_of(&with(&[("/pledges/0/recipient", recipient)]), None);
    let (greeting, _) = mail.text.split_once(",\n").expect("a greeting");
    greeting.strip_prefix("Hello ").map(str::to_owned)
}

/// Returns the sender's name in e-mails of a unit with this name.
pub fn sender_of(name: &str) -> String {
    mail_of(&full(), Some(&json!({ "name": name }))).sender
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    record: BTreeMap<String, Value>,
    profile: Option<Value>,
    subject: String,
    text: Vec<String>,
}

#[test]
fn every_row_says_what_it_should() {
    for (file, File { about, rows }) in fixtures::files::<File>("mail") {
        assert!(!about.is_empty() && !rows.is_empty(), "{file}");
        for Row { name, record, profile, subject, text } in rows {
            let changes: Vec<_> =
                record.iter().map(|(pointer, value)| (&**pointer, value.clone())).collect();
            let mail = mail_of(&with(&changes), profile.as_ref());
            assert_eq!(mail.subject, subject, "{file}: {name}");
            let paragraphs: Vec<_> = mail.text.trim_end().split("\n\n").collect();
            assert_eq!(paragraphs, text, "{file}: {name}");
            check_html(&mail);
        }
    }
}

/// Asserts that the HTML says the same as the text, has one link, and loads nothing.
#[track_caller]
fn check_html(mail: &Mail) {
    let links: Vec<_> = mail.html.matches("href=").collect();
    assert_eq!(links.len(), 1, "one link");
    for loading in ["src=", "url(", "<img", "<link", "<script", "@import"] {
        assert!(!mail.html.contains(loading), "the HTML has `{loading}`");
    }
    let tag = Regex::new("(?s)<style>.*?</style>|<title>.*?</title>|<[^>]*>").expect("a pattern");
    let shown = tag.replace_all(&mail.html, "\n");
    let words = |text: &str| {
        let text = text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        let text = text.replace("&quot;", "\"");
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().concat()
    };
    for line in mail.text.lines().filter(|line| !line.starts_with("http") && *line != "-- ") {
        let line = words(line.trim_start_matches("- ").trim_end_matches([':', '.']));
        let line = line.replace('·', "");
        assert!(words(&shown).replace('·', "").contains(&line), "the HTML lacks `{line}`");
    }
    assert!(!mail.html.contains(EMAIL) && !mail.text.contains(EMAIL));
}

#[test]
fn a_subject_has_no_word_that_a_header_would_decode() {
    let word = "=?utf-8?Q?=0d=0aBcc:?=";
    let record = with(&[("/pledges/0/details/0/nounPlural", word.into())]);
    let subject = mail_of(&record, Some(&json!({ "name": word }))).subject;
    assert_eq!(subject, "= ?utf-8?Q?=0d=0aBcc:?= has pledged 12 = ?utf-8?Q?=0d=0aBcc:?= for you");
}

#[test]
fn lists_twenty_pledges_and_counts_the_rest() {
    let pledge = full()["pledges"][0].clone();
    let mail = mail_of(&with(&[("/pledges", vec![pledge; 1000].into())]), None);
    assert_eq!(mail.subject, "Impact Pledge has made 1,000 pledges for you");
    assert_eq!(mail.text.lines().filter(|line| *line == "- 12 trees · Mangroves").count(), 20);
    assert!(mail.text.contains("Mangroves\nAnd 980 more.\n\n"));
    check_html(&mail);
}

#[test]
fn a_record_without_an_address_of_its_page_gives_no_mail() {
    for address in [Value::Null, "javascript:alert(1)".into()] {
        let record = with(&[("/timelineUrl", address)]).to_string();
        let record: RetrievedPledgeTransaction<'_> =
            serde_json::from_str(&record).expect("the record should decode");
        assert_eq!(mail(&record, None, &Zones), None);
    }
}
