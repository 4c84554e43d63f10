//! Limits the bytes of bodies and records that an isolate holds at once.

use std::cell::Cell;

/// Most bytes that all requests together hold while they wait: 24 MiB.
///
/// An isolate has 128 MB, and WebAssembly memory never shrinks. Only what is held across a wait
/// adds up: whatever else a request needs is allocated and freed in one turn.
pub const MAX_BYTES_IN_FLIGHT: usize = 24 * 1024 * 1024;

/// The bytes that the requests in flight hold.
#[derive(Debug, Default)]
pub struct InFlight(Cell<usize>);

impl InFlight {
    /// A reservation of no bytes yet.
    pub fn reservation(&self) -> Reservation<'_> {
        Reservation { in_flight: self, bytes: 0 }
    }
}

/// The requests in flight hold too many bytes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// The bytes that one request holds, until this is dropped.
#[derive(Debug)]
pub struct Reservation<'f> {
    in_flight: &'f InFlight,
    bytes: usize,
}

impl Reservation<'_> {
    /// Changes how many bytes are reserved.
    ///
    /// # Errors
    /// [`Busy`] if all requests would hold more than [`MAX_BYTES_IN_FLIGHT`]; nothing changes then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Busy> {
        let others = self.in_flight.0.get().saturating_sub(self.bytes);
        let all = others.saturating_add(bytes);
        if all > MAX_BYTES_IN_FLIGHT {
            return Err(Busy);
        }
        self.in_flight.0.set(all);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.in_flight.0.set(self.in_flight.0.get().saturating_sub(self.bytes));
    }
}
