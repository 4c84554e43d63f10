use super::key::{DAY_SECONDS, Key};
use super::metadata::{NoMetadata, TransactionMetadata};
use crate::pledges::api::MAX_RECORD_BYTES;
use crate::pledges::idempotency::ReplayHash;
use crate::pledges::scope::Scope;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::types::TransactionId;
use std::borrow::Cow;

/// How many days a mark stays on a transaction whose message the ledger's queue did not accept.
const LEDGER_UNSENT_DAYS: u32 = 7;

/// The key `transaction:{id}` of a transaction's record. Its value is the body of the get operation's answer.
#[derive(Clone, Copy, Debug)]
pub struct TransactionKey<'k>(pub &'k TransactionId);

impl Key for TransactionKey<'_> {
    type Metadata = TransactionMetadata;
    const KIND: &'static str = "transaction";
    const PREFIX: &'static str = "transaction:";
    const MAX_BYTES: usize = MAX_RECORD_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
    fn bytes(metadata: &TransactionMetadata) -> usize {
        metadata.bytes
    }
}

impl TransactionKey<'_> {
    /// Returns the prefix of the names of a scope's transactions.
    ///
    /// The prefix contains a 40-bit hash of the scope, which another scope may share. So check the
    /// [scope](TransactionMetadata::scope) of each listed record.
    pub fn scope_prefix(scope: &Scope) -> String {
        [Self::PREFIX, &TransactionId::scope_prefix(scope)].concat()
    }

    /// Returns the prefix of the names of the transactions with this reference.
    ///
    /// The prefix contains 40-bit hashes, which other scopes or references may share. So check
    /// the [scope](TransactionMetadata::scope) and the hash of the reference for each listed record.
    pub fn order_prefix(secret: &NamespaceSecret, scope: &Scope, reference: &str) -> String {
        [Self::PREFIX, &TransactionId::order_prefix(secret, scope, reference)].concat()
    }

    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}

/// The key `erased:{transaction id}` of the record that says when a transaction was erased. It keeps a
/// restore from bringing back the personal data. Its name sorts before the transaction's, so a restore sees
/// it first. The service does not read it.
#[derive(Clone, Copy, Debug)]
pub struct ErasedKey<'k>(pub &'k TransactionId);

impl Key for ErasedKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "mark of an erasure";
    const PREFIX: &'static str = "erased:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

impl ErasedKey<'_> {
    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}

/// The key `idempotency:{hash}` of a replay record: a [`Replay`](crate::pledges::idempotency::Replay).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayKey(pub ReplayHash);

impl Key for ReplayKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "replay";
    const PREFIX: &'static str = "idempotency:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_hex())
    }
}

/// The key `ledger-unsent:{id}` of a mark on a transaction. The mark means that the ledger's queue did not
/// accept the transaction's message. It has no content, and is kept for 7 days. The service does not read it.
#[derive(Clone, Copy, Debug)]
pub struct LedgerUnsentKey<'k>(pub &'k TransactionId);

impl Key for LedgerUnsentKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "unsent message to the ledger";
    const PREFIX: &'static str = "ledger-unsent:";
    const KEPT_SECONDS: Option<u32> = Some(LEDGER_UNSENT_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}

impl LedgerUnsentKey<'_> {
    pub fn parse(name: &str) -> Option<TransactionId> {
        TransactionId::parse(name.strip_prefix(Self::PREFIX)?)
    }
}
