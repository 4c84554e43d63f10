//! Tells people by e-mail what waits for them, and what went wrong.
//!
//! [`tell`] runs in the cron. It finds what there is to tell ([`found`]), writes an e-mail for each person into the ledger, and then sends
//! those that are due. Right before an e-mail is sent, its content is made from what the person may see at that moment.

mod found;
mod letter;
mod send;
mod switch;

pub use super::rows::notices::log;
pub use super::rows::switches::switched_off;
pub use letter::Letter;
pub use send::{KEPT_DAYS, MAX_SENT, Office, Post, Told, tell};
pub use switch::{Switched, switch};

use super::rows::notices::NoticeKind;
use crate::office::mails::rule::RECENT_DAYS;
use crate::office::shared::rule::roles::{Memberships, Role, Roles};
use found::LASTING_MINUTES;
use strum::IntoEnumIterator as _;

impl NoticeKind {
    /// Returns the role whose members get this kind; `None` for the people of shops.
    pub fn role(self) -> Option<Role> {
        match self {
            NoticeKind::Month => Some(Role::Accounts),
            NoticeKind::Failures | NoticeKind::Ledger => Some(Role::Operator),
            NoticeKind::Statement | NoticeKind::Bounces => None,
        }
    }

    /// Returns the kinds that a person may get.
    pub fn of(roles: &Roles, memberships: &Memberships) -> Vec<Self> {
        let may_get = |kind: &Self| match kind.role() {
            Some(role) => roles.0.contains(&role),
            None => roles.0.is_empty() && !memberships.0.is_empty(),
        };
        NoticeKind::iter().filter(may_get).collect()
    }

    /// Returns the name for people.
    pub fn label(self) -> &'static str {
        match self {
            NoticeKind::Month => "Month to settle",
            NoticeKind::Statement => "Statement",
            NoticeKind::Bounces => "Failed e-mails to buyers of a shop",
            NoticeKind::Failures => "Failed e-mails and messages",
            NoticeKind::Ledger => "Problem of the ledger",
        }
    }

    /// Says when this kind is sent.
    pub fn about(self) -> String {
        match self {
            NoticeKind::Month => "A month has ended, and shops owe something for it".to_owned(),
            NoticeKind::Statement => "The statement of a month is ready".to_owned(),
            NoticeKind::Bounces => {
                "E-mails or messages to your buyers failed on the day before".to_owned()
            }
            NoticeKind::Failures => format!(
                "E-mails or messages to buyers failed in the last {RECENT_DAYS} days, and can be resent"
            ),
            NoticeKind::Ledger => {
                format!("The ledger has had a problem for at least {LASTING_MINUTES} minutes")
            }
        }
    }
}
