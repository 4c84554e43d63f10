//! The metadata of a transaction's record, which KV lists without reading the record.

use crate::pledge::{CurrencyCode, EditKey};
use crate::quantities::Quantities;
use crate::scope::{Mode, Scope};
use crate::secret::LookupHashes;
use crate::settlement::Month;
use crate::version::Version;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Most bytes of metadata as JSON: Workers KV takes no more.
const MAX_BYTES: usize = 1_024;

/// Who may see a transaction, and its summary for the operator: at most 1,024 bytes of JSON, once
/// [`fit`](Self::fit) is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionMetadata {
    #[serde(default)]
    version: Version,
    pub(super) mode: Mode,
    pub(super) unit: String,
    /// SHA-256 of the edit key, in hexadecimal.
    edit_key: String,
    /// How many bytes the record has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The service writes it, and reads of it only when the transaction was created: an operator may
    /// have edited it.
    #[serde(default, deserialize_with = "read_created_at")]
    pub summary: Summary,
}

fn read_created_at<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Summary, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Created {
        created_at: Option<String>,
    }
    let Created { created_at } = Created::deserialize(deserializer)?;
    Ok(Summary { created_at, ..Summary::default() })
}

/// The summary of a transaction for operators, who list it without reading the record.
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
    /// Hashes of reference and e-mail address, until an operator erases the personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<LookupHashes>,
    /// The hash that names the replay record, if the create had an `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// When an operator erased the personal data, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<String>,
    /// What became of the e-mail that was asked for, if it never reached the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailState>,
    /// The ID of the API key that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The time of the price list that its charge is by; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// The quantities by offering; `None` where there was no room for them, and in transactions of earlier
    /// releases: then only the record has them.
    #[serde(
        default,
        deserialize_with = "read_quantities",
        skip_serializing_if = "Option::is_none"
    )]
    pub quantities: Option<Quantities>,
}

/// Reads quantities; damaged ones are as none.
fn read_quantities<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Quantities>, D::Error> {
    Ok(Quantities::deserialize(Value::deserialize(deserializer)?).ok())
}

/// What became of an e-mail at the create.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailState {
    /// The queue did not take its message: nothing is sent, unless an operator asks for it again.
    Unsent,
}

impl TransactionMetadata {
    /// Allows access to a scope, and to whoever has the edit key.
    pub fn new(scope: Scope, edit_key: &EditKey) -> Self {
        let (Scope { mode, unit }, edit_key) = (scope, hash(edit_key.as_str()));
        let summary = Summary::default();
        TransactionMetadata { version: Version, mode, unit, edit_key, bytes: None, summary }
    }

    /// Takes the quantities out if the JSON has no room for them. To be called last.
    pub fn fit(&mut self) -> Option<Quantities> {
        let fits = serde_json::to_string(self).is_ok_and(|json| json.len() <= MAX_BYTES);
        self.summary.quantities.take_if(|_| !fits)
    }

    /// Whether the record belongs to this unit and mode.
    pub fn allows(&self, scope: &Scope) -> bool {
        self.mode == scope.mode && self.unit == scope.unit
    }

    /// Whether this is the edit key, compared in constant time.
    pub fn opens_with(&self, edit_key: &str) -> bool {
        hash(edit_key).as_bytes().ct_eq(self.edit_key.as_bytes()).into() // hashes have one length
    }

    /// The month in which the transaction was created; `None` if the summary does not tell.
    pub fn month(&self) -> Option<Month> {
        self.summary.created_at.as_deref().and_then(Month::of)
    }

    /// The unit and mode that the record belongs to.
    pub fn scope(&self) -> Scope {
        Scope { mode: self.mode, unit: self.unit.clone() }
    }
}

fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}

/// Who wrote a record, and when, for lists of operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// When it was written, an RFC 3339 date-time.
    pub created: String,
    /// Who wrote it.
    pub by: String,
}

/// What a list shows of an entry in the audit log. At most 1,024 bytes of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeNote {
    /// The command, such as `units set`.
    pub command: String,
    /// The first of what it changes.
    pub on: String,
    /// Who makes it.
    pub by: String,
    /// The name of the entry whose change was not made after all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdraws: Option<String>,
    /// A hash of the operation's ID and the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// No metadata. Deserializing ignores metadata of a later release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMetadata;

impl Serialize for NoMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for NoMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| NoMetadata)
    }
}
