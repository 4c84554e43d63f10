//! Tests how the dashboard shows the ledger: to monitors, and on the system page.

use super::prices::assert_has;
use super::{OPERATOR, SUPPORT, TestDashboard, dashboard};
use impact_pledge::office::shared::page::identity::Identity;
use serde_json::json;
use support::ledger::Failing;
use support::service::{Answer, NOW_MS, TestRequest, seeded};

const HOUR: u64 = 3_600_000;

fn health(dashboard: &TestDashboard, identity: Identity<'_>) -> Answer {
    dashboard.send(&TestRequest::new("GET", "/healthz", ""), identity)
}

/// Returns a dashboard whose ledger was complete an hour ago and has one problem of each kind.
fn with_findings() -> TestDashboard {
    let dashboard = dashboard(seeded());
    dashboard.reconcile();
    let ledger = &dashboard.ledger;
    ledger.bytes.set(Some(12_345_678));
    ledger.sql(&format!(
        r#"INSERT INTO findings (kind, name, found, pass, detail) VALUES
  ('damaged', 'transaction:<b>odd', {NOW_MS}, 1, ''),
  ('gone', 'ptran_gone', {NOW_MS}, 1, '{{"id":"ptran_gone","created":{NOW_MS},"currency":"USD","cents":1205}}'),
  ('refused', 'ptran_refused', {NOW_MS}, 1, 'CHECK constraint failed: <i>')"#
    ));
    dashboard.clock.0.set(NOW_MS + HOUR);
    dashboard
}

#[test]
fn a_monitor_hears_how_the_ledger_is() {
    let dashboard = with_findings();
    let pass = json!({
        "began": "2026-01-31T12:00:00.123Z", "ended": "2026-01-31T12:00:00.123Z", "listed": 0, "mended": 0,
    });
    let expected = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ledger": {
            "completeUpTo": "2026-01-31T11:58:00.123Z", "keptFrom": null, "received": null, "lagMs": null, "lastPass": pass,
            "currentPass": null, "findings": 3, "unpublished": 0, "bytes": 12_345_678,
        },
    });
    // A service token of Cloudflare Access has no address.
    for identity in [Identity::WithoutAddress, Identity::Address(SUPPORT)] {
        let answer = health(&dashboard, identity);
        assert_eq!((answer.status, &*answer.headers["content-type"]), (200, "application/json"));
        assert_eq!(answer.json(), expected, "{identity:?}");
    }
    for (identity, status) in [
        (Identity::None, 403),
        (Identity::Unknown, 503),
        (Identity::Address("eve@example.org"), 403),
    ] {
        assert_eq!(health(&dashboard, identity).status, status, "{identity:?}");
    }
    for request in [
        TestRequest::new("GET", "/system", ""),
        TestRequest::new("POST", "/healthz", ""),
        TestRequest::new("GET", "/healthz/", ""),
    ] {
        let answer = dashboard.send(&request, Identity::WithoutAddress);
        assert_eq!(answer.status, 403, "{}", request.path);
    }
}

#[test]
fn a_monitor_hears_of_a_problem() {
    let dashboard = with_findings();
    let problem = |dashboard: &TestDashboard| {
        let answer = health(dashboard, Identity::WithoutAddress);
        (answer.status, answer.json()["problem"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(problem(&dashboard), (200, String::new()));
    dashboard.clock.0.set(NOW_MS + 3 * HOUR);
    let (status, text) = problem(&dashboard);
    assert_eq!(status, 503);
    assert!(text.contains("a new one is overdue"), "{text}");
    dashboard.ledger.set_failing(Failing::Before);
    assert_eq!(problem(&dashboard), (503, "the ledger does not answer, or refuses".to_owned()));
    dashboard.ledger.set_failing(Failing::Unbound);
    let (status, text) = problem(&dashboard);
    assert_eq!(status, 503);
    assert!(text.contains("no database is bound as `LEDGER_DB`"), "{text}");
}

#[test]
fn the_system_shows_how_the_ledger_is_and_what_to_do() {
    let dashboard = with_findings();
    let page = dashboard.get(OPERATOR, "/system");
    let words = [
        "31 Jan 2026, 11:58 UTC",
        "0 records compared, 0 rows written or removed",
        "13 MB of 10 GB",
        "<bdi>transaction:&lt;b&gt;odd</bdi>",
        "Delete the record, and restore a backup with <code>",
        "12.05 USD",
        "explains why a sum changed",
        "<bdi>CHECK constraint failed: &lt;i&gt;</bdi>",
        "This is a bug",
    ];
    assert_has(&page, 200, &words);
    assert!(!page.text.contains("role=\"alert\""));
    let ledger = &dashboard.ledger;
    ledger.bytes.set(Some(8_250_000_000));
    ledger.sql(&format!(
        "UPDATE reconciliation SET received = {NOW_MS}, delay = 4200, started = {NOW_MS}, listed = 7"
    ));
    let words = [
        "8.2 GB of 10 GB",
        "The database uses 8.2 of the 10 GB",
        "role=\"alert\"",
        "5 s after its transaction",
        "Running reconciliation pass",
        "7 records compared",
    ];
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &words);
    ledger.sql("DELETE FROM findings");
    ledger.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
INSERT INTO findings SELECT 'gone', 'ptran_' || i, 1, 1, 'null' FROM n",
    );
    let many = ["Only the first 100 of 120 findings are shown"];
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &many);
}

#[test]
fn the_system_is_shown_without_a_ledger_that_answers() {
    let dashboard = dashboard(seeded());
    let never = ["first reconciliation begins within 5 minutes", "not yet", "not known"];
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &never);
    dashboard.ledger.set_failing(Failing::Before);
    let fails = ["The ledger does not answer, or refuses.", "Limits"];
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &fails);
    dashboard.ledger.set_failing(Failing::Unbound);
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &["no database is bound as", "Limits"]);
}

#[test]
fn pages_and_monitors_say_that_the_database_has_lost_rows_and_what_to_run() {
    let dashboard = dashboard(seeded());
    dashboard.reconcile();
    dashboard.store().keep("epoch", br#"{"version":1,"epoch":"another"}"#, b"null");
    let expected = ["has lost people, credits, fulfilments or updates", "transactions restore"];
    for page in ["/", "/system"] {
        assert_has(&dashboard.get(OPERATOR, page), 200, &expected);
    }
    let answer = health(&dashboard, Identity::WithoutAddress);
    assert_eq!(answer.status, 503);
    assert!(answer.text.contains(expected[0]), "{}", answer.text);
    assert_has(&dashboard.get(super::ACCOUNTS, "/"), 200, &["Months to settle", expected[1]]);
}
