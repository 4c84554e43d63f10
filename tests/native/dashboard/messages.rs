//! Tests how the dashboard shows messages that go to recipients through messaging services.

use super::transaction::{order, test_dashboard};
use super::{OPERATOR, SUPPORT, field};
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::pledges::store::{FailedMailKey, Key as _, NotificationKey};
use impact_pledge::pledges::types::{NotificationService, TransactionId};
use serde_json::json;
use support::service::LIVE_UNIT;

const SERVICE: NotificationService = NotificationService::MessagingServiceA;

#[test]
fn a_transaction_shows_each_requested_service_and_a_message_is_sent_again_once() {
    let dashboard = test_dashboard();
    let profile =
        json!({ "name": "Café", "mail": true, "messagingServices": ["MessagingServiceA"] });
    dashboard.store().keep("profile:unit_dev", profile.to_string().as_bytes(), b"null");
    let mut order = order();
    order["notifications"] = json!(["MessagingServiceA", "MessagingServiceC"]);
    let id = dashboard.make(LIVE_UNIT, &order);
    let marker = json!({ "state": "failed", "reason": "status-422", "round": 1,
        "at": "2026-01-31T12:00:09.000Z", "attempts": 1 });
    let transaction = TransactionId::parse(&id).unwrap();
    let name = NotificationKey(&transaction, SERVICE).name();
    dashboard.store().keep(&name, marker.to_string().as_bytes(), b"null");
    let path = format!("/transactions/{id}");

    let page = dashboard.get(SUPPORT, &path).text;
    for words in [
        "The shop did not ask for an e-mail.",
        "<section id=\"MessagingServiceA\">",
        "The adapter cannot reach this recipient.",
        "status-422",
        "<section id=\"MessagingServiceC\">",
        "The messaging service is off for the unit.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<section id=\"MessagingServiceB\">"));
    assert_eq!(field(&page, "service"), "MessagingServiceA");

    let fields = [("service", "MessagingServiceA")];
    let asked = dashboard.post_new(SUPPORT, &format!("{path}/mail"), &fields);
    assert!(asked.text.contains("Send the message by MessagingServiceA"), "{}", asked.text);
    for words in ["The notification is queued as round 2.", "This was already done"] {
        let sent = dashboard.confirm(SUPPORT, &asked);
        assert_eq!(sent.status, 200, "{}", sent.text);
        assert!(sent.text.contains(words), "{words}: {}", sent.text);
        let messages = dashboard.queue.messages.borrow();
        let queued: Vec<_> = messages.iter().map(|it| (it.service, it.round)).collect();
        assert_eq!(queued, [(SERVICE, 2)]);
    }
    assert_eq!(dashboard.changes(), [format!("emails resend (MessagingServiceA) [{id}]")]);
    for service in ["MessagingServiceB", "MessagingServiceZ", "x"] {
        let refused = dashboard.post_new(SUPPORT, &format!("{path}/mail"), &[("service", service)]);
        assert_eq!(refused.status, 422, "{service}");
    }

    let preview = dashboard.get(SUPPORT, &format!("{path}/mail?service=MessagingServiceA"));
    assert_eq!(preview.status, 200);
    assert!(
        preview.text.contains("The message that MessagingServiceA would get now"),
        "{}",
        preview.text
    );
    assert!(!preview.text.contains("canary") && !preview.text.contains("edit_key"));
    let preview = dashboard.get(SUPPORT, &format!("{path}/mail?service=x"));
    assert_eq!(preview.status, 422);

    let key = FailedMailKey { day: "2026-01-31", id: &transaction, service: SERVICE };
    dashboard.store().keep(&key.name(), b"{}", b"null");
    let list = dashboard.get(SUPPORT, "/mails").text;
    assert!(list.contains("<span class=\"tag\">MessagingServiceA</span>"), "{list}");
    let after = format!("/mails?after=2026-01-31:{id}:MessagingServiceA");
    assert!(dashboard.get(SUPPORT, &after).text.contains("No failed e-mails or messages."));
}

#[test]
fn the_system_page_names_the_attached_adapters() {
    let none = "No adapter is attached to the service";
    let rows: [(&str, &[&str]); 4] = [
        ("", &[none]),
        (
            "MESSAGING_SERVICE_A, MESSAGING_SERVICE_A_TEST_URL\nMESSAGING_SERVICE_A_TEST_SECRET",
            &[
                "MessagingServiceB</th><td data-label=\"State\"><span class=\"tag note\">Not set up",
                "MessagingServiceC</th><td data-label=\"State\"><span class=\"tag note\">Not set up",
                "No adapter is attached, so messages to this service are not sent",
                "MessagingServiceA",
                "Works",
                "Live keys: attached by a service binding. Test keys: attached by a URL.",
            ],
        ),
        (
            "MESSAGING_SERVICE_B_URL",
            &[
                "MessagingServiceB",
                "Problem",
                "MESSAGING_SERVICE_B_SECRET",
                "Test keys: not attached.",
            ],
        ),
        (
            "MESSAGING_SERVICE_C_TEST, MESSAGING_SERVICE_C_SECRET",
            &[
                "MessagingServiceC",
                "Not set up",
                "Live keys: not attached. Test keys: attached by a service binding.",
            ],
        ),
    ];
    for (messaging_bindings, expected) in rows {
        let mut dashboard = test_dashboard();
        dashboard.settings = Settings::parse(Variables {
            operators: OPERATOR,
            messaging_bindings,
            ..Variables::default()
        });
        let page = dashboard.get(OPERATOR, "/system").text;
        for words in expected {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(page.contains(none), messaging_bindings.is_empty());
    }
}

/// A profile's page tells the shop which of its services have no adapter.
#[test]
fn a_profile_says_which_services_have_no_adapter() {
    let mut dashboard = test_dashboard();
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        support: SUPPORT,
        messaging_bindings: "MESSAGING_SERVICE_A MESSAGING_SERVICE_C_TEST",
        ..Variables::default()
    });
    let services = ["MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];
    let profile = json!({ "name": "Café", "messagingServices": services });
    dashboard.store().keep("profile:unit_dev", profile.to_string().as_bytes(), b"null");
    let [form, facts] =
        [OPERATOR, SUPPORT].map(|person| dashboard.get(person, "/units/unit_dev").text);
    assert!(
        form.contains("No adapter is attached to MessagingServiceB, MessagingServiceC,"),
        "{form}"
    );
    assert!(facts.contains(&services.join(",")), "{facts}");
}
