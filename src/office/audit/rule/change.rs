//! A change in the audit log, and what it concerns.

use crate::pledges::auth::KeyLevel;
use serde::{Deserialize, Serialize};

/// A change in the audit log. It contains no secret, and no personal data except the author's name and the addresses of
/// people who were added or removed, or whose e-mails were switched on or off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When the change was made, an RFC 3339 date-time.
    pub at: String,
    pub by: String,
    /// Whether a person of a shop made the change in the dashboard.
    #[serde(default, rename = "byShop", skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
    /// The command, such as `keys revoke`.
    pub command: String,
    /// The IDs of what was changed; for a payment, also the payment in words.
    pub on: Vec<String>,
    /// The unit or team that the changed key or transactions belong to. `None` if `on` already names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<KeyLevel>,
    /// The changed members of a record, with their values before and after. Empty if the command does not
    /// record such values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<MemberChange>,
    /// A hash of the operation's ID and the author. `None` in entries of operations that only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// A member of a record before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberChange {
    /// The member's name, such as `language`.
    pub member: String,
    /// The value before the change; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after the change; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The part of an audit log entry that depends on the command: what the change concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// As [`Change::on`].
    pub on: Vec<String>,
    /// As [`Change::of`].
    pub of: Option<KeyLevel>,
    /// As [`Change::changed`].
    pub changed: Vec<MemberChange>,
}

impl From<Vec<String>> for Subject {
    fn from(on: Vec<String>) -> Self {
        Subject { on, ..Subject::default() }
    }
}

impl Subject {
    /// Returns what a change of a key or of transactions concerns: their IDs, and the unit or team that they
    /// belong to.
    pub fn of(level: KeyLevel, on: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let on = on.into_iter().map(Into::into).collect();
        Subject { on, of: Some(level), ..Subject::default() }
    }

    /// Returns what a change concerns, with the reason that a person gave for it.
    pub fn with_reason(on: Vec<String>, reason: &str) -> Self {
        let (member, after) = ("reason".to_owned(), Some(reason.to_owned()));
        let changed = vec![MemberChange { member, before: None, after }];
        Subject { on, changed, ..Subject::default() }
    }
}
