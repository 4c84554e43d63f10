//! Entries of the audit log. An entry describes a change. A record that the change writes may contain the
//! name of the entry.

use crate::pledges::auth::KeyLevel;
use crate::pledges::store::{AuditKey, ChangeNote, Key as _};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: AuditKey,
    /// The time of the change, an RFC 3339 date-time.
    pub at: String,
    /// A summary of the change, as lists of entries show it. A withdrawal needs the summary. `None` for a
    /// change that cannot be withdrawn.
    pub(super) note: Option<ChangeNote>,
    /// As [`Change::of`](crate::office::audit::rule::Change::of).
    pub(super) of: Option<KeyLevel>,
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
