//! Checks who calls, and for which unit (§5).

use super::network::Network;
use super::{Clock, Entropy, Service};
use crate::api::{Operation, Problem, header};
use crate::auth::{ApiKey, KeyHash, KeyRecord};
use crate::http::{OWS, Request};
use crate::scope::Scope;
use crate::secret::NamespaceSecret;
use crate::store::{CredentialKey, Store};
use std::rc::Rc;

/// A caller whose key is valid.
pub struct Caller {
    /// The unit and mode whose records the caller creates and reads.
    pub scope: Scope,
    secret: Option<NamespaceSecret>,
}

impl Caller {
    /// The copy of the namespace's secret in the key's record. A create needs it for its IDs.
    pub fn secret(&self) -> Result<&NamespaceSecret, Problem> {
        self.secret.as_ref().ok_or(Problem::SecretMissing)
    }
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Checks the key, and the unit if the key is a team's.
    pub(super) async fn authorize(
        &self,
        request: &impl Request,
        operation: Operation,
    ) -> Result<Caller, Problem> {
        let unauthorized = || Problem::Unauthorized(operation);
        let authorization = request.header(header::AUTHORIZATION).ok_or_else(unauthorized)?;
        let key = ApiKey::from_authorization(&authorization).ok_or_else(unauthorized)?;
        self.journal.key.set(Some(key.hash()));
        let record = self.key_record(request, key.hash()).await?.ok_or_else(unauthorized)?;
        self.journal.mode.set(Some(record.mode));
        let unit_id = record.is_team().then(|| request.header(header::UNIT_ID)).flatten();
        let scope = record
            .scope(unit_id.as_deref().map(|id| id.trim_matches(OWS)))
            .ok_or(Problem::UnitRequired(operation))?;
        self.journal.unit.get_or_init(|| scope.unit.clone());
        Ok(Caller { scope, secret: record.secret })
    }

    /// The record of a key, from the isolate's cache or the store. For a network with too many refused
    /// keys the store is not read: a key cannot be guessed, but each read is paid for. A key that was
    /// accepted lately is read nevertheless: nobody can lock out the shops that share a network.
    async fn key_record(
        &self,
        request: &impl Request,
        hash: KeyHash,
    ) -> Result<Option<Rc<KeyRecord>>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(record) = self.caches.keys.get(&hash, now_ms) {
            return Ok(Some(record));
        }
        let network = Network::of(request);
        let is_limited = |network| self.caches.limited.get(&network, now_ms).is_some();
        if network.is_some_and(is_limited) && !self.caches.accepted.contains(&hash, now_ms) {
            return Err(Problem::TooManyRefusedKeys);
        }
        if let Some(record) = self.load(&CredentialKey(hash)).await? {
            self.caches.accepted.keep(hash, now_ms);
            return Ok(Some(self.caches.keys.keep(hash, record, now_ms)));
        }
        self.caches.accepted.forget(&hash);
        match network {
            Some(network) if request.is_over_limit(&network.name()).await => {
                self.caches.limited.keep(network, (), self.clock.now_ms());
                Err(Problem::TooManyRefusedKeys)
            }
            _ => Ok(None),
        }
    }
}
