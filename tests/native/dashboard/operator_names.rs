//! Tests that people of a shop see the names of their own people, but "the operator" instead of an operator's
//! name.

use super::access::MAY;
use super::members::{EVA, Shops, TEA, VIC, Whose, shops};
use super::prices::assert_has;
use super::{OPERATOR, confirmation, field, filled};
use support::service::{Answer, minimal};

const DAY_MS: u64 = 86_400_000;

fn submit(shops: &Shops, by: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    shops.dashboard.post_confirmed(by, path, fields)
}

#[track_caller]
fn done(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// Returns the shop `north` in February, after an operator has made every change that operators can make
/// there.
fn changed_by_an_operator() -> Shops {
    let shops = shops();
    let dashboard = &shops.dashboard;
    let submit =
        |path: &str, fields: &[(&str, &str)]| done(&submit(&shops, OPERATOR, path, fields));
    submit("/keys", &[("unit", "north"), ("mode", "live"), ("label", "made by an operator")]);
    submit("/keys", &[("team", "chain-north"), ("mode", "test")]);
    let profile = [("name", "North"), ("language", "en")];
    submit("/units/north/profile", &profile);
    submit("/units/north/people", &[("address", "added@north.example"), ("role", "viewer")]);
    submit("/teams/chain-north/people", &[("address", "added@chain.example"), ("role", "manager")]);
    let id = &*shops.ids[0];
    done(&dashboard.post(OPERATOR, &format!("/transactions/{id}/whole"), &[]));
    submit(&format!("/transactions/{id}/credit"), &[("reason", "Returned")]);
    let mut order = minimal();
    order["reference"] = "erased".into();
    let erased = dashboard.service.create("service_sk_live_north_key", &order).json();
    dashboard.clock.0.update(|now| now + 5 * DAY_MS);
    dashboard.reconcile();
    let erased = erased["id"].as_str().unwrap();
    submit(&format!("/transactions/{erased}/erase"), &[]);
    let paid = [
        ("month", "2026-01"),
        ("mode", "live"),
        ("amount-USD", "1.50"),
        ("paid-at", "2026-02-03"),
        ("invoice", "17"),
    ];
    submit("/units/north/paid", &paid);
    for (path, words) in [
        ("/units/north", "made by an operator"),
        ("/units/north/people", "added@north.example"),
        ("/units/north/payments", "marked by"),
        ("/audit?shop=north", "invoice"),
        (&*format!("/transactions/{id}"), "Returned"),
    ] {
        assert_has(&dashboard.get(OPERATOR, path), 200, &[words, OPERATOR]);
    }
    shops
}

#[test]
fn no_page_and_no_answer_to_a_form_names_an_operator_to_people_of_a_shop() {
    let shops = changed_by_an_operator();
    let (mut opened, mut named) = (0, 0);
    for (template, ..) in MAY {
        for person in [EVA, TEA, VIC] {
            let answer = shops.send(person, &shops.request(template, Whose::Own));
            assert!(!answer.text.contains(OPERATOR), "{person}: {template}: {}", answer.text);
            opened += usize::from(answer.status == 200);
            named += usize::from(answer.text.contains("the operator"));
        }
    }
    assert!(opened > 50, "{opened} requests were answered with a page");
    assert!(named >= 9, "{named} pages have the operator's changes");
    for path in
        ["/units/north", "/units/north/people", "/teams/chain-north", "/teams/chain-north/people"]
    {
        let page = shops.dashboard.get(TEA, path);
        assert_has(&page, 200, &["<bdi>the operator</bdi>"]);
    }
    for path in ["/units/north/payments?mode=live", "/units/north/payments.csv?mode=live"] {
        assert_has(&shops.dashboard.get(VIC, path), 200, &["the operator"]);
    }
    let key = shops.dashboard.search(EVA, &[("text", &shops.keys[0])]);
    assert_has(&key, 200, &["label-of-north", "<bdi>the operator</bdi>"]);
}

#[test]
fn people_of_a_shop_see_the_names_of_their_own_people() {
    let shops = shops();
    done(&submit(
        &shops,
        EVA,
        "/keys",
        &[("unit", "north"), ("mode", "live"), ("label", "of Eva")],
    ));
    let person = [("address", "new@north.example"), ("role", "viewer")];
    done(&submit(&shops, EVA, "/units/north/people", &person));
    let named = format!("<bdi>{EVA}</bdi>");
    for reader in [TEA, OPERATOR] {
        for path in ["/units/north", "/units/north/people"] {
            assert_has(&shops.dashboard.get(reader, path), 200, &[&named]);
        }
    }
    let page = shops.dashboard.get(TEA, "/units/north/people");
    assert_has(&page, 200, &["new@north.example", &named]);
}

#[test]
fn a_conflict_with_an_operator_does_not_name_the_operator() {
    let shops = shops();
    let dashboard = &shops.dashboard;
    let key = shops.keys[0].as_str();
    let form = |name: &str| {
        let page = dashboard.get(EVA, "/units/north");
        filled(&page, "name=\"mail-text\"", &[("name", name), ("language", "en")])
    };
    let save = |by: &str, form: &(String, Vec<(String, String)>)| {
        let fields = form.1.iter().filter(|(name, _)| name != "operation");
        let fields: Vec<_> = fields.map(|(name, value)| (&**name, &**value)).collect();
        submit(&shops, by, "/units/north/profile", &fields)
    };
    let operation = field(&dashboard.get(EVA, "/units/north/people").text, "operation");
    let old = form("Of Eva");
    dashboard.clock.0.update(|now| now + 60_000);
    done(&save(OPERATOR, &form("Of Ada")));
    done(&submit(
        &shops,
        OPERATOR,
        "/keys/rotate",
        &[("unit", "north"), ("key", key), ("keep", "24h")],
    ));
    done(&submit(&shops, OPERATOR, "/units/north/people/remove", &[("address", VIC)]));
    done(&submit(&shops, OPERATOR, "/units/north/people", &[("address", VIC), ("role", "viewer")]));
    let refused = |answer: &Answer, words: &str| {
        assert_has(answer, 422, &[words]);
        assert!(!answer.text.contains(OPERATOR), "{}", answer.text);
    };
    refused(&save(EVA, &old), "by the operator at");
    // Workers KV does not show the operator's change yet.
    dashboard.store().remove("profile:north");
    refused(&save(EVA, &old), "by the operator at");
    let late = [("operation", &*operation)];
    let rotate = [&[("unit", "north"), ("key", key), ("keep", "24h")][..], &late].concat();
    let asked = dashboard.post(EVA, "/keys/rotate", &rotate);
    assert_has(&asked, 200, &["This key was already replaced by"]);
    assert!(!asked.text.contains(OPERATOR), "{}", asked.text);
    let asked = dashboard.post(EVA, "/units/north/people/remove", &[("address", VIC)]);
    let (path, mut fields) = confirmation(&asked);
    fields
        .iter_mut()
        .filter(|(name, _)| name == "operation")
        .for_each(|it| it.1.clone_from(&operation));
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    refused(&dashboard.post(EVA, &path, &fields), "the operator added this person again");
}
