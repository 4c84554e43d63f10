//! Decides whether a client retries a request, and how long it waits before the retry.

/// The longest wait before the first retry, in milliseconds. Each further retry doubles it.
const FIRST_WAIT_MS: u32 = 500;
/// The longest wait without a `Retry-After` header, in milliseconds.
const LONGEST_WAIT_MS: u32 = 8_000;
/// The longest wait that a `Retry-After` header may ask for, in milliseconds. If a header asks for more, the
/// client does not retry.
pub const LONGEST_RETRY_AFTER_MS: u32 = 60_000;

/// The largest integer that JavaScript represents exactly.
const MOST_MS: u64 = (1 << 53) - 1;

/// The rules for retries of one call.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub max_retries: u32,
    pub request: RetriedRequest,
}

/// The kind of a request, and what decides whether it may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetriedRequest {
    /// A get request, which records nothing.
    Get,
    /// A create request, which records a transaction.
    Create {
        /// Whether the request has an idempotency key, so that retries record only one transaction.
        has_key: bool,
        /// The caller's option: `Some(false)` forbids all retries.
        retry_creates: Option<bool>,
    },
}

/// How an attempt failed.
#[derive(Clone, Copy, Debug)]
pub enum Failure<'a> {
    /// There was no connection, so the request was not sent.
    Unsent,
    /// There was no answer, or only a part of one.
    Unanswered,
    Status {
        status: u16,
        /// When the answer asks for a retry.
        retry_after: Option<RetryAfter<'a>>,
        /// Whether the body has the contract's error format (§7), which shows that the error comes from the
        /// service. A proxy's own errors do not have this format.
        is_service: bool,
    },
}

/// The headers of an answer that asks for a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter<'a> {
    /// The `Retry-After` header: seconds or an HTTP date.
    pub text: &'a str,
    /// The `Date` header, an HTTP date. The wait until the time in `Retry-After` counts from it, because this
    /// machine's clock may be wrong.
    pub date: Option<&'a str>,
}

impl RetryAfter<'_> {
    /// Returns how many milliseconds the answer asks to wait; `None` if the header is not valid. `now_ms` is used
    /// if the answer has no valid `Date`.
    pub fn ms(&self, now_ms: u64, http_date_ms: fn(&str) -> Option<u64>) -> Option<u64> {
        let text = self.text.trim_ascii();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let seconds: u64 = text.parse().unwrap_or(u64::MAX);
            return Some(seconds.saturating_mul(1_000));
        }
        let sent_ms = self.date.and_then(http_date_ms).unwrap_or(now_ms);
        Some(http_date_ms(text)?.saturating_sub(sent_ms))
    }
}

/// The decision about a call after a failed attempt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Next {
    /// The milliseconds to wait before the next attempt; `None` if there is no further attempt.
    pub wait_ms: Option<u32>,
    /// The milliseconds that the service asks the client to wait, at most 2^53 - 1.
    pub retry_after_ms: Option<f64>,
    /// Whether a retry would make sense but is not made: it might record a second transaction, or the caller
    /// forbids retries.
    pub is_withheld: bool,
    pub may_be_recorded: bool,
}

/// Values of the platform that affect a wait.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// A random number from 0 to 1. It spreads the retries of many clients over time.
    pub random: f64,
    /// Converts an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`, to milliseconds since 1970.
    pub http_date_ms: fn(&str) -> Option<u64>,
}

impl Policy {
    /// Decides whether and when a call is retried after a failed attempt. `retries` is the number of earlier retries.
    pub fn next(&self, retries: u32, failure: Failure<'_>, environment: Environment) -> Next {
        let asked_ms = failure.retry_after_ms(environment);
        let may_retry = retries < self.max_retries && failure.is_transient();
        let wait_ms = may_retry.then(|| wait_ms(asked_ms, retries, environment.random)).flatten();
        let is_repeatable = self.request.is_repeatable(failure);
        Next {
            wait_ms: wait_ms.filter(|_| is_repeatable),
            retry_after_ms: asked_ms.map(|ms| ms.min(MOST_MS) as f64),
            is_withheld: wait_ms.is_some() && !is_repeatable,
            may_be_recorded: self.request.may_be_recorded(failure),
        }
    }
}

impl RetriedRequest {
    /// Returns whether this request may be retried after this failure. The caller must allow it, and a retry
    /// must not be able to record a second transaction.
    fn is_repeatable(self, failure: Failure<'_>) -> bool {
        match self {
            RetriedRequest::Create { retry_creates: Some(false), .. } => false,
            RetriedRequest::Create { has_key: false, .. } => !self.may_be_recorded(failure),
            RetriedRequest::Get | RetriedRequest::Create { has_key: true, .. } => true,
        }
    }

    fn may_be_recorded(self, failure: Failure<'_>) -> bool {
        match (self, failure) {
            (RetriedRequest::Get, _) | (_, Failure::Unsent) => false,
            // A redirect (0 in a browser) or a refusal. A proxy sends 408 if it has waited too long for the rest of the request or for an answer.
            (_, Failure::Status { status: 0 | 300..=407 | 409..500, .. }) => false,
            // For a create request without a key, the service sends `Retry-After` only if nothing was recorded.
            (
                RetriedRequest::Create { has_key: false, .. },
                Failure::Status { status: 503, retry_after: Some(_), is_service: true },
            ) => false,
            _ => true,
        }
    }
}

impl Failure<'_> {
    /// Returns whether the same request may succeed if it is retried after this failure.
    fn is_transient(&self) -> bool {
        match self {
            Failure::Unsent | Failure::Unanswered => true,
            Failure::Status { status, .. } => matches!(status, 408 | 429 | 500..600),
        }
    }

    /// Returns how many milliseconds the `Retry-After` header asks the client to wait.
    fn retry_after_ms(&self, environment: Environment) -> Option<u64> {
        let Failure::Status { retry_after: Some(retry_after), .. } = self else { return None };
        retry_after.ms(environment.now_ms, environment.http_date_ms)
    }
}

/// Returns the milliseconds to wait before a retry. Returns `None` if the service asks for a longer wait than
/// is allowed.
fn wait_ms(asked_ms: Option<u64>, retries: u32, random: f64) -> Option<u32> {
    match asked_ms {
        Some(asked) => u32::try_from(asked).ok().filter(|ms| *ms <= LONGEST_RETRY_AFTER_MS),
        None => Some(backoff_ms(retries, random)),
    }
}

/// Returns a random wait in milliseconds, between half of a maximum and the maximum. The maximum doubles with
/// each retry.
fn backoff_ms(retries: u32, random: f64) -> u32 {
    let doubled = 2_u32.checked_pow(retries).and_then(|factor| FIRST_WAIT_MS.checked_mul(factor));
    let most = doubled.map_or(LONGEST_WAIT_MS, |ms| ms.min(LONGEST_WAIT_MS));
    let least = most / 2;
    least + (f64::from(most - least) * random.clamp(0.0, 1.0)) as u32
}
