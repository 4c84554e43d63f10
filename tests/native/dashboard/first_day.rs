//! Tests the checklist of a new service on the start page: each step is ticked by what is there.

use super::keys::{make, shop};
use super::prices::save;
use super::transaction::{main_of, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard};
use futures_executor::block_on;
use impact_pledge::office::dashboard::Dashboard;
use impact_pledge::office::shared::page::identity::Identity;
use support::ledger::Failing;
use support::service::{LIVE_UNIT, TestRequest, answer, minimal};

const TITLE: &str = "Set up the service";

/// Returns the names of the steps in the given state, in their order.
fn steps(page: &str, state: &str) -> Vec<String> {
    let items = page.split("<li>").filter(|item| item.contains(&format!(">{state}</span>")));
    let name = |item: &str| Some(item.split("<strong>").nth(1)?.split('<').next()?.to_owned());
    items.filter_map(name).collect()
}

fn home(dashboard: &TestDashboard) -> String {
    main_of(&dashboard.get(OPERATOR, "/").text).to_owned()
}

#[track_caller]
fn assert_done(dashboard: &TestDashboard, expected: &[&str]) {
    let page = home(dashboard);
    assert!(page.contains(TITLE), "{page}");
    assert_eq!(steps(&page, "✓ Done"), expected, "{page}");
}

fn set_prices(dashboard: &TestDashboard) {
    let [_, saved] = save(dashboard, "/prices?mode=test", &[("tree", "0.50")]);
    assert_eq!(saved.status, 200, "{}", main_of(&saved.text));
}

#[test]
fn each_step_is_ticked_when_it_is_done_and_the_list_goes_away() {
    let dashboard = shop();
    let mails = "E-mails and messages";
    assert_done(&dashboard, &["Sign-in", mails]);
    let page = home(&dashboard);
    let open = ["Ledger", "Prices", "Unit", "API key", "First transaction"];
    assert_eq!(steps(&page, "To do"), open);
    assert_eq!(steps(&page, "Off"), ["Backups on a schedule"]);
    for link in ["/system", "/prices", "/units", "/orders"] {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
    }
    assert!(!page.contains("Nothing needs doing"), "{page}");

    // A list of Workers KV may be late: what was changed here shows at once.
    dashboard.store().freeze_lists(true);
    set_prices(&dashboard);
    assert_done(&dashboard, &["Sign-in", "Prices", mails]);
    dashboard.store().freeze_lists(false);
    dashboard.name_units(&[("shop", "Shop")]);
    assert_done(&dashboard, &["Sign-in", "Ledger", "Prices", "Unit", mails]);
    let key = make(&dashboard, ["unit", "shop"], "test");
    assert_done(&dashboard, &["Sign-in", "Ledger", "Prices", "Unit", "API key", mails]);
    dashboard.ledger.sql("INSERT INTO backup_state (one, since, full_days) VALUES (1, 0, 7)");
    assert_eq!(steps(&home(&dashboard), "Off"), [""; 0]);
    dashboard.make(&key, &minimal());
    dashboard.reconcile();
    assert!(!home(&dashboard).contains(TITLE), "all is there that is needed");
    dashboard.ledger.sql("DELETE FROM names");
    assert_eq!(steps(&home(&dashboard), "To do"), ["Unit"]);
}

#[test]
fn a_service_with_a_live_transaction_has_no_list_and_pays_one_query() {
    let dashboard = test_dashboard();
    dashboard.make(LIVE_UNIT, &minimal());
    dashboard.reconcile();
    dashboard.ledger.sql("DELETE FROM names");
    dashboard.store().take_lists();
    assert!(!home(&dashboard).contains(TITLE));
    let lists = dashboard.store().take_lists();
    assert!(lists.iter().all(|list| list.prefix != "key:"), "no key is looked for");
}

#[test]
fn only_operators_see_the_list_and_a_failure_is_its_own() {
    let dashboard = shop();
    for person in [SUPPORT, ACCOUNTS] {
        let page = dashboard.get(person, "/").text;
        assert!(!page.contains(TITLE) && page.contains("Nothing needs doing."), "{page}");
    }
    dashboard.store().set_failing(Some("key:"));
    let page = home(&dashboard);
    assert!(page.contains("The first steps could not be read") && page.contains("To do"), "{page}");
    dashboard.store().set_failing(None);
    dashboard.ledger.set_failing(Failing::Unbound);
    assert!(home(&dashboard).contains("The first steps could not be read"));
}

#[test]
fn without_the_queue_of_notifications_they_are_off() {
    let dashboard = shop();
    let dashboard = Dashboard { outbox: None, ..dashboard.pages() };
    let request = TestRequest::new("GET", "/", "");
    let page = answer(block_on(dashboard.handle(&request, Identity::Address(OPERATOR)))).text;
    assert_eq!(steps(&page, "Off"), ["E-mails and messages", "Backups on a schedule"]);
}
