//! Copies of the ledger's rows. If a row was removed, its copy is a tombstone, which counts as no record. So Workers KV, too,
//! knows that the row was removed, and when: a copy that is absent could also be one that was not written yet.

use super::{Key, KeyInfo};
use serde::{Deserialize, Serialize};

/// The beginning of each tombstone.
const BEGINNING: &[u8] = br#"{"removed":true,"#;

/// The copy of a row that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tombstone {
    /// Always true. This member is the first one, so that readers of copies know a tombstone by its beginning.
    pub removed: bool,
    /// The name of the removal's entry in the audit log.
    pub change: String,
    pub by: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
    /// When the row was removed, an RFC 3339 date-time.
    pub at: String,
}

/// Returns the value of a record; `None` for a tombstone.
pub fn present<K: Key>(value: Vec<u8>) -> Option<Vec<u8>> {
    (!(K::IS_COPY && value.starts_with(BEGINNING))).then_some(value)
}

/// The metadata of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<CopyMembers>")]
pub struct CopyMetadata {
    /// The name of the last change's entry in the audit log; empty if unknown.
    pub change: String,
    /// Whether the copy is a tombstone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// The members of metadata. A copy that a restore or local development has written may lack them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CopyMembers {
    change: String,
    removed: bool,
}

impl From<Option<CopyMembers>> for CopyMetadata {
    fn from(members: Option<CopyMembers>) -> Self {
        let CopyMembers { change, removed } = members.unwrap_or_default();
        CopyMetadata { change, removed }
    }
}

impl KeyInfo {
    /// Returns whether a record in a list is a tombstone.
    pub fn is_tombstone(&self) -> bool {
        CopyMetadata::deserialize(&self.metadata).is_ok_and(|metadata| metadata.removed)
    }
}
