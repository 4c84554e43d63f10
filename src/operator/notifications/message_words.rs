//! The delivery state of a message by a messaging service in words.

use super::state_words::Words;
use super::{State, Status, WAITING_HOURS};
use crate::messaging::DoorName;
use crate::notify::Reason;
use crate::operator::delays::{MAILED_HOURS, MAILED_SECONDS};
use crate::store::NOTIFICATION_DAYS;
use std::str::FromStr as _;

/// Returns the delivery state of a message in words.
pub(super) fn of_message(status: &Status) -> Words<'_> {
    match status.state {
        State::NotAsked => Words::new("not requested", "the shop did not ask for it", ""),
        State::Erased => Words::new(
            "erased",
            "the recipient's data was erased, and the delivery result with it",
            "",
        ),
        State::Off => Words::new(
            "off",
            "the service is off for the unit",
            "An operator can turn it on in the unit's profile. Then this message can be sent.",
        ),
        State::Test => Words::new(
            "test",
            "a test key created the transaction",
            format!(
                "The message goes to the adapter for test keys (`{}`). Without one, it is not sent.",
                DoorName { service: status.service, is_live: false }
            ),
        ),
        State::Waiting => waiting(status),
        State::Sent => Words::new(
            "sent",
            "",
            "The adapter accepted it. If it has not arrived, look for it in the adapter's log.",
        ),
        State::Skipped => because("not sent", status),
        State::Failed => because("failed", status),
        State::Forgotten => Words::new(
            "no longer known",
            format!("delivery results are kept for {NOTIFICATION_DAYS} days"),
            "",
        ),
    }
}

fn waiting(status: &Status) -> Words<'_> {
    let (name, queued) = match status.round {
        Some(_) => ("queued", "It is already queued. "),
        None => ("waiting", ""),
    };
    let times = format!(
        "{queued}Most messages are sent within {MAILED_SECONDS} s; delivery is tried for up to {MAILED_HOURS} \
         hours. Check again before you send another."
    );
    Words::new(name, "", times)
}

/// Returns the words for a message that was not sent, by the reason of its status.
fn because<'s>(name: &'static str, status: &'s Status) -> Words<'s> {
    let Some(code) = status.reason.as_deref() else { return Words::new(name, "", "") };
    if let Ok(reason) = Reason::from_str(code) {
        let (cause, advice) = skipped(reason);
        return Words::new(name, cause, advice);
    }
    match code {
        "no-more-attempts" => Words::new(
            name,
            format!("every attempt failed for {MAILED_HOURS} hours"),
            "When the adapter works again, send it again.",
        ),
        "unknown" => Words::new(
            name,
            format!("no delivery result arrived for {WAITING_HOURS} hours"),
            "It may have been sent.",
        ),
        "unsent" => Words::new(
            name,
            "the queue did not accept it when the transaction was created",
            "Send it again.",
        ),
        "damaged" => Words::new(
            name,
            "a record that it needs is damaged",
            "Ask an operator to check the unit's profile.",
        ),
        code => Words { code: Some(code), ..refused(name, code) },
    }
}

/// Returns the words for a message that the adapter refused.
fn refused(name: &'static str, code: &str) -> Words<'static> {
    if matches!(code, "status-410" | "status-422") {
        return Words::new(
            name,
            "the adapter cannot reach this recipient",
            "The recipient may have no account in the messenger. Sending it again does not help unless that has \
             changed.",
        );
    }
    if code.starts_with("status-3") {
        return Words::new(
            name,
            "the adapter answered with a redirect, which is not followed",
            "Ask the person who deploys the service to set the adapter's final URL, then send it again.",
        );
    }
    Words::new(
        name,
        "the adapter refused it",
        "Ask the person who runs the adapter what the code means, before you send it again.",
    )
}

/// Returns why the service did not send a message, and what to do.
fn skipped(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Erased => ("the recipient was erased before it was sent", ""),
        Reason::ServiceOff | Reason::MailOff => (
            "the service was off for the unit at that time",
            "If an operator has turned it on in the unit's profile since, send it again.",
        ),
        Reason::NotAttached => (
            "no adapter is attached for this service",
            "Ask the person who deploys the service to attach one, then send it again.",
        ),
        Reason::NoOrigin => (
            "the service has no valid `PUBLIC_ORIGIN`",
            "Ask the person who deploys the service to set it, then send it again.",
        ),
        Reason::TestMode => (
            "a test key created the transaction, and no adapter for test keys is attached",
            "No action needed.",
        ),
        Reason::DailyLimit => (
            "the recipient had already received as many messages of this service as one person may get in a day",
            "Send it again on another day.",
        ),
        Reason::NoPage => {
            ("the record has no address of the recipient's page", "It cannot be sent.")
        }
        Reason::NoSecret => (
            "the service has no secret, which is created with the first API key",
            "Ask an operator to create a key, then send it again.",
        ),
    }
}
