//! Tests the times on pages: UTC, or the time zone of the shop whose page it is.

use super::transaction::test_dashboard;
use super::{OPERATOR, SUPPORT};
use serde_json::json;
use support::service::{UNIT, minimal};

#[test]
fn a_transaction_has_the_time_of_its_shop_and_other_pages_have_utc() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &minimal());
    test_dashboard.reconcile();
    let page = || test_dashboard.get(SUPPORT, &format!("/transactions/{id}")).text;
    let created = |words: &str| {
        format!(
            "<dt>Created</dt><dd><time datetime=\"2026-01-31T12:00:00.123Z\">{words}</time></dd>"
        )
    };
    for (zone, words) in [
        (Some("Europe/Berlin"), "31 Jan 2026, 13:00 (Europe/Berlin)"),
        (Some("Mars/Base"), "31 Jan 2026, 12:00 UTC"),
        (None, "31 Jan 2026, 12:00 UTC"),
    ] {
        let profile = json!({ "name": "Nord", "timeZone": zone }).to_string();
        test_dashboard.store().keep("profile:unit_dev", profile.as_bytes(), b"null");
        assert!(page().contains(&created(words)), "{zone:?}: {}", page());
        let list = test_dashboard.get(OPERATOR, "/orders").text;
        assert!(list.contains(">31 Jan 2026, 12:00 UTC</time>"), "{list}");
    }
    test_dashboard.store().set_failing(Some("profile:"));
    let page = page();
    assert!(page.contains("31 Jan 2026, 12:00 UTC") || page.contains("Workers KV"), "{page}");
    let usage = test_dashboard.get(OPERATOR, "/usage").text;
    assert!(usage.contains("Month (UTC)"), "{usage}");
}
