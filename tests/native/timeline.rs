//! The recipient's page, parsed like a browser does.

use base64ct::{Base64, Encoding as _};
use fuzz_targets::page::check_page;
use impact_pledge::http::Media;
use impact_pledge::pledge::{EditKey, RetrievedPledgeTransaction, TransactionId};
use impact_pledge::timeline::{
    CONTENT_SECURITY_POLICY, Language, not_found_page, page, unavailable_page,
};
use proptest::prelude::*;
use regex_lite::Regex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use support::memory::MemoryStore;
use support::service::{Answer, TestRequest, TestService, put_transaction};

// ---- Records and pages -------------------------------------------------------------------------

const EMAIL: &str = "mara@buyer.example";

/// A record with every member.
fn full() -> Value {
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

/// Returns a record with every member except those at these pointers.
fn with(changes: &[(&str, Value)]) -> Value {
    let mut record = full();
    for (pointer, value) in changes {
        *record.pointer_mut(pointer).expect("the record has this member") = value.clone();
    }
    record
}

#[track_caller]
fn page_of(record: &Value) -> String {
    let bytes = record.to_string();
    let record: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&bytes).expect("the record should decode");
    page(&record, None, Language::En).html
}

fn not_found() -> String {
    not_found_page(Language::En).html
}

fn unavailable() -> String {
    unavailable_page(Language::En).html
}

/// Returns the texts of all elements with this tag, decoded.
fn texts(html: &str, tag: &str) -> Vec<String> {
    let element = Regex::new(&format!("(?s)<{tag}(?: [^>]*)?>(.*?)</{tag}>")).expect("a pattern");
    element.captures_iter(html).map(|found| unescape(&TAG.replace_all(&found[1], ""))).collect()
}

/// Returns the values of all attributes with this name.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let pattern = Regex::new(&format!(" {attribute}=\"([^\"]*)\"")).expect("a pattern");
    pattern.captures_iter(html).map(|found| unescape(&found[1])).collect()
}

/// Returns all tags with the names of their attributes, in order.
fn skeleton(html: &str) -> Vec<String> {
    let bare = |tag: &str| VALUE.replace_all(&tag.replace(" class=\"long\"", ""), "").into_owned();
    TAG.find_iter(html).map(|tag| bare(tag.as_str())).collect()
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

#[test]
fn tells_who_what_why_and_when() {
    let html = page_of(&full());
    assert_eq!(texts(&html, "title"), ["Pledged for Mara · Impact Pledge"]);
    assert_eq!(texts(&html, "h1"), ["Pledged for Mara"]);
    assert_eq!(texts(&html, "h2"), ["placed an order", "A pledge was made"]);
    assert_eq!(texts(&html, "h3"), ["12 trees"]);
    assert_eq!(texts(&html, "time"), ["20 November 2026", "21 November 2026"]);
    assert_eq!(
        texts(&html, "a"),
        ["See it at shop.example: placed an order", "See it at forest.example: Mangroves",]
    );
    assert_eq!(values(&html, "alt"), ["Mangroves"]);
    for text in ["Mangroves", "Planted along the channels.", "Reference order-10442"] {
        assert!(texts(&html, "p").iter().any(|p| p == text), "`{text}` is not a paragraph");
    }
}

#[test]
fn keeps_what_is_not_the_recipients() {
    let html = page_of(&full());
    for secret in [EMAIL, "secret", "timeline/", "6.00", "EUR", "item-1", "p_1", "tree-offering"] {
        assert!(!html.contains(secret), "the page shows `{secret}`");
    }
}

#[test]
fn shows_a_record_without_any_optional_member() {
    let html = page_of(&with(&[
        ("/trigger", json!({"date": null, "phrase": null, "externalUrl": null})),
        ("/pledges/0/details", json!([])),
        ("/pledges/0/recipient", json!({"email": EMAIL, "firstName": null, "name": null})),
    ]));
    assert_eq!(texts(&html, "h1"), ["Pledged for you"]);
    assert_eq!(texts(&html, "h2"), ["A pledge was made"]);
    assert_eq!(texts(&html, "h3"), ["12 × tree offering"]);
    assert!(!html.contains("<img") && !html.contains("<a "));
}

#[test]
fn counts_pledges() {
    let pledge = full()["pledges"][0].clone();
    for (count, heading) in [
        (0, "0 pledges were made"),
        (1, "A pledge was made"),
        (2, "2 pledges were made"),
        (1000, "1,000 pledges were made"),
    ] {
        let html = page_of(&with(&[("/pledges", vec![pledge.clone(); count].into())]));
        assert_eq!(texts(&html, "h2")[1], heading);
        assert_eq!(texts(&html, "h3").len(), count);
    }
}

#[test]
fn names_the_recipient() {
    let shouted = EMAIL.to_uppercase();
    let rows = [
        (json!("Mara"), json!("Mara Lind"), "Mara"),
        (json!(null), json!("Mara Lind"), "Mara Lind"),
        (json!("Mara"), json!(null), "Mara"),
        (json!(" "), json!("Mara Lind"), "Mara Lind"),
        (json!(""), json!("\n"), "you"),
        (json!(null), json!(null), "you"),
        (json!(EMAIL), json!("Mara Lind"), "Mara Lind"),
        (json!(null), json!(format!("Mara <{shouted}>")), "you"),
        (json!("ليلى"), json!(null), "ليلى"),
    ];
    for (first_name, name, shown) in rows {
        let html = page_of(&with(&[
            ("/pledges/0/recipient/firstName", first_name),
            ("/pledges/0/recipient/name", name),
        ]));
        assert_eq!(texts(&html, "h1"), [format!("Pledged for {shown}")]);
        assert_eq!(texts(&html, "title"), [format!("Pledged for {shown} · Impact Pledge")]);
        assert!(!html.to_lowercase().contains(EMAIL));
    }
}

#[test]
fn writes_amounts_for_people_and_exactly() {
    let rows = [
        (json!(1), "1 tree"),
        (json!(0.5), "0.5 trees"),
        (json!(1.5), "1.5 trees"),
        (json!(1000), "1,000 trees"),
        (json!(1234.5678), "1,234.5678 trees"),
        (json!(0.00001), "0.00001 trees"),
        (json!(0.000001), "1 × 10⁻⁶ trees"),
        (json!(0.30000000000000004), "0.30000000000000004 trees"),
        (json!(9007199254740991u64), "9,007,199,254,740,991 trees"),
        (json!(9999999999999998.0), "9,999,999,999,999,998 trees"),
        (json!(1e16), "1 × 10¹⁶ trees"),
        (json!(12e19), "1.2 × 10²⁰ trees"),
        (json!(f64::MAX), "1.7976931348623157 × 10³⁰⁸ trees"),
        (json!(5e-324), "5 × 10⁻³²⁴ trees"),
    ];
    for (amount, heading) in rows {
        let html = page_of(&with(&[("/pledges/0/impact/amount", amount)]));
        assert_eq!(texts(&html, "h3"), [heading]);
    }
}

#[test]
fn picks_the_noun() {
    // amount, nounSingular, nounPlural, name → heading, whether the name has a line of its own
    let rows = [
        (1, Some("tree"), Some("trees"), Some("Oak"), "1 tree", true),
        (2, Some("tree"), Some("trees"), Some("Oak"), "2 trees", true),
        (1, None, Some("trees"), Some("Oak"), "1 trees", true),
        (2, Some("tree"), None, Some("Oak"), "2 tree", true),
        (2, Some("tree"), Some("  "), None, "2 tree", false),
        (2, None, None, Some("Oak"), "2 × Oak", false),
        (1, Some(""), Some(""), Some("Oak"), "1 × Oak", false),
        (2, None, None, None, "2 × tree offering", false),
        (2, Some(""), None, Some(" \t"), "2 × tree offering", false),
        (2, Some("Oak"), Some("Oaks"), Some("Oaks"), "2 Oaks", false),
    ];
    for (amount, singular, plural, name, heading, named) in rows {
        let html = page_of(&with(&[
            ("/pledges/0/impact/amount", amount.into()),
            ("/pledges/0/details/0/nounSingular", singular.into()),
            ("/pledges/0/details/0/nounPlural", plural.into()),
            ("/pledges/0/details/0/name", name.into()),
        ]));
        assert_eq!(texts(&html, "h3"), [heading]);
        assert_eq!(html.contains("class=\"name\""), named, "{heading}");
    }
}

#[test]
fn writes_dates_in_words() {
    let rows = [
        ("2026-11-21T01:02:03Z", Some("21 November 2026")),
        ("2026-01-05T00:00:00.123Z", Some("5 January 2026")),
        ("2024-02-29t23:59:59z", Some("29 February 2024")),
        ("2026-12-31T23:30:00-08:00", Some("31 December 2026")),
        ("2016-12-31T23:59:60Z", Some("31 December 2016")),
        ("0001-03-10T00:00:00Z", Some("10 March 0001")),
        ("2026-02-30T00:00:00Z", None),
        ("2026-11-21", None),
        ("20é6-11-21T00:00:00Z", None),
        ("tomorrow", None),
        ("", None),
    ];
    for (date, words) in rows {
        let html = page_of(&with(&[("/createdAt", date.into()), ("/trigger/date", date.into())]));
        assert_eq!(texts(&html, "time"), vec![words; 2].into_iter().flatten().collect::<Vec<_>>());
    }
}

#[test]
fn tells_the_cause_as_far_as_it_is_known() {
    const DATE: Option<&str> = Some("2026-11-20T00:00:00Z");
    const URL: Option<&str> = Some("https://shop.example/");
    let rows = [
        (DATE, Some("signed up"), URL, Some("signed up")),
        (None, Some("signed up"), None, Some("signed up")),
        (DATE, None, None, Some("How it began")),
        (None, Some(" "), URL, Some("How it began")),
        (None, None, None, None),
        (Some("once"), Some(""), Some("mailto:a@b.example"), None),
    ];
    for (date, phrase, url, heading) in rows {
        let trigger = json!({"date": date, "phrase": phrase, "externalUrl": url});
        let html = page_of(&with(&[("/trigger", trigger)]));
        let expected: Vec<_> = heading.into_iter().chain(["A pledge was made"]).collect();
        assert_eq!(texts(&html, "h2"), expected);
    }
}

#[test]
fn says_when_nothing_is_real() {
    const BANNER: &str = "Test mode. Nothing on this page was really pledged.";
    for is_live in [true, false] {
        let html = page_of(&with(&[("/isLive", is_live.into())]));
        assert_eq!(texts(&html, "p").iter().any(|text| text == BANNER), !is_live);
    }
}

// ---- Hostile records ---------------------------------------------------------------------------

#[test]
fn leads_only_to_the_web() {
    let rows = [
        ("https://forest.example/a?b=c&d=%22#e", Some("forest.example")),
        ("http://forest.example", Some("forest.example")),
        ("HTTPS://Forest.Example:8443/", Some("Forest.Example")),
        ("https://www.forest.example", Some("forest.example")),
        ("https://bank.example@evil.example/", Some("evil.example")),
        ("https://bank.example:443@evil.example:8443/@x", Some("evil.example")),
        ("https://forest.example?@bank.example", Some("forest.example")),
        ("https://[2001:db8::1]:8080/", Some("[2001:db8::1]")),
        ("javascript:alert(1)", None),
        ("JavaScript://forest.example/%0aalert(1)", None),
        ("java\nscript:alert(1)", None),
        (" https://forest.example/", None),
        ("https://forest.example/\"onclick=\"", None),
        ("https://forest.example\\@evil.example/", None),
        ("data:image/svg+xml,%3Csvg/%3E", None),
        ("ftp://forest.example/", None),
        ("//forest.example/", None),
        ("/path", None),
        ("https:forest.example", None),
        ("https:/forest.example", None),
        ("https:///forest.example", None),
        ("https://", None),
        ("https://:443/", None),
        ("https://www./", None),
        ("", None),
    ];
    for (address, host) in rows {
        let html = page_of(&with(&[
            ("/trigger/externalUrl", address.into()),
            ("/pledges/0/details/0/externalUrl", address.into()),
            ("/pledges/0/details/0/image", address.into()),
        ]));
        let expected = vec![address; if host.is_some() { 2 } else { 0 }];
        let links: Vec<_> = values(&html, "href").into_iter().skip(1).collect();
        assert_eq!(links, expected, "links to `{address}`");
        assert_eq!(values(&html, "src"), expected.iter().skip(1).copied().collect::<Vec<_>>());
        for (text, about) in texts(&html, "a").iter().zip(["placed an order", "Mangroves"]) {
            assert_eq!(*text, format!("See it at {}: {about}", host.unwrap_or_default()));
        }
    }
}

#[test]
fn guards_its_links_and_images() {
    let html = page_of(&full());
    assert_eq!(values(&html, "rel"), ["icon"].into_iter().chain([LINK; 2]).collect::<Vec<_>>());
    const LINK: &str = "noopener noreferrer nofollow";
    let image =
        TAG.find_iter(&html).find(|tag| tag.as_str().starts_with("<img")).map(|t| t.as_str());
    let image = image.unwrap_or_default();
    for attribute in [" width=\"128\"", " height=\"128\"", " loading=\"lazy\"", " alt=\""] {
        assert!(image.contains(attribute), "`{image}` lacks{attribute}");
    }
}

/// The members that hold a text of the caller's choice.
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

const HOSTILE: [&str; 7] = [
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

/// They need no exception from the policy: neither scripts nor inline styles, and no address but the web's.
#[test]
fn pages_are_whole_small_documents() {
    for html in every_page() {
        check_page(&html);
        assert!(html.len() < 10_000, "a page of {} bytes", html.len());
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
    assert_eq!(texts(&not_found(), "h1"), ["We could not find this page"]);
    assert_eq!(texts(&unavailable(), "h1"), ["One moment, please"]);
    assert_eq!(texts(&unavailable(), "a"), ["try again"]);
}

/// The page of the largest record must fit beside it in an isolate's memory.
#[test]
fn the_largest_pages_are_bounded() {
    let pledge = |text: &str| {
        json!({
            "id": "p_aaaaaaaaaaaaaaaaaaaaaaaa",
            "impact": { "amount": 1, "offeringId": text },
            "details": [{ "name": text, "description": text, "nounSingular": text,
                "nounPlural": text, "image": format!("https://i.example/{}", "'".repeat(text.len())),
                "externalUrl": format!("https://i.example/{}", "'".repeat(text.len())) }],
            "recipient": { "email": "ada@example.org", "name": text }
        })
    };
    let all = [(1, 1_000_000, false), (10, 10_000, false), (100, 10_000, true), (10_000, 1, true)];
    for (count, length, has_more) in all {
        let text = "&".repeat(length);
        let record = with(&[
            ("/pledges", vec![pledge(&text); count].into()),
            ("/reference", text.clone().into()),
            ("/trigger/phrase", text.clone().into()),
        ]);
        let html = page_of(&record);
        assert!(html.len() < 2_000_000, "{count} pledges: {} bytes", html.len());
        assert_eq!(html.contains("</li></ul><p>And "), has_more, "{count} pledges");
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
        let page = if status == 200 { page_of(&full()) } else { not_found() };
        assert_eq!(visit(&service, &address), (status, page), "{address}");
    }
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
