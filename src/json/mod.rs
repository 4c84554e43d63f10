//! The JSON that the service itself keeps and answers: [`Encode`] writes it, [`Value`] reads it.
//!
//! serde_json, by which the tests hold both, would be a quarter of the Worker and write its
//! records half as fast. What a caller sends is read by [`validate`](crate::validate) alone.

mod read;
mod write;

pub use read::{Decode, Mismatch, Object, Value};
pub use write::Encode;
pub(crate) use write::object;
