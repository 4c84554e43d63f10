//! Operations on notifications of recipients: e-mails, and messages by messaging services.

mod batch;
mod list;
mod parts;
mod preview;
mod resend;

pub use batch::{DISMISS, check_dismiss, dismiss};
pub(crate) use list::by_cause;
pub use list::{FAILED, SHOW, failed, show};
pub use preview::{PREVIEW, preview};
pub use resend::{RESEND, check, resend};
