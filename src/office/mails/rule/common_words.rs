//! Describes in words the delivery states that e-mails and messages of messaging services share.

use super::state_words::Words;
use super::{Status, WAITING_HOURS};
use crate::buyer::delivery::Reason;
use crate::office::shared::rule::delays::{MAILED_HOURS, MAILED_SECONDS};
use crate::pledges::store::NOTIFICATION_DAYS;
use std::str::FromStr as _;

/// A cause, and what to do about it.
type Reasoned = (&'static str, &'static str);

/// The texts that differ between e-mails and messages.
pub(super) struct Terms {
    /// The noun for several notifications, such as `e-mails`.
    pub plural: &'static str,
    /// What to do once every attempt has failed.
    pub after_failures: &'static str,
    /// The text for a notification service that was not switched on for the unit: the cause, and what to do.
    pub off: Reasoned,
    /// The text for a missing adapter (none is attached): the cause, and what to do.
    pub not_attached: Reasoned,
    /// The text for an adapter with invalid settings: the cause, and what to do.
    pub invalid_adapter: Reasoned,
    /// The text that says why nothing is sent for a test key.
    pub test_mode: &'static str,
    /// The text that names the recipient's daily limit as the cause.
    pub daily_limit: &'static str,
    /// Returns the words for a notification that was refused. The last argument is the code of the refusal.
    pub refused: fn(&'static str, &str) -> Words<'static>,
}

pub(super) fn erased<'s>() -> Words<'s> {
    Words::new("erased", "the recipient's data and the delivery result were erased", "")
}

pub(super) fn forgotten<'s>() -> Words<'s> {
    let cause = format!("delivery results are kept for {NOTIFICATION_DAYS} days");
    Words::new("no longer known", cause, "")
}

pub(super) fn waiting<'s>(status: &Status, Terms { plural, .. }: &Terms) -> Words<'s> {
    let (name, queued) = match status.round {
        Some(_) => ("queued", "The notification is already queued. "),
        None => ("waiting", ""),
    };
    let times = format!(
        "{queued}Most {plural} are sent within {MAILED_SECONDS} s; delivery is tried for up to {MAILED_HOURS} hours. \
         Check again before you send another."
    );
    Words::new(name, "", times)
}

/// Returns words that say why a notification was not sent, from the reason in its status.
pub(super) fn because<'s>(name: &'static str, status: &'s Status, terms: &Terms) -> Words<'s> {
    let Some(code) = status.reason.as_deref() else { return Words::new(name, "", "") };
    if let Ok(reason) = Reason::from_str(code) {
        let (cause, advice) = skipped(reason, terms);
        return Words::new(name, cause, advice);
    }
    match code {
        "no-more-attempts" => Words::new(
            name,
            format!("every attempt failed for {MAILED_HOURS} hours"),
            terms.after_failures,
        ),
        "unknown" => Words::new(
            name,
            format!("no delivery result arrived for {WAITING_HOURS} hours"),
            "The notification may have been sent.",
        ),
        "unsent" => Words::new(
            name,
            "the queue did not accept the notification when the transaction was created",
            "Send it again.",
        ),
        "damaged" => Words::new(
            name,
            "a record that the notification needs is damaged",
            "Ask an operator to check the unit's profile.",
        ),
        code => Words { code: Some(code), ..(terms.refused)(name, code) },
    }
}

fn skipped(reason: Reason, terms: &Terms) -> Reasoned {
    match reason {
        Reason::Erased => ("the recipient's data was erased before the notification was sent", ""),
        Reason::Cancelled => ("the transaction was cancelled before the notification was sent", ""),
        Reason::MailOff | Reason::ServiceOff => terms.off,
        Reason::NotAttached => terms.not_attached,
        Reason::InvalidAdapter => terms.invalid_adapter,
        Reason::NoOrigin => (
            "the service has no valid setting `PUBLIC_ORIGIN`",
            "Ask the person who deploys the service to set `PUBLIC_ORIGIN`. Then send the notification again.",
        ),
        Reason::TestMode => (terms.test_mode, "No action needed."),
        Reason::DailyLimit => (terms.daily_limit, "Send the notification again on another day."),
        Reason::NoPage => (
            "the transaction's record lacks the address of the recipient's page",
            "The notification cannot be sent.",
        ),
        Reason::NoSecret => (
            "the service has no secret yet: the secret is created with the first API key",
            "Ask an operator to create an API key. Then send the notification again.",
        ),
    }
}
