//! Tests the sealed (encrypted) search terms in the addresses of result pages, and the spellings that a
//! search accepts.

use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{OPERATOR, SUPPORT, TestDashboard, field};
use impact_pledge::pledges::auth::ApiKey;
use serde_json::{Value, json};
use support::service::{LIVE_UNIT, NOW_MS, UNIT};

const HOUR_MS: u64 = 3_600_000;
const KEY: &str = "service_sk_live_canary0123456789";
const CLOSED: &str = "This address shows no results: it belongs to another person";

/// Sends the search form, and returns the address of the results.
fn address(test_dashboard: &TestDashboard, person: &str, text: &str) -> String {
    let answer = test_dashboard.post(person, "/find", &[("text", text)]);
    assert_eq!((answer.status, answer.text.as_str()), (303, ""));
    answer.headers["location"].clone()
}

fn token(address: &str) -> &str {
    address.split_once("/find?q=").unwrap().1
}

#[test]
fn an_order_number_is_found_in_any_spelling() {
    let test_dashboard = test_dashboard();
    let create = |key: &str, reference: &str| {
        let mut order: Value = order();
        order["reference"] = json!(reference);
        order["recipient"]["email"] = json!(format!("buyer-{}@example.org", reference.len())); // no other orders of the buyer
        test_dashboard.make(key, &order)
    };
    let number = [create(UNIT, "1053"), create(LIVE_UNIT, "#1053")];
    let prefixed = [create("service_sk_test_dev_unit_two", "SH-1053")];
    let sharp = [create(UNIT, "Straße 7")];
    test_dashboard.reconcile();
    let rows: [(&str, &[String]); 12] = [
        ("1053", &number),
        ("#1053", &number),
        ("##1053", &number),
        ("# 1053", &number),
        ("\u{a0}10 53\t", &number),
        (" sh-1053 ", &prefixed),
        ("SH -1053", &prefixed),
        ("#Sh-1053", &prefixed),
        ("STRASSE7", &sharp),
        ("SH1053", &[]),
        ("10-53", &[]),
        ("1053#", &[]),
    ];
    for (text, ids) in rows {
        let page = test_dashboard.search(SUPPORT, &[("text", text)]).text;
        let all = number.iter().chain(&prefixed).chain(&sharp);
        let found: Vec<_> = all.filter(|id| page.contains(id.as_str())).collect();
        assert_eq!(found, ids.iter().collect::<Vec<_>>(), "{text}: {}", main_of(&page));
    }
}

#[test]
fn an_address_of_results_has_no_term_and_is_that_of_the_transaction_if_there_is_one() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &order());
    let timeline = format!("https://pledge.example/timeline/{id}?edit_key={}", "ab".repeat(20));
    for text in [&id, &timeline] {
        assert_eq!(address(&test_dashboard, SUPPORT, text), format!("/transactions/{id}"));
    }
    let terms = ["canary@example.org", "unit_canary", KEY, &"canary".repeat(150)];
    for text in terms {
        let address = address(&test_dashboard, SUPPORT, text);
        assert!(!address.contains("canary"), "{address}");
        assert!(
            token(&address).bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
        );
        assert_ne!(address, self::address(&test_dashboard, SUPPORT, text), "a random nonce");
        let page = test_dashboard.get(SUPPORT, &address);
        assert_eq!(page.status, 200);
        assert_inert(&page.text);
        for log in [&page.log, &test_dashboard.post(SUPPORT, "/find", &[("text", text)]).log] {
            let log = log.as_ref().unwrap();
            assert!(!log.contains("canary") && !log.contains(token(&address)), "{log}");
        }
    }
}

#[test]
fn a_pasted_key_is_in_no_page_or_address_and_can_be_replaced_and_revoked() {
    let test_dashboard = test_dashboard();
    let note = json!({ "mode": "live", "unit": "unit_dev", "created": "2026-01-01T00:00:00Z", "by": "ada" });
    let name = format!("key:{}", ApiKey::new(KEY).hash().to_hex());
    let record = br#"{"mode":"live","unit":"unit_dev"}"#;
    test_dashboard.store().keep(&name, record, note.to_string().as_bytes());
    let found = address(&test_dashboard, OPERATOR, &format!("Bearer {KEY}"));
    let page = test_dashboard.get(OPERATOR, &found).text;
    assert!(!page.contains(KEY));
    for action in ["/keys/replace", "/keys/revoke"] {
        assert!(page.contains(&format!("action=\"{action}\"")), "{}", main_of(&page));
    }
}

#[test]
fn a_token_opens_for_the_person_who_searched_for_a_day_and_is_the_same_page_again() {
    let test_dashboard = test_dashboard();
    (0..2).for_each(|_| drop(test_dashboard.make(UNIT, &order())));
    test_dashboard.reconcile();
    let found = address(&test_dashboard, SUPPORT, "canary@example.org");
    let page = test_dashboard.get(SUPPORT, &found);
    assert!(page.text.contains("1.50 USD"), "{}", main_of(&page.text));
    for person in [SUPPORT, " Grace@Example.ORG"] {
        assert_eq!(test_dashboard.get(person, &found).text.matches("1.50 USD").count(), 2);
    }
    test_dashboard.clock.0.set(NOW_MS + 24 * HOUR_MS - 1);
    assert_eq!(test_dashboard.get(SUPPORT, &found).status, 200);
    test_dashboard.clock.0.set(NOW_MS + 24 * HOUR_MS);
    let late = test_dashboard.get(SUPPORT, &found);
    assert!(late.status == 422 && late.text.contains(CLOSED), "{}", main_of(&late.text));
    assert!(test_dashboard.get(SUPPORT, "/find").text.contains("action=\"/find\""), "bare");
}

/// Every token that cannot be decrypted gets the same answer. So the answer does not reveal what is wrong
/// with the token.
#[test]
fn a_token_that_does_not_open_gets_the_same_page_with_the_search_form() {
    let test_dashboard = test_dashboard();
    let found = address(&test_dashboard, SUPPORT, "canary@example.org");
    let own = token(&found);
    let replaced = |at: usize| {
        let other = if own.as_bytes()[at] == b'A' { "B" } else { "A" };
        [&own[..at], other, &own[at + 1..]].concat()
    };
    let forged = (0..own.len()).step_by(7).map(replaced);
    let cut = [0, 1, 20, 32, 33, 43, 64, own.len() - 1].map(|length| own[..length].to_owned());
    let odd = ["A", "====", "%00", "%F0%9F%8C%B3", "..%2F..", "<script>"].map(str::to_owned);
    let long = ["A".repeat(1024 * 1024), own.repeat(100)];
    let mut bodies = Vec::new();
    for token in forged.chain(cut).chain(odd).chain(long).filter(|token| !token.is_empty()) {
        let page = test_dashboard.get(SUPPORT, &format!("/find?q={token}"));
        assert_eq!(page.status, 422, "{}", &token[..token.len().min(80)]);
        assert!(page.text.contains(CLOSED) && field(&page.text, "text").is_empty());
        bodies.push(main_of(&page.text).to_owned());
    }
    bodies.push(main_of(&test_dashboard.get(OPERATOR, &found).text).to_owned());
    bodies.dedup();
    assert_eq!(bodies.len(), 1);
    test_dashboard.store().keep(
        "secret",
        json!({ "secret": "12".repeat(32) }).to_string().as_bytes(),
        b"null",
    );
    assert!(test_dashboard.get(SUPPORT, &found).text.contains(CLOSED), "another namespace");
}

#[test]
fn a_unit_is_found_by_the_beginning_of_a_word_in_its_id_or_name() {
    let test_dashboard = test_dashboard();
    let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
    test_dashboard.store().keep("team:coffee-group", registered, registered);
    test_dashboard.name_units(&[
        ("shop_north", "Nordwald Kaffee"),
        ("shop_south", "<b>Süd & Söhne"),
        ("x1", ""),
    ]);
    let all = ["/units/shop_north", "/units/shop_south", "/units/x1", "/teams/coffee-group"];
    let rows: [(&str, &str, &[&str]); 11] = [
        (SUPPORT, "nordw", &all[..1]),
        (SUPPORT, "KAFFEE", &all[..1]),
        (SUPPORT, "nordwald  kaf", &all[..1]),
        (SUPPORT, "söhne", &all[1..2]),
        (SUPPORT, "Shop", &all[..2]),
        (SUPPORT, "SHOP_N", &all[..1]),
        (SUPPORT, "affee", &[]),
        (SUPPORT, "100%", &[]),
        (SUPPORT, "group", &[]),
        (OPERATOR, "group", &all[3..]),
        (OPERATOR, "Coffee-G", &all[3..]),
    ];
    for (person, text, found) in rows {
        let page = test_dashboard.search(person, &[("text", text)]).text;
        let link = |path: &&&str| main_of(&page).contains(&format!("href=\"{path}\""));
        assert_eq!(
            all.iter().filter(link).collect::<Vec<_>>(),
            found.iter().collect::<Vec<_>>(),
            "{text}"
        );
        assert_inert(&page);
    }
}

/// Before the first API key exists, there is no secret to encrypt a search term with. The form is then
/// answered without a redirect.
#[test]
fn without_a_secret_the_form_is_answered_with_the_results() {
    let test_dashboard = super::dashboard(support::service::TestService::new(
        support::memory::MemoryStore::default(),
        "",
    ));
    let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
    test_dashboard.store().keep("unit:shop_north", registered, registered);
    let page = test_dashboard.post(SUPPORT, "/find", &[("text", "shop_north")]);
    assert_eq!(page.status, 200);
    assert!(page.text.contains("href=\"/units/shop_north\""), "{}", main_of(&page.text));
    assert_eq!(test_dashboard.get(SUPPORT, "/find?q=AAAA").status, 422);
}
