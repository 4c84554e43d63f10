//! Tests whether and when a client retries a request. Each row of the tests has a failure or a waiting time.

use impact_pledge::pledges::retry::{
    Environment, Failure, LONGEST_RETRY_AFTER_MS, Next, Policy, RetriedRequest, RetryAfter,
};
use impact_pledge::pledges::time;
use proptest::prelude::*;

const POLICY: Policy = Policy { max_retries: 2, request: RetriedRequest::Get };
/// Sun, 06 Nov 1994 08:49:37 GMT, RFC 9110's own example.
const NOW_MS: u64 = 784_111_777_000;
const LEAST: Environment = Environment { now_ms: NOW_MS, random: 0.0, http_date_ms };

/// Parses the one date format that RFC 9110 allows services to send. The client accepts only this format.
fn http_date_ms(text: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(text).ok()?;
    let is_canonical = httpdate::fmt_http_date(date) == text;
    let since_1970 = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    is_canonical.then_some(since_1970.as_millis() as u64)
}

const fn status(status: u16) -> Failure<'static> {
    Failure::Status { status, retry_after: None, is_service: true }
}

const fn busy(text: &str) -> Failure<'_> {
    busy_at(text, None)
}

const fn busy_at<'a>(text: &'a str, date: Option<&'a str>) -> Failure<'a> {
    let retry_after = Some(RetryAfter { text, date });
    Failure::Status { status: 503, retry_after, is_service: true }
}

#[track_caller]
fn waits(failure: Failure<'_>, expected: Option<u32>) {
    assert_eq!(POLICY.next(0, failure, LEAST).wait_ms, expected, "{failure:?}");
}

#[test]
fn a_transient_failure_is_retried_and_a_lasting_one_not() {
    for code in [408, 429, 500, 502, 503, 504, 599] {
        waits(status(code), Some(250));
    }
    waits(Failure::Unanswered, Some(250));
    waits(Failure::Unsent, Some(250));
    for code in [0, 200, 204, 301, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 600] {
        waits(status(code), None);
    }
}

const fn create(has_key: bool, retry_creates: Option<bool>) -> RetriedRequest {
    RetriedRequest::Create { has_key, retry_creates }
}

const GET: RetriedRequest = RetriedRequest::Get;
const CREATE: RetriedRequest = create(false, None);
const KEYED: RetriedRequest = create(true, None);
const GENERATED: RetriedRequest = create(true, Some(true));
/// A create request without an idempotency key, on a platform that has no randomness to generate one.
const KEYLESS: RetriedRequest = create(false, Some(true));
const NEVER: RetriedRequest = create(false, Some(false));
const NEVER_KEYED: RetriedRequest = create(true, Some(false));

/// The answer of a proxy that reports that the service is unavailable.
const PROXY: Failure<'_> = Failure::Status {
    status: 503,
    retry_after: Some(RetryAfter { text: "1", date: None }),
    is_service: false,
};

/// Each row has a failure, the requests that are retried after it, and the create requests that may have
/// been recorded nevertheless.
const REPEATS: [(Failure<'_>, &[RetriedRequest], &[RetriedRequest]); 9] = [
    (Failure::Unsent, &[GET, CREATE, KEYED, GENERATED, KEYLESS], &[]),
    (status(429), &[GET, CREATE, KEYED, GENERATED, KEYLESS], &[]),
    (
        busy("1"),
        &[GET, CREATE, KEYED, GENERATED, KEYLESS],
        &[KEYED, GENERATED, NEVER_KEYED], // the service asks for a retry with the same key as well
    ),
    (PROXY, &[GET, KEYED, GENERATED], CREATES),
    (status(503), &[GET, KEYED, GENERATED], CREATES),
    (status(500), &[GET, KEYED, GENERATED], CREATES),
    (status(504), &[GET, KEYED, GENERATED], CREATES),
    (status(408), &[GET, KEYED, GENERATED], CREATES),
    (Failure::Unanswered, &[GET, KEYED, GENERATED], CREATES),
];
const CREATES: &[RetriedRequest] = &[CREATE, KEYED, GENERATED, KEYLESS, NEVER, NEVER_KEYED];

#[test]
fn a_create_is_repeated_where_it_cannot_be_recorded_twice() {
    for (failure, repeated, recorded) in REPEATS {
        for request in CREATES.iter().chain(&[GET]) {
            let next = Policy { max_retries: 2, request: *request }.next(0, failure, LEAST);
            let is_repeated = repeated.contains(request);
            let expected = [is_repeated, !is_repeated, recorded.contains(request)];
            let found = [next.wait_ms.is_some(), next.is_withheld, next.may_be_recorded];
            assert_eq!(found, expected, "{failure:?} {request:?}");
        }
    }
}

/// Statuses after which nothing was recorded (`false`), and statuses after which a transaction may have been
/// recorded (`true`).
const STATUSES: [(&[u16], bool); 2] = [
    (&[0, 301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 451, 499], false),
    (&[200, 201, 204, 408, 500, 502, 503, 504, 520, 599], true),
];

#[test]
fn a_redirect_or_a_refusal_recorded_nothing() {
    for (statuses, may_be_recorded) in STATUSES {
        for (code, request) in
            statuses.iter().flat_map(|code| CREATES.iter().map(|request| (*code, *request)))
        {
            let next = Policy { max_retries: 0, request }.next(0, status(code), LEAST);
            assert_eq!(next.may_be_recorded, may_be_recorded, "{code} {request:?}");
        }
    }
}

#[test]
fn retries_are_counted_and_what_would_end_anyway_is_not_withheld() {
    assert!(POLICY.next(1, Failure::Unanswered, LEAST).wait_ms.is_some());
    for request in [GET, CREATE, KEYED, NEVER] {
        let none = Policy { max_retries: 0, request };
        let two = Policy { max_retries: 2, request };
        for (policy, retries, failure) in [
            (none, 0, status(500)),
            (two, 2, status(500)),
            (two, 0, status(400)),
            (two, 0, busy("61")),
        ] {
            let Next { wait_ms, is_withheld, .. } = policy.next(retries, failure, LEAST);
            assert_eq!((wait_ms, is_withheld), (None, false), "{policy:?} {failure:?}");
        }
    }
}

#[test]
fn waits_double_up_to_a_bound() {
    let patient = Policy { max_retries: u32::MAX, ..POLICY };
    let most = Environment { random: 1.0, ..LEAST };
    let waits: Vec<_> = [0, 1, 2, 3, 4, 5, 40, u32::MAX - 1]
        .map(|retries| patient.next(retries, Failure::Unanswered, most).wait_ms)
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
}

#[test]
fn retry_after_is_honoured_and_a_longer_wait_left_to_the_caller() {
    waits(busy("0"), Some(0));
    waits(busy("7"), Some(7_000));
    waits(busy(" 7 "), Some(7_000));
    waits(busy("60"), Some(LONGEST_RETRY_AFTER_MS));
    waits(busy("Sun, 06 Nov 1994 08:49:40 GMT"), Some(3_000));
    waits(busy("Sun, 06 Nov 1994 08:49:30 GMT"), Some(0));
    let date = Some("Sun, 06 Nov 1994 07:00:00 GMT"); // of a service whose clock is behind
    waits(busy_at("Sun, 06 Nov 1994 07:00:05 GMT", date), Some(5_000));
    waits(busy_at("7", date), Some(7_000));
    waits(busy_at("Sun, 06 Nov 1994 08:49:40 GMT", Some("now")), Some(3_000));
    waits(busy("61"), None);
    waits(busy("99999999999999999999999999"), None);
    waits(busy("Fri, 31 Dec 9999 23:59:59 GMT"), None);
}

#[test]
fn an_unreadable_retry_after_counts_as_none() {
    for text in [
        "",
        "soon",
        "-1",
        "1.5",
        "٣",
        "Sun, 06 Nov 1994",
        "Sunday, 06-Nov-94 08:49:40 GMT",
        "Sun, 06 nov 1994 08:49:40 GMT",
        "Sun, 6 Nov 1994 08:49:40 GMT",
        "Sun, 06 Nov 1994 24:49:40 GMT",
        "Sun, 06 Nov 1994 08:49:40 CET",
    ] {
        waits(busy(text), Some(250));
        assert_eq!(time::http_date_ms(text), None, "{text}");
    }
}

proptest! {
    /// Notifications read dates in Rust, and the client in JavaScript.
    #[test]
    fn a_date_is_read_as_the_library_reads_it(seconds in 0_u64..253_402_300_800, text in ".{0,40}") {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let date = httpdate::fmt_http_date(at);
        prop_assert_eq!(time::http_date_ms(&date), Some(seconds * 1_000));
        prop_assert_eq!(time::http_date_ms(&text), None);
    }

    #[test]
    fn a_wait_is_always_bounded(
        retries in 0_u32..100,
        code in 0_u16..1000,
        retry_after in proptest::option::of(".{0,40}|[0-9]{1,30}"),
        now_ms: u64,
        random: f64,
    ) {
        let policy = Policy { max_retries: 100, ..POLICY };
        let retry_after = retry_after.as_deref().map(|text| RetryAfter { text, date: None });
        let failure = Failure::Status { status: code, retry_after, is_service: true };
        let environment = Environment { now_ms, random, http_date_ms };
        let wait = policy.next(retries, failure, environment).wait_ms;
        prop_assert!(wait.is_none_or(|ms| ms <= LONGEST_RETRY_AFTER_MS));
    }
}
