//! Limits the bytes of bodies and records that an isolate holds at once, and what one unit holds of them.

use crate::scope::Scope;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Most bytes that all requests together hold while they wait: 24 MiB.
///
/// An isolate has 128 MB, and WebAssembly memory never shrinks. Only what is held across a wait
/// adds up: whatever else a request needs is allocated and freed in one turn.
pub const MAX_BYTES_IN_FLIGHT: usize = 24 * 1024 * 1024;
/// Most bytes of a body or record that is small: 64 KiB.
pub const MAX_SMALL_BYTES: usize = 64 * 1024;
/// The bytes that only requests with a small body or record get: 4 MiB.
const FOR_SMALL_BYTES: usize = 4 * 1024 * 1024;
/// Most bytes for a unit in a mode once half of all are taken: 6 MiB, as the largest create needs for
/// its answer and record.
const MAX_SHARE_BYTES: usize = 6 * 1024 * 1024;

/// The bytes that the requests in flight hold.
#[derive(Debug, Default)]
pub struct InFlight {
    all: Cell<usize>,
    holders: RefCell<Vec<Rc<Holder>>>,
}

/// A unit and mode whose requests are in flight, and the bytes that these hold.
#[derive(Debug)]
struct Holder {
    scope: Scope,
    bytes: Cell<usize>,
}

impl InFlight {
    /// A reservation of no bytes yet, for a request of this unit and mode.
    pub fn reservation(&self, scope: &Scope) -> Reservation<'_> {
        let mut holders = self.holders.borrow_mut();
        let known = holders.iter().find(|holder| holder.scope == *scope).cloned();
        let holder = known.unwrap_or_else(|| {
            let holder = Rc::new(Holder { scope: scope.clone(), bytes: Cell::default() });
            holders.push(Rc::clone(&holder));
            holder
        });
        Reservation { in_flight: self, holder, bytes: 0, is_small: true }
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
    holder: Rc<Holder>,
    bytes: usize,
    /// Whether the body or record that was read is small.
    is_small: bool,
}

impl Reservation<'_> {
    /// Changes how many bytes are reserved, before they are read, to the first `bytes` of a body or
    /// record that has `all` in all.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn read(&mut self, bytes: usize, all: usize) -> Result<(), Busy> {
        self.is_small = all <= MAX_SMALL_BYTES;
        self.resize(bytes)
    }

    /// Changes how many bytes are reserved.
    ///
    /// # Errors
    /// [`Busy`], and nothing changes, if all requests would hold more than [`MAX_BYTES_IN_FLIGHT`],
    /// those that are not small 4 MiB less; or if they would hold more than half of that, and the
    /// requests of this unit and mode more than 6 MiB.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Busy> {
        let [all, own] = self.without_this().map(|others| others.saturating_add(bytes));
        let most =
            if self.is_small { MAX_BYTES_IN_FLIGHT } else { MAX_BYTES_IN_FLIGHT - FOR_SMALL_BYTES };
        let is_fair = all <= MAX_BYTES_IN_FLIGHT / 2 || own <= MAX_SHARE_BYTES;
        if bytes > self.bytes && (all > most || !is_fair) {
            return Err(Busy);
        }
        self.in_flight.all.set(all);
        self.holder.bytes.set(own);
        self.bytes = bytes;
        Ok(())
    }

    /// The bytes of the other requests: of all, and of this unit and mode.
    fn without_this(&self) -> [usize; 2] {
        [&self.in_flight.all, &self.holder.bytes]
            .map(|bytes| bytes.get().saturating_sub(self.bytes))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let [all, own] = self.without_this();
        self.in_flight.all.set(all);
        self.holder.bytes.set(own);
        // Besides this reservation only the list has the holder: no other request is its.
        if Rc::strong_count(&self.holder) == 2 {
            self.in_flight.holders.borrow_mut().retain(|holder| !Rc::ptr_eq(holder, &self.holder));
        }
    }
}
