//! Changes that simulated people make, as the rules see them.

use crate::times::APART_MS;
use impact_pledge::office::credits::rule::{Credit, CreditRequest};
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::updates::rows::updates::Pledges;
use sha2::{Digest as _, Sha256};
use std::cell::{Cell, RefCell};

/// The name of the operator.
pub const BY: &str = "ops";

/// The result of a change, as the person saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The change was made.
    Done,
    /// The change was not made.
    Not,
    /// The person got no answer, or was told that the result is not certain.
    Unsure,
}

/// A change that a person wants to make to a record that several people may change, such as a unit's membership of a team.
pub struct RecordChange {
    /// The name of the record.
    pub name: String,
    /// Whether the change writes the record (`true`) or removes it.
    pub is_added: bool,
    pub id: OperationId,
    /// The number of requests that are still running, or that ended without a certain answer.
    pub open: usize,
    /// Whether the person was told that the change was made.
    pub is_done: bool,
}

impl RecordChange {
    /// Returns the hash of the operation ID, as the audit log has it.
    pub fn operation(&self) -> String {
        operation(&self.id)
    }
}

/// One request to add or remove a person.
pub struct PersonChange {
    pub place: &'static str,
    pub address: &'static str,
    /// The role of an added person; `None` if the person is removed.
    pub role: Option<PersonRole>,
    pub begun_ms: u64,
    pub heard: Heard,
    pub ended_ms: Option<u64>,
}

impl PersonChange {
    pub fn concerns(&self, other: &PersonChange) -> bool {
        (self.place, self.address) == (other.place, other.address)
    }

    /// Whether the change may have taken effect after `since_ms`. The last call of a request may take up to
    /// `late_ms` longer than the request itself.
    pub fn may_be_since(&self, since_ms: u64, late_ms: u64) -> bool {
        let until_ms = self.ended_ms.map_or(u64::MAX, |ms| ms + late_ms + APART_MS);
        self.heard != Heard::Not && until_ms >= since_ms
    }
}

/// A credit that is requested with one operation ID.
pub struct WantedCredit {
    pub id: OperationId,
    pub request: CreditRequest,
    pub begun_ms: u64,
    /// The number of attempts that are still running, or that ended without a certain answer.
    pub open: Cell<usize>,
    /// The credit that the first successful answer reported.
    pub granted: RefCell<Option<Credit>>,
}

impl WantedCredit {
    /// Returns the hash of the operation ID, as the ledger stores it.
    pub fn operation(&self) -> String {
        operation(&self.id)
    }

    /// Whether all answers were refusals.
    pub fn is_refused(&self) -> bool {
        self.open.get() == 0 && self.granted.borrow().is_none()
    }
}

/// Returns the hash of an operation ID of the operator.
fn operation(id: &OperationId) -> String {
    let hash = Sha256::digest(format!("{BY}\n{id}"));
    base16ct::lower::encode_string(&hash[..16])
}

/// An attempt to change an update, or to heal records of updates.
pub struct UpdateAttempt {
    /// The pledges of the record that the attempt may write; `None` if it may write any record.
    pub pledges: Option<Pledges>,
    /// Whether the attempt's answer was certain. If so, no write of the attempt arrives after the answer.
    pub is_sure: bool,
    /// When the attempt ended, or was killed.
    pub ended_ms: Option<u64>,
}
