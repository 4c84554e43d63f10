//! Erases what shop systems have sent about a person, as far as it is kept.

use crate::office::connections::rows::received as rows;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::pledges::store::{OperatorStore, ReceivedKey};

/// Deletes the kept orders of a person. `people` are the hashes of the person's address, one for each mode. What was pledged
/// for other orders is erased with their transactions. Ledger cost: 1 query, and 1 for each 100 orders. KV cost: 1 write for each
/// order.
///
/// # Errors
/// If the ledger or the store fails. A repeated call continues.
pub async fn erase_received(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    people: &[String],
) -> Result<()> {
    loop {
        let found = rows::of_people(ledger, people).await?;
        for key in found.iter().filter_map(|id| ReceivedKey::from_id(id)) {
            store.remove(&key).await?;
        }
        if found.is_empty() {
            return Ok(());
        }
        rows::forget_people(ledger, &found).await?;
    }
}
