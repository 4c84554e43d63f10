//! Limits the bytes that the requests of an isolate hold while they wait, in total and for each owner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Maximum number of bytes that all requests together hold while they wait: 24 MiB.
///
/// An isolate has 128 MB, and WebAssembly memory never shrinks. Only bytes that are held while a request
/// waits add up. A request frees everything else before another request runs.
pub const MAX_BYTES_IN_FLIGHT: usize = 24 * 1024 * 1024;
/// Largest body or record that counts as small: 64 KiB.
pub const MAX_SMALL_BYTES: usize = 64 * 1024;
/// Minimum number of bytes that are counted for a request: 8 KiB. They cover what the request needs besides
/// its body.
pub const MIN_REQUEST_BYTES: usize = 8 * 1024;
/// Maximum number of bytes that one owner's requests hold once all requests hold more than [`CALM_BYTES`]: 6
/// MiB. The largest create request needs that much for its answer and record.
const MAX_SHARE_BYTES: usize = 6 * 1024 * 1024;
/// Total of all requests up to which the limits are relaxed: 8 MiB. Up to this total, an owner may hold more
/// than its share, and memory for a small body may be reserved before the body arrives.
///
/// A unit or team counts as two owners, one for each mode (test and live). Together the two hold at most 14
/// MiB: 8 MiB in one mode, and a share of 6 MiB in the other. This leaves room for the largest create request
/// of another owner.
const CALM_BYTES: usize = 8 * 1024 * 1024;
/// The bytes that are reserved for small requests: 4 MiB.
const FOR_SMALL_BYTES: usize = 4 * 1024 * 1024;
/// The bytes that are kept free for owners that have no other request: 2 MiB.
const FOR_NEW_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of bytes that a small request holds for its answer and record while it still counts as small: 256
/// KiB.
const MAX_SMALL_RESULT_BYTES: usize = 4 * MAX_SMALL_BYTES;

/// Maximum size of a piece of a body: 16 KiB.
pub const MAX_PIECE_BYTES: usize = 16 * 1024;

/// Returns how many bytes of a body to reserve and read next: as many as have arrived (`come`), but at least
/// [`MIN_REQUEST_BYTES`] and at most [`MAX_PIECE_BYTES`].
///
/// So a caller that stops sending holds at most twice as many bytes as it has sent, or [`MIN_REQUEST_BYTES`].
pub fn next_chunk_bytes(come: usize) -> usize {
    come.clamp(MIN_REQUEST_BYTES, MAX_PIECE_BYTES)
}

/// The bytes that the requests in flight hold.
#[derive(Debug, Default)]
pub struct InFlight {
    all: Cell<usize>,
    shares: RefCell<Vec<Rc<OwnerShare>>>,
}

#[derive(Debug)]
struct OwnerShare {
    owner: String,
    bytes: Cell<usize>,
}

impl InFlight {
    /// Makes a reservation of 0 bytes. Its bytes are counted for `owner`. Callers who can act for each other, such as
    /// all holders of a team's keys, have the same `owner`.
    pub fn reservation(&self, owner: String) -> Reservation<'_> {
        let mut shares = self.shares.borrow_mut();
        let known = shares.iter().find(|share| share.owner == owner).cloned();
        let share = known.unwrap_or_else(|| {
            let share = Rc::new(OwnerShare { owner, bytes: Cell::default() });
            shares.push(Rc::clone(&share));
            share
        });
        Reservation { in_flight: self, share, bytes: 0, is_small: true }
    }

    pub fn bytes(&self) -> usize {
        self.all.get()
    }
}

/// Error: the requests in flight already hold too many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// The bytes that one request holds, until this value is dropped.
#[derive(Debug)]
pub struct Reservation<'f> {
    in_flight: &'f InFlight,
    share: Rc<OwnerShare>,
    bytes: usize,
    is_small: bool,
}

impl Reservation<'_> {
    /// Reserves the first `bytes` of a body or record before they are read. The whole body or record has at most `all`
    /// bytes.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn read(&mut self, bytes: usize, all: usize) -> Result<(), Busy> {
        self.is_small = all <= MAX_SMALL_BYTES;
        self.resize(bytes)
    }

    /// Tries to reserve memory for a whole small body before the body arrives. This is faster than reserving
    /// piece by piece. Returns whether the memory was reserved. For a body above [`MIN_REQUEST_BYTES`],
    /// memory is reserved only if all requests then hold at most [`CALM_BYTES`].
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn read_ahead(&mut self, bytes: usize) -> Result<bool, Busy> {
        let [all, _] = self.others();
        let is_calm = all.saturating_add(bytes) <= CALM_BYTES;
        let may = bytes <= MIN_REQUEST_BYTES || (bytes <= MAX_SMALL_BYTES && is_calm);
        if may {
            self.read(bytes, bytes)?;
        }
        Ok(may)
    }

    /// Changes the number of reserved bytes, to at least [`MIN_REQUEST_BYTES`].
    ///
    /// # Errors
    /// [`Busy`] if there is no [room](Self::has_room) for more. Nothing changes then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Busy> {
        let bytes = bytes.max(MIN_REQUEST_BYTES);
        if bytes > self.bytes && !self.has_room(bytes) {
            return Err(Busy);
        }
        let [all, own] = self.others();
        self.in_flight.all.set(all.saturating_add(bytes));
        self.share.bytes.set(own.saturating_add(bytes));
        self.bytes = bytes;
        Ok(())
    }

    /// Returns whether this request may hold this many bytes. The limits are:
    ///
    /// - All requests together hold at most [`MAX_BYTES_IN_FLIGHT`]. For a request that is not small, this
    ///   limit is 4 MiB lower. In addition, the limit is 2 MiB lower if the request's owner has another
    ///   request.
    /// - Once all requests hold more than 8 MiB, an owner's requests hold at most 6 MiB.
    fn has_room(&self, bytes: usize) -> bool {
        let [all, own] = self.others();
        let is_small = self.is_small && bytes <= MAX_SMALL_RESULT_BYTES;
        let for_small = if is_small { 0 } else { FOR_SMALL_BYTES };
        let for_new = if own == 0 { 0 } else { FOR_NEW_BYTES };
        let all = all.saturating_add(bytes);
        let is_fair = all <= CALM_BYTES || own.saturating_add(bytes) <= MAX_SHARE_BYTES;
        is_fair && all <= MAX_BYTES_IN_FLIGHT - for_small - for_new
    }

    /// Returns how many bytes other requests hold: first the requests of all owners, then those of this
    /// owner. Neither number includes this request.
    fn others(&self) -> [usize; 2] {
        [&self.in_flight.all, &self.share.bytes].map(|bytes| bytes.get().saturating_sub(self.bytes))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let [others, others_own] = self.others();
        self.in_flight.all.set(others);
        self.share.bytes.set(others_own);
        // Only this reservation and the list refer to the share, so the owner has no other request.
        if Rc::strong_count(&self.share) == 2 {
            self.in_flight.shares.borrow_mut().retain(|share| !Rc::ptr_eq(share, &self.share));
        }
    }
}
