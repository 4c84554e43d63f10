//! Facts about a transaction. Operators and the ledger get them without reading the transaction's record.

use super::metadata::{Summary, TransactionMetadata};
use crate::pledges::quantities::Quantities;
use crate::pledges::scope::Scope;
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The facts about a recorded transaction. The service sends them as a message to the ledger's queue.
/// Operators get them in lists, from the metadata of the transaction's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    pub id: TransactionId,
    /// The unit and mode that the transaction belongs to.
    #[serde(flatten)]
    pub scope: Scope,
    pub summary: Summary,
}

impl Recorded {
    /// Makes the message about a transaction for the ledger's queue. `left_out` are the quantities that did
    /// not [fit] into the metadata.
    ///
    /// The message leaves out facts about replays and notifications, which the ledger does not need.
    ///
    /// [fit]: TransactionMetadata::fit
    pub fn new(
        id: TransactionId,
        metadata: TransactionMetadata,
        left_out: Option<Quantities>,
    ) -> Self {
        let TransactionMetadata { scope, mut summary, .. } = metadata;
        (summary.replay, summary.mail, summary.unsent) = (None, None, Vec::new());
        summary.quantities = summary.quantities.or(left_out);
        Recorded { id, scope, summary }
    }

    /// Reads the metadata of a transaction's record.
    ///
    /// # Errors
    /// If the metadata does not have the expected form.
    pub fn from_metadata(id: TransactionId, metadata: &Value) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Members {
            summary: Summary,
        }
        let (scope, Members { summary }) =
            (Scope::deserialize(metadata)?, Members::deserialize(metadata)?);
        Ok(Recorded { id, scope, summary })
    }
}
