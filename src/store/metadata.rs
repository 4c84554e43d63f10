//! The metadata of a transaction's record, which KV lists without reading the record.

use crate::pledge::{CurrencyCode, EditKey};
use crate::scope::{Mode, Scope};
use crate::secret::LookupHashes;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Who may see a transaction, and what an operator finds it by: at most 1,024 bytes of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionMetadata {
    #[serde(default)]
    version: Version,
    mode: Mode,
    unit: String,
    /// SHA-256 of the edit key, in hexadecimal.
    edit_key: String,
    /// The service writes it and does not read it.
    #[serde(skip_deserializing)]
    pub summary: Summary,
}

/// What the operator's commands know of a transaction without reading its record. Records from
/// before version 1 have nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Creation time, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The charge, a decimal with two places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The currency of `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency_code: Option<CurrencyCode>,
    /// Number of pledges whose offering the price catalogue does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpriced: Option<usize>,
    /// Hashes of reference and e-mail address, if the API key's record has the namespace's secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<LookupHashes>,
    /// The hash that names the replay record, if the create had an `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// When an operator erased the personal data, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<String>,
}

impl TransactionMetadata {
    /// Gives access to a scope, and to those who have the edit key.
    pub fn new(scope: Scope, edit_key: &EditKey) -> Self {
        let (Scope { mode, unit }, edit_key) = (scope, hash(edit_key.as_str()));
        TransactionMetadata { version: Version, mode, unit, edit_key, summary: Summary::default() }
    }

    /// Whether the record belongs to this unit and mode.
    pub fn allows(&self, scope: &Scope) -> bool {
        self.mode == scope.mode && self.unit == scope.unit
    }

    /// Whether this is the edit key, in a time that does not depend on how much of it is right.
    pub fn opens_with(&self, edit_key: &str) -> bool {
        hash(edit_key).as_bytes().ct_eq(self.edit_key.as_bytes()).into() // hashes: of one length
    }

    /// The unit's ID.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Test or live.
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}
