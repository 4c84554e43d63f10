//! Tests the page of a transaction: which other transactions with the same buyer or reference it lists, and
//! which forms it shows.

use super::orders::link;
use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard};
use serde_json::json;
use support::ledger::Failing;
use support::service::{LIVE_UNIT, NOW_MS, UNIT, minimal};

const MINUTE: u64 = 60_000;

/// Creates a transaction with this reference and this buyer. Returns its ID.
fn made(test_dashboard: &TestDashboard, key: &str, reference: &str, email: &str) -> String {
    let mut order = minimal();
    order["reference"] = json!(reference);
    order["recipient"]["email"] = json!(email);
    test_dashboard.make(key, &order)
}

#[test]
fn other_transactions_of_the_order_and_the_buyer_are_beside_it() {
    let test_dashboard = test_dashboard();
    let make =
        |key: &str, reference: &str, email: &str| made(&test_dashboard, key, reference, email);
    let own = make(UNIT, "sh-1053", "ada@shop.example");
    let twins =
        [make(UNIT, "SH-1053", "ada@shop.example"), make(UNIT, "#sh -1053", "bob@shop.example")];
    let buyers =
        [make(UNIT, "sh-1054", "ADA@shop.example"), make(UNIT, "sh-1055", "ada@shop.example")];
    let strangers = [
        make(LIVE_UNIT, "sh-1053", "ada@shop.example"),
        make("service_sk_test_dev_unit_two", "sh-1053", "ada@shop.example"),
        make(UNIT, "sh-1056", "eve@shop.example"),
    ];
    test_dashboard.reconcile();
    let page = test_dashboard.get(SUPPORT, &format!("/transactions/{own}"));
    assert_inert(&page.text);
    let (_, rest) = page.text.split_once("<h2>Same reference</h2>").unwrap();
    let (reference, buyer) = rest.split_once("<h2>Same buyer</h2>").unwrap();
    for (part, wanted) in [(reference, &twins), (buyer, &buyers)] {
        let all = twins.iter().chain(&buyers).chain(&strangers);
        let found: Vec<_> =
            all.filter(|id| part.contains(&format!("/transactions/{id}"))).collect();
        assert_eq!(found, wanted.iter().collect::<Vec<_>>(), "{}", main_of(&page.text));
    }
    for (parameter, count) in [("reference", 3), ("buyer", 4)] {
        let path = format!("/orders?{parameter}={own}");
        assert!(page.text.contains(&format!("href=\"{path}\"")), "{}", main_of(&page.text));
        let list = test_dashboard.get(SUPPORT, &path);
        assert_inert(&list.text);
        assert_eq!(
            list.text.matches("<th scope=\"row\" data-label=\"Transaction\"><a ").count(),
            count
        );
        assert_eq!(
            test_dashboard.get(ACCOUNTS, &path).status,
            403,
            "who buys what is not for accounts"
        );
        let other = test_dashboard.get(SUPPORT, &format!("{path}&unit=unit_dev_two")).text;
        assert!(other.contains("No transactions."), "a filter narrows it");
    }
    for wrong in ["x", "ptran_", "%3Cscript%3E"] {
        let page = test_dashboard.get(SUPPORT, &format!("/orders?buyer={wrong}"));
        assert_eq!(page.status, 422, "{wrong}");
    }
    let lonely = test_dashboard.get(SUPPORT, &format!("/transactions/{}", strangers[2])).text;
    assert!(!lonely.contains("Same reference") && !lonely.contains("Same buyer"));
}

#[test]
fn a_long_list_of_a_buyer_has_pages_and_keeps_its_filters() {
    let test_dashboard = test_dashboard();
    let mut ids = Vec::new();
    for number in 0..35 {
        ids.push(made(&test_dashboard, UNIT, &format!("n-{number}"), "ada@shop.example"));
    }
    test_dashboard.reconcile();
    let page = test_dashboard.get(SUPPORT, &format!("/transactions/{}", ids[0]));
    assert_eq!(
        page.text.matches("<th scope=\"row\" data-label=\"Transaction\"><a").count(),
        5,
        "the newest"
    );
    let first =
        test_dashboard.get(SUPPORT, &format!("/orders?buyer={}&mode=test&month=2026-01", ids[0]));
    let older = link(&first, "Older →").unwrap();
    for kept in ["mode=test", "month=2026-01", &format!("buyer={}", ids[0])] {
        assert!(older.contains(kept), "{older}");
    }
    let rest = test_dashboard.get(SUPPORT, &older).text;
    assert_eq!(rest.matches("<th scope=\"row\" data-label=\"Transaction\"><a").count(), 10);
    let none = test_dashboard.get(SUPPORT, &format!("/orders?buyer={}&mode=live", ids[0])).text;
    assert!(none.contains("No transactions."));
}

#[test]
fn without_an_answer_of_the_ledger_the_rest_of_the_page_is_shown() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, UNIT, "n-1", "ada@shop.example");
    test_dashboard.reconcile();
    let path = format!("/transactions/{id}");
    test_dashboard.ledger.set_failing(Failing::Before);
    let page = test_dashboard.get(SUPPORT, &path);
    assert_eq!(page.status, 200);
    assert!(page.text.contains("The ledger does not answer") && page.text.contains("1.50 USD"));
    test_dashboard.ledger.set_failing(Failing::Unbound);
    let page = test_dashboard.get(SUPPORT, &path);
    assert!(page.status == 200 && page.text.contains("1.50 USD"));
}

/// The page shows a form only if sending it would have an effect.
#[test]
fn erasing_and_resending_are_offered_only_where_they_help() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(LIVE_UNIT, &order());
    let plain = test_dashboard.make(LIVE_UNIT, &minimal());
    let page = |id: &str| test_dashboard.get(OPERATOR, &format!("/transactions/{id}")).text;
    let has = |page: &str, action: &str| page.contains(&format!("/{action}\" autocomplete"));
    let early = page(&id);
    assert!(
        !has(&early, "erase") && early.contains("can be erased 5 minutes after"),
        "{}",
        main_of(&early)
    );
    test_dashboard.clock.0.set(NOW_MS + 6 * MINUTE);
    let now = page(&id);
    assert!(has(&now, "erase") && has(&now, "mail"));
    assert!(has(&page(&plain), "erase") && !has(&page(&plain), "mail"));
    let blocked = json!({ "state": "failed", "reason": "E_RECIPIENT_SUPPRESSED", "round": 1, "attempts": 1,
        "at": "2026-01-31T12:00:00Z" });
    test_dashboard.store().keep(
        &format!("notification:{id}"),
        blocked.to_string().as_bytes(),
        b"null",
    );
    let page_of_blocked = page(&id);
    assert!(
        page_of_blocked.contains("Sending the e-mail again does not help"),
        "{}",
        main_of(&page_of_blocked)
    );
    assert!(!has(&page_of_blocked, "mail"));
    for (id, again) in [(&id, true), (&plain, false)] {
        let done =
            test_dashboard.post_confirmed(OPERATOR, &format!("/transactions/{id}/erase"), &[]);
        assert_eq!(done.status, 200, "{}", main_of(&done.text));
        let erased = page(id);
        assert!(erased.contains("This transaction was erased on"), "{}", main_of(&erased));
        assert_eq!(has(&erased, "erase"), again, "only an e-mail could have left something");
        assert!(!has(&erased, "mail") && !erased.contains("Same buyer"));
    }
}
