//! A transaction that is ready to be written, and the source of its IDs.

use super::Entropy;
use crate::pledges::idempotency::Derivation;
use crate::pledges::store::TransactionMetadata;
use crate::pledges::types::{NotificationService, TransactionId};

pub(super) struct Prepared {
    pub id: TransactionId,
    pub metadata: TransactionMetadata,
    /// The body of the answer to the create request.
    pub answer: Vec<u8>,
    /// The value of the record, which is also the body of the answers to get requests.
    pub record: Vec<u8>,
    /// The services that will notify the recipient.
    pub services: Vec<NotificationService>,
}

pub(super) enum Ids<'e> {
    Random(&'e dyn Entropy),
    /// The IDs are derived from an idempotency key and the payload, so that a retry gets the same IDs.
    Derived(Derivation),
}

impl Ids<'_> {
    pub fn bytes<const N: usize>(&self, purpose: &str, index: usize) -> [u8; N] {
        match self {
            Ids::Derived(derivation) => derivation.bytes(purpose, index),
            Ids::Random(entropy) => {
                let mut bytes = [0; N];
                entropy.fill(&mut bytes);
                bytes
            }
        }
    }
}
