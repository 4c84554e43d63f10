//! A clock for the demo data, which shows times in the past.

use crate::buyer::delivery::Timer;
use crate::pledges::service::Clock;
use crate::pledges::time::TimeZones;
use std::cell::Cell;

pub(super) struct PastClock {
    pub(super) now_ms: u64,
    pub(super) ago_ms: Cell<u64>,
}

impl Clock for PastClock {
    fn now_ms(&self) -> u64 {
        self.now_ms - self.ago_ms.get()
    }
}

/// Knows no time zones, because the demo's shops have none.
impl TimeZones for PastClock {
    fn utc_offset(&self, _: &str, _: i64) -> Option<i32> {
        None
    }
}

/// Returns at once instead of waiting.
impl Timer for PastClock {
    async fn pause(&self, _: u32) {}
}
