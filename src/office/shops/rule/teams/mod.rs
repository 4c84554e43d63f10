//! Teams. A team's API keys may act for all units of the team.
//!
//! Each membership of a unit is a record of its own, in the ledger. So two people can add units to one team at the same
//! time, and no API key has to be rewritten. If two people add or remove the same unit, the second change is refused, and
//! the person is shown who was first. Workers KV has a copy of each membership, which the API reads.

mod change;
mod member;
mod read;
mod team;

pub use change::{add, check, remove};
pub use read::{get, list, of_unit};
pub use team::{AddedUnits, ExistingMember, Team, TeamRow};
