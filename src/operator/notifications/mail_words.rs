//! The delivery state of an e-mail in words.

use super::state_words::Words;
use super::{State, Status, WAITING_HOURS};
use crate::notify::Reason;
use crate::operator::delays::{MAILED_HOURS, MAILED_SECONDS};
use crate::store::NOTIFICATION_DAYS;
use std::str::FromStr as _;

/// Returns the delivery state of an e-mail in words.
pub(super) fn of_mail(status: &Status) -> Words<'_> {
    match status.state {
        State::NotAsked => Words::new("not requested", "the shop did not ask for an e-mail", ""),
        State::Erased => Words::new(
            "erased",
            "the recipient's data was erased, and the delivery result with it",
            "",
        ),
        State::Off => Words::new(
            "off",
            "the unit's e-mails are off",
            "An operator can turn them on in the unit's profile. Then this one can be sent.",
        ),
        State::Test => Words::new(
            "test",
            "a test key created the transaction",
            "The e-mail goes to the service's address for tests (`MAIL_TEST_TO`). Without one, it is not sent.",
        ),
        State::Waiting => waiting(status),
        State::Sent => Words::new(
            "sent",
            "",
            "The mail service accepted it. If it has not arrived, ask the recipient to check the spam folder and \
             to confirm the address.",
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
    if let Some(code) = &status.reason {
        let quota = Words::new(
            "waiting",
            "the mail service's quota is used up",
            "The service sends it when the quota is renewed, and retries for some days.",
        );
        return Words { code: Some(code), ..quota };
    }
    let (name, queued) = match status.round {
        Some(_) => ("queued", "It is already queued. "),
        None => ("waiting", ""),
    };
    let times = format!(
        "{queued}Most e-mails are sent within {MAILED_SECONDS} s; delivery is tried for up to {MAILED_HOURS} hours. \
         Check again before you send another."
    );
    Words::new(name, "", times)
}

/// Returns the words for an e-mail that was not sent, by the reason of its status.
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
            "When the mail service works again, send it again.",
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

/// Returns the words for an e-mail that the mail service refused.
fn refused(name: &'static str, code: &str) -> Words<'static> {
    match code {
        BLOCKED => Words::new(
            name,
            "the mail service blocks this address",
            "An earlier e-mail bounced or was reported as spam. Sending it again does not help: ask for another \
             address.",
        ),
        _ => Words::new(
            name,
            "the mail service refused it",
            "Ask the person who deploys the service what the code means, before you send it again.",
        ),
    }
}

/// The mail service's code for a blocked address.
pub(super) const BLOCKED: &str = "E_RECIPIENT_SUPPRESSED";

/// Returns why the service did not send an e-mail, and what to do.
fn skipped(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Erased => ("the recipient was erased before it was sent", ""),
        Reason::MailOff | Reason::ServiceOff | Reason::NotAttached => (
            "the unit's e-mails were off at that time",
            "If an operator has turned them on in the unit's profile since, send it again.",
        ),
        Reason::NoOrigin => (
            "the service has no valid `PUBLIC_ORIGIN`",
            "Ask the person who deploys the service to set it, then send it again.",
        ),
        Reason::TestMode => (
            "a test key created the transaction, and the service has no address for tests (`MAIL_TEST_TO`)",
            "No action needed.",
        ),
        Reason::DailyLimit => (
            "the address had already received as many e-mails as one person may get in a day",
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
