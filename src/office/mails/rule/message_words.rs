//! Describes in words the delivery state of a message through a messaging service.

use super::common_words::{Terms, because, erased, forgotten, waiting};
use super::state_words::Words;
use super::{State, Status};
use crate::buyer::adapters::AdapterName;

const TERMS: Terms = Terms {
    plural: "messages",
    after_failures: "When the adapter works again, send the message again.",
    off: (
        "the messaging service was off for the unit at that time",
        "If the messaging service is now turned on in the unit's profile, send the message again.",
    ),
    not_attached: (
        "no adapter was attached for this messaging service",
        "Ask the person who deploys the service to attach an adapter, then send the message again.",
    ),
    invalid_adapter: (
        "the settings of the messaging service's adapter were invalid",
        "The dashboard's *System* page says what is wrong. Ask the person who deploys the service to \
         correct the settings, then send the message again.",
    ),
    test_mode: "a test key created the transaction, and no adapter for test keys was attached",
    daily_limit: "the recipient had already reached this messaging service's daily limit for one person",
    refused,
};

pub(super) fn of_message(status: &Status) -> Words<'_> {
    match status.state {
        State::NotAsked => Words::new("not requested", "the shop did not ask for this message", ""),
        State::Erased => erased(),
        State::Off => Words::new(
            "off",
            "the messaging service is off for the unit",
            "The messaging service can be turned on in the unit's profile. Then this message can be sent.",
        ),
        State::Test => Words::new(
            "test",
            "a test key created the transaction",
            format!(
                "The message goes to the adapter for test keys (`{}`). Without this adapter, the message is not sent.",
                AdapterName { service: status.service, is_live: false }
            ),
        ),
        State::Waiting => waiting(status, &TERMS),
        State::Sent => Words::new(
            "sent",
            "",
            "The adapter accepted the message. If the message has not arrived, look for it in the adapter's log.",
        ),
        State::Skipped => because("not sent", status, &TERMS),
        State::Failed => because("failed", status, &TERMS),
        State::Forgotten => forgotten(),
    }
}

fn refused(name: &'static str, code: &str) -> Words<'static> {
    if matches!(code, "status-410" | "status-422") {
        return Words::new(
            name,
            "the adapter cannot reach this recipient",
            "The recipient may have no account in the messenger. If the recipient has an account now, \
             send the message again.",
        );
    }
    if code.starts_with("status-3") {
        return Words::new(
            name,
            "the adapter answered with a redirect, which the service does not follow",
            "Ask the person who deploys the service to set the adapter's final URL, then send the \
             message again.",
        );
    }
    Words::new(
        name,
        "the adapter refused the message",
        "Before you send the message again, ask the person who runs the adapter what the code means.",
    )
}
