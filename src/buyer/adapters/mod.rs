//! Connects to the adapters of messaging services, which the operator provides, and signs the requests to
//! them.
//!
//! An adapter is reached by its address: a service binding, or a URL in a variable. Each messaging service has two
//! addresses: one for live keys and one for test keys.

mod address;
mod addresses;
mod signature;

pub use address::{AdapterAddress, AdapterName, AddressProblem};
pub use addresses::{AdapterAddresses, AddressVariables};
pub use signature::{SigningSecrets, TimedId};
