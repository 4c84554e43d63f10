//! The delivery state of an e-mail in words.

use super::common_words::{Terms, because, erased, forgotten, waiting};
use super::state_words::Words;
use super::{State, Status};

/// The cause and the advice that are shown if the unit's e-mails were off.
const OFF: (&str, &str) = (
    "the unit's e-mails were off at that time",
    "If e-mails are now turned on in the unit's profile, send the e-mail again.",
);
/// The texts for e-mails. No adapter delivers e-mails, so `not_attached` and `invalid_adapter` are never
/// used.
const TERMS: Terms = Terms {
    plural: "e-mails",
    after_failures: "When the mail service works again, send the e-mail again.",
    off: OFF,
    not_attached: OFF,
    invalid_adapter: OFF,
    test_mode: "a test key created the transaction, and the service has no address for tests (`MAIL_TEST_TO`)",
    daily_limit: "the address had already reached the daily limit of e-mails for one person",
    refused,
};

pub(super) fn of_mail(status: &Status) -> Words<'_> {
    match status.state {
        State::NotAsked => Words::new("not requested", "the shop did not ask for an e-mail", ""),
        State::Erased => erased(),
        State::Off => Words::new(
            "off",
            "the unit's e-mails are off",
            "E-mails can be turned on in the unit's profile. Then this e-mail can be sent.",
        ),
        State::Test => Words::new(
            "test",
            "a test key created the transaction",
            "The e-mail goes to the service's address for tests (`MAIL_TEST_TO`). Without this address, the e-mail is not sent.",
        ),
        State::Waiting => waiting_for_quota(status).unwrap_or_else(|| waiting(status, &TERMS)),
        State::Sent => Words::new(
            "sent",
            "",
            "The mail service accepted the e-mail. If it has not arrived, ask the recipient to check the spam folder and to confirm the address.",
        ),
        State::Skipped => because("not sent", status, &TERMS),
        State::Failed => because("failed", status, &TERMS),
        State::Forgotten => forgotten(),
    }
}

/// Returns the words for an e-mail that waits for the mail service's quota; `None` for any other.
fn waiting_for_quota(status: &Status) -> Option<Words<'_>> {
    let code = status.reason.as_deref()?;
    let quota = Words::new(
        "waiting",
        "the mail service's quota is used up",
        "The service retries for some days, and sends the e-mail when the quota is renewed.",
    );
    Some(Words { code: Some(code), ..quota })
}

fn refused(name: &'static str, code: &str) -> Words<'static> {
    match code {
        BLOCKED => Words::new(
            name,
            "the mail service blocks this address",
            "An earlier e-mail bounced or was reported as spam. Sending the e-mail again does not \
             help: ask for another address.",
        ),
        _ => Words::new(
            name,
            "the mail service refused the e-mail",
            "Before you send the e-mail again, ask the person who deploys the service what the code means.",
        ),
    }
}

/// The mail service's code for a blocked address.
pub(super) const BLOCKED: &str = "E_RECIPIENT_SUPPRESSED";
