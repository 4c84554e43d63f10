//! The metadata of a transaction's record. KV returns it in lists, without reading the record.

use crate::pledges::quantities::Quantities;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::secret::LookupHashes;
use crate::pledges::settlement::Month;
use crate::pledges::types::{CurrencyCode, EditKey, NotificationService};
use crate::pledges::version::Version;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Maximum size of metadata as JSON, in bytes: the limit of Workers KV.
const MAX_BYTES: usize = 1_024;

/// The metadata of a transaction's record: who may see the transaction, and a summary for operators. After a
/// call of [`fit`](Self::fit), the metadata has at most 1,024 bytes of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Members", rename_all = "camelCase")]
pub struct TransactionMetadata {
    version: Version,
    /// The unit and mode that the record belongs to.
    #[serde(flatten)]
    pub scope: Scope,
    /// SHA-256 of the edit key, in hexadecimal.
    edit_key: String,
    /// Size of the record in bytes.
    pub bytes: usize,
    /// The summary for operators, who may edit it. When the service reads metadata, it reads only the
    /// creation time of the summary.
    pub summary: Summary,
}

/// The members of metadata as they are deserialized. They are listed one by one, because serde's `flatten`
/// would build a tree of values first.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    unit: String,
    mode: Mode,
    edit_key: String,
    bytes: usize,
    #[serde(default)]
    summary: Created,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    created_at: Option<String>,
}

impl From<Members> for TransactionMetadata {
    fn from(members: Members) -> Self {
        let Members { unit, mode, edit_key, bytes, summary: Created { created_at } } = members;
        let (scope, summary) = (Scope { unit, mode }, Summary { created_at, ..Summary::default() });
        TransactionMetadata { version: Version, scope, edit_key, bytes, summary }
    }
}

/// The summary of a transaction for operators, who list it without reading the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// When the transaction was created, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency_code: Option<CurrencyCode>,
    /// Number of pledges whose offering is not on the price list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpriced: Option<usize>,
    /// Hashes of the reference and the e-mail address. Absent once an operator has erased the personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<LookupHashes>,
    /// The hash in the name of the replay record, if the create request had an `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// When an operator erased the personal data, an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<String>,
    /// The state of a requested e-mail, if its message never reached the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailState>,
    /// The requested messaging services whose message never reached the queue. The JSON has the last letter
    /// of each service's name, such as `AB` for two services.
    #[serde(
        default,
        deserialize_with = "read_services",
        serialize_with = "write_services",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub unsent: Vec<NotificationService>,
    /// The ID of the API key that created the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When the price list of this charge was set; `None` if there was no price list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// The pledged quantities by offering. `None` if they did not fit into the metadata: then they are
    /// computed from the record's value.
    #[serde(
        default,
        deserialize_with = "read_quantities",
        skip_serializing_if = "Option::is_none"
    )]
    pub quantities: Option<Quantities>,
}

/// Deserializes quantities. Damaged quantities become `None`, instead of an error.
fn read_quantities<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Quantities>, D::Error> {
    Ok(Quantities::deserialize(Value::deserialize(deserializer)?).ok())
}

/// Deserializes services from the last letters of their names. Letters that this release does not know are
/// ignored.
fn read_services<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<NotificationService>, D::Error> {
    let letters = Value::deserialize(deserializer)?;
    let service = |letter: char| {
        NotificationService::MESSAGING.into_iter().find(|service| service.name().ends_with(letter))
    };
    Ok(letters.as_str().unwrap_or_default().chars().filter_map(service).collect())
}

fn write_services<S: Serializer>(
    services: &[NotificationService],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let letters = services.iter().filter_map(|service| service.name().chars().next_back());
    serializer.collect_str(&letters.collect::<String>())
}

impl Summary {
    /// Records that the message of a service never reached the queue.
    pub fn set_unsent(&mut self, service: NotificationService) {
        match service.is_email() {
            true => self.mail = Some(MailState::Unsent),
            false => self.unsent.push(service),
        }
    }

    /// Returns the services whose message never reached the queue.
    pub fn unsent(&self) -> impl Iterator<Item = NotificationService> {
        let mail = self.mail.map(|MailState::Unsent| NotificationService::Email);
        mail.into_iter().chain(self.unsent.iter().copied())
    }
}

/// The state of an e-mail after the create request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailState {
    /// The queue did not accept the message. The e-mail is sent only once an operator resends it.
    Unsent,
}

impl TransactionMetadata {
    /// Makes the metadata of a new transaction, without its size and its summary. Callers of the same unit and
    /// mode, and visitors with the edit key, may see the transaction.
    pub fn new(scope: Scope, edit_key: &EditKey) -> Self {
        let (edit_key, summary) = (hash(edit_key.as_str()), Summary::default());
        TransactionMetadata { version: Version, scope, edit_key, bytes: 0, summary }
    }

    /// If the JSON is too long, removes the quantities from the metadata and returns them. Call this last,
    /// after all other members are set.
    pub fn fit(&mut self) -> Option<Quantities> {
        let fits = serde_json::to_string(self).is_ok_and(|json| json.len() <= MAX_BYTES);
        self.summary.quantities.take_if(|_| !fits)
    }

    /// Returns whether `edit_key` is the transaction's edit key. The comparison takes constant time.
    pub fn opens_with(&self, edit_key: &str) -> bool {
        hash(edit_key).as_bytes().ct_eq(self.edit_key.as_bytes()).into() // all hashes have the same length
    }

    /// Returns the month in which the transaction was created; `None` if the summary has no creation time.
    pub fn month(&self) -> Option<Month> {
        self.summary.created_at.as_deref().and_then(Month::of)
    }
}

fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub created: String,
    pub by: String,
    /// Whether the person belongs to a shop.
    #[serde(default, rename = "byShop", skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
}

/// No metadata. Deserializing accepts and ignores metadata that a later release wrote.
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
