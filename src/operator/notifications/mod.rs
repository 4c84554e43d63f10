//! E-mails to recipients, for support: the delivery state of an e-mail, lists of failed e-mails, previews and resends.
//!
//! The state is computed from the stored records. So an e-mail that was lost shows as failed even if no record states
//! that.

mod failed;
mod preview;
mod profile;
mod recent;
mod refusal;
mod resend;
mod status;
mod view;
mod words;

pub use failed::{FailedMail, FailedQuery, Failures, failed};
pub use preview::{NOWHERE, Preview, masked_preview, preview};
pub use recent::{RECENT_DAYS, RecentFailures, recent_failures};
pub use resend::{DayQuery, DayStep, QueuedRounds, Resent, next_message, queue_round, resend_day};
pub use status::{State, Status, WAITING_HOURS, status};
pub use view::{EmailView, show};
pub use words::{Words, can_be_sent, in_words, risk, risk_in_words, words};

use profile::mailing_profile;
use refusal::{refusal, refuse_erased};
use status::status_beside;
use view::{masked_recipient, shown};
