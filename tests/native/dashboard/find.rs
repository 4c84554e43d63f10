//! Tests the search.

use super::orders::link;
use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, field};
use impact_pledge::pledges::auth::ApiKey;
use serde_json::json;
use support::ledger::Failing;
use support::service::{Answer, LIVE_UNIT, ORIGIN, UNIT, minimal};

impl TestDashboard {
    fn find(&self, person: &str, text: &str, unit: &str) -> Answer {
        self.reconcile();
        self.search(person, &[("text", text), ("unit", unit), ("mode", "")])
    }
}

#[test]
fn the_home_page_shows_what_each_role_may_do() {
    let test_dashboard = test_dashboard();
    for (person, erases) in [(OPERATOR, true), (SUPPORT, false), (ACCOUNTS, false)] {
        let page = test_dashboard.get(person, "/").text;
        assert!(page.contains("<search><form method=\"post\" action=\"/find\""), "{person}");
        assert_eq!(page.contains("href=\"/person\""), erases, "{person}");
        assert!(page.contains("href=\"/units\""));
    }
    for (person, by_email) in [(OPERATOR, true), (SUPPORT, true), (ACCOUNTS, false)] {
        let page = test_dashboard.get(person, "/find").text;
        assert_eq!(page.contains("an e-mail address, a unit"), by_email, "{person}");
    }
}

#[test]
fn an_id_is_found_in_whatever_it_is_part_of() {
    let test_dashboard = test_dashboard();
    let made = test_dashboard.service.create(UNIT, &order()).json();
    let (id, address) = (made["id"].as_str().unwrap(), made["timelineUrl"].as_str().unwrap());
    let url = format!("{ORIGIN}/transactions/{id}");
    for text in [id, &format!("  {id}\n"), address, &url, &format!("see {id}.")] {
        let page = test_dashboard.find(SUPPORT, text, "");
        assert_eq!(page.status, 200);
        assert!(page.text.contains("1.50 USD") && page.text.contains(id), "{text}");
        assert!(!page.text.contains("edit_key") && !page.text.contains("canary"));
        assert_inert(&page.text);
    }
    let page = test_dashboard.find(SUPPORT, &id[..47], "");
    assert!(page.text.contains("A part of it may be missing"), "{}", main_of(&page.text));
    let page = test_dashboard.find(SUPPORT, &format!("edit_key={}", "a".repeat(40)), "unit_dev");
    assert!(
        page.text.contains("No match") && !page.text.contains("aaaa"),
        "{}",
        main_of(&page.text)
    );
    let page = test_dashboard.find(SUPPORT, &"0a".repeat(20), "");
    assert!(!page.text.contains("0a0a"), "an edit key alone");
}

#[test]
fn a_key_is_found_and_never_shown() {
    let test_dashboard = test_dashboard();
    let (key, hash) =
        (format!("service_sk_test_{}", "b".repeat(40)), |key: &str| ApiKey::new(key).hash());
    let note = json!({ "mode": "test", "team": "team_dev", "label": "till <script>",
        "created": "2026-01-01T00:00:00Z", "by": "ada", "ends": "2026-03-01T00:00:00Z" });
    let hex = hash(&key).to_hex();
    let record = br#"{"mode":"test","team":"team_dev"}"#;
    test_dashboard.store().keep(&format!("key:{hex}"), record, note.to_string().as_bytes());
    let texts = [
        key.clone(),
        format!("Authorization: Bearer {key}"),
        format!("-H 'x: {key}'"),
        format!("The key (it is {key}), was leaked."),
        format!("My key: {key}."),
        hex.clone(),
        format!("key:{hex}"),
        hash(&key).id(),
    ];
    for text in &texts {
        for unit in ["", "unit_dev"] {
            let page = test_dashboard.find(OPERATOR, text, unit).text;
            assert!(
                page.contains("href=\"/teams/team_dev\"") && page.contains("till &lt;script&gt;"),
                "{text}: {}",
                main_of(&page)
            );
            assert!(page.contains("1 Mar 2026") && !page.contains(&key));
            for action in ["/keys/replace", "/keys/revoke"] {
                assert!(page.contains(&format!("action=\"{action}\"")), "{text}: {action}");
            }
            assert_inert(&page);
            let page = test_dashboard.find(SUPPORT, text, unit).text;
            assert!(
                page.contains("An API key of the team <bdi>team_dev</bdi>"),
                "{}",
                main_of(&page)
            );
            for operators in ["/teams/", "till", "1 Mar", "/keys/", &key, &hash(&key).id()] {
                assert!(!page.contains(operators), "{operators}: {}", main_of(&page));
            }
        }
    }
    for unknown in
        ["service_sk_live_nosuch", "service_sk_other_nosuch", "Bearer service_sk_test_nosuch"]
    {
        let page = test_dashboard.find(SUPPORT, unknown, "unit_dev");
        assert!(
            page.text.contains("No API key matches this") && !page.text.contains("nosuch"),
            "{}",
            page.text
        );
        assert!(!page.log.unwrap().contains("nosuch"));
    }
    let page = test_dashboard.find(OPERATOR, &hash("no such key").id(), "");
    assert!(page.text.contains("No unit, team, key or transaction matches this."));
}

#[test]
fn a_unit_or_a_team_is_found_or_one_like_it_suggested() {
    let test_dashboard = test_dashboard();
    let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
    for name in ["unit:shop_north", "team:coffee"] {
        test_dashboard.store().keep(name, registered, registered);
    }
    for (person, text, link, shown) in [
        (SUPPORT, "shop_north", "/units/shop_north", true),
        (SUPPORT, "shop_nort", "/units/shop_north", true),
        (OPERATOR, "coffee", "/teams/coffee", true),
        (OPERATOR, "cofee", "/teams/coffee", true),
        (SUPPORT, "coffee", "coffee</bdi>", false),
        (OPERATOR, "quite another", "/units/", false),
        (OPERATOR, "<script>", "/teams/", false),
    ] {
        let page = test_dashboard.find(person, text, "");
        assert_eq!(page.status, 200);
        assert_eq!(page.text.contains(link), shown, "{text}: {}", main_of(&page.text));
        assert!(page.text.contains("Search again"));
        assert_inert(&page.text);
    }
}

#[test]
fn an_order_of_a_unit_that_the_ledger_lacks_is_found_by_its_exact_reference() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &order());
    let live = test_dashboard.make(LIVE_UNIT, &order());
    test_dashboard.make(UNIT, &minimal());
    let reference = order()["reference"].as_str().unwrap().to_owned();
    test_dashboard.store().take_lists();
    let form = [("text", &*reference), ("unit", "unit_dev"), ("mode", "")];
    let page = test_dashboard.search(SUPPORT, &form);
    assert_eq!(test_dashboard.store().take_lists().len(), 2);
    assert!(page.text.contains("may not show yet"), "a list of Workers KV");
    assert!(page.text.contains(&id) && page.text.contains(&live), "{}", main_of(&page.text));
    assert_inert(&page.text);
    let form = [("text", &*reference), ("unit", "unit_dev"), ("mode", "live")];
    let page = test_dashboard.search(SUPPORT, &form);
    assert!(!page.text.contains(&id) && page.text.contains(&live));
    test_dashboard.ledger.set_failing(Failing::Unbound);
    for (text, unit) in [("a@b.example", ""), ("a@b.example", "unit_dev"), ("order-1", "")] {
        let page = test_dashboard.search(SUPPORT, &[("text", text), ("unit", unit)]);
        assert!(page.text.contains("This needs the ledger"), "{}", main_of(&page.text));
    }
    test_dashboard.ledger.set_failing(Failing::Not);
    for (text, unit) in
        [("order-2", "unit_dev"), ("order-1", "unit_dev_two"), ("<script>", "unit_dev")]
    {
        let page = test_dashboard.find(SUPPORT, text, unit);
        assert_eq!(page.status, 200);
        assert!(page.text.contains("No match") && page.text.contains("Complete up to"), "{text}");
        assert_inert(&page.text);
    }
    test_dashboard.store().keep(
        "unit:unit_dev",
        b"{}",
        br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#,
    );
    let page = test_dashboard.find(SUPPORT, "order-9", "unit_deb").text;
    assert!(
        page.contains("There is no unit with this ID") && page.contains("Did you mean the unit"),
        "{}",
        main_of(&page)
    );
    for (text, unit) in [("", ""), (&*"x".repeat(5_000), ""), ("x", "a unit")] {
        let page = test_dashboard.find(SUPPORT, text, unit);
        assert_eq!(page.status, 422, "{unit}");
        assert!(page.text.contains("role=\"alert\"") && page.text.contains("action=\"/find\""));
    }
    let page = test_dashboard.find(SUPPORT, "x", "a unit").text;
    assert!(page.contains("aria-invalid=\"true\"") && field(&page, "text") == "x");
}

/// The search term is personal data. Links to further pages contain it only in sealed (encrypted) form.
#[test]
fn orders_of_an_address_or_a_reference_are_found_in_all_units_page_by_page() {
    let test_dashboard = test_dashboard();
    let reference = "order <script> & 9";
    let mut order = order();
    order["reference"] = json!(reference);
    let mut ids: Vec<_> = (0..104).map(|_| test_dashboard.make(UNIT, &order)).collect();
    ids.push(test_dashboard.make(LIVE_UNIT, &order));
    ids.push(test_dashboard.make("service_sk_test_dev_unit_two", &order));
    test_dashboard.make(LIVE_UNIT, &minimal());
    for (text, unit, mode, count) in [
        ("CANARY@example.org", "", "", 106),
        ("CANARY@example.org", "unit_dev", "", 105),
        (reference, "", "", 106),
        (reference, "unit_dev", "test", 104),
        ("# ORDER<script>&9", "", "", 106),
    ] {
        test_dashboard.reconcile();
        let mut page =
            test_dashboard.search(SUPPORT, &[("text", text), ("unit", unit), ("mode", mode)]);
        let mut pages = vec![page.text.clone()];
        while let Some(older) = link(&page, "Older →") {
            assert_eq!(
                page.text.matches("<th scope=\"row\" data-label=\"Transaction\"><a").count(),
                50
            );
            let filters = ["unit", "mode"].map(|name| older.contains(&format!("&{name}=")));
            assert_eq!(filters, [!unit.is_empty(), !mode.is_empty()], "{older}");
            page = test_dashboard.get(SUPPORT, &older);
            let newest = test_dashboard.get(SUPPORT, &link(&page, "Newest").unwrap());
            assert_eq!(main_of(&newest.text), main_of(&pages[0]));
            pages.push(page.text.clone());
        }
        pages.iter().for_each(|page| assert_inert(page));
        let all = pages.concat();
        let found = ids.iter().filter(|id| all.contains(&***id)).count();
        assert_eq!((pages.len(), found), (3, count), "{text} in {unit}");
    }
}

/// People write an order number as it stands in an e-mail: with a word before it, and with the name of the shop beside it.
#[test]
fn a_number_is_found_with_the_word_order_and_with_the_name_of_its_shop() {
    let test_dashboard = test_dashboard();
    let mut order = order();
    order["reference"] = json!("1053");
    let ids = [UNIT, "service_sk_test_dev_unit_two"].map(|key| test_dashboard.make(key, &order));
    order["reference"] = json!("Northwind 77");
    let odd = test_dashboard.make(UNIT, &order);
    test_dashboard.name_units(&[("unit_dev", "Northwind Coffee"), ("unit_dev_two", "Southgate")]);
    let [north, south] = &ids;
    let rows: [(&str, &[&String]); 15] = [
        ("1053", &[north, south]),
        ("# 10 53", &[north, south]),
        ("order 1053", &[north, south]),
        ("Order no. #1053", &[north, south]),
        ("order: 1053", &[north, south]),
        ("#1053 Northwind", &[north]),
        ("# 1053, northwind coffee", &[north]),
        ("order 1053 at Southgate", &[south]),
        ("Southgate order #1053", &[south]),
        ("unit_dev_two 1053", &[south]),
        ("Northwind 77", &[&odd]),
        ("1053 Nosuch", &[]),
        ("1054 Northwind", &[]),
        ("Northwind", &[]),
        ("order order", &[]),
    ];
    for (text, expected) in rows {
        let page = test_dashboard.find(ACCOUNTS, text, "");
        let found: Vec<_> =
            [north, south, &odd].into_iter().filter(|id| page.text.contains(&**id)).collect();
        assert_eq!(found, expected, "{text}: {}", main_of(&page.text));
        let is_opened = ["Order 1053, ", "Order Northwind 77, "]
            .iter()
            .any(|title| page.text.contains(&format!("<h1>{title}")));
        assert_eq!(is_opened, expected.len() == 1, "{text}: {}", main_of(&page.text));
    }
}

#[test]
fn every_page_has_the_search_and_no_result_says_once_what_was_searched() {
    let test_dashboard = test_dashboard();
    for path in ["/", "/orders", "/units", "/find"] {
        let page = test_dashboard.get(ACCOUNTS, path).text;
        assert_eq!(page.matches("<search>").count(), 1, "{path}");
    }
    for (text, unit, mode, searched) in [
        ("9", "", "", "Searched: order numbers of all units (live and test)."),
        ("9", "unit_dev", "live", "Searched: order numbers of this unit (live)."),
        (
            "a@b.example",
            "",
            "",
            "Searched: order numbers and e-mail addresses of all units (live and test).",
        ),
    ] {
        test_dashboard.reconcile();
        let form = [("text", text), ("unit", unit), ("mode", mode)];
        let page = test_dashboard.search(SUPPORT, &form).text;
        assert_eq!(page.matches(searched).count(), 1, "{text}: {}", main_of(&page));
        assert_eq!(page.matches("Searched:").count(), 1);
    }
}
