//! Tests requests for credits on the page of a transaction, from the shop's form to the decision.

use super::members::{EVA, Shops, TEA, VIC, ZOE, shops};
use super::prices::assert_has;
use super::{ACCOUNTS, OPERATOR, SUPPORT};
use support::service::{Answer, NOW_MS};

const DAY: u64 = 24 * 60 * 60_000;
const REASON: &str = "Returned <b>";

/// Two shops three days later, when all orders are in the ledger. Returns the path of the order of `north`.
fn ordered() -> (Shops, String) {
    let shops = shops();
    shops.dashboard.clock.0.set(NOW_MS + 3 * DAY);
    shops.dashboard.reconcile();
    let path = format!("/transactions/{}", shops.ids[0]);
    (shops, path)
}

fn ask(shops: &Shops, person: &str, path: &str, amount: &str) -> Answer {
    let fields = [("amount", amount), ("reason", REASON)];
    shops.dashboard.post_new(person, &format!("{path}/credit/request"), &fields)
}

/// Returns the text of a page without its tags.
fn words(answer: &Answer) -> String {
    answer.text.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect()
}

#[test]
fn accounts_confirm_what_a_manager_requests() {
    let (shops, path) = ordered();
    let dashboard = &shops.dashboard;
    let page = dashboard.get(EVA, &path);
    assert_has(
        &page,
        200,
        &["Request a credit", "confirms or refuses your request", "credit/request"],
    );
    assert!(!dashboard.get(VIC, &path).text.contains("credit/request"), "a viewer");
    let asked = ask(&shops, EVA, &path, "0.20");
    assert_has(
        &asked,
        200,
        &["The credit was requested", "Withdraw request", "Returned &lt;b&gt;"],
    );
    let home = dashboard.get(ACCOUNTS, "/");
    assert_has(&home, 200, &["Confirm or refuse requested credits: ", &format!("href=\"{path}\"")]);
    assert!(!dashboard.get(SUPPORT, "/").text.contains("requested credits"));
    let page = dashboard.get(ACCOUNTS, &path);
    assert_has(
        &page,
        200,
        &["Requested credit", "credit/confirm", "credit/refuse", "eva@north.example"],
    );
    assert!(!page.text.contains("Leave empty to credit all"), "one decision first");
    let question = dashboard.post(ACCOUNTS, &format!("{path}/credit/confirm"), &[]);
    assert_has(&question, 200, &["This cannot be undone", "0.20 USD"]);
    assert_has(&dashboard.confirm(ACCOUNTS, &question), 200, &["was credited"]);
    assert_has(&dashboard.confirm(ACCOUNTS, &question), 200, &["already done", "was credited"]);
    let page = dashboard.get(VIC, &path);
    let history = words(&page);
    assert!(
        history.contains("Credit requested: 0.20 USD by eva@north.example: Returned &lt;b&gt;"),
        "{history}"
    );
    assert!(history.contains("Credited: 0.20 USD by the operator"), "{history}");
    assert!(!page.text.contains(ACCOUNTS), "people of shops do not see names of operators");
    assert!(!dashboard.get(ACCOUNTS, "/").text.contains("requested credits"));
    let log = words(&dashboard.get(EVA, "/audit"));
    assert!(log.contains("requested a credit of the transaction"), "{log}");
}

#[test]
fn a_refusal_says_why_and_a_manager_can_withdraw_or_ask_again() {
    let (shops, path) = ordered();
    let dashboard = &shops.dashboard;
    ask(&shops, EVA, &path, "0.20");
    let refuse = |person, reason| {
        dashboard.clock.0.set(dashboard.clock.0.get() + 1_000);
        dashboard.post_new(person, &format!("{path}/credit/refuse"), &[("reason", reason)])
    };
    assert_has(&refuse(ACCOUNTS, ""), 422, &["fill in", "Reason"]);
    assert_has(&refuse(ACCOUNTS, "mail a@b.example"), 422, &["must not contain an e-mail address"]);
    assert_has(&refuse(ACCOUNTS, "It was shipped"), 200, &["The request was refused."]);
    let page = dashboard.get(EVA, &path);
    assert!(words(&page).contains("Requested credit refused by the operator: It was shipped"));
    assert_has(&refuse(ACCOUNTS, "Again"), 422, &["decided this request at", "refused"]);
    assert_has(&ask(&shops, TEA, &path, "0.10"), 200, &["The credit was requested"]);
    assert_has(&refuse(EVA, "A mistake"), 200, &["The request was refused."]);
    let page = words(&dashboard.get(EVA, &path));
    assert!(page.contains("Requested credit withdrawn by eva@north.example: A mistake"), "{page}");
}

/// A form that was opened before a request was made, and sent afterwards, does not decide it.
#[test]
fn a_form_does_not_decide_a_request_that_it_did_not_show() {
    let (shops, path) = ordered();
    let dashboard = &shops.dashboard;
    ask(&shops, EVA, &path, "0.20");
    let page = dashboard.get(ACCOUNTS, &path);
    let operation = super::form_with(&page, "credit/refuse").1;
    let operation = operation.iter().find(|(name, _)| name == "operation").unwrap().1.clone();
    dashboard.clock.0.set(dashboard.clock.0.get() + 1_000);
    dashboard.post_new(EVA, &format!("{path}/credit/refuse"), &[("reason", "Mistake")]);
    dashboard.clock.0.set(dashboard.clock.0.get() + 1_000);
    ask(&shops, EVA, &path, "0.30");
    let fields = [("reason", "No"), ("operation", &*operation)];
    let late = dashboard.post(ACCOUNTS, &format!("{path}/credit/refuse"), &fields);
    assert_has(&late, 422, &["was requested after you opened the page"]);
}

#[test]
fn within_the_limit_a_credit_is_made_at_once_after_a_question() {
    let (shops, path) = ordered();
    let dashboard = &shops.dashboard;
    let limit = |per_order, per_month| {
        let fields = [("per-order", per_order), ("per-month", per_month)];
        dashboard.post_new(OPERATOR, "/units/north/credit-limit", &fields)
    };
    for (per_order, per_month, problem) in [
        ("1", "", "enter both sums"),
        ("1.001", "2", "write the amount"),
        ("0", "2", "above 0"),
        ("2", "1", "below that"),
    ] {
        assert_has(&limit(per_order, per_month), 422, &[problem]);
    }
    assert_has(
        &limit("0.30", "0.40"),
        200,
        &["made at once up to 0.30 USD per transaction", "value=\"0.40\""],
    );
    assert_has(
        &dashboard.get(EVA, &path),
        200,
        &["A credit is made at once if your requests stay within"],
    );
    let question = ask(&shops, EVA, &path, "0.20");
    assert_has(&question, 200, &["Credit this transaction?", "This cannot be undone"]);
    assert_has(
        &dashboard.confirm(EVA, &question),
        200,
        &["was credited", "by <bdi>eva@north.example"],
    );
    assert_has(&dashboard.confirm(EVA, &question), 200, &["already done", "was credited"]);
    let page = dashboard.get(VIC, &path);
    assert!(words(&page).contains("Credited: 0.20 USD by eva@north.example"), "{}", words(&page));
    dashboard.clock.0.set(dashboard.clock.0.get() + 1_000);
    assert_has(&ask(&shops, EVA, &path, "0.20"), 200, &["The credit was requested"]);
    assert_has(&limit("", ""), 200, &["needs a confirmation"]);
}

#[test]
fn nobody_else_requests_decides_or_limits() {
    let (shops, path) = ordered();
    let dashboard = &shops.dashboard;
    for (person, status) in [(VIC, 403), (ZOE, 404), (SUPPORT, 403)] {
        assert_eq!(ask(&shops, person, &path, "0.20").status, status, "{person}");
    }
    ask(&shops, EVA, &path, "0.20");
    let reason = [("reason", "No")];
    for (last, person, status) in [
        ("confirm", EVA, 403),
        ("confirm", VIC, 403),
        ("confirm", SUPPORT, 403),
        ("refuse", VIC, 403),
        ("refuse", ZOE, 404),
        ("refuse", SUPPORT, 403),
    ] {
        let answer = dashboard.post_new(person, &format!("{path}/credit/{last}"), &reason);
        assert_eq!(answer.status, status, "{last}: {person}");
    }
    let sums = [("per-order", "9"), ("per-month", "9")];
    for (person, status) in [(EVA, 403), (ACCOUNTS, 403)] {
        let answer = dashboard.post_new(person, "/units/north/credit-limit", &sums);
        assert_eq!(answer.status, status, "{person}");
    }
    let rows = dashboard.ledger.sql("SELECT state FROM credit_requests").concat();
    assert_eq!(rows, "open");
    assert_eq!(
        dashboard.ledger.sql("SELECT '1' FROM credits UNION SELECT '2' FROM credit_limits"),
        [""; 0]
    );
}
