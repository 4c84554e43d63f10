//! The service's interfaces to the platform's clock and randomness.

use crate::pledges::time::TimeZones;

pub trait Clock: TimeZones {
    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> u64;
}

/// A source of unpredictable random bytes.
pub trait Entropy {
    fn fill(&self, bytes: &mut [u8]);
}
