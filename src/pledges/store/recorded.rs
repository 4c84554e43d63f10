//! Facts about a transaction. Operators and the ledger get them without reading the transaction's record.

use super::metadata::{Summary, TransactionMetadata};
use crate::pledges::quantities::Quantities;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The facts about a recorded transaction. The service sends them as a message to the ledger's queue.
/// Operators get them in lists, from the metadata of the transaction's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    pub id: TransactionId,
    /// Whether a test key or a live key created the transaction.
    pub mode: Mode,
    /// The unit that the transaction belongs to.
    pub unit: String,
    pub summary: Summary,
}

/// The part of a transaction's metadata that a [`Recorded`] contains.
#[derive(Deserialize)]
struct Metadata {
    mode: Mode,
    unit: String,
    summary: Summary,
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
        let TransactionMetadata { mode, unit, mut summary, .. } = metadata;
        (summary.replay, summary.mail, summary.unsent) = (None, None, Vec::new());
        summary.quantities = summary.quantities.or(left_out);
        Recorded { id, mode, unit, summary }
    }

    /// Reads the metadata of a transaction's record.
    ///
    /// # Errors
    /// If the metadata does not have the expected form.
    pub fn from_metadata(id: TransactionId, metadata: &Value) -> serde_json::Result<Self> {
        let Metadata { mode, unit, summary } = Metadata::deserialize(metadata)?;
        Ok(Recorded { id, mode, unit, summary })
    }

    pub fn scope(&self) -> Scope {
        Scope { mode: self.mode, unit: self.unit.clone() }
    }
}
