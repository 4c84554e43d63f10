//! Tests the e-mail to a recipient against a table of expected texts. Also tests hostile texts in the e-mail.

use crate::fixtures;
use crate::timeline::{EMAIL, Updates, full, with};
use impact_pledge::buyer::recipient::{
    Colour, DARK_PAPER, LIGHT_PAPER, Language, Mail, OfferingProgress, Profile, mail,
    message_texts, news_mail,
};
use impact_pledge::buyer::updates::OfferingUpdates;
use impact_pledge::pledges::types::RetrievedPledgeTransaction;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use strum::VariantArray as _;
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
    /// The news of the e-mail, by offering.
    news: Option<Updates>,
    subject: String,
    text: Vec<String>,
}

/// Returns the e-mail with this news.
fn news_of(record: &Value, profile: Option<&Value>, news: &Updates) -> Mail {
    let bytes = record.to_string();
    let record: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&bytes).expect("the record should decode");
    let profile: Option<Profile> =
        profile.map(|profile| serde_json::from_value(profile.clone()).expect("a profile"));
    let read = |list: &Option<Vec<Value>>| {
        serde_json::from_value::<OfferingUpdates>(json!({ "updates": list })).expect("updates")
    };
    let news: Vec<_> = news.iter().map(|(id, list)| (id, read(list))).collect();
    let progress = news.iter().map(|(offering_id, OfferingUpdates { updates, .. })| {
        OfferingProgress { offering_id, updates: Some(updates) }
    });
    let progress: Vec<_> = progress.collect();
    let (profile, language) = (profile.as_ref(), Language::En);
    let url = "https://service.example/unsubscribe/ptran_1?token=0a1b";
    news_mail(&record, profile, &progress, language, url, &Zones).expect("a page's address")
}

#[test]
fn every_row_says_what_it_should() {
    for (file, File { about, rows }) in fixtures::files::<File>("mail") {
        assert!(!about.is_empty() && !rows.is_empty(), "{file}");
        for Row { name, record, profile, news, subject, text } in rows {
            let changes: Vec<_> =
                record.iter().map(|(pointer, value)| (&**pointer, value.clone())).collect();
            let (record, profile) = (with(&changes), profile.as_ref());
            let mail = match &news {
                Some(news) => news_of(&record, profile, news),
                None => mail_of(&record, profile),
            };
            assert_eq!(mail.subject, subject, "{file}: {name}");
            let paragraphs: Vec<_> = mail.text.trim_end().split("\n\n").collect();
            assert_eq!(paragraphs, text, "{file}: {name}");
            let logo = profile.and_then(|profile| profile["logo"].as_str());
            let links = if news.is_some() { 2 } else { 1 };
            check_html_with(&mail, logo.filter(|logo| !logo.contains(".SVG")), links);
        }
    }
}

/// Matches the parts of an HTML document that its readers do not see: the head, the preview text, and tags.
const UNSEEN: &str = "(?s)<head>.*?</head>|<div class=\"preheader\".*?</div>|<[^>]*>";

/// Asserts that the HTML says the same as the plain text, has one link, and loads only the `logo`. The HTML
/// must stay far below 102 KB, the size at which Gmail cuts an e-mail.
#[track_caller]
fn check_html(mail: &Mail, logo: Option<&str>) {
    check_html_with(mail, logo, 1);
}

#[track_caller]
fn check_html_with(mail: &Mail, logo: Option<&str>, links: usize) {
    assert_eq!(mail.html.matches("href=").count(), links, "links");
    let image = Regex::new("<img [^>]*src=\"([^\"]*)\"").expect("a pattern");
    let images: Vec<_> = image.captures_iter(&mail.html).map(|image| image[1].to_owned()).collect();
    let logo = logo.map(|logo| logo.replace('&', "&amp;"));
    assert_eq!(images, Vec::from_iter(logo), "the images");
    assert_eq!(mail.html.matches("src=").count(), images.len());
    for loading in ["url(", "<link", "<script", "@import", "background="] {
        assert!(!mail.html.contains(loading), "the HTML has `{loading}`");
    }
    assert!(mail.html.len() < 64 * 1024, "the HTML has {} bytes", mail.html.len());
    let shown = Regex::new(UNSEEN).expect("a pattern").replace_all(&mail.html, "\n");
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

/// The words for e-mail in the languages of the texts.
const EMAIL_WORDS: &str = "(?i)mail|correo|mejl|メール|邮件";

#[test]
fn a_message_is_the_text_of_the_email_without_the_word_email() {
    let words = Regex::new(EMAIL_WORDS).expect("a pattern");
    let bytes = full().to_string();
    let record: RetrievedPledgeTransaction<'_> = serde_json::from_str(&bytes).expect("a record");
    for language in Language::VARIANTS {
        let tag = language.tag();
        let profile = json!({ "name": "Small Hours", "language": tag, "mailText": "Thank you!" });
        let Mail { subject, text: of_mail, .. } = mail_of(&full(), Some(&profile));
        let profile: Profile = serde_json::from_value(profile).expect("a profile");
        let message = message_texts(&record, Some(&profile), &Zones).expect("a message");
        assert_eq!((message.title, message.language), (subject, *language));
        let (same, foot) = of_mail.split_once("-- \n").expect("a signature");
        let (facts, _) = foot.split_once('\n').expect("facts");
        let why = message.text.strip_prefix(&[same, facts, "\n"].concat());
        let why = why.unwrap_or_else(|| panic!("{tag}: {}", message.text));
        assert!(why.contains("Small Hours") && why.lines().count() == 1, "{tag}: {why}");
        assert!(!words.is_match(&message.text), "{tag}: {}", message.text);
    }
}

#[test]
fn a_subject_has_no_word_that_a_header_would_decode() {
    let word = "=?utf-8?Q?=0d=0aBcc:?=";
    let record = with(&[("/pledges/0/details/0/nounPlural", word.into())]);
    let subject = mail_of(&record, Some(&json!({ "name": word }))).subject;
    assert_eq!(subject, "= ?utf-8?Q?=0d=0aBcc:?= has pledged 12 = ?utf-8?Q?=0d=0aBcc:?= for you");
}

#[test]
fn lists_a_hundred_pledges_and_counts_the_rest() {
    let pledge = full()["pledges"][0].clone();
    let listed = |count: usize| {
        let mail = mail_of(&with(&[("/pledges", vec![pledge.clone(); count].into())]), None);
        check_html(&mail, None);
        let lines = mail.text.lines().filter(|line| *line == "- 12 trees · Mangroves").count();
        (mail, lines)
    };
    let (all, lines) = listed(100);
    assert_eq!((lines, all.text.contains("more.")), (100, false));
    let (mail, lines) = listed(1000);
    assert_eq!(mail.subject, "Impact Pledge has made 1,000 pledges for you");
    assert_eq!(lines, 100);
    assert!(mail.text.contains("Mangroves\nAnd 900 more.\n\n"));
}

/// Tries the longest texts, made of the characters that need the most bytes in HTML.
#[test]
fn the_longest_texts_stay_far_from_where_gmail_cuts() {
    for character in ["\"", "&", "\u{1f600}", "木"] {
        let text = |length| Value::from(character.repeat(length));
        let mut pledge = full()["pledges"][0].clone();
        for member in ["nounSingular", "nounPlural"] {
            pledge["details"][0][member] = text(80);
        }
        pledge["details"][0]["name"] = ["x", &character.repeat(79)].concat().into();
        for member in ["firstName", "name"] {
            pledge["recipient"][member] = text(80);
        }
        let record = with(&[
            ("/pledges", vec![pledge; 1000].into()),
            ("/reference", text(80)),
            ("/trigger/phrase", text(80)),
        ]);
        let logo = format!("https://shop.example/{}", "x".repeat(2_027));
        let profile = json!({ "name": text(80), "mailText": text(300), "logo": logo });
        let mail = mail_of(&record, Some(&profile));
        check_html(&mail, Some(&logo));
        assert!(mail.text.len() < 64 * 1024);
        let lines = mail.text.lines().filter(|line| line.starts_with("- ")).count();
        assert!((20..100).contains(&lines), "{character}: {lines}");
        assert!(mail.text.contains(&format!("\nAnd {} more.\n\n", 1000 - lines)));
    }
}

#[test]
fn the_preheader_is_hidden_and_not_in_the_text() {
    let mark = "<div class=\"preheader\" aria-hidden=\"true\" style=\"display:none;mso-hide:all;";
    let rows = [
        (full(), "Mangroves · placed an order · 20 November 2026"),
        (with(&[("/trigger/phrase", Value::Null)]), "Mangroves"),
        (
            with(&[
                ("/trigger/phrase", Value::Null),
                ("/pledges/0/details/0/nounPlural", Value::Null),
                ("/pledges/0/details/0/nounSingular", Value::Null),
            ]),
            "See your page",
        ),
        (
            with(&[("/pledges", vec![full()["pledges"][0].clone(); 9].into())]),
            "12 trees Mangroves, 12 trees Mangroves, 12 trees Mangroves, 12 trees Mangroves · placed an order · 20 November 2026",
        ),
        (
            with(&[("/trigger/phrase", "<b>".repeat(60).into())]),
            "Mangroves · &lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b&gt;&lt;b · 20 November 2026",
        ),
    ];
    for (record, expected) in rows {
        let mail = mail_of(&record, None);
        let (_, preheader) = mail.html.split_once(mark).expect("a preheader");
        let (preheader, _) = preheader.split_once("</div>").expect("its end");
        let (_, preheader) = preheader.split_once('>').expect("its text");
        assert_eq!(preheader.split("&#847;").next(), Some(expected));
        assert!(!mail.text.contains("12 trees Mangroves,"));
    }
}

/// Checks the contrast of each text with its background, in the light and in the dark colour scheme.
#[test]
fn every_text_is_readable_in_light_and_in_dark() {
    for accent in [None, Some("#ffee00"), Some("#000000"), Some("#a03010")] {
        let profile = json!({ "name": "N", "accent": accent });
        let html = mail_of(&full(), Some(&profile)).html;
        let colour = |before: &str| {
            let (_, colour) = html.split_once(before).unwrap_or_else(|| panic!("no {before}"));
            Colour::parse(&colour[..7]).expect("a colour")
        };
        let (paper, dark_paper) = (colour("bgcolor=\""), colour(".paper{background:"));
        assert_eq!((paper, dark_paper), (LIGHT_PAPER, DARK_PAPER));
        let pairs = [
            (
                colour(
                    "class=\"ink\" align=\"left\" style=\"font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:17px;line-height:1.55;color:",
                ),
                paper,
            ),
            (colour("line-height:1.5;color:"), paper),
            (colour("font-weight:600;color:"), paper),
            (colour("line-height:24px;color:"), colour("mso-padding-alt:0 24px;background:")),
            (colour(".ink{color:"), dark_paper),
            (colour(".soft{color:"), dark_paper),
            (colour(".leaf{color:"), dark_paper),
            (colour(".label{color:"), colour(".button{background:")),
        ];
        for (index, (text, background)) in pairs.into_iter().enumerate() {
            let contrast = text.contrast(background);
            assert!(contrast >= 4.5, "{accent:?}: pair {index}: {contrast}");
        }
    }
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
