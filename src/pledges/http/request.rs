//! The parts of a request that the service uses.

use super::in_flight::{Busy, Reservation};
use std::borrow::Cow;

/// A request, independent of the platform.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Request {
    /// Returns the method, such as `GET`.
    fn method(&self) -> Cow<'_, str>;
    /// Returns the whole URL, such as `https://example.org/v2/pledge-transaction?x=1`.
    fn url(&self) -> Cow<'_, str>;
    /// Returns the value of a header. `name` is in lower case.
    fn header(&self, name: &'static str) -> Option<String>;
    /// Returns the ID of the request, for the log and for error messages. The response has it in the header
    /// `X-Request-Id`.
    fn id(&self) -> String;
    /// Reads the body. First reserves memory for it: for the whole body or, if other requests hold many
    /// bytes, piece by piece.
    ///
    /// # Errors
    /// If the body has more than `limit` bytes, cannot be reserved, breaks off or arrives too slowly.
    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError>;
    /// Counts a refused API key towards the rate limit of the caller's network. Returns whether the network
    /// is over the limit; `false` if no rate limit is configured.
    async fn is_over_limit(&self, network: &str) -> bool;
    /// Waits for this many milliseconds, while other requests continue.
    async fn pause(&self, milliseconds: u32);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    TooLarge,
    /// The requests in flight already hold too many bytes.
    Busy,
    /// The body broke off.
    Broken,
    Slow,
}

impl From<Busy> for BodyError {
    fn from(_: Busy) -> Self {
        BodyError::Busy
    }
}
