//! Paths, headers, limits and the media type.

/// The base path and resource of both operations (§4).
pub const PLEDGE_TRANSACTION_PATH: &str = "/v2/pledge-transaction";
/// The path of timelines: `{TIMELINE_PATH}/{id}?edit_key={edit_key}`.
pub const TIMELINE_PATH: &str = "/timeline";
/// The path of the page that ends a buyer's e-mails with news: `{UNSUBSCRIBE_PATH}/{id}?token={token}`.
pub const UNSUBSCRIBE_PATH: &str = "/unsubscribe";
/// The path of public totals: `{IMPACT_PATH}/{unit}`.
pub const IMPACT_PATH: &str = "/impact";
/// The path to which shop systems send orders: `{ORDERS_PATH}/{connection}`.
pub const ORDERS_PATH: &str = "/orders";
/// The path of the health check, which also returns the version.
pub const HEALTH_PATH: &str = "/healthz";
/// The query parameter that carries the secret of a timeline URL (§2.1).
pub const EDIT_KEY_PARAMETER: &str = "edit_key";
/// The query parameter with which a timeline's form asks for e-mails with news (`on`), or ends them (`off`).
pub const NEWS_PARAMETER: &str = "news";
/// The query parameter that carries the secret of the URL that ends these e-mails.
pub const TOKEN_PARAMETER: &str = "token";
/// Maximum size of a request body: 1 MiB, enough for 5,000 pledges.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Maximum size of a stored record, and of the answer that returns it: 3 MiB. Workers KV would accept 25 MiB.
/// But all requests of an isolate share 128 MB, and each request needs several copies of its record.
pub const MAX_RECORD_BYTES: usize = 3 * 1024 * 1024;
/// The smallest possible size of a pledge in a record, in bytes. It includes every member of the contract,
/// because a record also contains members that are null.
pub const MIN_PLEDGE_BYTES: usize = 260;
/// The media type of every body of the API.
pub const JSON: &str = "application/json";

/// Header names, in the lower case that HTTP/2 and `Headers` use.
pub mod header {
    /// Carries the API key (§5.1).
    pub const AUTHORIZATION: &str = "authorization";
    /// Names the unit that a team-level key acts for (§5.4).
    pub const UNIT_ID: &str = "x-service-unit-id";
    /// Identifies a create request, so that a client can retry it safely.
    pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
    pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";
    pub const CONTENT_TYPE: &str = "content-type";
    /// The coding of the body. The service accepts only `identity`.
    pub const CONTENT_ENCODING: &str = "content-encoding";
    pub const CONTENT_LENGTH: &str = "content-length";
    /// How long to wait before the next attempt: seconds or an HTTP date.
    pub const RETRY_AFTER: &str = "retry-after";
    /// The tags of the versions that the caller has.
    pub const IF_NONE_MATCH: &str = "if-none-match";
    pub const ACCEPT_LANGUAGE: &str = "accept-language";
    /// The address that a request comes from. The platform sets this header, and callers cannot.
    pub const CF_CONNECTING_IP: &str = "cf-connecting-ip";
    /// The zone of the Worker that sends a request. The platform sets this header on requests of Workers.
    pub const CF_WORKER: &str = "cf-worker";
    /// The origin of the page from which a browser sends the request.
    pub const ORIGIN: &str = "origin";
}
