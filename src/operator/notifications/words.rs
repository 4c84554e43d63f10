//! The delivery state of an e-mail in words: in a line for commands, and with advice for pages.

use super::{State, Status, WAITING_HOURS};
use crate::operator::delays::{MAILED_HOURS, MAILED_SECONDS};
use crate::store::NOTIFICATION_DAYS;
use std::borrow::Cow;

/// One or two words for a state.
pub fn name(status: &Status) -> &'static str {
    match status.state {
        State::NotAsked => "Not asked for",
        State::Erased => "Erased",
        State::Off => "Off",
        State::Test => "Test",
        State::Waiting if status.round.is_some() && status.reason.is_none() => "Queued",
        State::Waiting => "Waiting",
        State::Sent => "Sent",
        State::Skipped => "Not sent",
        State::Failed => "Failed",
        State::Forgotten => "No longer known",
    }
}

/// What a state means, and what to do: one or several sentences.
pub fn advice(status: &Status) -> Cow<'static, str> {
    match status.state {
        State::NotAsked => "The order did not ask for an e-mail.".into(),
        State::Erased => "The recipient was erased, and the delivery result with it.".into(),
        State::Off => "The unit's e-mails are off. When an operator has turned them on in the unit's profile, \
                       this one can be sent."
            .into(),
        State::Test => "A test key made the order: the e-mail goes to the service's address for tests \
                        (MAIL_TEST_TO) if it has one, else to nobody."
            .into(),
        State::Waiting if status.reason.is_some() => {
            "The mail service's quota is used up. The e-mail is sent when the quota begins again; this is tried for \
             some days."
                .into()
        }
        State::Waiting => format!(
            "{}Most are sent within {MAILED_SECONDS} s, and it is tried for up to {MAILED_HOURS} hours. Check again \
             before you send another.",
            if status.round.is_some() { "It is already queued. " } else { "" }
        )
        .into(),
        State::Sent => "Accepted by the mail service. If it has not arrived, ask the recipient to check the spam \
                        folder, and to confirm the address."
            .into(),
        State::Skipped | State::Failed => match reason(status) {
            Some(Reason { advice, .. }) => advice,
            None => "The mail service refused it with the code below. Ask who deploys the service what it means, \
                     before you send it again."
                .into(),
        },
        State::Forgotten => {
            format!("Delivery results are kept for {NOTIFICATION_DAYS} days.").into()
        }
    }
}

/// Why an e-mail was not sent.
struct Reason {
    /// A few words.
    short: Cow<'static, str>,
    /// One or several sentences, with what to do.
    advice: Cow<'static, str>,
}

/// The reason of a status; `None` for a code of the mail service that has no words here.
fn reason(status: &Status) -> Option<Reason> {
    let of = |short: &'static str, advice: &'static str| {
        Some(Reason { short: short.into(), advice: advice.into() })
    };
    match status.reason.as_deref()? {
        "no-more-attempts" => Some(Reason {
            short: "no attempt succeeded".into(),
            advice: format!(
                "No attempt succeeded for {MAILED_HOURS} hours. When the mail service works again, send it again."
            )
            .into(),
        }),
        "unknown" => Some(Reason {
            short: format!("no delivery result within {WAITING_HOURS} hours").into(),
            advice: format!(
                "There was no delivery result within {WAITING_HOURS} hours. It may have been sent."
            )
            .into(),
        }),
        "erased" => of("the recipient was erased", "The recipient was erased before it was sent."),
        "mail-off" => of(
            "the unit's e-mails were off",
            "The unit's e-mails were off at that time. When an operator has turned them on in the unit's profile, \
             send it again.",
        ),
        "no-origin" => of(
            "the Worker has no valid PUBLIC_ORIGIN",
            "The service lacks its variable PUBLIC_ORIGIN. Ask who deploys it to set that, then send it again.",
        ),
        "test-mode" => of(
            "of a test key, and the Worker has no MAIL_TEST_TO",
            "A test key made the order, and the service has no address for tests (MAIL_TEST_TO). No action needed.",
        ),
        "daily-limit" => of(
            "the address had its daily number of e-mails",
            "The address had as many e-mails on that day as one person may get. Send it again on another day.",
        ),
        "no-page" => of(
            "the record has no address of its page",
            "Its record has no address of the recipient's page: it cannot be sent.",
        ),
        "no-secret" => of(
            "the namespace has no secret",
            "The service has no secret, which is made with the first API key. Ask an operator to make a key, then \
             send it again.",
        ),
        "unsent" => of(
            "the queue did not take it",
            "The queue did not take it when the order was made. Send it again.",
        ),
        "damaged" => of(
            "a record that it needs is damaged",
            "A record that it needs is damaged. Ask an operator to look at the unit's profile.",
        ),
        "E_RECIPIENT_SUPPRESSED" => of(
            "E_RECIPIENT_SUPPRESSED, blocked by the mail service",
            "Blocked: an earlier e-mail to this address bounced or was reported as spam. Sending it again will not \
             help: ask for another address.",
        ),
        _ => None,
    }
}

/// The state in a line, with what else is known.
pub fn in_words(status: &Status) -> String {
    let of = match status.state {
        State::Off => "not sent: the unit's e-mails are off".to_owned(),
        State::Test => {
            "of a test key: sent to MAIL_TEST_TO if the Worker has that, else to nobody".to_owned()
        }
        State::Forgotten => format!("no longer known: it is kept for {NOTIFICATION_DAYS} days"),
        State::Erased => "erased, with its delivery result".to_owned(),
        _ => name(status).to_lowercase(),
    };
    let short = reason(status).map(|reason| reason.short);
    let why = short.or_else(|| status.reason.clone().map(Cow::Owned));
    let number = |name: &str, number: Option<u32>| {
        number.filter(|number| *number > 1).map(|number| format!("{name} {number}"))
    };
    let parts = [
        Some(why.map_or_else(|| of.clone(), |why| format!("{of}: {why}"))),
        status.at.clone(),
        status.until.as_ref().map(|until| format!("next attempt {until}")),
        number("attempt", status.attempts),
        number("round", status.round),
        status.language.as_ref().map(|tag| format!("language {tag}")),
        status.provider_id.as_ref().map(|id| format!("ID {id}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Whether an e-mail can be sent again at all.
pub fn can_be_sent(status: &Status) -> bool {
    !matches!(status.state, State::NotAsked | State::Erased | State::Off)
}

/// Why a second e-mail may go out, if it is sent again.
pub fn risk(status: &Status) -> Option<&'static str> {
    match (status.state, status.reason.as_deref()) {
        (State::Sent, _) => Some("This e-mail was already sent: the recipient gets a second one."),
        (State::Waiting | State::Test, _) => {
            Some("The first one may still go out: the recipient may get two.")
        }
        (State::Forgotten, _) | (_, Some("unknown" | "damaged")) => {
            Some("It may have been sent: the recipient may get a second one.")
        }
        _ => None,
    }
}
