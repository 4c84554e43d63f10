//! Who asks, and for which unit (§5).

use super::{Clock, Entropy, Refusal, Request, Service};
use crate::api::{Operation, Problem, header};
use crate::auth::{ApiKey, KeyHash, KeyRecord, Scope};
use crate::store::{CredentialKey, Store};
use std::rc::Rc;

/// A caller whose key is valid.
pub struct Caller {
    claim: Claim,
    /// Whose records the caller makes and sees.
    pub scope: Scope,
}

impl Caller {
    /// The key's text.
    pub fn api_key(&self) -> ApiKey<'_> {
        self.claim.api_key()
    }

    /// The contract's `isLive`.
    pub fn is_live(&self) -> bool {
        self.scope.mode.is_live()
    }
}

/// A key that is yet to be looked up.
pub struct Claim {
    api_key: String,
    pub hash: KeyHash,
}

impl Claim {
    pub fn read(request: &impl Request, operation: Operation) -> Result<Self, Problem> {
        let refused = Problem::Unauthorized(operation);
        let Some(authorization) = request.header(header::AUTHORIZATION) else {
            return Err(refused);
        };
        match ApiKey::from_authorization(&authorization) {
            Some(key) => Ok(Claim { hash: key.hash(), api_key: key.as_str().to_owned() }),
            None => Err(refused),
        }
    }

    fn api_key(&self) -> ApiKey<'_> {
        ApiKey::new(&self.api_key)
    }
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Checks the key, and the unit if the key is a team's.
    pub(super) async fn authorize(
        &self,
        request: &impl Request,
        operation: Operation,
    ) -> Result<Caller, Refusal> {
        let claim = Claim::read(request, operation)?;
        let record = self.key_record(claim.hash).await?;
        Self::admit(claim, record, request, operation)
    }

    pub(super) fn admit(
        claim: Claim,
        record: Option<Rc<KeyRecord>>,
        request: &impl Request,
        operation: Operation,
    ) -> Result<Caller, Refusal> {
        let record = record.ok_or(Problem::Unauthorized(operation))?;
        let unit_id = record.is_team().then(|| request.header(header::UNIT_ID)).flatten();
        match record.scope(unit_id.as_deref().map(str::trim)) {
            Some(scope) => Ok(Caller { claim, scope }),
            None => Err(Problem::UnitRequired(operation).with_mode(record.mode.is_live())),
        }
    }

    pub(super) async fn key_record(&self, hash: KeyHash) -> Result<Option<Rc<KeyRecord>>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(record) = self.caches.key(hash, now_ms) {
            return Ok(Some(record));
        }
        let found = self.load(&CredentialKey(hash)).await?;
        Ok(found.map(|record| self.caches.keep_key(hash, record, now_ms)))
    }
}
