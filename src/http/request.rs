//! The parts of a request that the service uses.

use super::in_flight::{Busy, Reservation};
use std::borrow::Cow;

/// A request of any platform.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Request {
    /// The method, such as `GET`.
    fn method(&self) -> Cow<'_, str>;
    /// The whole address, such as `https://example.org/v2/pledge-transaction?x=1`.
    fn url(&self) -> Cow<'_, str>;
    /// The value of a header, by its lower-case name.
    fn header(&self, name: &'static str) -> Option<String>;
    /// Its ID, which its answer has as `X-Request-Id`, for the log and the texts of failures.
    fn id(&self) -> String;
    /// The body. Its bytes are reserved before they are read: piece by piece once the requests in flight
    /// hold much.
    ///
    /// # Errors
    /// If it has more than `limit` bytes, cannot be reserved, breaks off or comes too slowly.
    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError>;
    /// Counts a refused key against the rate limit of the caller's network, and returns whether it
    /// is over the limit; `false` where no rate limit is set.
    async fn is_over_limit(&self, network: &str) -> bool;
    /// Waits so many milliseconds, while other requests go on.
    async fn pause(&self, milliseconds: u32);
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the limit.
    TooLarge,
    /// The requests in flight hold too many bytes already.
    Busy,
    /// It broke off.
    Broken,
    /// It comes too slowly.
    Slow,
}

impl From<Busy> for BodyError {
    fn from(_: Busy) -> Self {
        BodyError::Busy
    }
}
