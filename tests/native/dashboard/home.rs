//! Tests the start page: which tasks each role sees, and that one unreadable task does not hide the other
//! tasks.

use super::transaction::{main_of, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, field};
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use serde_json::json;
use support::ledger::Failing;
use support::service::{LIVE_UNIT, NOW_MS, minimal};

const DAY_MS: u64 = 24 * 60 * 60_000;

/// The text by which the tests find the line about failed notifications on the page. The constants below are
/// the texts of the other lines.
const MAILS: &str = "1 failed notification</a> in the last 7 days";
const UNPRICED: &str = "Unpriced pledges";
const MONTHS: &str = "Months to settle: ";
const UNUSUAL: &str = "1 unusual transaction in the last 90 days";
const LEDGER: &str = "The ledger</a>: ";
const BACKUP: &str = "No backup</a> has been recorded";
/// The mail service's code for an address that it blocks.
const BLOCKED: &str = "E_RECIPIENT_SUPPRESSED";
/// The month has ended more than two weeks ago.
const UNTOLD: &str = "No update is published about <a href=\"/updates?mode=live&amp;month=2026-01&amp;offering=tree\">";
const UNITS: &str = "1 unit</a> without a live transaction";

/// Returns a dashboard that shows every task. It is March 2026. Two transactions are of January, and one is
/// of March.
fn busy() -> TestDashboard {
    let mut dashboard = test_dashboard();
    dashboard.make(LIVE_UNIT, &minimal());
    let mut order = minimal();
    order["pledges"][0]["impact"] = json!({ "amount": 100_000, "offeringId": "tree" });
    dashboard.make(LIVE_UNIT, &order);
    order["pledges"][0]["impact"]["offeringId"] = json!("new");
    dashboard.clock.0.set(NOW_MS + 29 * DAY_MS); // 1 March
    dashboard.service.clock.0.set(NOW_MS + 29 * DAY_MS - 1_000);
    let id = dashboard.make(LIVE_UNIT, &order);
    let registered = json!({ "created": "2026-01-01T00:00:00.000Z", "by": "ada" }).to_string();
    for unit in ["unit:unit_dev", "unit:new"] {
        dashboard.store().keep(unit, registered.as_bytes(), registered.as_bytes());
    }
    dashboard.store().keep(&format!("mail-failed:2026-03-01:{id}"), b"", b"null");
    mark(&dashboard, &id, ("failed", None), 1);
    dashboard.reconcile();
    dashboard.clock.0.set(NOW_MS + 29 * DAY_MS + 20 * 60 * 60_000); // the next reconciliation is overdue
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        support: SUPPORT,
        accounts: ACCOUNTS,
        unusual_charge: "49999.99",
        ..Variables::default()
    });
    dashboard
}

/// Stores the outcome of an e-mail: its state, and the reason.
fn mark(dashboard: &TestDashboard, id: &str, (state, reason): (&str, Option<&str>), round: u8) {
    let at = "2026-03-01T12:00:00.000Z";
    let marker =
        json!({ "state": state, "reason": reason, "round": round, "at": at, "attempts": 1 });
    let name = format!("notification:{id}");
    dashboard.store().keep(&name, marker.to_string().as_bytes(), b"null");
}

#[test]
fn each_role_sees_its_own_tasks() {
    let dashboard = busy();
    let all = [MAILS, UNPRICED, MONTHS, UNUSUAL, UNTOLD, LEDGER, BACKUP, UNITS];
    for (person, tasks) in [
        (OPERATOR, &all[..]),
        (SUPPORT, &[MAILS, UNUSUAL]),
        (ACCOUNTS, &[UNPRICED, MONTHS, UNUSUAL]),
    ] {
        let page = dashboard.get(person, "/");
        assert_eq!(page.status, 200, "{}", page.text);
        let main = main_of(&page.text);
        for task in all {
            assert_eq!(main.contains(task), tasks.contains(&task), "{person} {task}: {main}");
        }
        assert!(!main.contains("Nothing needs doing") && !main.contains("could not be read"));
        assert!(main.contains("href=\"/transactions/"), "{person}");
    }
    let main = dashboard.get(OPERATOR, "/").text;
    for link in [
        "href=\"/orders?mode=live&amp;month=2026-03&amp;state=unpriced\">1 pledge in Mar 2026</a>",
        "href=\"/payments?mode=live&amp;month=2026-01\">1 unit in Jan 2026</a>",
        "href=\"/orders?unit=unit_dev&amp;mode=live\"",
        "50000.00",
        "href=\"/units/new\"",
        "href=\"/system\"",
    ] {
        assert!(main.contains(link), "{link}: {}", main_of(&main));
    }
}

#[test]
fn a_task_that_cannot_be_read_says_so_and_the_others_are_shown() {
    let dashboard = busy();
    let main = |dashboard: &TestDashboard| main_of(&dashboard.get(OPERATOR, "/").text).to_owned();
    for prefix in ["mail-failed:", "unit:", "backup"] {
        dashboard.store().set_failing(Some(prefix));
        let page = main(&dashboard);
        assert_eq!(page.matches("could not be read</span>").count(), 1, "{prefix}: {page}");
        assert!(page.contains(MONTHS), "{prefix}: {page}");
    }
    dashboard.store().set_failing(None);
    dashboard.ledger.set_failing(Failing::Before);
    let page = main(&dashboard);
    assert_eq!(page.matches("could not be read</span>").count(), 11, "{page}");
    assert!(page.contains(MAILS) && page.contains(BACKUP), "{page}");
    dashboard.ledger.set_failing(Failing::Unbound);
    let page = main(&dashboard);
    assert!(page.contains("docs/ledger.md") && page.contains(MAILS), "{page}");
}

#[test]
fn an_email_that_was_sent_or_queued_again_is_no_task() {
    let dashboard = busy();
    let names = dashboard.store().names();
    let failed = names.iter().find_map(|name| name.strip_prefix("mail-failed:2026-03-01:"));
    let id = failed.unwrap().to_owned();
    let is_shown = || dashboard.get(SUPPORT, "/").text.contains(MAILS);
    for (state, reason, expected) in [
        ("failed", None, true),
        ("failed", Some("status-422"), true),
        ("sent", None, false),
        ("skipped", Some("mail-off"), false),
        // Somebody can attach an adapter, and then resend the message.
        ("skipped", Some("not-attached"), true),
        // No resend can mend these.
        ("failed", Some(BLOCKED), false),
        ("skipped", Some("no-page"), false),
    ] {
        mark(&dashboard, &id, (state, reason), 1);
        assert_eq!(is_shown(), expected, "{state} {reason:?}");
        let system = dashboard.get(OPERATOR, "/system").text;
        assert_eq!(system.contains("1 failed</a>"), expected, "{state} {reason:?}");
        assert!(dashboard.get(SUPPORT, "/mails").text.contains(&id), "the list keeps it");
    }
    dashboard.store().remove(&format!("notification:{id}"));
    assert!(!is_shown(), "the outcome went with the personal data, or there was no request");
    mark(&dashboard, &id, ("failed", None), 1);
    let queued = |round: u8| {
        let time = "2026-03-02T07:00:00.000Z";
        let queued = json!({ "round": round, "at": time, "until": time }).to_string();
        dashboard.store().keep(&format!("mail-queued:{id}"), queued.as_bytes(), b"null");
    };
    for (round, expected) in [(1, true), (2, false)] {
        queued(round);
        assert_eq!(is_shown(), expected, "{round}");
    }
    dashboard.clock.0.set(NOW_MS + 40 * DAY_MS);
    dashboard.store().keep(&format!("mail-queued:{id}"), b"{}", b"null");
    assert!(!is_shown(), "failures of more than 7 days ago");
}

/// The unpriced pledges of the current month are only shown. Those of an ended month are accepted on the page
/// of payments. Afterwards, they are no longer a task.
#[test]
fn unpriced_pledges_lead_to_the_page_where_they_can_be_accepted() {
    let dashboard = busy();
    let home = || main_of(&dashboard.get(ACCOUNTS, "/").text).to_owned();
    let ended = "/payments?mode=live&month=2026-03";
    assert!(!home().contains("Once a month has ended"), "{}", home());
    dashboard.clock.0.set(NOW_MS + 65 * DAY_MS); // 6 April
    dashboard.reconcile();
    let link = format!("href=\"{}\">1 pledge in Mar 2026</a>", ended.replace('&', "&amp;"));
    assert!(home().contains(&link) && home().contains("Once a month has ended"), "{}", home());
    let page = dashboard.get(ACCOUNTS, ended).text;
    assert!(page.contains("1 unpriced") && page.contains("Mark as paid"), "{}", main_of(&page));
    let month = [("mode", "live"), ("month", "2026-03")];
    let form = dashboard.get(ACCOUNTS, "/units/unit_dev/paid?mode=live&month=2026-03").text;
    let amount = field(&form, "amount-USD");
    let entered = [
        ("amount-USD", &*amount),
        ("paid-at", "2026-04-05"),
        ("invoice", "R-1"),
        ("accept-unpriced", "1"),
    ];
    let fields = [&month[..], &entered].concat();
    let paid = dashboard.post_confirmed(ACCOUNTS, "/units/unit_dev/paid", &fields);
    assert!(paid.text.contains("is marked as paid"), "{}", main_of(&paid.text));
    assert!(!home().contains("1 pledge in Mar 2026"), "{}", home());
}

#[test]
fn nothing_needs_doing_in_a_small_installation_with_a_backup() {
    let dashboard = test_dashboard();
    dashboard.make(LIVE_UNIT, &minimal());
    let backup = |at: &str| {
        let backup = json!({ "at": at, "records": 1, "by": "ada" }).to_string();
        dashboard.store().keep("backup", backup.as_bytes(), b"null");
    };
    backup("2026-01-24T12:00:00.000Z");
    dashboard.reconcile();
    let is_empty = || dashboard.get(OPERATOR, "/").text.contains("Nothing needs doing.");
    assert!(is_empty(), "{}", main_of(&dashboard.get(OPERATOR, "/").text));
    backup("2026-01-23T12:00:00.000Z");
    let page = dashboard.get(OPERATOR, "/").text;
    assert!(page.contains("The last backup</a> is 8 days old"), "{}", main_of(&page));
}

/// An operator accepts the tasks that have no other end, after a question that lists them. A task comes back if its facts change.
#[test]
fn a_task_is_accepted_with_a_reason_and_comes_back_if_its_facts_change() {
    let dashboard = busy();
    dashboard.ledger.sql(
        "INSERT INTO findings (kind, name, found, pass, detail) VALUES ('gone', 'ptran_x', 1, 1, '{}')",
    );
    let main = || main_of(&dashboard.get(OPERATOR, "/").text).to_owned();
    let accept = |kind: &str, fields: &[(&str, &str)]| {
        let of = [("task", kind), ("unusual-charge", "4999999")];
        let fields = [&of[..], fields].concat();
        let asked = dashboard.post(OPERATOR, "/tasks", &fields);
        match asked.text.contains("name=\"confirmed\"") {
            true => dashboard.press(OPERATOR, &asked, "Accept"),
            false => asked,
        }
    };
    for reason in ["", "ada@example.org"] {
        assert_eq!(accept("unusual", &[("reason", reason)]).status, 422, "{reason}");
    }
    assert_eq!(accept("backup", &[("reason", "x")]).status, 422, "it has another end");
    for (kind, line) in [
        ("unpriced", UNPRICED),
        ("unusual", UNUSUAL),
        ("untold", UNTOLD),
        ("idle", UNITS),
        ("finding", "1 finding to check."),
    ] {
        assert!(main().contains(line), "{kind}: {}", main());
        let done = accept(kind, &[("reason", "Asked <b>the</b> shop.")]);
        assert_eq!(done.status, 200, "{kind}: {}", main_of(&done.text));
        assert!(!main().contains(line), "{kind}: {}", main());
    }
    let by = "accepted by <bdi>ada@example.org</bdi> on";
    assert_eq!(main().matches(by).count(), 5, "{}", main());
    assert!(main().contains("because: <bdi>Asked &lt;b&gt;the&lt;/b&gt; shop."), "{}", main());
    assert!(!dashboard.get(ACCOUNTS, "/").text.contains("Accepted tasks"));
    let again = accept("unusual", &[("reason", "x")]);
    assert!(again.text.contains("there is no open task of this kind"), "{}", main_of(&again.text));
    let changes = dashboard.changes();
    let accepted = changes.iter().filter(|change| change.starts_with("tasks accept [")).count();
    assert_eq!(accepted, 5, "{changes:?}");

    let mut order = minimal();
    order["pledges"][0]["impact"] = json!({ "amount": 1, "offeringId": "new" });
    dashboard.make(LIVE_UNIT, &order);
    dashboard.ledger.sql("UPDATE findings SET detail = '[]'");
    dashboard.reconcile();
    for line in [UNPRICED, "1 finding to check."] {
        assert!(main().contains(line), "{line}: {}", main());
    }
    assert!(!main().contains(UNUSUAL) && !main().contains(UNITS), "{}", main());
}

/// An acceptance can be withdrawn. Then the task is shown again, and the audit log says who did it.
#[test]
fn an_accepted_task_is_open_again_if_its_acceptance_is_withdrawn() {
    let dashboard = busy();
    let fields = [("task", "idle"), ("reason", "Asked the shop.")];
    let asked = dashboard.post(OPERATOR, "/tasks", &fields);
    dashboard.press(OPERATOR, &asked, "Accept");
    let home = dashboard.get(OPERATOR, "/");
    assert!(!main_of(&home.text).contains(UNITS), "{}", main_of(&home.text));
    let reopened = dashboard.press(OPERATOR, &home, "Reopen");
    assert_eq!(reopened.status, 200, "{}", main_of(&reopened.text));
    assert!(main_of(&dashboard.get(OPERATOR, "/").text).contains(UNITS));
    let changes = dashboard.changes();
    assert!(changes.iter().any(|it| it.starts_with("tasks reopen [idle")), "{changes:?}");
    let again =
        dashboard.post_new(OPERATOR, "/tasks/reopen", &[("task", "idle"), ("subject", "x")]);
    assert_eq!(again.status, 422);
    assert!(again.text.contains("nobody has accepted this task"), "{}", main_of(&again.text));
}
