//! The ports to the platform, besides the store.

/// The time.
pub trait Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> u64;
}

/// A source of random bytes that cannot be guessed.
pub trait Entropy {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}
