//! Tracks the deliveries that one instance runs. They run concurrently, but together they hold only a limited
//! number of bytes in memory. Deliveries for the same transaction and service run one after another.
//!
//! The instance also remembers which notifications it has finished and counted, because Workers KV shows
//! writes late.

use crate::pledges::types::{NotificationService, TransactionId};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Maximum number of bytes of records and notifications that an instance's deliveries hold at once: 6 MiB,
/// twice the size of the largest record. Large records may use only two thirds of these bytes. The rest is
/// reserved for small records.
pub const MAX_HELD_BYTES: usize = 6 * 1024 * 1024;
/// Size of the largest record that counts as small, in bytes.
const MAX_SMALL_BYTES: usize = 64 * 1024;
/// Minimum number of bytes that each delivery counts towards the memory limit.
const LEAST_BYTES: usize = 4 * 1024;
/// Longest duration of a delivery, in milliseconds: the sum of all its deadlines. A delivery that has not ended after
/// this time counts as lost: the platform has ended it without notice.
const LONGEST_MS: u64 = 240_000;
/// How long an instance remembers finished notifications, and those counted towards a daily limit, in
/// milliseconds. Workers KV shows a write everywhere after about 60 s.
const KNOWN_MS: u64 = 180_000;
/// Maximum number of finished notifications that an instance remembers. The same maximum applies to counted
/// notifications.
const MAX_KNOWN: usize = 1_000;

#[derive(Debug)]
pub struct Deliveries {
    max_bytes: usize,
    last: Cell<u64>,
    running: RefCell<Vec<Running>>,
    ended: RefCell<VecDeque<Known<(Subject, u32)>>>,
    /// The names of the records that count notifications towards an address's daily limit, as far as this
    /// instance remembers them.
    counted: RefCell<VecDeque<Known<String>>>,
}

/// The transaction that a notification is about, the service that delivers the notification, and whether it is an e-mail with
/// news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub id: TransactionId,
    pub service: NotificationService,
    pub is_news: bool,
}

#[derive(Debug)]
struct Running {
    number: u64,
    subject: Subject,
    bytes: usize,
    began_ms: u64,
}

#[derive(Debug)]
struct Known<T> {
    what: T,
    since_ms: u64,
}

impl Deliveries {
    /// Creates an empty set of deliveries. Together, its deliveries may hold at most `max_bytes` bytes. In
    /// Workers, this is [`MAX_HELD_BYTES`].
    pub fn new(max_bytes: usize) -> Self {
        Deliveries {
            max_bytes,
            last: Cell::default(),
            running: RefCell::default(),
            ended: RefCell::default(),
            counted: RefCell::default(),
        }
    }

    /// Begins a delivery, which runs until the returned value is dropped. Returns `None` while another
    /// delivery for the same transaction and service is running.
    pub(super) fn turn(&self, subject: &Subject, now_ms: u64) -> Option<Turn<'_>> {
        let mut running = self.running.borrow_mut();
        running.retain(|one| now_ms < one.began_ms.saturating_add(LONGEST_MS));
        if running.iter().any(|one| one.subject == *subject) {
            return None;
        }
        let number = self.last.get().wrapping_add(1);
        self.last.set(number);
        running.push(Running { number, subject: subject.clone(), bytes: 0, began_ms: now_ms });
        Some(Turn { deliveries: self, number })
    }

    pub fn bytes(&self) -> usize {
        self.running.borrow().iter().map(|one| one.bytes).sum()
    }

    /// Remembers that a round of sending and all earlier rounds have ended. Round 1 is the first sending of a
    /// notification. Each resend by an operator is the next round.
    pub(super) fn end(&self, subject: Subject, round: u32, now_ms: u64) {
        know(&mut self.ended.borrow_mut(), (subject, round), now_ms);
    }

    /// Returns whether this instance knows that a round of sending (the first sending or a resend) has ended.
    pub(super) fn has_ended(&self, subject: &Subject, round: u32, now_ms: u64) -> bool {
        let ended = self.ended.borrow();
        fresh(&ended, now_ms).any(|(one, ended)| one == subject && *ended >= round)
    }

    /// Remembers the name of a record that counts a notification towards the daily limit.
    pub(super) fn count(&self, name: String, now_ms: u64) {
        know(&mut self.counted.borrow_mut(), name, now_ms);
    }

    /// Returns the remembered names that begin with `prefix`. They were given to [`count`](Self::count).
    pub(super) fn counted(&self, prefix: &str, now_ms: u64) -> Vec<String> {
        let counted = self.counted.borrow();
        fresh(&counted, now_ms).filter(|name| name.starts_with(prefix)).cloned().collect()
    }
}

fn know<T: PartialEq>(known: &mut VecDeque<Known<T>>, what: T, since_ms: u64) {
    known.retain(|one| one.what != what);
    known.push_back(Known { what, since_ms });
    if known.len() > MAX_KNOWN {
        known.pop_front();
    }
}

fn fresh<T>(known: &VecDeque<Known<T>>, now_ms: u64) -> impl Iterator<Item = &T> {
    let is_fresh = move |one: &&Known<T>| now_ms < one.since_ms.saturating_add(KNOWN_MS);
    known.iter().filter(is_fresh).map(|one| &one.what)
}

/// A running delivery's exclusive turn for its transaction and service. Dropping it ends the turn, and frees
/// the bytes that the delivery holds.
#[derive(Debug)]
pub(super) struct Turn<'d> {
    deliveries: &'d Deliveries,
    number: u64,
}

impl Turn<'_> {
    /// Reserves memory for a record before it is read. Returns whether there was enough room.
    pub fn reserve(&self, bytes: usize) -> bool {
        let bytes = bytes.max(LEAST_BYTES);
        let all = self.deliveries.max_bytes;
        let most = if bytes <= MAX_SMALL_BYTES { all } else { all - all / 3 };
        let others = self.deliveries.bytes().saturating_sub(self.bytes());
        let has_room = others == 0 || others.saturating_add(bytes) <= most;
        if has_room {
            self.hold(bytes);
        }
        has_room
    }

    pub fn hold(&self, bytes: usize) {
        let mut running = self.deliveries.running.borrow_mut();
        let own = running.iter_mut().find(|one| one.number == self.number);
        own.into_iter().for_each(|own| own.bytes = bytes.max(LEAST_BYTES));
    }

    fn bytes(&self) -> usize {
        let running = self.deliveries.running.borrow();
        running.iter().find(|one| one.number == self.number).map_or(0, |own| own.bytes)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.deliveries.running.borrow_mut().retain(|one| one.number != self.number);
    }
}
