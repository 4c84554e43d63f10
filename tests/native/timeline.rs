//! Tests the recipient's timeline page by parsing it as a browser does.

use crate::fixtures;
use base64ct::{Base64, Encoding as _};
use fuzz_targets::page::check_page;
use impact_pledge::buyer::recipient::{
    CONTENT_SECURITY_POLICY, Language, NewsForm, OfferingProgress, Profile, not_found_page, page,
    unavailable_page,
};
use impact_pledge::buyer::updates::OfferingUpdates;
use impact_pledge::pledges::http::Media;
use impact_pledge::pledges::types::{EditKey, RetrievedPledgeTransaction, TransactionId};
use proptest::prelude::*;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use support::memory::MemoryStore;
use support::service::{Answer, TestRequest, TestService, Zones, put_transaction};

// ---- Records and pages -------------------------------------------------------------------------

pub const EMAIL: &str = "mara@buyer.example";

/// A record with every member.
pub fn full() -> Value {
    json!({
        "createdAt": "2026-11-21T01:02:03Z",
        "reference": "order-10442",
        "isLive": true,
        "charge": {"amount": "6.00", "currencyCode": "EUR", "paidAt": null},
        "trigger": {
            "date": "2026-11-20T18:22:00+01:00",
            "phrase": "placed an order",
            "externalUrl": "https://shop.example/orders/10442",
        },
        "pledges": [{
            "id": "p_1",
            "impact": {"amount": 12, "offeringId": "tree-offering"},
            "details": [{
                "name": "Mangroves",
                "description": "Planted along the channels.",
                "nounSingular": "tree",
                "nounPlural": "trees",
                "image": "https://images.example/mangrove.jpg",
                "externalId": "item-1",
                "externalUrl": "https://forest.example/mangroves",
            }],
            "recipient": {"email": EMAIL, "firstName": "Mara", "name": "Mara Lind"},
        }],
        "notifications": [],
        "timelineUrl": "https://service.example/timeline/ptran_1?edit_key=secret",
    })
}

/// Returns a record that has every member. `changes` replaces members: each is a JSON pointer and the new value.
pub fn with(changes: &[(&str, Value)]) -> Value {
    let mut record = full();
    for (pointer, value) in changes {
        *record.pointer_mut(pointer).expect("the record has this member") = value.clone();
    }
    record
}

#[track_caller]
fn page_of(record: &Value) -> String {
    page_with(record, None)
}

#[track_caller]
fn page_with(record: &Value, profile: Option<&Value>) -> String {
    page_with_updates(record, profile, &Updates::new())
}

/// Updates by offering; `None` if they could not be read.
pub type Updates = BTreeMap<String, Option<Vec<Value>>>;

/// Returns the timeline page of a record with these updates. Deserializes the updates as the service does.
#[track_caller]
pub fn page_with_updates(record: &Value, profile: Option<&Value>, updates: &Updates) -> String {
    page_with_news(record, profile, updates, None)
}

/// Returns the page with the form with which the buyer asks for e-mails with news.
#[track_caller]
fn page_with_news(
    record: &Value,
    profile: Option<&Value>,
    updates: &Updates,
    news: Option<NewsForm<'_>>,
) -> String {
    let read = |list: &Vec<Value>| {
        let record = json!({ "updates": list });
        serde_json::from_value::<OfferingUpdates>(record).expect("a record of updates").updates
    };
    let read: BTreeMap<_, _> =
        updates.iter().map(|(id, list)| (id, list.as_ref().map(read))).collect();
    let progress = read
        .iter()
        .map(|(id, updates)| OfferingProgress { offering_id: id, updates: updates.as_deref() });
    let progress: Vec<_> = progress.collect();
    let bytes = record.to_string();
    let record: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&bytes).expect("the record should decode");
    let profile: Option<Profile> =
        profile.map(|profile| serde_json::from_value(profile.clone()).expect("a profile"));
    page(&record, profile.as_ref(), &progress, Language::En, &Zones, news).html
}

fn not_found() -> String {
    not_found_page(Language::En).html
}

fn unavailable() -> String {
    unavailable_page(Language::En).html
}

/// Returns the texts of all elements with this tag, decoded.
pub fn texts(html: &str, tag: &str) -> Vec<String> {
    let element = Regex::new(&format!("(?s)<{tag}(?: [^>]*)?>(.*?)</{tag}>")).expect("a pattern");
    element.captures_iter(html).map(|found| unescape(&TAG.replace_all(&found[1], ""))).collect()
}

/// Returns the values of all attributes with this name.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let pattern = Regex::new(&format!(" {attribute}=\"([^\"]*)\"")).expect("a pattern");
    pattern.captures_iter(html).map(|found| unescape(&found[1])).collect()
}

/// Returns all tags with the names of their attributes, in order.
pub fn skeleton(html: &str) -> Vec<String> {
    let sized = [" class=\"long\"", " class=\"medium\""];
    let bare = |tag: &str| sized.iter().fold(tag.to_owned(), |tag, class| tag.replace(class, ""));
    TAG.find_iter(html).map(|tag| VALUE.replace_all(&bare(tag.as_str()), "").into_owned()).collect()
}

/// Decodes the entities of HTML.
fn unescape(html: &str) -> String {
    html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new("<[^>]*>").expect("a pattern"));
static VALUE: LazyLock<Regex> = LazyLock::new(|| Regex::new("=\"[^\"]*\"").expect("a pattern"));

fn every_page() -> [String; 3] {
    [page_of(&full()), not_found(), unavailable()]
}

// ---- Content -----------------------------------------------------------------------------------

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
    profile: Option<Value>,
    #[serde(default)]
    updates: Updates,
    record: BTreeMap<String, Value>,
    /// Whether the buyer gets e-mails with news; absent if the page has no form for them.
    news: Option<bool>,
    shows: BTreeMap<String, Vec<String>>,
}

#[test]
fn every_row_has_its_content() {
    let mut wrong = Vec::new();
    for (file, File { about, rows }) in fixtures::files::<File>("timeline") {
        assert!(!about.is_empty() && !rows.is_empty(), "{file}");
        for Row { name, profile, updates, record, news, shows } in rows {
            let changes: Vec<_> =
                record.iter().map(|(pointer, value)| (&**pointer, value.clone())).collect();
            let news = news.map(|is_on| NewsForm { is_on, edit_key: "0a1b" });
            let html = page_with_news(&with(&changes), profile.as_ref(), &updates, news);
            for (what, expected) in shows {
                let mut seen = match what.strip_prefix('@') {
                    Some(attribute) => values(&html, attribute),
                    None => texts(&html, &what),
                };
                if what == "@href" {
                    seen.remove(0); // the page's own icon
                }
                if seen != expected {
                    wrong.push(format!("{file}: {name}: {what}: {seen:?} is not {expected:?}"));
                }
            }
            assert!(!html.to_lowercase().contains(EMAIL), "{file}: {name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Links on the page send no referrer, and images do not delay the page.
#[test]
fn guards_its_links_and_images() {
    let html = page_of(&full());
    let tags = |name: &str| tags_of(&html, name);
    for link in tags("<a ") {
        assert!(link.contains(" rel=\"noopener noreferrer nofollow\""), "{link}");
    }
    for image in tags("<img ") {
        for attribute in [" width=\"", " height=\"", " decoding=\"async\"", " alt=\""] {
            assert!(image.contains(attribute), "`{image}` lacks{attribute}");
        }
    }
    assert_eq!((tags("<a ").len(), tags("<img ").len()), (2, 1));
    let pledge = full()["pledges"][0].clone();
    let named = |name| {
        let mut pledge = pledge.clone();
        pledge["details"][0]["name"] = json!(name);
        pledge
    };
    let pledges = ["a", "b", "c"].map(named);
    let images = tags_of(&page_of(&with(&[("/pledges", json!(pledges))])), "<img ");
    let is = |part: &str| Vec::from_iter(images.iter().map(|image| image.contains(part)));
    assert_eq!(is(" width=\"640\" height=\"360\""), [true, false, false], "the first is large");
    assert_eq!(is(" loading=\"lazy\""), [false, true, true]);
}

fn tags_of(html: &str, name: &str) -> Vec<String> {
    let tags = TAG.find_iter(html).map(|tag| tag.as_str().to_owned());
    tags.filter(|tag| tag.starts_with(name)).collect()
}

#[test]
fn keeps_what_is_not_the_recipients() {
    let html = page_of(&full());
    for secret in [EMAIL, "secret", "timeline/", "6.00", "EUR", "item-1", "p_1", "tree-offering"] {
        assert!(!html.contains(secret), "the page shows `{secret}`");
    }
}

#[test]
fn counts_pledges() {
    let pledge = full()["pledges"][0].clone();
    for (count, heading) in [(2, "2 pledges were made"), (1000, "1,000 pledges were made")] {
        let html = page_of(&with(&[("/pledges", vec![pledge.clone(); count].into())]));
        assert_eq!(texts(&html, "h2")[1], heading);
        assert_eq!(texts(&html, "h3").len(), 1, "they say the same");
    }
}

// ---- Hostile records ---------------------------------------------------------------------------

/// The members that hold a text chosen by the caller.
const TEXTS: [&str; 9] = [
    "/reference",
    "/trigger/phrase",
    "/pledges/0/impact/offeringId",
    "/pledges/0/details/0/name",
    "/pledges/0/details/0/description",
    "/pledges/0/details/0/nounSingular",
    "/pledges/0/details/0/nounPlural",
    "/pledges/0/recipient/firstName",
    "/pledges/0/recipient/name",
];

static TAME: LazyLock<Vec<String>> = LazyLock::new(|| skeleton(&page_of(&full())));

pub const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "</style><style>*{display:none}",
    "\"><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "<!--",
    "]]>&lt;script&gt;&#60;b&#62;",
    "\u{202e}\u{2066}txt.\u{0}\u{7f}\u{feff}",
];

#[test]
fn shows_hostile_text_as_text() {
    for hostile in HOSTILE {
        for pointer in TEXTS {
            let html = page_of(&with(&[(pointer, hostile.into())]));
            assert_eq!(skeleton(&html), *TAME, "`{hostile}` at {pointer} changes the page");
            assert!(!html.contains("<script") && !html.contains("onerror=alert(1)>"));
        }
        let html = page_of(&with(&[("/pledges/0/details/0/nounPlural", hostile.into())]));
        assert_eq!(texts(&html, "h3"), [format!("12 {hostile}")]);
    }
}

proptest! {
    #[test]
    fn no_record_changes_the_page(
        amount in 0.0..f64::MAX,
        texts in proptest::array::uniform9(any::<String>()),
        [date, address] in proptest::array::uniform2(any::<String>()),
    ) {
        prop_assume!(amount > 0.0);
        let mut changes: Vec<_> = TEXTS
            .into_iter()
            .zip(texts)
            .map(|(pointer, text)| (pointer, json!(format!("{pointer}{text}"))))
            .collect();
        prop_assert_eq!(&skeleton(&page_of(&with(&changes))), &*TAME);
        changes.extend([
            ("/createdAt", json!(date)),
            ("/trigger/date", json!(format!("2026-{date}-21T00:00:00Z"))),
            ("/trigger/externalUrl", json!(address)),
            ("/pledges/0/impact/amount", json!(amount)),
            ("/pledges/0/details/0/image", json!(format!("https://{address}"))),
        ]);
        check_page(&page_of(&with(&changes)));
    }
}

// ---- The headers of a page ---------------------------------------------------------------------

#[test]
fn policy_names_the_one_style_by_its_hash() {
    for html in every_page() {
        let styles = texts(&html, "style");
        let [style] = styles.as_slice() else { panic!("a page has one style") };
        let hash = format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(style)));
        assert!(
            CONTENT_SECURITY_POLICY.contains(&format!("style-src {hash};")),
            "the style has changed: write {hash} into CONTENT_SECURITY_POLICY"
        );
    }
}

#[test]
fn policy_allows_nothing_else() {
    let rules: Vec<_> = CONTENT_SECURITY_POLICY
        .split("; ")
        .filter(|rule| !rule.starts_with("style-src 'sha256-"))
        .collect();
    assert_eq!(
        rules,
        [
            "default-src 'none'",
            "img-src https: http: data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    );
}

/// The pages work without exceptions from the content security policy: they have no scripts and no inline
/// styles, and use only http and https addresses.
#[test]
fn pages_are_whole_small_documents() {
    for html in every_page() {
        check_page(&html);
        assert!(html.len() < 14_000, "a page of {} bytes", html.len());
        let head = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">";
        assert!(html.starts_with(head));
        assert!(html.contains("<meta name=\"color-scheme\" content=\"light dark\">"));
        for landmark in ["<header>", "<main>", "</h1>"] {
            assert_eq!(html.matches(landmark).count(), 1, "{landmark}");
        }
        for shared in ["og:", "twitter:", "canonical", "application-name", "url("] {
            assert!(!html.contains(shared), "the page has `{shared}`");
        }
    }
    assert_eq!(texts(&not_found(), "h1"), ["We can’t find this page"]);
    assert_eq!(texts(&unavailable(), "h1"), ["One moment, please"]);
    assert_eq!(texts(&unavailable(), "a"), ["try again"]);
}

/// An isolate's memory must have room for the largest record together with its page.
#[test]
fn the_largest_pages_are_bounded() {
    let pledge = |text: &str, index: usize| {
        let image = "'".repeat(text.len());
        json!({
            "id": "p_aaaaaaaaaaaaaaaaaaaaaaaa",
            "impact": { "amount": 1, "offeringId": text },
            "details": [{ "name": text, "description": text, "nounSingular": text,
                "nounPlural": text, "image": format!("https://i.example/{index}/{image}"),
                "externalUrl": format!("https://i.example/{}", "'".repeat(text.len())) }],
            "recipient": { "email": "ada@example.org", "name": text }
        })
    };
    let all = [(1, 1_000_000, false), (10, 10_000, false), (100, 10_000, true), (10_000, 1, true)];
    for (count, length, has_more) in all {
        let text = "&".repeat(length);
        let record = with(&[
            ("/pledges", (0..count).map(|index| pledge(&text, index)).collect()),
            ("/reference", text.clone().into()),
            ("/trigger/phrase", text.clone().into()),
        ]);
        let html = page_of(&record);
        assert!(html.len() < 2_000_000, "{count} pledges: {} bytes", html.len());
        assert_eq!(
            html.contains("</li></ul><p class=\"screen\">And "),
            has_more,
            "{count} pledges"
        );
    }
}

// ---- The service -------------------------------------------------------------------------------

fn visit(service: &TestService<MemoryStore>, address: &str) -> (u16, String) {
    let Answer { status, headers, text, .. } = service.send(&TestRequest::new("GET", address, ""));
    for (name, value) in Media::Html.headers() {
        assert_eq!(headers.get(*name).map(|it| &**it), Some(*value), "{address}: {name}");
    }
    (status, text)
}

/// Starts a service with one transaction. Returns it with the transaction's ID and edit key.
fn bench_with(record: &[u8]) -> (TestService<MemoryStore>, TransactionId, EditKey) {
    let service = TestService::new(MemoryStore::default(), "");
    let (id, edit_key) = put_transaction(&*service.store, record);
    (service, id, edit_key)
}

#[test]
fn opens_to_the_edit_key_alone() {
    let (service, id, key) = bench_with(full().to_string().as_bytes());
    let updates = Updates::from([("tree-offering".to_owned(), Some(vec![]))]);
    let shown = page_with_updates(&full(), None, &updates);
    let (other_id, other_key) = (TransactionId::from_bytes([3; 26]), EditKey::from_bytes([4; 20]));
    let rows = [
        (format!("/timeline/{id}?edit_key={key}"), 200),
        (format!("/timeline/{id}?from=mail&edit_key={key}#top"), 200),
        (format!("/timeline/{id}?edit_key={other_key}"), 404),
        (format!("/timeline/{id}?edit_key={key}0"), 404),
        (format!("/timeline/{id}?edit_key="), 404),
        (format!("/timeline/{id}?edit_key"), 404),
        (format!("/timeline/{id}?{key}"), 404),
        (format!("/timeline/{id}"), 404),
        (format!("/timeline/{other_id}?edit_key={key}"), 404),
        (format!("/timeline/ptran_?edit_key={key}"), 404),
        (format!("/timeline/transaction:{id}?edit_key={key}"), 404),
        (format!("/timeline/%00?edit_key={key}"), 404),
        (format!("/timeline/{}?edit_key={key}", "a".repeat(600)), 404),
    ];
    for (address, status) in rows {
        let page = if status == 200 { shown.clone() } else { not_found() };
        assert_eq!(visit(&service, &address), (status, page), "{address}");
    }
}

/// If an operator has cancelled a transaction, its timeline says so. If the record of the cancellation cannot
/// be read, the error is logged and the page is shown without that sentence.
#[test]
fn a_pledge_that_was_cancelled_says_so() {
    let (service, id, key) = bench_with(full().to_string().as_bytes());
    let get = TestRequest::new("GET", &format!("/timeline/{id}?edit_key={key}"), "");
    let name = format!("cancelled:{id}");
    let visit = |mark: &[u8]| {
        service.store.keep(&name, mark, b"null");
        let answer = service.send(&get);
        assert_eq!(answer.status, 200, "{}", answer.text);
        (answer.text, answer.log)
    };
    let plain = service.send(&get).text;
    let (page, log) = visit(br#"{"at":"2026-11-22T23:30:00.000Z","version":1}"#);
    let note = "<p class=\"test\"><strong>Cancelled on \
                <time datetime=\"2026-11-22\">22 November 2026</time>.</strong></p>";
    let (before, rest) = plain.split_once("<li class=\"later\">").expect("no updates yet");
    let without_updates = [before, rest.split_once("</li>").unwrap().1].concat();
    let certificate = "<p class=\"certificate\">Certificate</p>"; // a cancelled pledge has none
    assert!(plain.contains(certificate));
    let expected = without_updates.replace(certificate, "");
    assert_eq!((page.replace(note, ""), log), (expected, None));
    assert!(page.contains(note));
    for mark in [&b"{"[..], br#"{"at":7}"#, b""] {
        let (page, log) = visit(mark);
        assert_eq!(page, plain);
        assert!(log.unwrap().contains("mark of a cancellation"), "{mark:?}");
    }
    assert_eq!(visit(br#"{"at":"yesterday"}"#), (plain.clone(), None));
    service.store.set_failing(Some("cancelled:"));
    let answer = service.send(&get);
    assert_eq!((answer.status, answer.text), (200, plain));
    assert!(answer.log.unwrap().contains("could not be read"));
}

#[test]
fn asks_for_patience_when_a_record_cannot_be_read() {
    let (service, id, key) = bench_with(b"{");
    let address = format!("/timeline/{id}?edit_key={key}");
    assert_eq!(visit(&service, &address), (500, unavailable()));
    service.store.set_broken(true);
    assert_eq!(visit(&service, &address), (503, unavailable()));
}

#[test]
fn keeps_pages_out_of_caches_indexes_and_referrers() {
    let headers = Media::Html.headers();
    for header in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex, nofollow"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert!(headers.contains(&header), "a page lacks {header:?}");
    }
}
