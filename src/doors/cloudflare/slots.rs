//! Limits how many tasks of one kind an isolate runs at once.

use js_sys::Date;
use std::cell::RefCell;

/// Slots that limit how many tasks run at once. A task loses its slot after a time limit. Otherwise a task might
/// keep its slot forever: if the caller hangs up, the platform may drop the request before the task frees its
/// slot.
pub struct Slots {
    max: usize,
    milliseconds: u32,
    taken: RefCell<Vec<f64>>,
}

/// A taken slot, identified by the time at which it was taken. Slots taken at the same time are interchangeable.
pub struct TakenSlot(f64);

impl Slots {
    /// Creates `max` slots. A task can keep a slot for at most this many milliseconds.
    pub const fn new(max: usize, milliseconds: u32) -> Self {
        Slots { max, milliseconds, taken: RefCell::new(Vec::new()) }
    }

    pub fn take(&self) -> Option<TakenSlot> {
        let (now, mut taken) = (Date::now(), self.taken.borrow_mut());
        taken.retain(|time| now - time < f64::from(self.milliseconds));
        if taken.len() >= self.max {
            return None;
        }
        taken.push(now);
        Some(TakenSlot(now))
    }

    /// Frees a slot before its time limit.
    pub fn free(&self, TakenSlot(time): TakenSlot) {
        let mut taken = self.taken.borrow_mut();
        if let Some(index) = taken.iter().position(|other| *other == time) {
            taken.swap_remove(index);
        }
    }
}
