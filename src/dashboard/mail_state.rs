//! What became of an e-mail, in words for those who look after it.

use super::view;
use crate::operator::notifications::{State, Status};
use maud::{Markup, html};

/// What became of an e-mail, and what to do about it.
pub(super) struct Words {
    /// One or two words.
    pub name: &'static str,
    /// The class of the tag that shows the name; empty for what is well.
    pub class: &'static str,
    /// What it means, and what to do.
    pub advice: &'static str,
}

/// Says what became of an e-mail.
pub(super) fn words(status: &Status) -> Words {
    let words = |name, class, advice| Words { name, class, advice };
    match status.state {
        State::NotAsked => words("Not asked for", "", "The order did not ask for an e-mail."),
        State::Erased => {
            words("Erased", "", "The recipient was erased, and with it what became of the e-mail.")
        }
        State::Off => words(
            "Off",
            "note",
            "The unit's e-mails are off. When an operator has turned them on in the unit's profile, \
             this one can be sent.",
        ),
        State::Test => words(
            "Test",
            "",
            "A test key made the order: the e-mail goes to the service's address for tests \
             (MAIL_TEST_TO) if it has one, else to nobody.",
        ),
        State::Waiting if status.reason.is_some() => words(
            "Waiting",
            "note",
            "The mail service's quota is used up. The e-mail is sent when the quota begins anew, which \
             is tried for some days.",
        ),
        State::Waiting if status.round.is_some() => words(
            "Queued",
            "note",
            "It is already queued. Most are sent within a minute or two, and it is tried for up to 15 \
             hours. Look again before you send another.",
        ),
        State::Waiting => words(
            "Waiting",
            "note",
            "Most are sent within a minute or two, and it is tried for up to 15 hours. Look again \
             before you send another.",
        ),
        State::Sent => words(
            "Sent",
            "",
            "A mail service has taken it. If it did not arrive, ask the recipient to look into the \
             folder for spam, and to compare the address.",
        ),
        State::Skipped => words("Not sent", "note", advice(status)),
        State::Failed => words("Failed", "alarm", advice(status)),
        State::Forgotten => {
            words("Not known any more", "", "What becomes of e-mails is kept for 30 days.")
        }
    }
}

/// Why an e-mail was not sent, and what to do.
fn advice(status: &Status) -> &'static str {
    match status.reason.as_deref().unwrap_or_default() {
        "erased" => "The recipient was erased before it was sent.",
        "mail-off" => {
            "The unit's e-mails were off at that time. Where an operator has turned them on in the \
             unit's profile, send it again."
        }
        "no-origin" => {
            "The service lacks its variable PUBLIC_ORIGIN. Ask who deploys it to set that, then \
             send it again."
        }
        "test-mode" => {
            "A test key made the order, and the service has no address for tests (MAIL_TEST_TO): \
             nothing is to be done."
        }
        "daily-limit" => {
            "The address had had as many e-mails on that day as one person may get. Send it again \
             on another day."
        }
        "no-page" => "Its record has no address of the recipient's page: it cannot be sent.",
        "no-secret" => {
            "The service has no secret, which is made with the first API key. Ask an operator to \
             make a key, then send it again."
        }
        "no-more-attempts" => {
            "No attempt succeeded for 15 hours. When the mail service works again, send it again."
        }
        "unsent" => "The queue did not take it when the order was made. Send it again.",
        "unknown" => "Nothing was heard of it for 24 hours. It may have been sent.",
        "damaged" => {
            "A record that it needs is damaged. Ask an operator to look at the unit's profile."
        }
        "E_RECIPIENT_SUPPRESSED" => {
            "The mail service sends nothing to this address, as an e-mail came back from it or was \
             reported as spam. Sending it again does not help: ask for another address."
        }
        _ => {
            "The mail service refused it with the code below. Ask who deploys the service what it \
             means, before you send it again."
        }
    }
}

/// The name of a state as a tag.
pub(super) fn tag(words: &Words) -> Markup {
    html! { span class={ "tag " (words.class) } { (words.name) } }
}

/// What is known of an e-mail.
pub(super) fn facts(status: &Status) -> Markup {
    let words = words(status);
    let number = |number: Option<u32>| number.filter(|number| *number > 1);
    let mut rows = vec![("State", html! { (tag(&words)) " " (words.advice) })];
    rows.extend(status.reason.as_ref().map(|code| ("Code", html! { code { (code) } })));
    rows.extend(status.at.as_ref().map(|at| ("Known since", view::time(at))));
    rows.extend(status.until.as_ref().map(|until| ("Next attempt", view::time(until))));
    rows.extend(number(status.attempts).map(|attempts| ("Attempts", html! { (attempts) })));
    rows.extend(number(status.round).map(|round| ("Sent again", html! { (round - 1) " ×" })));
    rows.extend(status.language.as_ref().map(|tag| ("Language", html! { (view::told(tag)) })));
    let provider = status.provider_id.as_ref();
    rows.extend(provider.map(|id| ("Mail service's ID", html! { code { (view::told(id)) } })));
    view::facts(&rows)
}

/// Whether it can be sent again at all.
pub(super) fn can_be_sent(status: &Status) -> bool {
    !matches!(status.state, State::NotAsked | State::Erased | State::Off)
}

/// Why a second e-mail may go out, if it is sent again.
pub(super) fn risk(status: &Status) -> Option<&'static str> {
    match status.state {
        State::Sent => Some("It was sent: the recipient gets a second e-mail."),
        State::Waiting | State::Test => {
            Some("The first one may still go out: the recipient may get two.")
        }
        State::Forgotten => Some("It may have been sent: the recipient may get a second one."),
        _ if matches!(status.reason.as_deref(), Some("unknown" | "damaged")) => {
            Some("It may have been sent: the recipient may get a second one.")
        }
        _ => None,
    }
}
