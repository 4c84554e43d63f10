//! Tests the page of a transaction (its e-mail, unmasked texts and erasure), and the page that lists
//! failed e-mails.

use super::{
    ACCOUNTS, OPERATOR, SUPPORT, TestDashboard, confirmation, confirmed, dashboard, posted,
};
use futures_executor::block_on;
use futures_util::future::join_all;
use impact_pledge::office::audit::rule::Change;
use impact_pledge::office::dashboard::Dashboard;
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::store::{FailedMailKey, Key as _, NotificationKey};
use impact_pledge::pledges::types::{NotificationService, TransactionId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::service::{Answer, LIVE_UNIT, NOW_MS, TestRequest, UNIT, answer, changes, seeded};

const HOSTILE: &str = "<script>alert('x')</script>\"&\u{7}\u{202e}";
const MINUTE: u64 = 60_000;
/// The button of the form that sends a notification again.
const AGAIN: &str = ">Send again</button>";

/// Returns a create request in which every text contains markup and a marker word that tests can search for.
pub fn order() -> Value {
    let text = |name: &str| format!("{name}-canary {HOSTILE}");
    json!({
        "reference": format!("order-7 {HOSTILE}"),
        "recipient": { "email": "canary@example.org", "firstName": text("first"), "name": text("name") },
        "pledges": [
            { "impact": { "amount": 3, "offeringId": "tree" }, "detail": {
                "name": text("pledge"), "description": text("about"), "nounSingular": format!("tree {HOSTILE}"),
                "nounPlural": format!("trees {HOSTILE}"), "image": "https://canary.example/i?%22%3C",
                "externalId": text("item"), "externalUrl": "https://canary.example/" } },
            { "impact": { "amount": 1000.1 + 0.2, "offeringId": format!("reef {HOSTILE}") } },
        ],
        "trigger": { "date": "2026-01-31T12:59:00+01:00", "phrase": text("did"), "externalUrl": "https://canary.example/" },
        "notifications": ["Email"],
    })
}

/// A dashboard with a unit whose e-mails are switched on.
pub fn test_dashboard() -> TestDashboard {
    let dashboard = dashboard(seeded());
    let secret = json!({ "secret": *support::service::SECRET }).to_string();
    dashboard.store().keep("secret", secret.as_bytes(), b"null");
    let profile = json!({ "name": "Café <script>\"&", "mail": true }).to_string();
    dashboard.store().keep("profile:unit_dev", profile.as_bytes(), b"null");
    dashboard
}

impl TestDashboard {
    /// Registers units, and names them in their profiles.
    pub fn name_units(&self, units: &[(&str, &str)]) {
        for (unit, name) in units {
            let registered = br#"{"created":"2026-01-01T00:00:00Z","by":"ada"}"#;
            self.store().keep(&format!("unit:{unit}"), registered, registered);
            let profile = json!({ "name": name }).to_string();
            self.store().keep(&format!("profile:{unit}"), profile.as_bytes(), b"null");
        }
        self.reconcile();
    }

    /// Creates a transaction. Returns its ID.
    pub fn make(&self, key: &str, order: &Value) -> String {
        let made = self.service.create(key, order);
        assert_eq!(made.status, 200, "{}", made.text);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the commands in the audit log, oldest first.
    pub fn changes(&self) -> Vec<String> {
        let change = |change: Change| {
            let text = format!("{change:?}");
            assert!(!text.contains("canary") && !text.contains("edit_key"), "{text}");
            format!("{} {}", change.command, json!(change.on)).replace('"', "")
        };
        changes(self.store(), &self.ledger).into_iter().rev().map(change).collect()
    }

    pub fn pass(&self, minutes: u64) {
        self.clock.0.set(self.clock.0.get() + minutes * MINUTE);
    }
}

/// Returns the content of a page.
pub fn main_of(html: &str) -> &str {
    html.split_once("<main").map_or(html, |(_, main)| main)
}

/// Asserts that no part of a stored text became markup.
#[track_caller]
pub fn assert_inert(html: &str) {
    assert!(!html.contains("<script") && !html.contains('\u{7}'), "{}", main_of(html));
}

fn path(id: &str, end: &str) -> String {
    format!("/transactions/{id}{end}")
}

/// Stores price lists for both modes, and creates a transaction with this API key. Returns the transaction's
/// ID.
fn made(test_dashboard: &TestDashboard, key: &str) -> String {
    let prices = r#"{"currencyCode":"USD","unitPrices":{"tree":"0.50"},"prices":"2026-01-01T00:00:00.000Z"}"#;
    for mode in ["test", "live"] {
        test_dashboard.store().keep(&format!("catalogue:{mode}"), prices.as_bytes(), b"null");
        let note = br#"{"created":"2026-01-01T00:00:00.000Z","by":"ada <b>"}"#;
        let name = format!("prices:{mode}:2026-01-01T00:00:00.000Z");
        test_dashboard.store().keep(&name, prices.as_bytes(), note);
    }
    test_dashboard.make(key, &order())
}

#[test]
fn a_transaction_is_shown_masked_with_its_prices_and_who_made_it() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, UNIT);
    let metadata = json!({ "mode": "test", "team": "team_dev", "label": "till <b>",
        "created": "2026-01-01T00:00:00Z", "by": "ada" });
    let (hash, level) = (ApiKey::new(UNIT).hash(), br#"{"mode":"test","team":"team_dev"}"#);
    test_dashboard.store().keep(
        &format!("key:{}", hash.to_hex()),
        level,
        metadata.to_string().as_bytes(),
    );
    test_dashboard.pass(6); // a younger one cannot be erased
    for person in [OPERATOR, SUPPORT] {
        let page = test_dashboard.get(person, &path(&id, ""));
        assert_eq!(page.status, 200);
        assert_inert(&page.text);
        let texts = [
            "order-7 &lt;script&gt;",
            "31 Jan 2026, 12:00 UTC",
            "1.50 USD",
            "c…@e…",
            "f…",
            &hash.id(),
            ">1,000.3<",
            "31 Jan 2026, 11:59 UTC",
            "no price",
            "set by <bdi>ada &lt;b&gt;</bdi>",
            "Not yet",
            "team_dev",
            "<bdi>trees &lt;script&gt;",
        ];
        for text in texts {
            assert!(page.text.contains(text), "{text}: {}", main_of(&page.text));
        }
        assert!(
            !page.text.contains("canary") && !page.text.contains("edit_key"),
            "{}",
            main_of(&page.text)
        );
        for text in ["/whole", "/erase", "/teams/team_dev", "till &lt;b&gt;"] {
            assert_eq!(page.text.contains(text), person == OPERATOR, "{text}");
        }
        assert!(!page.log.unwrap().contains(&id));
    }
    test_dashboard.store().keep(
        "settlement:test:unit_dev:2026-01",
        br#"{"paidAt":"2026-02-05T00:00:00Z",
        "sums":[],"invoice":"i","by":"b","at":"a"}"#,
        b"null",
    );
    assert!(test_dashboard.get(SUPPORT, &path(&id, "")).text.contains(">5 Feb 2026</time>"));
    for absent in ["ptran_", "x", TransactionId::from_bytes([9; 26]).as_str(), "%3Cscript%3E"] {
        let page = test_dashboard.get(SUPPORT, &path(absent, ""));
        assert_eq!(page.status, 404, "{absent}");
        assert_inert(&page.text);
    }
}

#[test]
fn viewing_an_unmasked_transaction_is_in_the_audit_log() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    test_dashboard.store().set_failing(Some("audit:"));
    let page = test_dashboard.post(OPERATOR, &path(&id, "/whole"), &[]);
    assert_eq!(page.status, 503);
    assert!(!page.text.contains("canary"));
    test_dashboard.store().set_failing(None);
    let page = test_dashboard.post(OPERATOR, &path(&id, "/whole"), &[]);
    assert_eq!(
        (page.status, test_dashboard.changes()),
        (200, vec![format!("transactions reveal [{id}]")])
    );
    assert_inert(&page.text);
    for text in ["canary@example.org", "first-canary", "?edit_key=", "about-canary &lt;script&gt;"]
    {
        assert!(page.text.contains(text), "{text}");
    }
    assert!(!page.log.unwrap().contains("canary"));
}

// ---- The e-mail ----------------------------------------------------------------------------------

impl TestDashboard {
    fn keep_marker(&self, id: &str, state: &str, reason: Option<&str>, round: u32) {
        let marker = json!({ "state": state, "reason": reason, "round": round,
            "at": "2026-01-31T12:00:09.000Z", "attempts": 2 });
        let id = TransactionId::parse(id).unwrap();
        self.store().keep(
            &NotificationKey(&id, NotificationService::Email).name(),
            marker.to_string().as_bytes(),
            b"null",
        );
    }

    fn rounds(&self) -> Vec<u32> {
        self.queue.messages.borrow().iter().map(|message| message.round).collect()
    }
}

#[test]
fn a_mail_is_sent_again_once_however_often_its_form_is_sent() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    let show = || test_dashboard.get(SUPPORT, &path(&id, ""));
    test_dashboard.keep_marker(&id, "failed", Some("E_RECIPIENT_SUPPRESSED"), 1);
    let page = show().text;
    assert!(page.contains("ask for another address") && page.contains("E_RECIPIENT_SUPPRESSED"));
    assert!(!page.contains(AGAIN), "it would not help");
    test_dashboard.keep_marker(&id, "sent", None, 1);
    let asked = test_dashboard.press(SUPPORT, &show(), "Send again");
    let words = "The e-mail was already sent: the recipient gets a second e-mail";
    assert!(asked.text.contains(words) && !asked.text.contains("canary@"), "{}", asked.text);
    assert_eq!((asked.status, test_dashboard.rounds()), (200, vec![]));
    test_dashboard.keep_marker(&id, "failed", Some("no-more-attempts"), 1);
    let send = || test_dashboard.confirm(SUPPORT, &asked);
    assert_eq!((send().status, test_dashboard.rounds()), (422, vec![]), "the state has changed");

    let asked = test_dashboard.press(SUPPORT, &show(), "Send again");
    let late = test_dashboard.press(SUPPORT, &show(), "Send again");
    let send = |asked: &Answer| test_dashboard.confirm(SUPPORT, asked);
    test_dashboard.store().set_failing(Some("audit:"));
    assert_eq!((send(&asked).status, test_dashboard.rounds()), (503, vec![]));
    test_dashboard.store().set_failing(None);
    test_dashboard.queue.is_broken.set(true);
    let page = send(&asked);
    assert_eq!((page.status, test_dashboard.rounds()), (422, vec![]));
    assert!(page.text.contains("The queue did not accept"), "{}", main_of(&page.text));
    test_dashboard.queue.is_broken.set(false);
    let queued = "The notification is queued as round 2.";
    for words in [queued].into_iter().chain(["This was already done"; 40]) {
        let page = send(&asked);
        assert_eq!((page.status, test_dashboard.rounds()), (200, vec![2]));
        assert!(page.text.contains(words) && !page.text.contains("canary"), "{words}");
        assert!(page.text.contains("The notification is already queued"), "its state");
    }
    test_dashboard.keep_marker(&id, "sent", None, 2);
    let page = send(&late);
    assert_eq!((page.status, test_dashboard.rounds().len()), (422, 1));
    assert!(page.text.contains("already sent") && page.text.contains("(round 3)"), "{}", page.text);
    assert_eq!((send(&page).status, test_dashboard.rounds()), (200, vec![2, 3]));
    test_dashboard.store().keep("profile:unit_dev", br#"{"name":"Nord"}"#, b"null");
    let off = test_dashboard.post_new(SUPPORT, &path(&id, "/mail"), &[]);
    assert!(off.text.contains("are off"), "{}", off.text);
    assert_eq!(test_dashboard.rounds().len(), 2);
}

/// Several copies of a form arrive at once, before Workers KV shows the message that the first copy has queued.
#[test]
fn forms_that_come_together_are_queued_once_while_workers_kv_shows_nothing_of_it() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    test_dashboard.keep_marker(&id, "failed", Some("no-more-attempts"), 1);
    test_dashboard.store().set_hidden(Some("mail-queued:"));
    test_dashboard.queue.is_slow.set(true);
    let asked = test_dashboard.post_new(SUPPORT, &path(&id, "/mail"), &[]);
    let (path, fields) = confirmation(&asked);
    let requests = (0..40).map(|number| {
        let operation = format!("copy-{number}");
        let fields = fields.iter().map(|(name, value)| (&**name, &**value));
        let fields: Vec<_> = fields.filter(|(name, _)| *name != "operation").collect();
        posted(&path, &[&fields[..], &[("operation", &operation)]].concat())
    });
    let requests: Vec<_> = requests.collect();
    let dashboard = test_dashboard.pages();
    let send = |request| dashboard.handle(request, Identity::Address(SUPPORT));
    let answers = block_on(join_all(requests.iter().map(send)));
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!((test_dashboard.rounds(), test_dashboard.changes().len()), (vec![2], 1));
}

#[test]
fn without_the_queue_nothing_is_sent_and_the_page_says_so() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    let dashboard = Dashboard { outbox: None, ..test_dashboard.pages() };
    for (request, status) in [
        (TestRequest::new("GET", &path(&id, ""), ""), 200),
        (posted(&path(&id, "/mail"), &[("operation", "one")]), 422),
    ] {
        let page = answer(block_on(dashboard.handle(&request, Identity::Address(SUPPORT))));
        assert_eq!(page.status, status);
        let words = "it is not bound to the service's queue";
        assert!(page.text.contains(words), "{}", main_of(&page.text));
        assert!(!page.text.contains(AGAIN) && test_dashboard.changes().is_empty());
    }
}

#[test]
fn the_state_of_an_email_is_described_with_the_next_step() {
    let show = |key: &str, order: &Value, marker: Option<(&str, Option<&str>)>, minutes| {
        let test_dashboard = test_dashboard();
        let id = test_dashboard.make(key, order);
        if let Some((state, reason)) = marker {
            test_dashboard.keep_marker(&id, state, reason, 1);
        }
        test_dashboard.pass(minutes);
        test_dashboard.get(SUPPORT, &path(&id, "")).text
    };
    for (words, marker, minutes) in [
        ("tried for up to 15 hours", None, 0),
        ("check the spam folder", Some(("sent", None)), 0),
        (
            "no valid setting <code><bdi>PUBLIC_ORIGIN</bdi></code>.",
            Some(("skipped", Some("no-origin"))),
            0,
        ),
        ("what the code means", Some(("failed", Some("E_NEW_CODE"))), 0),
        ("may have been sent", None, 25 * 60),
        ("kept for 30 days", None, 31 * 24 * 60),
    ] {
        let page = show(LIVE_UNIT, &order(), marker, minutes);
        assert!(page.contains(words), "{words}: {}", main_of(&page));
        assert!(page.contains(AGAIN), "{words}");
    }
    let mut not_asked = order();
    not_asked["notifications"] = json!([]);
    for (words, key, order) in [
        ("did not ask for an e-mail", LIVE_UNIT, &not_asked),
        ("The unit's e-mails are off", "service_sk_test_dev_unit_two", &order()),
    ] {
        let page = show(key, order, None, 0);
        assert!(page.contains(words), "{words}: {}", main_of(&page));
        assert!(!page.contains(AGAIN), "{words}");
    }
}

#[test]
fn a_mail_that_waits_for_a_quota_is_listed_with_its_next_attempt() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(LIVE_UNIT, &order());
    let queued = json!({ "round": 1, "at": "2026-01-31T12:01:00.000Z",
        "until": "2026-02-01T00:05:00.000Z", "reason": "daily_quota_exceeded" });
    test_dashboard.store().keep(
        &format!("mail-queued:{id}"),
        queued.to_string().as_bytes(),
        b"null",
    );
    test_dashboard.store().keep(&format!("mail-failed:2026-01-31:{id}"), b"{}", b"null");
    for path in [path(&id, ""), "/mails".to_owned()] {
        let page = test_dashboard.get(SUPPORT, &path).text;
        for words in ["quota is used up", "daily_quota_exceeded"] {
            assert!(page.contains(words), "{words}: {}", main_of(&page));
        }
    }
    assert!(test_dashboard.get(SUPPORT, &path(&id, "")).text.contains("1 Feb 2026, 00:05 UTC"));
    assert!(
        !test_dashboard.get(SUPPORT, "/mails").text.contains(AGAIN),
        "it is not sent again alone"
    );
    test_dashboard.pass(36 * 60 + 10); // the queue has lost it
    let page = test_dashboard.get(SUPPORT, "/mails").text;
    assert!(
        page.contains("No delivery result arrived for 24 hours.") && page.contains(AGAIN),
        "{}",
        main_of(&page)
    );
    let page = test_dashboard.post_confirmed(SUPPORT, "/mails", &[("failed-on", "2026-01-31")]);
    assert!(page.text.contains("<dt>Queued</dt><dd>1</dd>"), "{}", main_of(&page.text));
}

#[test]
fn a_preview_is_masked_and_leads_nowhere() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    let page = test_dashboard.get(SUPPORT, &path(&id, "/mail"));
    assert_eq!(page.status, 200);
    assert_inert(&page.text);
    assert!(
        page.text.contains("href=\"#\"") && page.text.contains("Café"),
        "{}",
        main_of(&page.text)
    );
    for text in ["canary", "edit_key", "http:", "https:", "main"] {
        assert!(!page.text.contains(text), "{text}: {}", main_of(&page.text));
    }
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"), "{policy}");
    assert!(policy.ends_with("; sandbox") && page.headers["referrer-policy"] == "same-origin");
}

#[test]
fn failed_emails_are_listed_with_their_state_and_resent() {
    let test_dashboard = test_dashboard();
    let mut ids: Vec<_> = (0..25).map(|_| test_dashboard.make(LIVE_UNIT, &order())).collect();
    ids.sort();
    for id in &ids {
        let id = TransactionId::parse(id).unwrap();
        let key = FailedMailKey { day: "2026-01-31", id: &id, service: NotificationService::Email };
        test_dashboard.store().keep(&key.name(), b"{}", b"null");
        test_dashboard.keep_marker(id.as_str(), "failed", Some("no-more-attempts"), 1);
    }
    let absent = TransactionId::from_bytes([9; 26]);
    let key = FailedMailKey { day: "2026-01-30", id: &absent, service: NotificationService::Email };
    test_dashboard.store().keep(&key.name(), b"{}", b"null");
    test_dashboard.keep_marker(&ids[1], "sent", None, 2);
    test_dashboard.store().take_reads();

    let page = test_dashboard.get(SUPPORT, "/mails");
    assert!(test_dashboard.store().take_reads().len() <= 233); // 6 calls read the records of all 26
    assert_inert(&page.text);
    assert_eq!(page.text.matches(AGAIN).count(), 19, "one was sent since");
    assert!(
        page.text.contains("Every attempt failed for 15 hours.") && page.text.contains("c…@e…")
    );
    assert!(!page.text.contains("canary"));
    let next = page.text.split_once("href=\"/mails?").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(next, format!("after=2026-01-31:{}", ids[19]));
    let page = test_dashboard.get(SUPPORT, &format!("/mails?{next}")).text;
    assert_eq!(page.matches(AGAIN).count(), 5);
    assert!(
        page.contains("There is no transaction") && !page.contains("/mails?after"),
        "{}",
        main_of(&page)
    );
    let page = test_dashboard.get(SUPPORT, "/mails?day=2026-01-30").text;
    assert!(page.contains(absent.as_str()) && !page.contains(&ids[0]));
    assert!(
        test_dashboard.get(SUPPORT, "/mails?day=2026-01-29").text.contains("No failed e-mails")
    );
    for hostile in ["day=2026", "day=%3Cscript%3E", "day=2026-13-01", "day=../../x/y/"] {
        let page = test_dashboard.get(SUPPORT, &format!("/mails?{hostile}"));
        assert_eq!(page.status, 422, "{hostile}");
        assert_inert(&page.text);
    }
    assert_eq!(test_dashboard.get(SUPPORT, "/mails?after=%3Cscript%3E").status, 200);
}

#[test]
fn all_that_failed_on_a_day_is_sent_again_once_in_steps() {
    let test_dashboard = test_dashboard();
    let mut ids: Vec<_> = (0..46).map(|_| test_dashboard.make(LIVE_UNIT, &order())).collect();
    ids.sort();
    let list = |day: &str, id: &str| {
        let id = TransactionId::parse(id).unwrap();
        test_dashboard.store().keep(
            &FailedMailKey { day, id: &id, service: NotificationService::Email }.name(),
            b"{}",
            b"null",
        );
    };
    for id in &ids {
        list("2026-01-31", id);
        test_dashboard.keep_marker(id, "failed", Some("no-more-attempts"), 1);
    }
    list("2026-01-30", &ids[0]);
    list("2026-01-31", TransactionId::from_bytes([9; 26]).as_str());
    test_dashboard.keep_marker(&ids[1], "sent", None, 2); // in the meantime
    test_dashboard.pass(5);
    let page = test_dashboard.get(SUPPORT, "/mails?day=2026-01-31").text;
    assert_eq!(page.matches("Send 45 failed notifications of this day again").count(), 1, "{page}");

    let counts = |page: &Answer| {
        let facts = ["Queued", "Already queued", "Sent, skipped or failed again in the meantime"];
        facts.map(|label| {
            let (_, rest) = page.text.split_once(&format!("<dt>{label}</dt><dd>")).expect(label);
            rest.split('<').next().unwrap().parse::<usize>().unwrap()
        })
    };
    let open = || test_dashboard.post_new(SUPPORT, "/mails", &[("failed-on", "2026-01-31")]);
    let next = |page: &Answer| test_dashboard.press(SUPPORT, page, "Continue");
    let first = test_dashboard.confirm(SUPPORT, &open());
    assert_eq!((first.status, test_dashboard.rounds()), (200, vec![2; 18]));
    assert_inert(&first.text);
    assert!(first.text.contains("There is no transaction"), "{}", main_of(&first.text));
    test_dashboard.queue.is_broken.set(true);
    let broken = next(&first);
    assert!(broken.text.contains("Try again later"), "{}", main_of(&broken.text));
    test_dashboard.queue.is_broken.set(false);
    let second = next(&broken);
    assert_eq!(test_dashboard.rounds().len(), 38);
    let last = next(&second);
    assert!(last.text.contains("All of these notifications were processed."), "{}", last.text);
    assert_eq!(counts(&last), [45, 0, 1]);
    let queued: BTreeSet<_> =
        test_dashboard.queue.messages.borrow().iter().map(|it| it.id.clone()).collect();
    assert!(queued.len() == 45 && !queued.contains(&ids[1]));

    // Sending the form again queues nothing, neither at once nor after the instance's memory expired.
    for _ in 0..2 {
        let mut page = test_dashboard.confirm(SUPPORT, &open());
        while page.text.contains(">Continue</button>") {
            page = next(&page);
        }
        assert_eq!(counts(&page)[..2], [0, 45]);
        test_dashboard.pass(60);
    }
    assert_eq!(test_dashboard.rounds().len(), 45);
    let other = || test_dashboard.post_confirmed(SUPPORT, "/mails", &[("failed-on", "2026-01-30")]);
    assert_eq!(counts(&other()), [0, 1, 0]);
    // An e-mail that failed again is listed on the day of its last failure.
    test_dashboard.keep_marker(&ids[0], "failed", Some("E_RECIPIENT_SUPPRESSED"), 2);
    assert_eq!(counts(&other()), [0, 0, 1]);
    for fields in [&[("failed-on", "today")], &[("failed-on", "2026-01-31"), ("rest", "~")][..]] {
        assert_eq!(test_dashboard.post_new(SUPPORT, "/mails", fields).status, 422);
    }
    let changes = test_dashboard.changes();
    assert_eq!(changes.len(), 4, "of each step that queued, or tried to: {changes:?}");
    assert!(changes.iter().all(|change| change.starts_with("emails resend [")));
}

/// Failures are grouped by unit and cause. All of a group are resent or dismissed after one question, and others stay.
#[test]
fn all_failures_of_a_unit_with_the_same_cause_are_resent_or_dismissed() {
    let test_dashboard = test_dashboard();
    let keys = [LIVE_UNIT, LIVE_UNIT, UNIT, LIVE_UNIT, LIVE_UNIT];
    let ids = keys.map(|key| test_dashboard.make(key, &order()));
    let causes = [
        "no-more-attempts",
        "E_1",
        "no-more-attempts",
        "no-more-attempts",
        "E_RECIPIENT_SUPPRESSED",
    ];
    for (id, cause) in ids.iter().zip(causes) {
        let (day, id) = ("2026-01-31", TransactionId::parse(id).unwrap());
        let service = NotificationService::Email;
        let name = FailedMailKey { day, id: &id, service }.name();
        test_dashboard.store().keep(&name, b"{}", b"null");
        test_dashboard.keep_marker(id.as_str(), "failed", Some(cause), 1);
    }
    test_dashboard.pass(5);
    test_dashboard.reconcile();
    let page = test_dashboard.get(SUPPORT, "/mails").text;
    let groups =
        page.split_once("By unit and cause").unwrap().1.split_once("</section>").unwrap().0;
    let numbers: Vec<_> =
        groups.split("data-label=\"Number\">").skip(1).map(|it| &it[..1]).collect();
    assert_eq!(
        (numbers, groups.matches(">Resend<").count()),
        (vec!["2", "1", "1", "1"], 3),
        "{groups}"
    );

    let group = |path: &str, cause: &str, more: &[(&str, &str)]| {
        let of = [("unit", "unit_dev"), ("mode", "live"), ("cause", cause), ("service", "Email")];
        test_dashboard.post_confirmed(SUPPORT, path, &[&of[..], more].concat())
    };
    let resent = group("/mails", "no-more-attempts", &[]);
    assert!(resent.text.contains("<dt>Queued</dt><dd>2</dd>"), "{}", main_of(&resent.text));
    let queued: BTreeSet<_> =
        test_dashboard.queue.messages.borrow().iter().map(|it| it.id.clone()).collect();
    assert_eq!(queued, BTreeSet::from([ids[0].clone(), ids[3].clone()]));
    for reason in ["", "ada@example.org", "two\nlines"] {
        let refused = group("/mails/dismiss", "E_1", &[("reason", reason)]);
        assert_eq!(refused.status, 422, "{reason}");
    }
    let dismissed = group("/mails/dismiss", "E_1", &[("reason", "The shop has told them.")]);
    assert!(dismissed.text.contains("<dt>Dismissed</dt><dd>1</dd>"), "{}", dismissed.text);
    let page = test_dashboard.get(SUPPORT, "/mails").text;
    assert!(!page.contains("E_1<") && !page.contains(&ids[1]) && page.contains(&ids[4]), "{page}");
    let changes = test_dashboard.changes();
    assert!(changes.contains(&format!("emails dismiss [{}]", ids[1])), "{changes:?}");
    let refused =
        test_dashboard.post(ACCOUNTS, "/mails", &[("unit", "unit_dev"), ("cause", "E_1")]);
    assert_eq!(refused.status, 403);
}

/// The button that resends a day's notifications says how many it resends. If no notification can be resent,
/// the page has no button.
#[test]
fn a_day_is_sent_again_only_if_one_of_its_notifications_can_be() {
    let test_dashboard = test_dashboard();
    let name = |id: &str| {
        let id = TransactionId::parse(id).unwrap();
        let service = NotificationService::Email;
        FailedMailKey { day: "2026-01-31", id: &id, service }.name()
    };
    let mut ids: Vec<_> = (0..25).map(|_| test_dashboard.make(LIVE_UNIT, &order())).collect();
    ids.sort();
    ids.iter().for_each(|id| test_dashboard.store().keep(&name(id), b"{}", b"null"));
    let pages = || {
        let first = test_dashboard.get(SUPPORT, "/mails").text;
        let older = first.split_once("href=\"/mails?after=").map(|(_, rest)| rest);
        let older = older.and_then(|rest| rest.split_once('"')).expect("a second page").0;
        [first.clone(), test_dashboard.get(SUPPORT, &format!("/mails?after={older}")).text]
    };
    let (blocked, given_up) = ("E_RECIPIENT_SUPPRESSED", "no-more-attempts");
    for (sendable, words) in [
        (0, "None of these notifications can be sent again."),
        (1, "Send the failed notification of this day again"),
        (25, "Send 25 failed notifications of this day again"),
    ] {
        for (index, id) in ids.iter().enumerate() {
            let reason = if index < sendable { given_up } else { blocked };
            test_dashboard.keep_marker(id, "failed", Some(reason), 1);
        }
        for page in pages() {
            assert!(page.contains(words), "{words}: {}", main_of(&page));
            let has_form = page.contains("name=\"failed-on\"");
            assert_eq!(has_form, sendable > 0, "{}", main_of(&page));
        }
    }
    test_dashboard.keep_marker(&ids[0], "failed", Some(blocked), 1);
    let step = test_dashboard.post_confirmed(SUPPORT, "/mails", &[("failed-on", "2026-01-31")]);
    assert!(
        step.text.contains("cannot be sent: the mail service blocks this address"),
        "{}",
        step.text
    );
    assert!(test_dashboard.queue.messages.borrow().iter().all(|message| message.id != ids[0]));
    ids.iter().skip(3).for_each(|id| test_dashboard.store().remove(&name(id)));
    let list = || test_dashboard.get(SUPPORT, "/mails").text;
    let none = list();
    assert!(
        none.contains("None of these notifications can be sent again."),
        "they are queued: {}",
        main_of(&none)
    );
    for (id, reason) in ids.iter().zip([blocked, given_up, given_up]) {
        test_dashboard.keep_marker(id, "failed", Some(reason), 2);
    }
    assert!(
        list().contains("Send 2 failed notifications of this day again"),
        "{}",
        main_of(&list())
    );
}

// ---- Erase ---------------------------------------------------------------------------------------

#[test]
fn a_transaction_is_erased_once_its_id_is_typed() {
    let test_dashboard = test_dashboard();
    let id = made(&test_dashboard, LIVE_UNIT);
    let name = format!("transaction:{id}");
    let before = test_dashboard.store().value(&name).unwrap();
    let open = || test_dashboard.post_new(OPERATOR, &path(&id, "/erase"), &[]);
    let early = open();
    assert!(early.text.contains("less than 5 minutes ago"), "{}", main_of(&early.text));
    test_dashboard.pass(6);
    let asked = open();
    assert_eq!((early.status, asked.status), (422, 200));
    let (path_of_form, mut fields) = confirmed(&asked);
    for typed in ["", "ptran_", &id[..47]] {
        fields.last_mut().unwrap().1 = typed.to_owned();
        let page = test_dashboard.send_form(OPERATOR, (path_of_form.clone(), fields.clone()));
        assert_eq!((page.status, test_dashboard.store().value(&name)), (422, Some(before.clone())));
        assert!(page.text.contains("<a href=\"#typed\">Go to the field"), "{}", page.text);
    }
    let erase = |asked: &Answer| test_dashboard.confirm(OPERATOR, asked);
    test_dashboard.store().set_failing(Some("audit:"));
    assert_eq!((erase(&asked).status, test_dashboard.store().value(&name)), (503, Some(before)));
    test_dashboard.store().set_failing(None);
    let again = open();
    for (asked, words) in [
        (&asked, "is erased."),
        (&asked, "This was already done"),
        (&again, "it was first erased at"),
    ] {
        let page = erase(asked);
        assert_eq!(page.status, 200);
        let is_shown = page.text.contains(words) && !page.text.contains("canary");
        assert!(is_shown, "{}", main_of(&page.text));
        assert!(!test_dashboard.store().value(&name).unwrap().contains("canary"));
    }
    assert_eq!(test_dashboard.changes(), vec![format!("transactions erase [{id}]"); 2]);
    let page = test_dashboard.get(SUPPORT, &path(&id, "")).text;
    assert!(page.contains("Erased") && !page.contains(AGAIN), "{}", main_of(&page));
    assert_eq!(test_dashboard.get(SUPPORT, &path(&id, "/mail")).status, 422);
    assert!(test_dashboard.clock.0.get() > NOW_MS);
}
