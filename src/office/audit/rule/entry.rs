//! Entries of the audit log. An entry describes a change. A record that the change writes may contain the
//! name of the entry.

use super::change::Change;
use crate::office::audit::rows::AuditRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::encode;
use crate::pledges::store::{AuditKey, Key as _};
use serde::{Deserialize, Serialize};

/// An entry that is written in the database transaction of its change.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: AuditKey,
    pub change: Change,
}

impl Entry {
    /// Returns the time of the change, an RFC 3339 date-time.
    pub fn at(&self) -> &str {
        &self.change.at
    }

    pub fn row(&self) -> Result<AuditRow> {
        let content = String::from_utf8_lossy(&encode(&self.change)?).into_owned();
        Ok(AuditRow { name: self.key.name(), content })
    }
}

/// A record together with the name of an audit log entry. The entry describes the change that wrote the
/// record.
#[derive(Serialize)]
pub(crate) struct Written<'r, R> {
    #[serde(flatten)]
    record: &'r R,
    change: String,
}

impl<'r, R> Written<'r, R> {
    pub fn new(record: &'r R, by: &Entry) -> Self {
        Written { record, change: by.key.name() }
    }
}

/// Returns the key of the audit log entry whose name a record contains. That entry describes the change that
/// wrote the record. Returns `None` if the record names no entry.
pub(crate) fn change_of(record: &[u8]) -> Option<AuditKey> {
    #[derive(Deserialize)]
    struct Written {
        change: String,
    }
    let written: Written = serde_json::from_slice(record).ok()?;
    AuditKey::parse(&written.change)
}
