//! Requests, responses and addresses of HTTP, independent of the platform. Also limits the memory that bodies
//! use.

mod address;
mod in_flight;
mod origin;
mod request;
mod response;

pub use address::{Address, at_origin, percent_decode, without_port};
pub use in_flight::{
    Busy, InFlight, MAX_BYTES_IN_FLIGHT, MAX_PIECE_BYTES, MAX_SMALL_BYTES, MIN_REQUEST_BYTES,
    Reservation, next_chunk_bytes,
};
pub use origin::{is_origin, is_sent_origin};
pub use request::{BodyError, Request};
pub use response::{Body, Media, Response, Splice};

/// The white space that HTTP allows around a header's value (RFC 9110 §5.6.3). Other white space of Unicode
/// is not allowed there.
pub const OWS: [char; 2] = [' ', '\t'];
