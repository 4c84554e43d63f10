//! The search.

use super::transaction::{assert_inert, desk, main_of, order};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, field};
use impact_pledge::auth::ApiKey;
use serde_json::json;
use support::service::{Answer, LIVE_UNIT, ORIGIN, UNIT, minimal};

impl TestDashboard {
    fn find(&self, person: &str, text: &str, unit: &str) -> Answer {
        self.post(person, "/find", &[("text", text), ("unit", unit), ("mode", "")])
    }
}

#[test]
fn the_home_page_shows_to_each_what_they_may() {
    let desk = desk();
    for (person, search, erases) in
        [(OPERATOR, true, true), (SUPPORT, true, false), (ACCOUNTS, false, false)]
    {
        let page = desk.get(person, "/").text;
        assert_eq!(page.contains("action=\"/find\""), search, "{person}");
        assert_eq!(page.contains("href=\"/person\""), erases, "{person}");
        assert!(page.contains("href=\"/units\""));
    }
}

#[test]
fn an_id_is_found_in_whatever_it_is_part_of() {
    let desk = desk();
    let made = desk.service.create(UNIT, &order()).json();
    let (id, address) = (made["id"].as_str().unwrap(), made["timelineUrl"].as_str().unwrap());
    let url = format!("{ORIGIN}/transactions/{id}");
    for text in [id, &format!("  {id}\n"), address, &url, &format!("see {id}.")] {
        let page = desk.find(SUPPORT, text, "");
        assert_eq!(page.status, 200);
        assert!(page.text.contains("1.50 USD") && page.text.contains(id), "{text}");
        assert!(!page.text.contains("edit_key") && !page.text.contains("canary"));
        assert_inert(&page.text);
    }
    let page = desk.find(SUPPORT, &id[..47], "");
    assert!(page.text.contains("a part of it may be missing"), "{}", main_of(&page.text));
    let page = desk.find(SUPPORT, &format!("edit_key={}", "a".repeat(40)), "unit_dev");
    assert!(
        page.text.contains("Nothing found") && !page.text.contains("aaaa"),
        "{}",
        main_of(&page.text)
    );
    let page = desk.find(SUPPORT, &"0a".repeat(20), "");
    assert!(!page.text.contains("0a0a"), "an edit key alone");
}

#[test]
fn a_key_is_found_and_never_shown() {
    let desk = desk();
    let (key, hash) =
        (format!("service_sk_test_{}", "b".repeat(40)), |key: &str| ApiKey::new(key).hash());
    let note = json!({ "mode": "test", "team": "team_dev", "label": "till <script>",
        "created": "2026-01-01T00:00:00Z", "by": "ada", "ends": "2026-03-01T00:00:00Z" });
    let hex = hash(&key).to_hex();
    let record = br#"{"mode":"test","team":"team_dev"}"#;
    desk.store().keep(&format!("key:{hex}"), record, note.to_string().as_bytes());
    let texts = [
        key.clone(),
        format!("Authorization: Bearer {key}"),
        format!("-H 'x: {key}'"),
        hex.clone(),
        format!("key:{hex}"),
        hash(&key).id(),
    ];
    for text in &texts {
        for unit in ["", "unit_dev"] {
            let page = desk.find(OPERATOR, text, unit).text;
            assert!(
                page.contains("href=\"/teams/team_dev\"") && page.contains("till &lt;script&gt;"),
                "{text}: {}",
                main_of(&page)
            );
            assert!(page.contains("1 Mar 2026") && !page.contains(&key));
            assert_inert(&page);
            let page = desk.find(SUPPORT, text, unit).text;
            assert!(
                page.contains("An API key of the team <bdi>team_dev</bdi>"),
                "{}",
                main_of(&page)
            );
            for operators in ["/teams/", "till", "1 Mar", &key, &hash(&key).id()] {
                assert!(!page.contains(operators), "{operators}: {}", main_of(&page));
            }
        }
    }
    for unknown in
        ["service_sk_live_nosuch", "service_sk_other_nosuch", "Bearer service_sk_test_nosuch"]
    {
        let page = desk.find(SUPPORT, unknown, "unit_dev");
        assert!(
            page.text.contains("no such API key") && !page.text.contains("nosuch"),
            "{}",
            page.text
        );
        assert!(!page.log.unwrap().contains("nosuch"));
    }
    let page = desk.find(OPERATOR, &hash("no such key").id(), "");
    assert!(page.text.contains("Is it an order's reference?"));
}

#[test]
fn a_unit_or_a_team_is_found_or_one_like_it_suggested() {
    let desk = desk();
    let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
    for name in ["unit:shop_north", "team:coffee"] {
        desk.store().keep(name, registered, registered);
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
        let page = desk.find(person, text, "");
        assert_eq!(page.status, 200);
        assert_eq!(page.text.contains(link), shown, "{text}: {}", main_of(&page.text));
        assert!(page.text.contains("Then say which unit"));
        assert_inert(&page.text);
    }
}

#[test]
fn an_order_is_found_by_its_reference_in_one_list_for_each_mode() {
    let desk = desk();
    let id = desk.make(UNIT, &order());
    let live = desk.make(LIVE_UNIT, &order());
    desk.make(UNIT, &minimal());
    let reference = order()["reference"].as_str().unwrap().to_owned();
    desk.store().take_lists();
    let page = desk.find(SUPPORT, &reference, "unit_dev");
    assert_eq!(desk.store().take_lists().len(), 2);
    assert!(page.text.contains(&id) && page.text.contains(&live), "{}", main_of(&page.text));
    assert_inert(&page.text);
    let page = desk.post(
        SUPPORT,
        "/find",
        &[("text", &reference), ("unit", "unit_dev"), ("mode", "live")],
    );
    assert!(!page.text.contains(&id) && page.text.contains(&live));
    for (text, unit) in
        [("ORDER-1", "unit_dev"), ("order-1", "unit_dev_two"), ("<script>", "unit_dev")]
    {
        let page = desk.find(SUPPORT, text, unit);
        assert_eq!(page.status, 200);
        assert!(
            page.text.contains("Nothing found") && page.text.contains("capitals included"),
            "{text}"
        );
        assert_inert(&page.text);
    }
    desk.store().keep("unit:unit_dev", b"{}", br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#);
    let page = desk.find(SUPPORT, "order-9", "unit_deb").text;
    assert!(
        page.contains("no such unit") && page.contains("Did you mean the unit"),
        "{}",
        main_of(&page)
    );
    for (text, unit) in [("", ""), (&*"x".repeat(5_000), ""), ("x", "a unit"), ("a@b.example", "")]
    {
        let page = desk.find(SUPPORT, text, unit);
        assert_eq!(page.status, 422, "{unit}");
        assert!(page.text.contains("role=\"alert\"") && page.text.contains("action=\"/find\""));
    }
    let page = desk.find(SUPPORT, "a@b.example", "").text;
    assert!(page.contains("aria-invalid=\"true\"") && field(&page, "text") == "a@b.example");
}

/// A step makes a bounded number of calls; the form carries the search to the next one.
#[test]
fn an_address_is_looked_for_in_steps() {
    let desk = desk();
    let mut ids: Vec<_> = (0..4).map(|_| desk.make(UNIT, &order())).collect();
    (0..100).for_each(|_| drop(desk.make(LIVE_UNIT, &minimal())));
    ids.push(desk.make(LIVE_UNIT, &order()));
    desk.store().set_page_length(1);
    desk.store().take_lists();
    let mut page = desk.find(SUPPORT, "CANARY@example.org", "unit_dev");
    let mut steps = 1;
    while page.text.contains("name=\"at\"") {
        assert!(desk.store().take_lists().len() <= 44);
        assert_inert(&page.text);
        let names = ["text", "unit", "mode", "at", "seen", "found"];
        let values: Vec<_> =
            names.iter().map(|name| field(after(&page.text, "name=\"at\""), name)).collect();
        let fields: Vec<_> = names.iter().copied().zip(values.iter().map(String::as_str)).collect();
        page = desk.post(SUPPORT, "/find", &fields);
        steps += 1;
    }
    assert_eq!(steps, 3);
    for id in &ids {
        assert!(page.text.contains(id), "{}", main_of(&page.text));
    }
    assert!(page.text.contains("105 transactions were looked through"), "{}", main_of(&page.text));
    let hostile = [
        ("text", "a@b.example"),
        ("unit", "unit_dev"),
        ("at", "9~x~<script>"),
        ("seen", "-1"),
        ("found", "<script> ptran_ x"),
    ];
    let page = desk.post(SUPPORT, "/find", &hostile);
    assert_eq!(page.status, 200);
    assert_inert(&page.text);
}

/// The form that goes on begins before its field `at`, with three others.
fn after<'h>(html: &'h str, field: &str) -> &'h str {
    let at = html.find(field).unwrap();
    &html[html[..at].rfind("<form").unwrap()..]
}
