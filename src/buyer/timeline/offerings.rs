//! Determines for which offerings of a transaction the timeline shows updates.

use crate::pledges::settlement::Month;
use crate::pledges::types::RetrievedPledgeTransaction;

/// Maximum number of offerings for which a timeline shows updates. Further offerings are left out.
pub const MAX_OFFERINGS: usize = 20;

/// The offerings of a transaction, and the month in which it was created.
#[derive(Clone, Debug)]
pub struct Offerings {
    pub month: Month,
    /// The IDs of the first [`MAX_OFFERINGS`] offerings, each once.
    pub ids: Vec<String>,
}

impl Offerings {
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
