//! Authenticates the caller, and determines the unit that the request acts for (§5).

use super::network::Network;
use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::{Operation, Problem, header};
use crate::pledges::auth::{ApiKey, KeyHash, KeyLevel, KeyRecord, is_id};
use crate::pledges::http::{Address, OWS, Request};
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::store::{CredentialKey, Key as _, MemberKey, Store};
use futures_util::FutureExt as _;
use serde::de::IgnoredAny;
use std::rc::Rc;

/// A caller with a valid key.
pub struct Caller {
    pub key: KeyHash,
    /// The unit and the mode of the records that the caller creates and reads.
    pub scope: Scope,
    record: Rc<KeyRecord>,
}

impl Caller {
    /// Returns the copy of the namespace's secret in the key's record. A create request needs the secret to
    /// make IDs.
    pub fn secret(&self) -> Result<&NamespaceSecret, Problem> {
        self.record.secret.as_ref().ok_or(Problem::SecretMissing)
    }

    /// Returns the name under which the memory of the caller's requests is counted. It consists of the mode
    /// and the unit or team that owns the key. If a team owns the key, all units of the team share one limit.
    pub fn owner(&self) -> String {
        let KeyRecord { mode, level, .. } = &*self.record;
        [mode.name(), level.kind(), level.id()].join(" ")
    }
}

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Checks the API key, and the unit if the key belongs to a team.
    ///
    /// Refuses a live key that came over plain HTTP. The key's prefix is checked before anything is read,
    /// and the mode in the key's record afterwards.
    pub(super) async fn authorize(
        &self,
        request: &impl Request,
        address: &Address<'_>,
        operation: Operation,
    ) -> Result<Caller, Problem> {
        let unauthorized = || Problem::Unauthorized(operation);
        let authorization = request.header(header::AUTHORIZATION).ok_or_else(unauthorized)?;
        let key = ApiKey::from_authorization(&authorization).ok_or_else(unauthorized)?;
        let hash = key.hash();
        self.request_log.key.set(Some(hash));
        self.refuse_exposed(address, key.has_live_prefix())?;
        let record = self.key_record(request, hash).await?.ok_or_else(unauthorized)?;
        self.request_log.mode.set(Some(record.mode));
        self.refuse_exposed(address, record.mode.is_live())?;
        let unit = self.unit(request, &record).await?.ok_or(Problem::UnitRequired(operation))?;
        let scope = Scope { mode: record.mode, unit };
        self.request_log.unit.get_or_init(|| scope.unit.clone());
        Ok(Caller { key: hash, scope, record })
    }

    /// Refuses a live key that came over plain HTTP from another machine. A setting can allow this.
    fn refuse_exposed(&self, address: &Address<'_>, is_live: bool) -> Result<(), Problem> {
        let is_private =
            || address.is_https() || self.settings.allows_plain_http || address.is_loopback();
        if !is_live || is_private() { Ok(()) } else { Err(Problem::PlainHttp) }
    }

    /// Returns the unit that a request acts for. Returns `None` if a team's key comes without
    /// `X-Service-Unit-Id`, or with a unit that is not in the team.
    async fn unit(
        &self,
        request: &impl Request,
        record: &KeyRecord,
    ) -> Result<Option<String>, Problem> {
        let team = match &record.level {
            KeyLevel::Unit(unit) => return Ok(Some(unit.clone())),
            KeyLevel::Team(team) => team,
        };
        let Some(header) = request.header(header::UNIT_ID) else { return Ok(None) };
        let unit = header.trim_matches(OWS);
        let is_member =
            is_id(unit) && self.is_member(MemberKey { team, unit }).boxed_local().await?;
        Ok(is_member.then(|| unit.to_owned()))
    }

    /// Returns whether a unit is in a team, from the isolate's cache or the store. Only positive results are cached,
    /// because a caller can send any number of unknown units.
    async fn is_member(&self, member: MemberKey<'_>) -> Result<bool, Problem> {
        let (name, now_ms) = (member.name(), self.clock.now_ms());
        if self.caches.members.get(&*name, now_ms).is_some() {
            return Ok(true);
        }
        let is_member = self.load::<_, IgnoredAny>(&member).await?.is_some();
        if is_member {
            self.caches.members.keep(name, (), now_ms);
        }
        Ok(is_member)
    }

    /// Returns the record of a key, from the isolate's cache or the store; `None` if there is none, or no longer.
    pub(super) async fn current_key(
        &self,
        hash: KeyHash,
    ) -> Result<Option<Rc<KeyRecord>>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(record) = self.caches.keys.get(&hash, now_ms) {
            return Ok(Some(record));
        }
        let record = self.load(&CredentialKey(hash)).await?;
        Ok(record.map(|record| self.caches.keys.keep(hash, record, now_ms)))
    }

    /// Returns the record of a caller's key, from the isolate's cache or the store.
    ///
    /// If a network has sent too many refused keys, the records of further keys from that network are not
    /// read. This saves the operator the price of the reads; the keys cannot be guessed in any case. Keys
    /// that were accepted recently are still read, so that an attacker cannot lock out shops on the same
    /// network.
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
        if let Some(record) = self.current_key(hash).boxed_local().await? {
            self.caches.accepted.keep(hash, now_ms);
            return Ok(Some(record));
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
