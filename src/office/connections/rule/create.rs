//! Adds a connection, with an API key of its own.

use super::record::{ConnectionRecord, ShopToken, key_of, publish};
use super::secrets::{check_token, seal};
use crate::office::audit::rule::{Author, Subject, Written};
use crate::office::keys::rule as keys;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::shared::rule::records::encode;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::shops::rule::register;
use crate::office::system::rule::epoch;
use crate::office::system::rule::secret;
use crate::pledges::auth::{ApiKey, KeyLevel, KeyRecord};
use crate::pledges::orders;
use crate::pledges::orders::connection::{sealer, token_sealer};
use crate::pledges::orders::{ConnectionId, OrderSettings, System};
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{ConnectionKey, Key as _, OperatorStore};
use serde::{Deserialize, Serialize};

const ADD: &str = "connections add";
/// Maximum length of the address of a shop, in bytes: the idempotency key of an order contains it.
const MAX_STORE_BYTES: usize = 100;

/// A connection to add.
#[derive(Clone, Debug)]
pub struct NewConnection {
    pub scope: Scope,
    pub system: System,
    /// The shop's address in the system, such as `acme.myshopify.com`.
    pub store: String,
    /// The secret with which the shop system signs.
    pub secret: String,
    pub settings: OrderSettings,
    /// The token with which orders are fetched.
    pub token: Option<String>,
}

/// The outcome of adding a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    pub connection: ConnectionId,
    #[serde(flatten)]
    pub scope: Scope,
    pub system: System,
    pub store: String,
    /// The ID of the API key that belongs to the connection.
    pub key: String,
}

impl StoredAsIs for Created {}

/// Returns the address of a shop without `https://` and a slash at the end.
pub fn address(store: &str) -> String {
    let store = store.trim().trim_start_matches("https://").trim_start_matches("http://");
    store.trim_end_matches('/').to_ascii_lowercase()
}

impl NewConnection {
    /// Checks a new connection, without changing anything.
    ///
    /// # Errors
    /// If the unit, the shop's address or the secret is not valid.
    pub fn check(&self) -> Result<()> {
        check_unit(&self.scope.unit)?;
        super::secrets::check(&self.secret)?;
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        let is_store = (1..=MAX_STORE_BYTES).contains(&self.store.len());
        if is_store && self.store.bytes().all(is_plain) {
            return self.check_token();
        }
        let problem = format!(
            "nothing was added: write the shop's address as 1 to {MAX_STORE_BYTES} ASCII characters without blanks, such \
             as `shop.example`"
        );
        Err(OperatorError::at("store", RefusalCode::Invalid, problem))
    }

    fn check_token(&self) -> Result<()> {
        match &self.token {
            Some(token) => check_token(self.system, &self.store, token),
            None if self.system == System::BigCommerce => {
                let problem = "nothing was added: BigCommerce sends only the ID of an order, so a token is needed to fetch the order";
                Err(OperatorError::at("token", RefusalCode::Required, problem))
            }
            None => Ok(()),
        }
    }

    /// Returns the arguments that identify the operation. Only a hash of them is stored.
    fn arguments(&self) -> (&Scope, System, &str, &str, &OrderSettings, Option<&str>) {
        let NewConnection { scope, system, store, secret, settings, token } = self;
        (scope, *system, store, secret, settings, token.as_deref())
    }
}

/// Adds a connection. Registers its unit if that is not registered. Ledger cost: 3 queries. KV cost: at most 4 reads and 5
/// writes.
///
/// # Errors
/// - If the connection is not [valid](NewConnection::check).
/// - If the ledger or the store fails. The connection may have been added then.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    new: &NewConnection,
) -> Result<Done<Created>> {
    new.check()?;
    let work = async |at: &Commit<'_, _, _>| add_now(store, at, new).await;
    let done = commit(ledger, author, (ADD, &new.arguments()), work).await?;
    let level = KeyLevel::Unit(new.scope.unit.clone());
    register::ensure(store, author, std::slice::from_ref(&level)).await?;
    publish(store, ledger, author.clock, &done.outcome.connection).await;
    Ok(done)
}

async fn add_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    new: &NewConnection,
) -> Result<Created> {
    let Commit { author, ledger, .. } = commit;
    epoch::begin(store, *ledger, author.entropy).await?;
    let (secret, is_new) = secret::find_or_draw(store, author.entropy).await?;
    if is_new {
        secret::keep(store, secret.clone()).await?;
    }
    let (random, _) = author.bytes(&secret, new.scope.mode, b"connection");
    let id = ConnectionId::new(random);
    let NewConnection { scope, system, store: shop, .. } = new;
    let key = key_of(&id, scope, &secret);
    let record = ConnectionRecord {
        scope: scope.clone(),
        endpoint: orders::Connection {
            system: *system,
            secrets: vec![seal(&sealer(&id, &secret), author.entropy, &new.secret)?],
            key: ApiKey::new(&key).hash(),
        },
        store: shop.clone(),
        settings: new.settings.clone(),
        token: match &new.token {
            Some(token) => {
                let sealed = seal(&token_sealer(&id, &secret), author.entropy, token)?;
                Some(ShopToken { sealed, since: author.clock.now_ms() })
            }
            None => None,
        },
    };
    // The key comes first: a repeated request must not make a key again that was revoked since.
    let level = KeyLevel::Unit(scope.unit.clone());
    let label = format!("orders of {} {shop}", system.label());
    let key_record = KeyRecord { label, secret: Some(secret), ..KeyRecord::new(scope.mode, level) };
    let key = keys::put(store, author, &key, &key_record).await?;
    let (scope, store) = (scope.clone(), shop.clone());
    let created = Created { connection: id, scope, system: *system, store, key: key.id };
    let entry = author.entry(ADD, |_| created.subject()).await?;
    let replacement = Replacement {
        name: ConnectionKey(created.connection.clone()).name(),
        seen: RecordVersion::default(),
        record: Some(encode(&Written::new(&record, &entry))?),
    };
    published::replace(commit, &entry, &created, "the connection", vec![replacement]).await?;
    Ok(created)
}

impl Created {
    fn subject(&self) -> Subject {
        let words = format!("{} {}", self.system.label(), self.store);
        let on = [self.connection.to_string(), words, self.scope.mode.name().to_owned()];
        Subject::of(KeyLevel::Unit(self.scope.unit.clone()), on)
    }
}
