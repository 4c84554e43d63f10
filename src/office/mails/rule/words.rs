//! The delivery state of a notification in words, for pages and commands. Names of variables are between backticks.

use super::mail_words::{BLOCKED, of_mail};
use super::message_words::of_message;
use super::state_words::Words;
use super::{State, Status};
use crate::buyer::delivery::Reason;
use std::str::FromStr as _;

pub fn words(status: &Status) -> Words<'_> {
    let words = if status.service.is_email() { of_mail(status) } else { of_message(status) };
    match status.cancelled {
        Some(_) => Words { advice: CANCELLED.into(), ..words },
        None => words,
    }
}

const CANCELLED: &str = "The transaction was cancelled: this notification cannot be sent any more.";

/// Returns a delivery state in one line, such as `failed: the mail service refused it (E_NEW_CODE),
/// 2026-11-21T02:02:03.000Z, attempt 3`.
pub fn in_words(status: &Status) -> String {
    let number = |number: Option<u32>| number.filter(|number| *number > 1);
    let parts = [
        status.at.clone(),
        status.until.as_ref().map(|until| format!("next attempt {until}")),
        number(status.attempts).map(|attempts| format!("attempt {attempts}")),
        number(status.round).map(|round| format!("round {round}")),
        status.cancelled.as_ref().map(|at| format!("transaction cancelled {at}")),
        status.language.as_ref().map(|language| format!("language {language}")),
        status.provider_id.as_ref().map(|id| format!("ID {id}")),
    ];
    let known = [state_in_words(status)].into_iter().chain(parts.into_iter().flatten());
    known.collect::<Vec<_>>().join(", ")
}

fn state_in_words(status: &Status) -> String {
    let Words { name, cause, code, .. } = words(status);
    let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    [name, &cause, &code].concat()
}

pub fn can_be_sent(status: &Status) -> bool {
    let reason = status.reason.as_deref().map(Reason::from_str);
    let is_final = matches!(reason, Some(Ok(Reason::NoPage | Reason::Cancelled)));
    let is_blocked = status.state == State::Failed && status.reason.as_deref() == Some(BLOCKED);
    !matches!(status.state, State::NotAsked | State::Erased | State::Off)
        && status.cancelled.is_none()
        && !is_final
        && !is_blocked
}

/// Returns the risk of resending a notification, without a full stop; `None` if no risk is known.
pub fn risk(status: &Status) -> Option<&'static str> {
    let of = |mail, message| Some(if status.service.is_email() { mail } else { message });
    match (status.state, status.reason.as_deref()) {
        (State::Sent, _) => of(
            "The e-mail was already sent: the recipient gets a second e-mail",
            "The message was already sent: the recipient may get a second message",
        ),
        (State::Waiting | State::Test, _) => of(
            "The first e-mail may still be sent: the recipient may get two e-mails",
            "The first message may still be sent: the recipient may get two messages",
        ),
        (State::Forgotten, _) | (_, Some("unknown" | "damaged")) => of(
            "The e-mail may have been sent: the recipient may get a second e-mail",
            "The message may have been sent. If you send it again, the recipient may get it twice",
        ),
        (_, Some(BLOCKED)) => {
            Some("The mail service blocks this address and may refuse the e-mail again")
        }
        _ => None,
    }
}

/// Returns the [`risk`] of resending a notification, or a sentence which says that no risk is known.
pub fn risk_in_words(status: &Status) -> &'static str {
    risk(status).unwrap_or("As far as is known, this notification was not sent before")
}
