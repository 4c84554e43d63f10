//! Limits the bytes that the requests of an isolate hold while they wait: in all, and of each owner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Most bytes that all requests together hold while they wait: 24 MiB.
///
/// An isolate has 128 MB, and WebAssembly memory never shrinks. Only what is held across a wait
/// adds up: whatever else a request needs is allocated and freed in one turn.
pub const MAX_BYTES_IN_FLIGHT: usize = 24 * 1024 * 1024;
/// Most bytes of a body or record that is small: 64 KiB.
pub const MAX_SMALL_BYTES: usize = 64 * 1024;
/// A request counts as at least so many bytes, for what it takes besides its body: 8 KiB.
pub const MIN_REQUEST_BYTES: usize = 8 * 1024;
/// Most bytes that an owner holds once all hold more than [`CALM_BYTES`]: 6 MiB, as the largest create
/// needs for its answer and record.
const MAX_SHARE_BYTES: usize = 6 * 1024 * 1024;
/// While all hold at most so many bytes, 8 MiB, an owner may hold more than its share, and a small body
/// counts before it has come. One owner in both modes so holds 14 MiB at most, and the largest create of
/// another still finds room.
const CALM_BYTES: usize = 8 * 1024 * 1024;
/// The bytes that only small requests get: 4 MiB.
const FOR_SMALL_BYTES: usize = 4 * 1024 * 1024;
/// The bytes that only owners get who hold nothing else: 2 MiB.
const FOR_NEW_BYTES: usize = 2 * 1024 * 1024;
/// Most bytes that a small request holds for its answer and record and still counts as small: 256 KiB.
const MAX_SMALL_RESULT_BYTES: usize = 4 * MAX_SMALL_BYTES;

/// Most bytes of a piece of a body: 16 KiB.
pub const MAX_PIECE_BYTES: usize = 16 * 1024;

/// How many bytes of a body to reserve and to read next, once so many have come: as many again, within
/// bounds. So a caller who stalls holds at most twice what it has sent, or [`MIN_REQUEST_BYTES`].
pub fn next_piece(come: usize) -> usize {
    come.clamp(MIN_REQUEST_BYTES, MAX_PIECE_BYTES)
}

/// The bytes that the requests in flight hold.
#[derive(Debug, Default)]
pub struct InFlight {
    all: Cell<usize>,
    shares: RefCell<Vec<Rc<Share>>>,
}

/// The bytes that an owner's requests hold.
#[derive(Debug)]
struct Share {
    owner: String,
    bytes: Cell<usize>,
}

impl InFlight {
    /// A reservation of no bytes yet. `owner` names whom the bytes count against: all who could
    /// send requests in each other's place, such as the holders of a team's keys, have one name.
    pub fn reservation(&self, owner: String) -> Reservation<'_> {
        let mut shares = self.shares.borrow_mut();
        let known = shares.iter().find(|share| share.owner == owner).cloned();
        let share = known.unwrap_or_else(|| {
            let share = Rc::new(Share { owner, bytes: Cell::default() });
            shares.push(Rc::clone(&share));
            share
        });
        Reservation { in_flight: self, share, bytes: 0, is_small: true }
    }

    /// The bytes that all requests hold.
    pub fn bytes(&self) -> usize {
        self.all.get()
    }
}

/// The requests in flight hold too many bytes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// The bytes that one request holds, until this is dropped.
#[derive(Debug)]
pub struct Reservation<'f> {
    in_flight: &'f InFlight,
    share: Rc<Share>,
    bytes: usize,
    /// Whether the body or record that was read is small.
    is_small: bool,
}

impl Reservation<'_> {
    /// Reserves the first `bytes` of a body or record, before they are read. The whole of it has at
    /// most `all` bytes.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn read(&mut self, bytes: usize, all: usize) -> Result<(), Busy> {
        self.is_small = all <= MAX_SMALL_BYTES;
        self.resize(bytes)
    }

    /// Reserves all of a small body before it has come, which is faster than to count it as it comes.
    /// Returns whether it did: a caller who only announces bodies gets no more than [`CALM_BYTES`] so.
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

    /// Changes how many bytes are reserved. The least is [`MIN_REQUEST_BYTES`].
    ///
    /// # Errors
    /// [`Busy`], and nothing changes, if there is no [room](Self::has_room) for more.
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

    /// Whether this request may hold so many bytes:
    ///
    /// - All hold [`MAX_BYTES_IN_FLIGHT`] at most. The last 4 MiB are for small requests, and of what a
    ///   request may use, the last 2 MiB are for owners who hold nothing else.
    /// - Once all hold more than 8 MiB, an owner holds 6 MiB at most.
    fn has_room(&self, bytes: usize) -> bool {
        let [all, own] = self.others();
        let is_small = self.is_small && bytes <= MAX_SMALL_RESULT_BYTES;
        let for_small = if is_small { 0 } else { FOR_SMALL_BYTES };
        let for_new = if own == 0 { 0 } else { FOR_NEW_BYTES };
        let all = all.saturating_add(bytes);
        let is_fair = all <= CALM_BYTES || own.saturating_add(bytes) <= MAX_SHARE_BYTES;
        is_fair && all <= MAX_BYTES_IN_FLIGHT - for_small - for_new
    }

    /// The bytes of the other requests: of all, and of this owner.
    fn others(&self) -> [usize; 2] {
        [&self.in_flight.all, &self.share.bytes].map(|bytes| bytes.get().saturating_sub(self.bytes))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let [others, others_own] = self.others();
        self.in_flight.all.set(others);
        self.share.bytes.set(others_own);
        // Besides this reservation only the list has the share: the owner has no other request.
        if Rc::strong_count(&self.share) == 2 {
            self.in_flight.shares.borrow_mut().retain(|share| !Rc::ptr_eq(share, &self.share));
        }
    }
}
