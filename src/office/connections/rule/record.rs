//! The record of a connection.

use crate::office::connections::rows::connections as rows;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::published::RecordVersion;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::auth::{KEY_BYTES, new_key};
use crate::pledges::hash::first_bytes;
use crate::pledges::orders;
use crate::pledges::orders::connection::token_sealer;
use crate::pledges::orders::{ConnectionId, OrderSettings};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::Clock;
use crate::pledges::store::{ConnectionKey, Key as _, OperatorStore, StoreError};
use crate::pledges::time::{age_ms, date_time};
use hmac::Mac as _;
use serde::{Deserialize, Serialize};

/// How long after its last change a connection's API key may be unknown somewhere, in milliseconds.
const SHOWN_MS: u64 = 10 * 60_000;

/// The record of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConnectionRecord {
    /// The unit whose orders they are, and whether they are pledged for real.
    #[serde(flatten)]
    pub scope: Scope,
    /// The part that the service reads.
    #[serde(flatten)]
    pub endpoint: orders::Connection,
    /// The shop's address in the system, such as `acme.myshopify.com`.
    pub store: String,
    pub settings: OrderSettings,
    /// The token with which orders are fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<ShopToken>,
}

/// A token for the API of a shop system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShopToken {
    pub(super) sealed: String,
    /// When orders began to be fetched, in milliseconds since 1970.
    pub(super) since: u64,
}

/// A connection as its last change left it.
#[derive(Clone, Debug)]
pub struct Connection {
    pub id: ConnectionId,
    pub record: ConnectionRecord,
    /// When it was last changed, an RFC 3339 date-time.
    pub changed: String,
    pub by: String,
    pub(crate) version: RecordVersion,
}

impl Connection {
    fn read(row: &PublishedRow) -> Option<Result<Self>> {
        let ConnectionKey(id) = ConnectionKey::parse(&row.name)?;
        let record = serde_json::from_str(row.content.as_deref()?.get());
        let damaged = |error| StoreError::damaged(ConnectionKey::KIND, &error).into();
        Some(record.map_err(damaged).map(|record| Connection {
            id,
            record,
            changed: date_time(row.at),
            by: row.author.clone(),
            version: RecordVersion::of(row),
        }))
    }

    /// Returns the token with which orders are fetched; `None` if there is none, or if it was sealed by another secret.
    pub(super) fn token(&self, secret: Option<&NamespaceSecret>) -> Option<String> {
        let sealed = &self.record.token.as_ref()?.sealed;
        String::from_utf8(token_sealer(&self.id, secret?).open(sealed)?).ok()
    }

    /// Returns whether Workers KV may not show the connection's API key everywhere yet.
    pub(super) fn is_new(&self, now_ms: u64) -> bool {
        age_ms(&self.changed, now_ms).is_none_or(|age| age < SHOWN_MS)
    }

    pub fn name(&self) -> String {
        ConnectionKey(self.id.clone()).name()
    }
}

/// Returns a connection; `None` if there is none with this ID. Ledger cost: 1 query.
///
/// # Errors
/// If the record is damaged, or the ledger fails.
pub async fn find(ledger: &dyn Ledger, id: &ConnectionId) -> Result<Option<Connection>> {
    let row = published::get(ledger, &ConnectionKey(id.clone()).name()).await?;
    row.as_ref().and_then(Connection::read).transpose()
}

/// Returns a connection by the text of its ID.
///
/// # Errors
/// If there is none, or as [`find`].
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Connection> {
    let found = match ConnectionId::parse(id.trim()) {
        Some(id) => find(ledger, &id).await?,
        None => None,
    };
    found.ok_or_else(|| {
        let problem =
            "there is no connection with this ID: take the ID from the list of connections";
        OperatorError::at("connection", RefusalCode::NotFound, problem)
    })
}

/// Returns the connections of a unit, or of all units, newest first: at most 500. Ledger cost: 1 query.
///
/// # Errors
/// If a record is damaged, or the ledger fails.
pub async fn list(ledger: &dyn Ledger, unit: Option<&str>) -> Result<Vec<Connection>> {
    let rows = rows::all(ledger, unit).await?;
    rows.iter().filter_map(Connection::read).collect()
}

/// Derives the API key of a connection. It is stored nowhere.
pub(super) fn key_of(id: &ConnectionId, scope: &Scope, secret: &NamespaceSecret) -> String {
    let mac = secret.mac("connection key", scope, [id.as_str().as_bytes()]);
    new_key(scope.mode, first_bytes::<KEY_BYTES>(mac.finalize().into_bytes()))
}

/// Writes the copy of a connection that the service reads. If this fails, the cron writes it.
pub(super) async fn publish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    id: &ConnectionId,
) {
    let name = ConnectionKey(id.clone()).name();
    let _or_by_the_cron = publish_all(store, ledger, clock, &[name]).await;
}
