//! The results of a delivery: the outcome for the queue, and the reason if no notification is sent now.

use super::Reason;
use crate::pledges::store::StoreError;

/// The reason that is logged if the notification was already sent or skipped.
pub(super) const ENDED: &str = "sent or skipped before";
/// The delay before a message is delivered again, in seconds, if its delivery waited too long for its turn or
/// for memory.
const BUSY_SECONDS: u32 = 60;

/// What the queue must do with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledge the message. The reason is logged.
    Done(String),
    /// Deliver the message again.
    Later {
        seconds: u32,
        /// The reason, which is logged.
        cause: String,
    },
}

/// Why a delivery sends no notification now.
pub(super) enum NotSent {
    Skip(Reason),
    /// A setting is invalid. The notification is retried, because the setting may be corrected meanwhile.
    InvalidSetting(Reason),
    /// No result is recorded for the notification. The contained outcome says whether the message is
    /// acknowledged or delivered again.
    Leave(Outcome),
    /// The notification cannot be sent now. The text is the cause, for the log.
    Failed(String),
}

impl From<Reason> for NotSent {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::InvalidAdapter => NotSent::InvalidSetting(reason),
            _ => NotSent::Skip(reason),
        }
    }
}

impl From<StoreError> for NotSent {
    fn from(error: StoreError) -> Self {
        NotSent::Failed(cause(error))
    }
}

/// Returns why the store failed, for the log.
pub(super) fn cause(error: StoreError) -> String {
    match error {
        StoreError::Unavailable | StoreError::Busy => "the store does not answer".to_owned(),
        StoreError::Damaged(problem) => problem,
    }
}

/// Returns the outcome of a delivery that waited too long: the message is delivered again later.
pub(super) fn busy(cause: &str) -> Outcome {
    Outcome::Later { seconds: BUSY_SECONDS, cause: cause.to_owned() }
}

pub(super) fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}
