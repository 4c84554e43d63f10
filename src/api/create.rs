//! `POST /v2/pledge-transaction` (§4.1).

use crate::pledge::{PledgeTransaction, PledgeTransactionRequest};

/// Most bytes of a request body: 1 MiB, enough for 5,000 pledges.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Encodes a request in the order of the schema, absent optional members as null.
///
/// This is what a payload's fingerprint is taken of, not a body to send: the contract has no null
/// in a request.
pub fn canonical(request: &PledgeTransactionRequest<'_>) -> Vec<u8> {
    super::to_json(request)
}

/// Encodes the answer's body.
pub fn encode(transaction: &PledgeTransaction<'_>) -> Vec<u8> {
    super::to_json(transaction)
}

/// Decodes the answer's body. Members that the contract does not have are passed over.
///
/// # Errors
/// If it is not what the contract says.
pub fn decode(body: &[u8]) -> serde_json::Result<PledgeTransaction<'_>> {
    serde_json::from_slice(body)
}
