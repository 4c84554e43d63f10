//! Tests a unit's profile: the limits of its fields, and how the timeline shows them.

use base64ct::{Base64, Encoding as _};
use impact_pledge::buyer::recipient::{
    CONTENT_SECURITY_POLICY, Colour, DARK_PAPER, LIGHT_PAPER, Language, Page, Plural, Profile,
    Sentence, not_found_page, page, unavailable_page,
};
use impact_pledge::pledges::types::{EditKey, RetrievedPledgeTransaction, TransactionId};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use strum::VariantArray as _;
use support::memory::MemoryStore;
use support::service::{Answer, NOW_MS, TestRequest, TestService, Zones, put_transaction};

// ---- Limits ------------------------------------------------------------------------------------

#[track_caller]
fn profile(record: &Value) -> Profile {
    serde_json::from_value(record.clone()).expect("this is a profile")
}

fn whole() -> Value {
    json!({
        "name": "Nordwald",
        "logo": "https://nordwald.example/logo.svg",
        "accent": "#a03010",
        "language": "de",
        "link": "https://nordwald.example/",
    })
}

// ---- Colours -----------------------------------------------------------------------------------

/// Returns the relative luminance as WCAG defines it, with std's power function.
fn luminance(Colour(channels): Colour) -> f64 {
    let [red, green, blue] = channels.map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: Colour, two: Colour) -> f64 {
    let (one, two) = (luminance(one) + 0.05, luminance(two) + 0.05);
    (one / two).max(two / one)
}

/// Tries the 4,096 colours that can be written with three hexadecimal digits, such as `#8a4`.
#[test]
fn every_accent_is_readable_and_a_readable_one_is_unchanged() {
    for colour in 0..4_096_u32 {
        let accent = Colour([8, 4, 0].map(|shift| (colour >> shift & 15) as u8 * 17));
        check_accent(accent, LIGHT_PAPER);
        check_accent(accent, DARK_PAPER);
    }
}

#[track_caller]
fn check_accent(accent: Colour, paper: Colour) {
    let shown = accent.readable_on(paper);
    assert!(contrast(shown, paper) >= 4.5, "{accent} on {paper} is {shown}");
    assert_eq!(contrast(accent, paper) >= 4.5, shown == accent, "{accent} on {paper} is {shown}");
    if shown != accent {
        let excess = contrast(shown, paper);
        assert!(excess < 4.75, "{accent} on {paper} is mixed too much: {shown}, {excess}");
    }
}

#[test]
fn papers_are_those_of_the_style() {
    let html = not_found_page(Language::En).html;
    let papers: Vec<_> = html.split("--paper: ").skip(1).map(|rest| &rest[..7]).collect();
    assert_eq!(papers[..2], [LIGHT_PAPER.to_string(), DARK_PAPER.to_string()]);
}

// ---- Languages ---------------------------------------------------------------------------------

#[test]
fn a_long_header_is_read_as_far_as_browsers_write() {
    assert_eq!(Language::accepted(&"é".repeat(1_000_000)), Language::En);
}

/// Checks that every language has every sentence, with its placeholders and all of its parts.
#[test]
fn no_language_lacks_a_sentence() {
    use impact_pledge::buyer::recipient::Sentence::*;
    for language in Language::VARIANTS {
        let sentence = |sentence: Sentence| language.text(sentence);
        for whole in [PledgedForYou, Cause, Private, Test, NotFound, Unavailable, Date] {
            assert!(!sentence(whole).is_empty(), "{language:?}: {whole:?}");
        }
        for valued in [PledgedFor, Pledges, More, SeeAt, Quantity, Reference, Cancelled] {
            assert!(sentence(valued).contains("{}"), "{language:?}: {valued:?}");
        }
        assert_eq!(sentence(MailOf).matches("{}").count(), 2, "{language:?}");
        for (whole, parts) in
            [(Since, 2), (Stages, 4), (Facts, 4), (Share, 3), (NewsForm, 4), (NewsEnded, 2)]
        {
            assert_eq!(sentence(whole).split('|').count(), parts, "{language:?}: {whole:?}");
        }
        for valued in [Totals, Zone, EarlierUpdates] {
            assert_eq!(sentence(valued).matches("{}").count(), 1, "{language:?}: {valued:?}");
        }
        assert_eq!(sentence(NewsSubject).matches("{}").count(), 1, "{language:?}");
        for whole in [SinceNote, NoUpdates, UpdatesUnavailable, Certificate, NewsWhy] {
            assert!(!sentence(whole).is_empty(), "{language:?}: {whole:?}");
        }
        check_statements(*language);
        assert_eq!(sentence(Months).split(' ').count(), 12, "{language:?}");
        let html = unavailable_page(*language).html;
        assert!(html.contains("<a href=\"\">") && !html.contains("<a href=\"\"></a>"));
        assert_eq!(not_found_page(*language).html.matches("<p>").count(), 2);
        assert!(!not_found_page(*language).html.contains("<p></p>"));
    }
}

/// Checks all forms of the sentence that names the shop. The forms come in pairs, and the second form of each
/// pair also names the recipient. There is a pair for a quantity, a pair for one pledge, and a pair for each
/// plural.
fn check_statements(language: Language) {
    let forms: Vec<_> = language.text(Sentence::ShopPledged).split('|').collect();
    let has_few = (2..10).any(|count| language.plural(f64::from(count)) == Plural::Few);
    assert_eq!(forms.len(), if has_few { 8 } else { 6 }, "{language:?}");
    for (index, form) in forms.iter().enumerate() {
        let value = ["quantity", "", "count", "count"][index / 2];
        for name in ["shop", "quantity", "count", "name"] {
            let is_there = name == "shop" || name == value || (name == "name" && index % 2 == 1);
            let count = form.matches(&format!("{{{name}}}")).count();
            assert_eq!(count, usize::from(is_there), "{language:?}: {form}: {name}");
        }
    }
    let shared = language.text(Sentence::Share).split('|').nth(2).unwrap_or_default();
    assert!(shared.contains("{shop}") && shared.contains("{quantity}"), "{language:?}: {shared}");
}

// ---- The page ----------------------------------------------------------------------------------

fn record() -> Value {
    json!({
        "createdAt": "2026-11-21T01:02:03Z",
        "reference": "order-10442",
        "isLive": true,
        "charge": {"amount": "6.00", "currencyCode": "EUR", "paidAt": null},
        "trigger": {"date": null, "phrase": null, "externalUrl": null},
        "pledges": [{
            "id": "p_1",
            "impact": {"amount": 1234.5, "offeringId": "tree"},
            "details": [{"nounSingular": "Baum", "nounPlural": "Bäume"}],
            "recipient": {"email": "mara@buyer.example", "firstName": "Mara"},
        }],
        "notifications": [],
    })
}

#[track_caller]
fn page_with(profile: &Profile, asked: Language) -> Page {
    let bytes = record().to_string();
    let record: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&bytes).expect("the record should decode");
    page(&record, Some(profile), &[], asked, &Zones, None)
}

/// Returns the text between the first occurrence of `start` and the next occurrence of `end`.
#[track_caller]
fn between<'h>(html: &'h str, start: &str, end: &str) -> &'h str {
    let (_, rest) = html.split_once(start).unwrap_or_else(|| panic!("no `{start}` in {html}"));
    rest.split_once(end).expect("it ends").0
}

#[test]
fn a_shop_is_named_and_we_stand_below() {
    let html = page_with(&profile(&whole()), Language::En).html;
    assert_eq!(
        between(&html, "<header>", "</header>"),
        "<a class=\"shop\" href=\"https://nordwald.example/\" rel=\"noopener noreferrer nofollow\">\
         <img class=\"logo\" src=\"https://nordwald.example/logo.svg\" alt=\"Nordwald\"></a>\
         <span class=\"shop paper\">\
         <img class=\"logo\" src=\"https://nordwald.example/logo.svg\" alt=\"Nordwald\"></span>"
    );
    assert!(between(&html, "<footer>", "</footer>").ends_with("Impact Pledge</p>"));
    assert_eq!(
        between(&html, "<title>", "</title>"),
        "Nordwald hat 1.234,5 Bäume für Mara zugesagt"
    );
    for text in ["<html lang=\"de\">", "21. November 2026", "1.234,5", "Bäume"] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn members_that_are_missing_leave_no_trace() {
    let html = page_with(&profile(&json!({ "name": "N" })), Language::Fr).html;
    let header = between(&html, "<header>", "</header>");
    assert_eq!(header, "<span class=\"shop\"><bdi>N</bdi></span>");
    assert!(html.contains("<html lang=\"fr\">") && !html.contains("<img"));
    assert_eq!(html.matches("<style>").count(), 1);
}

#[test]
fn the_accent_is_a_style_that_the_policy_names() {
    let Page { html, policy } = page_with(&profile(&whole()), Language::En);
    let styles: Vec<_> =
        html.split("<style>").skip(1).filter_map(|rest| rest.split("</style>").next()).collect();
    let [style, accent] = styles.as_slice() else { panic!("two styles") };
    assert_eq!(
        *accent,
        "@media screen{:root{--leaf:#a03010}}\
         @media screen and (prefers-color-scheme:dark){:root{--leaf:#ba6850}}"
    );
    let hash = |text: &str| format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(text)));
    let sources = format!("style-src {} {};", hash(style), hash(accent));
    assert!(policy.contains(&sources), "{policy}");
    assert_eq!(policy.replace(&format!(" {};", hash(accent)), ";"), CONTENT_SECURITY_POLICY);
    let answer = visit(&service_with(whole().to_string().as_bytes()), "");
    assert_eq!(answer.headers["vary"], "Accept-Language");
    assert_eq!(answer.headers["content-security-policy"], *policy);
}

#[test]
fn hostile_names_are_text() {
    let page_of = |name: &str, logo: Value| {
        let mut record = whole();
        (record["name"], record["logo"]) = (name.into(), logo);
        page_with(&profile(&record), Language::En).html
    };
    for name in ["</style><script>x</script>", "\" onload=\"x", "'>\"<img src=x>", "&lt;b&#62;"] {
        for logo in [whole()["logo"].clone(), Value::Null] {
            let marks = |html: String| ['<', '>', '"'].map(|mark| html.matches(mark).count());
            assert_eq!(marks(page_of(name, logo.clone())), marks(page_of("N", logo)), "{name}");
        }
    }
}

// ---- The service -------------------------------------------------------------------------------

/// Returns a service with one transaction of the unit `unit`, which has no profile.
fn service_without_profile() -> TestService<MemoryStore> {
    let service = TestService::new(MemoryStore::default(), "");
    put_transaction(&*service.store, record().to_string().as_bytes());
    service
}

fn service_with(profile: &[u8]) -> TestService<MemoryStore> {
    let service = service_without_profile();
    set_profile(&service, profile);
    service
}

fn set_profile(service: &TestService<MemoryStore>, record: &[u8]) {
    service.store.keep("profile:unit", record, b"null");
}

fn visit(service: &TestService<MemoryStore>, language: &str) -> Answer {
    open(service, &EditKey::from_bytes([2; 20]), language)
}

fn open(service: &TestService<MemoryStore>, key: &EditKey, language: &str) -> Answer {
    let id = TransactionId::from_bytes([1; 26]);
    let request = TestRequest::new("GET", &format!("/timeline/{id}?edit_key={key}"), "");
    service.send(&request.with_header("accept-language", language))
}

/// Returns the kinds of the records that were read since the last call.
fn reads(service: &TestService<MemoryStore>) -> Vec<String> {
    let kind = |name: String| name.split(':').next().map(str::to_owned);
    service.store.take_reads().into_iter().filter_map(kind).collect()
}

#[test]
fn a_profile_costs_one_read_in_ten_seconds_and_a_wrong_edit_key_none() {
    let service = service_without_profile();
    assert!(visit(&service, "sv").text.contains("<html lang=\"sv\">"));
    visit(&service, "sv");
    let found = ["transaction", "profile", "cancelled", "updates", "transaction", "cancelled"];
    assert_eq!(reads(&service), found, "there is none");
    let service = service_with(whole().to_string().as_bytes());
    let wrong = open(&service, &EditKey::from_bytes([3; 20]), "fr");
    assert_eq!((wrong.status, reads(&service)), (404, vec!["transaction".to_owned()]));
    assert!(wrong.text.contains("<html lang=\"fr\">") && !wrong.text.contains("Nordwald"));
    assert!(visit(&service, "").text.contains("Nordwald"));
    assert_eq!(reads(&service), ["transaction", "profile", "cancelled", "updates"]);
    assert!(visit(&service, "").text.contains("Nordwald"));
    assert_eq!(reads(&service), ["transaction", "cancelled"]);
    set_profile(&service, br#"{"name":"Nordwald & Co"}"#);
    service.clock.0.set(NOW_MS + 9_999);
    assert!(!visit(&service, "").text.contains("Co<"));
    service.clock.0.set(NOW_MS + 10_000);
    assert!(visit(&service, "").text.contains("Nordwald &amp; Co<"));
}

#[test]
fn a_damaged_profile_is_logged_and_left_out() {
    let megabyte = json!({ "name": "x".repeat(1 << 20) }).to_string();
    let rows: [&[u8]; 6] = [
        b"",
        b"{}",
        b"\xff",
        br#"{"name":"N","logo":"http://l.example/"}"#,
        "{\"name\":\"N\u{202e}\"}".as_bytes(),
        megabyte.as_bytes(),
    ];
    for damaged in rows {
        let service = service_with(damaged);
        let answer = visit(&service, "");
        assert_eq!(answer.status, 200);
        assert!(between(&answer.text, "<header>", "</header>").ends_with("Impact Pledge"));
        let log = answer.log.expect("it is logged");
        assert!(log.contains("the stored profile is damaged"), "{log}");
        assert!(log.len() < 500, "the log quotes a record");
        reads(&service);
        assert_eq!(
            (visit(&service, "").log, reads(&service)),
            (None, vec!["transaction".to_owned(), "cancelled".to_owned()])
        );
    }
}

#[test]
fn if_the_store_fails_only_the_profile_is_missing() {
    let service = service_with(whole().to_string().as_bytes());
    service.store.set_failing(Some("profile:"));
    let answer = visit(&service, "da");
    assert_eq!(answer.status, 200);
    assert!(answer.text.contains("<html lang=\"da\">") && !answer.text.contains("Nordwald"));
    let log = answer.log.expect("it is logged");
    assert!(log.contains("the store could not be read"), "{log}");
    service.store.set_failing(None);
    assert!(visit(&service, "da").text.contains("Nordwald"), "a failure is not kept");
}
