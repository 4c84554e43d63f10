//! `GET /v2/pledge-transaction/{id}` (§4.2).

use crate::pledge::RetrievedPledgeTransaction;

/// Most bytes of an answer, which is the stored record: 3 MiB. Workers KV would take 25, but an
/// isolate has 128 MB for all its requests, and a request needs several copies of its record.
pub const MAX_RECORD_BYTES: usize = 3 * 1024 * 1024;

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
