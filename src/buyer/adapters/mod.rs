//! Connects to the adapters of messaging services, which the operator provides, and signs the requests to
//! them.
//!
//! A door is the way to an adapter: a service binding, or a URL in a variable. Each messaging service has two
//! doors: one for live keys and one for test keys.

mod door;
mod doors;
mod signature;

pub use door::{Door, DoorName, DoorProblem};
pub use doors::{DoorVariables, Doors};
pub use signature::{SigningSecrets, TimedId};
