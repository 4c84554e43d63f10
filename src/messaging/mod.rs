//! The adapters of the messaging services, which the operator attaches: their doors, and the signature of requests to
//! them.
//!
//! A door is how the service reaches an adapter: a service binding, or the URL in a variable. Each messaging service has
//! a door for live keys and one for test keys.

mod door;
mod doors;
mod signature;

pub use door::{Door, DoorName, DoorProblem};
pub use doors::{DoorVariables, Doors};
pub use signature::{SigningSecrets, TimedId};
