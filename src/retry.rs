//! When a client asks again, and how long it waits until then.

/// The first wait, doubled by each retry.
const FIRST_WAIT_MS: u32 = 500;
/// The longest wait that a client chooses by itself.
const LONGEST_WAIT_MS: u32 = 8_000;
/// The longest wait that a service may ask for. Beyond it the caller gets the answer at once.
pub const LONGEST_RETRY_AFTER_MS: u32 = 60_000;

/// What a call may do about failures.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Most repeats of one call.
    pub max_retries: u32,
    /// Whether a repeat is harmless: a get, or a create whose idempotency key is honoured.
    pub repeatable: bool,
}

/// How an attempt failed.
#[derive(Clone, Copy, Debug)]
pub enum Failure<'a> {
    /// No answer, or only a part of one.
    Unanswered,
    /// An answer other than the one hoped for.
    Status {
        /// The HTTP status.
        status: u16,
        /// The `Retry-After` header: seconds or an HTTP date.
        retry_after: Option<&'a str>,
    },
}

/// What the platform contributes to the choice of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// A random number from 0 to 1, so that many clients do not come back all at once.
    pub random: f64,
    /// Converts an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`, to milliseconds since 1970.
    pub http_date_ms: fn(&str) -> Option<u64>,
}

impl Policy {
    /// How many milliseconds to wait before the next attempt; `None` to give up.
    pub fn wait_ms(&self, retries: u32, failure: Failure<'_>, moment: Moment) -> Option<u32> {
        if !self.repeatable || retries >= self.max_retries || !failure.may_pass() {
            return None;
        }
        match failure.retry_after_ms(moment) {
            Some(asked) => u32::try_from(asked).ok().filter(|ms| *ms <= LONGEST_RETRY_AFTER_MS),
            None => Some(backoff_ms(retries, moment.random)),
        }
    }
}

impl Failure<'_> {
    /// Whether the same request may fare better later.
    fn may_pass(&self) -> bool {
        match self {
            Failure::Unanswered => true,
            Failure::Status { status, .. } => matches!(status, 408 | 429 | 500..600),
        }
    }

    fn retry_after_ms(&self, moment: Moment) -> Option<u64> {
        let Failure::Status { retry_after: Some(text), .. } = self else { return None };
        let text = text.trim_ascii();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let seconds: u64 = text.parse().unwrap_or(u64::MAX);
            return Some(seconds.saturating_mul(1_000));
        }
        Some((moment.http_date_ms)(text)?.saturating_sub(moment.now_ms))
    }
}

/// Exponential, of which the upper half is left to chance.
fn backoff_ms(retries: u32, random: f64) -> u32 {
    let doubled = 2_u32.checked_pow(retries).and_then(|factor| FIRST_WAIT_MS.checked_mul(factor));
    let most = doubled.map_or(LONGEST_WAIT_MS, |ms| ms.min(LONGEST_WAIT_MS));
    let least = most / 2; // the rest is left to chance
    least + (f64::from(most - least) * random.clamp(0.0, 1.0)) as u32
}
