//! Determines for which offerings of a transaction the timeline shows updates.

use crate::pledge::RetrievedPledgeTransaction;
use crate::settlement::Month;
use crate::store::TransactionMetadata;

/// Maximum number of offerings for which a timeline shows updates. Further offerings are left out.
pub const MAX_OFFERINGS: usize = 20;

/// The offerings of a transaction, and the month in which it was created.
pub(super) struct Offerings {
    pub month: Month,
    /// The IDs of the first [`MAX_OFFERINGS`] offerings, each once.
    pub ids: Vec<String>,
}

impl Offerings {
    /// Reads the offerings from a transaction's metadata. Returns `None` if the metadata has no quantities or
    /// no time, as for large and old transactions. Also returns `None` if there are more than
    /// [`MAX_OFFERINGS`]: the metadata does not say which of them come first.
    pub fn of_metadata(metadata: &TransactionMetadata) -> Option<Self> {
        let quantities = metadata.summary.quantities.as_ref()?;
        let ids: Vec<_> =
            quantities.iter().map(|(id, _)| id.to_owned()).take(MAX_OFFERINGS + 1).collect();
        let are_all = ids.len() <= MAX_OFFERINGS;
        Some(Offerings { month: metadata.month()?, ids }).filter(|_| are_all)
    }

    /// Collects the offerings from a transaction's pledges. Returns `None` if the time of the transaction cannot be
    /// read.
    pub fn of(transaction: &RetrievedPledgeTransaction<'_>) -> Option<Self> {
        let mut ids: Vec<String> = Vec::new();
        for pledge in &transaction.pledges {
            if ids.len() < MAX_OFFERINGS && ids.iter().all(|id| *id != *pledge.impact.offering_id) {
                ids.push(pledge.impact.offering_id.to_string());
            }
        }
        Some(Offerings { month: Month::of(&transaction.created_at)?, ids })
    }
}
