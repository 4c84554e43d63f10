//! Arguments that several operations on notifications share.

use crate::office::mails::rule::FailureGroup;
use crate::office::shared::operation::spec::{Argument, Kind, mode, text, unit};
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::types::NotificationService;
use serde::Deserialize;

/// The option that selects the service of a notification. Without this option, a command is about e-mails.
pub(super) const SERVICE: Argument = Argument::option(
    "service",
    Kind::Choice {
        choices: &["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"],
    },
    "the notification service; by default, `Email`",
);

pub(super) const ID: Argument = Argument::positional("id", text("id"), "the ID of the transaction");

pub(super) const UNIT: Argument =
    unit("with `--cause`: all that failed for this cause in this unit, each once");
pub(super) const CAUSE: Argument = Argument::option(
    "cause",
    text("code"),
    "the code of the cause, as `emails failed` prints it, such as `no-more-attempts`",
);
pub(super) const MODE: Argument =
    mode("with `--cause`: which transactions: live or test; by default, live");

pub(super) const NOTHING_SENT: &str = "nothing was sent";

/// A unit and a cause, as arguments.
#[derive(Deserialize)]
pub(super) struct Group {
    unit: Option<String>,
    cause: Option<String>,
    mode: Option<Mode>,
}

impl Group {
    /// Returns the group; `None` if no argument names one.
    pub fn what(self) -> Result<Option<FailureGroup>, Refused> {
        match self {
            Group { unit: Some(unit), cause: Some(cause), mode } => {
                let scope = Scope { mode: mode.unwrap_or(Mode::Live), unit };
                Ok(Some(FailureGroup { scope, cause }))
            }
            Group { unit: None, cause: None, mode: None } => Ok(None),
            Group { unit: None, .. } => {
                Err(Refused::at("unit", RefusalCode::Required, "give `--unit` with `--cause`"))
            }
            _ => Err(Refused::at("cause", RefusalCode::Required, "give `--cause` with `--unit`")),
        }
    }
}

/// Returns words for the notifications of a service, such as `e-mails`; `None` means all services.
pub(super) fn all_of(service: Option<NotificationService>) -> String {
    match service {
        None => "e-mails and messages".to_owned(),
        Some(NotificationService::Email) => "e-mails".to_owned(),
        Some(service) => format!("messages by {}", service.name()),
    }
}
