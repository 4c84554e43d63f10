//! What is wrong with settings.

use super::event::ReadError;
use serde::{Deserialize, Serialize};

/// A violation of one rule of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsIssue {
    /// The RFC 6901 JSON Pointer of the value, such as `/rules/0/cap`.
    pub path: String,
    /// What the value must be, such as `must be a whole number from 1 to 1000000`.
    pub message: String,
}

impl SettingsIssue {
    pub(super) fn of_body(error: ReadError) -> Self {
        let message = match error {
            ReadError::NotJson => "must be JSON",
            _ => "must not nest deeper than 64 levels, or have more than 250,000 values",
        };
        SettingsIssue { path: String::new(), message: message.to_owned() }
    }
}
