//! Tests the search that people of a shop use. The address of its results contains no personal data, and
//! works only for the person who searched.

use super::members::{EVA, TEA, VIC, ZOE, shops};
use super::prices::assert_has;
use super::transaction::main_of;
use super::{ACCOUNTS, OPERATOR, SUPPORT};
use support::service::NOW_MS;

const DAY_MS: u64 = 24 * 3_600_000;
const BUYER: &str = "buyer@example.org";
const CLOSED: &str = "This address shows no results: it belongs to another person";

#[test]
fn results_have_an_address_that_can_be_opened_again_for_a_day() {
    let shops = shops();
    let copied = ["Bo <buyer@example.org>", "mailto:buyer@example.org"];
    shops.make_again();
    for text in [BUYER, copied[0], copied[1], "order-of-north", " #ORDER-of-north"] {
        let answer = shops.dashboard.post(EVA, "/find", &[("text", text), ("mode", "live")]);
        assert_eq!((answer.status, &*answer.text), (303, ""));
        let address = &*answer.headers["location"];
        assert!(address.starts_with("/find?q=") && address.ends_with("&mode=live"), "{address}");
        assert!(!address.contains("north") && !address.contains("buyer"), "{address}");
        let pages = [0, 1].map(|_| shops.dashboard.get(EVA, address));
        assert_has(&pages[0], 200, &["order-of-north", &shops.ids[0]]);
        assert_eq!(pages[0].text, pages[1].text, "a reload shows the same page");
        assert!(!main_of(&pages[0].text).contains("order-of-south"));
        shops.dashboard.clock.0.set(NOW_MS + DAY_MS);
        assert_has(&shops.dashboard.get(EVA, address), 422, &[CLOSED, "action=\"/find\""]);
        shops.dashboard.clock.0.set(NOW_MS);
    }
    assert_has(&shops.dashboard.get(EVA, "/find"), 200, &["action=\"/find\"", "All your units"]);
}

#[test]
fn an_address_of_results_shows_nothing_to_another_person() {
    let shops = shops();
    shops.make_again();
    let address = |person: &str| {
        let answer = shops.dashboard.post(person, "/find", &[("text", BUYER)]);
        answer.headers["location"].clone()
    };
    let (of_eva, of_zoe, of_support) = (address(EVA), address(ZOE), address(SUPPORT));
    for (person, address) in
        [(ZOE, &of_eva), (VIC, &of_eva), (OPERATOR, &of_eva), (EVA, &of_zoe), (EVA, &of_support)]
    {
        let page = shops.dashboard.get(person, address);
        assert_has(&page, 422, &[CLOSED]);
        for word in ["order-of-", "buyer", "ptran_"] {
            assert!(!main_of(&page.text).contains(word), "{person}: {}", main_of(&page.text));
        }
    }
    for (person, address, own, foreign) in
        [(EVA, of_eva, "north", "south"), (ZOE, of_zoe, "south", "north")]
    {
        let page = main_of(&shops.dashboard.get(person, &address).text).to_owned();
        assert!(page.contains(&format!("order-of-{own}")), "{page}");
        assert!(!page.contains(foreign), "{page}");
    }
}

/// Searches for a pasted API key. The address of the results does not contain the key. People who manage the
/// key's unit find the key. Others do not learn whether the key exists.
#[test]
fn a_pasted_key_is_sealed_as_its_hash() {
    let shops = shops();
    let key = "service_sk_live_north_key";
    let answer = shops.dashboard.post(EVA, "/find", &[("text", key)]);
    let address = &*answer.headers["location"];
    assert!(answer.status == 303 && !address.contains("north"), "{address}");
    let page = shops.dashboard.get(EVA, address);
    assert_has(&page, 200, &["label-of-north", "action=\"/keys/revoke\""]);
    assert!(!page.text.contains(key));
    let foreign = shops.dashboard.search(EVA, &[("text", "service_sk_live_south_key")]);
    let absent = shops.dashboard.search(EVA, &[("text", "service_sk_live_nobody_key")]);
    assert_eq!(foreign.text, absent.text);
    assert_has(&foreign, 200, &["Nothing in your units matches this"]);
}

#[test]
fn a_text_that_cannot_be_searched_for_gets_the_form_again() {
    let shops = shops();
    for (text, words) in [("", "Enter something"), (&*"x".repeat(5_000), "too long")] {
        let page = shops.dashboard.post(EVA, "/find", &[("text", text)]);
        assert_has(&page, 422, &[words, "action=\"/find\""]);
    }
}

#[test]
fn older_results_are_a_link() {
    let shops = shops();
    let order = |number: usize| {
        let mut order = support::service::minimal();
        order["reference"] = format!("further-{number}").into();
        order["recipient"]["email"] = BUYER.into();
        shops.dashboard.service.clock.0.set(NOW_MS - 1_000 * number as u64);
        shops.dashboard.make("service_sk_live_north_key", &order);
    };
    (1..=60).for_each(order);
    shops.dashboard.reconcile();
    let page = shops.dashboard.search(EVA, &[("text", BUYER), ("unit", "north")]);
    assert_has(&page, 200, &["further-1<", "Older →"]);
    assert!(!page.text.contains("further-60<"));
    let (_, link) = page.text.split_once("rel=\"next\" href=\"").unwrap();
    let link = link.split_once('"').unwrap().0.replace("&amp;", "&");
    let older = shops.dashboard.get(EVA, &link);
    assert_has(&older, 200, &["further-60<", ">Newest</a>"]);
    assert!(!older.text.contains("further-1<"));
    assert_has(&shops.dashboard.get(TEA, &link), 422, &[CLOSED]);
}

/// Viewers and people with only the role `accounts` see the personal data of buyers masked. They search by order number
/// and ID, and not by e-mail address.
#[test]
fn people_who_see_masked_data_search_without_it() {
    let shops = shops();
    let id = &shops.ids[0];
    for (person, finds_south) in [(VIC, false), (ACCOUNTS, true)] {
        assert!(shops.dashboard.get(person, "/").text.contains("action=\"/find\""), "{person}");
        let found = shops.dashboard.search(person, &[("text", "order-of-north")]);
        assert_has(&found, 200, &["order-of-north", id]);
        for hidden in ["buyer-of", "buyer@"] {
            assert!(!found.text.contains(hidden), "{person}: {}", main_of(&found.text));
        }
        let found = shops.dashboard.search(person, &[("text", "order-of-south")]).text;
        assert_eq!(found.contains(&shops.ids[1]), finds_south, "{person}");
        let of_id = shops.dashboard.search(person, &[("text", id)]);
        assert_has(&of_id, 200, &["order-of-north"]);
        assert!(!of_id.text.contains("buyer-of"), "{person}");
        for unit in ["", "north"] {
            let by_email = shops.dashboard.search(person, &[("text", BUYER), ("unit", unit)]);
            let main = main_of(&by_email.text);
            assert!(main.contains("search by e-mail address"), "{person}: {main}");
            assert!(!main.contains(id) && !main.contains("order-of-"), "{person}: {main}");
        }
        let key = shops.dashboard.search(person, &[("text", "service_sk_live_north_key")]);
        assert!(!key.text.contains("label-of-north") && !key.text.contains("/keys/"), "{person}");
    }
}
