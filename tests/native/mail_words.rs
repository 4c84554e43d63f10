//! Tests how the state of a notification is described: every state with every possible reason.

use impact_pledge::buyer::delivery::Reason;
use impact_pledge::office::mails::rule::{
    State, Status, can_be_sent, in_words, risk, risk_in_words, words,
};
use impact_pledge::pledges::types::NotificationService;
use strum::IntoEnumIterator as _;

fn status(state: State, reason: Option<&str>) -> Status {
    Status {
        service: NotificationService::Email,
        state,
        reason: reason.map(str::to_owned),
        round: None,
        at: None,
        until: None,
        attempts: None,
        provider_id: None,
        language: None,
        cancelled: None,
    }
}

const SECOND: &str = "The e-mail was already sent: the recipient gets a second e-mail";
const FIRST: &str = "The first e-mail may still be sent: the recipient may get two e-mails";
const MAYBE: &str = "The e-mail may have been sent: the recipient may get a second e-mail";
const BLOCKED: &str = "The mail service blocks this address and may refuse the e-mail again";

/// A state and its reason, then the expected description, whether the notification can be resent, and the
/// warning before a resend.
type Row = (State, Option<&'static str>, &'static str, bool, Option<&'static str>);

const ROWS: [Row; 24] = [
    (State::NotAsked, None, "not requested: the shop did not ask for an e-mail", false, None),
    (
        State::Erased,
        None,
        "erased: the recipient's data and the delivery result were erased",
        false,
        None,
    ),
    (State::Off, None, "off: the unit's e-mails are off", false, None),
    (State::Test, None, "test: a test key created the transaction", true, Some(FIRST)),
    (State::Waiting, None, "waiting", true, Some(FIRST)),
    (
        State::Waiting,
        Some("daily_quota_exceeded"),
        "waiting: the mail service's quota is used up (daily_quota_exceeded)",
        true,
        Some(FIRST),
    ),
    (State::Sent, None, "sent", true, Some(SECOND)),
    (
        State::Skipped,
        Some("erased"),
        "not sent: the recipient's data was erased before the notification was sent",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("cancelled"),
        "not sent: the transaction was cancelled before the notification was sent",
        false,
        None,
    ),
    (
        State::Skipped,
        Some("mail-off"),
        "not sent: the unit's e-mails were off at that time",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("no-origin"),
        "not sent: the service has no valid setting `PUBLIC_ORIGIN`",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("test-mode"),
        "not sent: a test key created the transaction, and the service has no address for tests (`MAIL_TEST_TO`)",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("daily-limit"),
        "not sent: the address had already reached the daily limit of e-mails for one person",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("no-page"),
        "not sent: the transaction's record lacks the address of the recipient's page",
        false,
        None,
    ),
    (
        State::Skipped,
        Some("no-secret"),
        "not sent: the service has no secret yet: the secret is created with the first API key",
        true,
        None,
    ),
    (State::Skipped, None, "not sent", true, None),
    (
        State::Failed,
        Some("no-more-attempts"),
        "failed: every attempt failed for 15 hours",
        true,
        None,
    ),
    (
        State::Failed,
        Some("unsent"),
        "failed: the queue did not accept the notification when the transaction was created",
        true,
        None,
    ),
    (
        State::Failed,
        Some("unknown"),
        "failed: no delivery result arrived for 24 hours",
        true,
        Some(MAYBE),
    ),
    (
        State::Failed,
        Some("damaged"),
        "failed: a record that the notification needs is damaged",
        true,
        Some(MAYBE),
    ),
    (
        State::Failed,
        Some("E_RECIPIENT_SUPPRESSED"),
        "failed: the mail service blocks this address (E_RECIPIENT_SUPPRESSED)",
        false,
        Some(BLOCKED),
    ),
    (
        State::Failed,
        Some("E_NEW_CODE"),
        "failed: the mail service refused the e-mail (E_NEW_CODE)",
        true,
        None,
    ),
    (State::Failed, None, "failed", true, None),
    (
        State::Forgotten,
        None,
        "no longer known: delivery results are kept for 30 days",
        true,
        Some(MAYBE),
    ),
];

const SECOND_MESSAGE: &str = "The message was already sent: the recipient may get a second message";
const FIRST_MESSAGE: &str =
    "The first message may still be sent: the recipient may get two messages";
const MAYBE_MESSAGE: &str =
    "The message may have been sent. If you send it again, the recipient may get it twice";

/// The expected texts for messages through MessagingServiceB.
const MESSAGE_ROWS: [Row; 27] = [
    (State::NotAsked, None, "not requested: the shop did not ask for this message", false, None),
    (
        State::Erased,
        None,
        "erased: the recipient's data and the delivery result were erased",
        false,
        None,
    ),
    (State::Off, None, "off: the messaging service is off for the unit", false, None),
    (State::Test, None, "test: a test key created the transaction", true, Some(FIRST_MESSAGE)),
    (State::Waiting, None, "waiting", true, Some(FIRST_MESSAGE)),
    (State::Sent, None, "sent", true, Some(SECOND_MESSAGE)),
    (
        State::Skipped,
        Some("erased"),
        "not sent: the recipient's data was erased before the notification was sent",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("cancelled"),
        "not sent: the transaction was cancelled before the notification was sent",
        false,
        None,
    ),
    (
        State::Skipped,
        Some("service-off"),
        "not sent: the messaging service was off for the unit at that time",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("not-attached"),
        "not sent: no adapter was attached for this messaging service",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("invalid-adapter"),
        "not sent: the settings of the messaging service's adapter were invalid",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("no-origin"),
        "not sent: the service has no valid setting `PUBLIC_ORIGIN`",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("test-mode"),
        "not sent: a test key created the transaction, and no adapter for test keys was attached",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("daily-limit"),
        "not sent: the recipient had already reached this messaging service's daily limit for one person",
        true,
        None,
    ),
    (
        State::Skipped,
        Some("no-page"),
        "not sent: the transaction's record lacks the address of the recipient's page",
        false,
        None,
    ),
    (
        State::Skipped,
        Some("no-secret"),
        "not sent: the service has no secret yet: the secret is created with the first API key",
        true,
        None,
    ),
    (State::Skipped, None, "not sent", true, None),
    (
        State::Failed,
        Some("no-more-attempts"),
        "failed: every attempt failed for 15 hours",
        true,
        None,
    ),
    (
        State::Failed,
        Some("unsent"),
        "failed: the queue did not accept the notification when the transaction was created",
        true,
        None,
    ),
    (
        State::Failed,
        Some("unknown"),
        "failed: no delivery result arrived for 24 hours",
        true,
        Some(MAYBE_MESSAGE),
    ),
    (
        State::Failed,
        Some("damaged"),
        "failed: a record that the notification needs is damaged",
        true,
        Some(MAYBE_MESSAGE),
    ),
    (
        State::Failed,
        Some("status-422"),
        "failed: the adapter cannot reach this recipient (status-422)",
        true,
        None,
    ),
    (
        State::Failed,
        Some("status-410"),
        "failed: the adapter cannot reach this recipient (status-410)",
        true,
        None,
    ),
    (
        State::Failed,
        Some("status-302"),
        "failed: the adapter answered with a redirect, which the service does not follow (status-302)",
        true,
        None,
    ),
    (
        State::Failed,
        Some("status-400"),
        "failed: the adapter refused the message (status-400)",
        true,
        None,
    ),
    (State::Failed, None, "failed", true, None),
    (
        State::Forgotten,
        None,
        "no longer known: delivery results are kept for 30 days",
        true,
        Some(MAYBE_MESSAGE),
    ),
];

/// Returns the rows of e-mails and of messages, each with its service.
fn rows() -> impl Iterator<Item = (NotificationService, Row)> {
    let of = |service, rows: &'static [Row]| rows.iter().map(move |row| (service, *row));
    of(NotificationService::Email, &ROWS)
        .chain(of(NotificationService::MessagingServiceB, &MESSAGE_ROWS))
}

#[test]
fn each_state_and_reason_has_a_description() {
    for (service, (state, reason, line, is_sendable, risked)) in rows() {
        let status = Status { service, ..status(state, reason) };
        assert_eq!(in_words(&status), line);
        assert_eq!(can_be_sent(&status), is_sendable, "{line}");
        assert_eq!(risk(&status), risked, "{line}");
        let unknown = "As far as is known, this notification was not sent before";
        assert_eq!(risk_in_words(&status), risked.unwrap_or(unknown), "{line}");
        let words = words(&status);
        assert!(words.advice.is_empty() || words.advice.ends_with('.'), "{line}: {words:?}");
        assert!(!words.cause.ends_with('.'), "{line}: {words:?}");
        assert_eq!(words.code.is_some(), line.ends_with(')') && reason != Some("test-mode"));
        let cancelled = Status { cancelled: Some("2026-11-21T01:02:03Z".to_owned()), ..status };
        assert!(!can_be_sent(&cancelled), "{line}");
        assert!(in_words(&cancelled).ends_with("transaction cancelled 2026-11-21T01:02:03Z"));
    }
}

#[test]
fn no_state_and_no_reason_is_left_out() {
    for reason in Reason::iter() {
        let reason: &str = reason.into();
        assert!(rows().any(|(_, row)| row.1 == Some(reason)), "{reason}");
    }
    for state in State::iter() {
        assert!(ROWS.iter().any(|row| row.0 == state), "{state:?}");
        assert!(MESSAGE_ROWS.iter().any(|row| row.0 == state), "{state:?}");
    }
}

#[test]
fn a_log_line_has_all_known_facts() {
    let queued = Status {
        round: Some(2),
        at: Some("2026-11-21T02:02:03.000Z".to_owned()),
        until: Some("2026-11-21T02:03:03.000Z".to_owned()),
        ..status(State::Waiting, None)
    };
    let line = "queued, 2026-11-21T02:02:03.000Z, next attempt 2026-11-21T02:03:03.000Z, round 2";
    assert_eq!(in_words(&queued), line);
    assert!(words(&queued).advice.starts_with("The notification is already queued. Most e-mails"));
    let sent = Status {
        round: Some(1),
        at: Some("2026-11-21T02:02:03.000Z".to_owned()),
        attempts: Some(3),
        provider_id: Some("mail-1".to_owned()),
        language: Some("de".to_owned()),
        ..status(State::Sent, None)
    };
    let line = "sent, 2026-11-21T02:02:03.000Z, attempt 3, language de, ID mail-1";
    assert_eq!(in_words(&sent), line);
    assert_eq!(in_words(&Status { attempts: Some(1), ..status(State::Sent, None) }), "sent");
}
