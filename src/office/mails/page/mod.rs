mod groups;
pub mod mail_state;
pub mod mails;
