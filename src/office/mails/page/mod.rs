//! Pages and forms of the dashboard.

pub mod mail_state;
pub mod mails;
