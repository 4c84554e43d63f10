//! `GET /v2/pledge-transaction/{id}` (§4.2).

use crate::pledge::RetrievedPledgeTransaction;

/// Most bytes of an answer, which is the stored record: 16 MiB. Workers KV would take 25, but an
/// isolate has 128 for the record, its copies and everything else.
pub const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Encodes the answer's body.
pub fn encode(transaction: &RetrievedPledgeTransaction<'_>) -> Vec<u8> {
    super::to_json(transaction)
}

/// Decodes the answer's body. Members that the contract does not have are passed over, and those
/// that it lets a service leave out may be absent.
///
/// # Errors
/// If it is not what the contract says.
pub fn decode(body: &[u8]) -> serde_json::Result<RetrievedPledgeTransaction<'_>> {
    serde_json::from_slice(body)
}
