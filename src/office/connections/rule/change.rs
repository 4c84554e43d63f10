//! Changes a connection, ends it, and lets deliveries be read again.

use super::record;
use super::record::{Connection, ConnectionRecord, ShopToken, publish};
use super::secrets;
use super::secrets::MAX_SECRETS;
use crate::office::audit::rule::{Author, Subject, Written};
use crate::office::connections::rows::received as rows;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::Replacement;
use crate::office::shared::rule::records::encode;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::secret;
use crate::pledges::auth::KeyLevel;
use crate::pledges::orders::connection::{sealer, token_sealer};
use crate::pledges::orders::{ConnectionId, OrderSettings, System};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{CredentialKey, OperatorStore, ReceivedKey};
use serde::{Deserialize, Serialize};

const SET: &str = "connections set";
const END: &str = "connections end";
const RETRY: &str = "connections retry";

/// What to change of a connection.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConnectionChange {
    pub settings: Option<OrderSettings>,
    /// A new secret. The one before it is still accepted.
    pub secret: Option<String>,
    /// Whether only the newest secret is accepted from now on.
    pub drops_old: bool,
    /// A new token with which orders are fetched.
    pub token: Option<String>,
    /// Whether orders are no longer fetched, and the token is deleted.
    pub drops_token: bool,
}

/// The outcome of a change of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedConnection {
    pub connection: ConnectionId,
    pub unit: String,
    /// How many secrets are accepted now; 0 for a connection that was ended.
    pub secrets: usize,
}

impl StoredAsIs for ChangedConnection {}

/// Changes a connection. Ledger cost: 4 queries. KV cost: 1 read and 2 writes.
///
/// # Errors
/// - If there is no such connection, or the change is empty or not valid.
/// - If somebody else changes the connection at the same moment.
/// - If the ledger or the store fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (id, change): (&str, &ConnectionChange),
) -> Result<Done<ChangedConnection>> {
    if let Some(secret) = &change.secret {
        secrets::check(secret)?;
    }
    let work = async |at: &Commit<'_, _, _>| set_now(store, at, id, change).await;
    let done = commit(ledger, author, (SET, &(id, change)), work).await?;
    publish(store, ledger, author.clock, &done.outcome.connection).await;
    Ok(done)
}

async fn set_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    id: &str,
    change: &ConnectionChange,
) -> Result<ChangedConnection> {
    let Commit { author, ledger, .. } = commit;
    let connection = record::get(*ledger, id).await?;
    let mut record = connection.record.clone();
    if let Some(settings) = &change.settings {
        record.settings = settings.clone();
    }
    if let Some(text) = &change.secret {
        let sealer = sealer(&connection.id, &namespace_secret(store).await?);
        record.endpoint.secrets.insert(0, secrets::seal(&sealer, author.entropy, text)?);
        record.endpoint.secrets.truncate(MAX_SECRETS);
    }
    change_token(store, commit, &connection, change, &mut record).await?;
    if change.drops_old {
        record.endpoint.secrets.truncate(1);
    }
    let changed = connection.outcome(record.endpoint.secrets.len());
    let entry = author.entry(SET, |_| connection.subject(change.in_words())).await?;
    let record = Some(encode(&Written::new(&record, &entry))?);
    let replacement = Replacement { name: connection.name(), seen: connection.version, record };
    published::replace(commit, &entry, &changed, "the connection", vec![replacement]).await?;
    Ok(changed)
}

async fn namespace_secret(store: &impl OperatorStore) -> Result<NamespaceSecret> {
    let secret = secret::find(store).await?;
    secret.ok_or_else(|| OperatorError::invalid("nothing was changed: there is no API key"))
}

async fn change_token(
    store: &impl OperatorStore,
    Commit { author, .. }: &Commit<'_, impl Clock, impl Entropy>,
    connection: &Connection,
    change: &ConnectionChange,
    record: &mut ConnectionRecord,
) -> Result<()> {
    let system = record.endpoint.system;
    if change.drops_token && system == System::BigCommerce {
        let problem = "nothing was changed: without a token, no order of BigCommerce can be read";
        return Err(OperatorError::at("drop-token", RefusalCode::Invalid, problem));
    }
    if change.drops_token {
        record.token = None;
    }
    if let Some(token) = &change.token {
        secrets::check_token(system, &record.store, token)?;
        let sealer = token_sealer(&connection.id, &namespace_secret(store).await?);
        let sealed = secrets::seal(&sealer, author.entropy, token)?;
        let since = record.token.as_ref().map_or_else(|| author.clock.now_ms(), |it| it.since);
        record.token = Some(ShopToken { sealed, since });
    }
    Ok(())
}

impl ConnectionChange {
    fn in_words(&self) -> String {
        let parts = [
            self.settings.as_ref().map(|_| "the settings"),
            self.secret.as_ref().map(|_| "a new secret"),
            self.drops_old.then_some("no old secret"),
            self.token.as_ref().map(|_| "a new token"),
            self.drops_token.then_some("no token"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Ends a connection: revokes its API key, and removes it. Orders that were received are not pledged any more, and the cron
/// deletes what is kept of them. Ledger cost: 3 queries. KV cost: 2 writes.
///
/// # Errors
/// As [`set`].
pub async fn end(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<Done<ChangedConnection>> {
    let work = async |at: &Commit<'_, _, _>| end_now(store, at, id).await;
    let done = commit(ledger, author, (END, &id), work).await?;
    publish(store, ledger, author.clock, &done.outcome.connection).await;
    Ok(done)
}

async fn end_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    id: &str,
) -> Result<ChangedConnection> {
    let Commit { author, ledger, .. } = commit;
    let connection = record::get(*ledger, id).await?;
    // The key comes first: a revoked key ends the connection in any case.
    store.remove(&CredentialKey(connection.record.endpoint.key)).await?;
    let ended = connection.outcome(0);
    let entry = author.entry(END, |_| connection.subject(String::new())).await?;
    let removal = Replacement { name: connection.name(), seen: connection.version, record: None };
    let deletion = rows::retrying_all(connection.id.as_str())?;
    let changes = (vec![removal], vec![deletion]);
    published::replace_with(commit, &entry, &ended, "the connection", changes).await?;
    Ok(ended)
}

impl Connection {
    pub(super) fn outcome(&self, secrets: usize) -> ChangedConnection {
        let (connection, unit) = (self.id.clone(), self.record.scope.unit.clone());
        ChangedConnection { connection, unit, secrets }
    }

    pub(super) fn subject(&self, words: String) -> Subject {
        let on = [self.id.to_string(), words].into_iter().filter(|text| !text.is_empty());
        Subject::of(KeyLevel::Unit(self.record.scope.unit.clone()), on)
    }
}

/// Lets a delivery of a connection be read again, for example after a change of the settings. The cron reads it. Ledger cost: 2 queries.
///
/// # Errors
/// - If there is no such delivery, or what was sent is no longer kept.
/// - If the ledger fails.
pub async fn try_again(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    which: (&str, &str),
) -> Result<Done<ChangedConnection>> {
    let work = async |at: &Commit<'_, _, _>| try_again_now(at, which).await;
    commit(ledger, author, (RETRY, &which), work).await
}

async fn try_again_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (connection, delivery): (&str, &str),
) -> Result<ChangedConnection> {
    let Commit { author, ledger, .. } = commit;
    let refused = |problem| Err(OperatorError::at("delivery", RefusalCode::NotFound, problem));
    let key = ReceivedKey::from_id(delivery.trim());
    let (Some(key), Some(row)) = (key, rows::get(*ledger, delivery.trim()).await?) else {
        return refused(
            "there is no delivery with this ID: take the ID from the list of deliveries",
        );
    };
    if !row.finding.outcome.can_retry() {
        return refused(
            "nothing was changed: only a delivery for which nothing was pledged can be tried again",
        );
    }
    let connection = record::get(*ledger, connection).await?;
    if *key.connection() != connection.id {
        return refused("nothing was changed: the delivery is of another connection");
    }
    let outcome = connection.outcome(connection.record.endpoint.secrets.len());
    let entry = author.entry(RETRY, |_| connection.subject(key.id())).await?;
    if commit.make(&entry, &outcome, [rows::retrying(&key.id())?]).await? {
        return Ok(outcome);
    }
    refused("nothing was changed: try again")
}
