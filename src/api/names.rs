//! Paths, headers, limits and the media type.

/// The base path and resource of both operations (§4).
pub const PLEDGE_TRANSACTION_PATH: &str = "/v2/pledge-transaction";
/// The path of timelines: `{TIMELINE_PATH}/{id}?edit_key={edit_key}`.
pub const TIMELINE_PATH: &str = "/timeline";
/// The path that answers whether the service runs, with its version.
pub const HEALTH_PATH: &str = "/healthz";
/// The query parameter of a timeline address that holds its secret (§2.1).
pub const EDIT_KEY_PARAMETER: &str = "edit_key";
/// Most bytes of a request body: 1 MiB, enough for 5,000 pledges.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Most bytes of an answer, which is the stored record: 3 MiB. Workers KV would take 25, but an
/// isolate has 128 MB for all its requests, and a request needs several copies of its record.
pub const MAX_RECORD_BYTES: usize = 3 * 1024 * 1024;
/// Fewest bytes of a pledge in a record, where it has all members of the contract.
pub const MIN_PLEDGE_BYTES: usize = 260;
/// The media type of every body of the API.
pub const JSON: &str = "application/json";

/// Header names, in the lower case that HTTP/2 and `Headers` use.
pub mod header {
    /// Carries the API key (§5.1).
    pub const AUTHORIZATION: &str = "authorization";
    /// Names the unit that a team-level key acts for (§5.4).
    pub const UNIT_ID: &str = "x-service-unit-id";
    /// Names a create, so that it can be repeated safely.
    pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
    /// Marks an answer that repeats an earlier one.
    pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";
    /// Media type of the body.
    pub const CONTENT_TYPE: &str = "content-type";
    /// Coding of the body; the service accepts only `identity`.
    pub const CONTENT_ENCODING: &str = "content-encoding";
    /// Bytes of the body.
    pub const CONTENT_LENGTH: &str = "content-length";
    /// How long to wait before asking again: seconds or an HTTP date.
    pub const RETRY_AFTER: &str = "retry-after";
    /// The languages that a reader prefers.
    pub const ACCEPT_LANGUAGE: &str = "accept-language";
    /// The address that a request comes from. The platform sets it, and callers cannot.
    pub const CF_CONNECTING_IP: &str = "cf-connecting-ip";
    /// The zone of the Worker that sends a request. The platform sets it on what Workers send.
    pub const CF_WORKER: &str = "cf-worker";
    /// The origin of the page that sends a browser's request.
    pub const ORIGIN: &str = "origin";
}
