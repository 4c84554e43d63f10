//! Shows the delivery states of notifications to recipients, lists failed notifications, and previews and
//! resends them. A notification is an e-mail, or a message of a messaging service.
//!
//! The delivery state is computed from the stored records. So a notification that was lost shows as failed
//! even if no record states that.

mod batch;
mod beside;
mod common_words;
mod failed;
mod group;
mod mail_words;
mod message_words;
mod preview;
mod profile;
mod recent;
mod refusal;
mod resend;
mod resendable;
mod select;
mod state_words;
mod status;
mod unsent;
mod view;
mod words;

pub use batch::{BatchStep, dismiss_batch, resend_batch};
pub use beside::WAITING_HOURS;
pub use failed::{FailedMail, FailedQuery, Failures, failed};
pub use group::{CountedGroup, FailureGroup, groups};
pub use preview::{NOWHERE, Preview, masked_preview, preview};
pub use recent::{RECENT_DAYS, RecentFailures, recent_failures};
pub use resend::{QueuedRounds, Resent, next_message, queue_round};
pub use resendable::{Resendable, is_resendable, resendable};
pub use select::BatchQuery;
pub use state_words::Words;
pub use status::{State, Status, status, statuses};
pub use unsent::{Notified, failed_orders, unsent};
pub use view::{EmailView, show};
pub use words::{can_be_sent, in_words, risk, risk_in_words, words};

use beside::Beside;
use profile::notifying_profile;
use refusal::{refusal, refuse_erased};
use status::status_beside;
use view::{masked_recipient, shown};
