mod batch;
mod groups;
pub mod mail_state;
pub mod mails;

pub(crate) use batch::batch;
