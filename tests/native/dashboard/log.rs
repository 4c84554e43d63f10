//! Tests the audit log page and the system page.

use super::prices::assert_has;
use super::{ACCOUNTS, OPERATOR, SUPPORT, dashboard};
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::pledges::types::TransactionId;
use support::ledger::Failing;
use support::service::seeded;

#[test]
fn changes_are_shown_newest_first_a_page_at_a_time_with_links_to_what_they_changed() {
    let dashboard = dashboard(seeded());
    let id = TransactionId::from_bytes([1; 26]).to_string();
    let author = Author::new("<b>ada", &dashboard.clock, &dashboard.entropy).unwrap();
    let record = |command: &str, on: &[&str]| {
        dashboard.clock.0.set(dashboard.clock.0.get() + 1);
        block_on(author.record(dashboard.store(), command, on.iter().copied())).unwrap();
    };
    for number in 1..58 {
        record(&format!("keys revoke {number:02}"), &["0123456789ab"]);
    }
    record("teams add", &["team", "a/b?c"]);
    record("units set", &["<script>\"'&\n\u{0}"]);
    record("units set", &["shop"]);
    record("payments mark", &["settlement:test:a:b:2026-01", "1.00 USD paid"]);
    let paid =
        "2.00 USD paid on 2026-01-05T00:00:00.000Z, marked by ada on 2026-01-06T10:11:12.000Z";
    record("payments mark", &["settlement:test:a:b:2026-01", paid]);
    record("updates add", &["upd_x", "The trees stand."]);
    record("prices set", &["prices:live:2026-01-01T00:00:00.000Z"]);
    let many: Vec<_> = (0..30).map(|unit| format!("u{unit}")).collect();
    record("units add", &many.iter().map(String::as_str).collect::<Vec<_>>());
    dashboard.store().keep("audit:8230139999999:0000000000000000", b"canary", b"null");
    let newest = dashboard.get(OPERATOR, "/audit");
    let words = [
        "<bdi>&lt;b&gt;ada</bdi>",
        "ran <bdi>keys revoke 57</bdi> on",
        "<bdi>0123456789ab</bdi>",
        "href=\"/teams/team\"",
        "href=\"/units/a%2Fb%3Fc\"",
        "href=\"/units/%3Cscript%3E%22%27%26%0A%00\"",
        "href=\"/units/a:b/payments?mode=test\"",
        "href=\"/units/shop\"",
        "Jan 2026</a> of the unit <a href=\"/units/a:b\"><bdi>a:b</bdi></a> (test) as paid: <bdi>1.00 USD paid</bdi>.",
        "<bdi>2.00 USD paid on 5 Jan 2026, marked by ada on 6 Jan 2026, 10:11 UTC</bdi>.",
        "<bdi>The trees stand.</bdi></div>",
        "href=\"/prices?mode=live\"",
        "and 20 more",
    ];
    assert_has(&newest, 200, &words);
    assert!(!newest.text.contains("<script") && !newest.text.contains('\0'));
    assert!(!newest.text.contains("/units/audit:"), "a change has no page");
    assert!(!newest.text.contains("canary"));
    assert!(newest.text.find("created the units") < newest.text.find("keys revoke 57"));
    assert!(!newest.text.contains("ran <bdi>keys revoke 10</bdi> on"));

    record("transactions erase", &[&id]);
    let (_, older) = newest.text.split_once("/audit?after=").unwrap();
    let older = older.split_once('"').unwrap().0;
    let older = dashboard.get(OPERATOR, &format!("/audit?after={older}"));
    assert_has(
        &older,
        200,
        &["ran <bdi>keys revoke 01</bdi> on", "ran <bdi>keys revoke 15</bdi> on", ">Newest</a>"],
    );
    assert!(
        !older.text.contains("ran <bdi>keys revoke 16</bdi> on")
            && !older.text.contains(">Older</a>")
    );
    assert_has(&older, 200, &["Unreadable entries on this page: 1."]);
    let erased = format!("href=\"/transactions/{id}\"");
    assert_has(&dashboard.get(OPERATOR, "/audit"), 200, &[&erased]);
    for after in ["x", "audit:%00", &"9".repeat(5_000)] {
        let answer = dashboard.get(OPERATOR, &format!("/audit?after={after}"));
        assert_has(&answer, 422, &["This is not a valid position in the audit log"]);
    }
}

#[test]
fn the_system_says_what_runs_who_may_do_what_and_how_long_a_revoked_key_works() {
    let mut dashboard = dashboard(seeded());
    let page = dashboard.get(OPERATOR, "/system");
    assert_has(&page, 200, &[OPERATOR, SUPPORT, ACCOUNTS, "1 MiB", "3 MiB", "Format 1", "not set"]);
    assert_has(&page, 200, &["are refused everywhere after about 40 s", "after about 70 s"]);
    assert_has(&page, 200, &["No backup has been recorded"]);
    let backup = r#"{"at":"2026-01-28T12:00:00.000Z","records":17,"by":"<b>ada"}"#;
    dashboard.store().keep("backup", backup.as_bytes(), b"null");
    let increment = r#"{"at":"2026-01-31T10:00:00.000Z","records":5,"by":"bo"}"#;
    dashboard.store().keep("backup:increment", increment.as_bytes(), b"null");
    let made = [
        "28 Jan 2026, 12:00 UTC",
        "(3 days ago), 17 records",
        "<bdi>&lt;b&gt;ada</bdi>",
        "5 records",
    ];
    assert_has(&dashboard.get(OPERATOR, "/system"), 200, &made);
    dashboard.store().keep("backup", b"canary", b"null");
    let page = dashboard.get(OPERATOR, "/system");
    assert_has(&page, 200, &["The stored last backup is damaged", ACCOUNTS]);
    assert!(!page.text.contains("canary"));
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        environment: "<i>&production",
        service_origin: "https://pledge.example/",
        deployment: "abc",
        ..Variables::default()
    });
    let page = dashboard.get(OPERATOR, "/system");
    let version = concat!("Version ", env!("CARGO_PKG_VERSION"), "+abc");
    let here =
        ["&lt;i&gt;&amp;production", "<bdi>https://pledge.example</bdi>", version, "no members"];
    assert_has(&page, 200, &here);
    assert!(!page.text.contains("<i>"));
}

#[test]
fn the_system_says_what_is_not_set_up_or_has_a_problem_and_each_part_fails_alone() {
    let mut dashboard = dashboard(seeded());
    let text = |dashboard: &super::TestDashboard| {
        let page = dashboard.get(OPERATOR, "/system");
        assert_eq!(page.status, 200, "{}", page.text);
        page.text
    };
    let new = text(&dashboard);
    for words in [
        "No e-mail or message failed in the last 7 days.",
        "its first reconciliation begins within 5 minutes",
        "No message has arrived yet.",
        "Run <code>transactions backup</code>.",
        "The variable <code>ENVIRONMENT</code>",
        "The variable <code>UNUSUAL_CHARGE</code>",
    ] {
        assert!(new.contains(words), "{words}: {new}");
    }
    for prefix in ["mail-failed:", "backup"] {
        dashboard.store().set_failing(Some(prefix));
        assert_eq!(text(&dashboard).matches("This could not be read").count(), 1, "{prefix}");
    }
    dashboard.store().set_failing(None);
    dashboard.ledger.set_failing(Failing::Before);
    assert_eq!(text(&dashboard).matches("This could not be read").count(), 1);
    dashboard.ledger.set_failing(Failing::Unbound);
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        support: "no address",
        unusual_charge: "lots",
        service_origin: "https://pledges.example",
        ..Variables::default()
    });
    let page = text(&dashboard);
    for words in [
        "Nobody has the role accounts. Set the secret <code>ACCOUNTS</code>",
        "The Worker&#39;s secret",
        "The variable <code><bdi>UNUSUAL_CHARGE</bdi></code> is ignored",
        "docs/ledger.md",
        "href=\"https://pledges.example/healthz\"",
    ] {
        let found = page.contains(words) || page.contains(&words.replace("&#39;", "'"));
        assert!(found, "{words}: {page}");
    }
    assert!(!dashboard.get(SUPPORT, "/").text.contains("UNUSUAL_CHARGE"), "not for strangers");
}

#[test]
fn a_sentence_that_ends_with_a_text_has_one_full_stop() {
    let dashboard = dashboard(seeded());
    let author = Author::new("ada", &dashboard.clock, &dashboard.entropy).unwrap();
    for text in ["Paid twice.", "Paid once"] {
        let on = ["settlement:live:north:2026-01", text];
        block_on(author.record(dashboard.store(), "payments mark", on)).unwrap();
    }
    let page = dashboard.get(OPERATOR, "/audit");
    assert_has(&page, 200, &["<bdi>Paid twice.</bdi></div>", "<bdi>Paid once</bdi>.</div>"]);
}
