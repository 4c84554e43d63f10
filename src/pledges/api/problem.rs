//! The service's error answers (§7). All statuses and texts of errors are defined here.

use super::names::{MAX_BODY_BYTES, MAX_RECORD_BYTES, header};
use serde::Serialize;
use std::borrow::Cow;
use strum::IntoStaticStr;

/// The two operations of the contract, whose error bodies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `POST /v2/pledge-transaction`
    Create,
    /// `GET /v2/pledge-transaction/{id}`
    Get,
}

/// The `error` member of the not-found body (§7). Clients recognise the error by this text.
pub const TRANSACTION_NOT_FOUND: &str = "Pledge transaction not found";

/// The `error` member of the body if the idempotency key was used with another payload. Clients recognise the
/// error by this text and the status 422.
pub const IDEMPOTENCY_KEY_REUSED: &str = "Idempotency-Key reused";

/// The body of an error (§7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody<'a> {
    pub error: Cow<'a, str>,
    /// The problem and how to solve it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'a, str>>,
    /// Whether the request was made with a live key (§5.3), if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_live: Option<bool>,
}

/// Why a request is refused or fails.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Problem {
    /// The request has no API key, or an unknown one (§7).
    Unauthorized(Operation),
    /// Too many API keys from the caller's network were refused. The key of this request was therefore not
    /// looked up.
    TooManyRefusedKeys,
    /// The request has a team's key, but does not name one of the team's units.
    UnitRequired(Operation),
    /// A live key came over plain HTTP.
    PlainHttp,
    /// The unit has no transaction with this ID in this mode (§7).
    TransactionNotFound,
    PathNotFound,
    /// The path allows only the methods of the `Allow` header.
    MethodNotAllowed(&'static str),
    /// The headers do not declare the body as JSON.
    UnsupportedMediaType,
    /// The body is longer than [`MAX_BODY_BYTES`].
    ContentTooLarge,
    /// The record would be longer than [`MAX_RECORD_BYTES`], because each pledge repeats the recipient.
    RecordTooLarge,
    /// The body ended before it was complete.
    UnreadableBody,
    /// The body is large and arrives too slowly.
    SlowBody,
    /// A shop system's order has no valid signature.
    WrongSignature,
    /// An order of a shop system could not be received within the time that the shop system waits.
    SlowReceipt,
    /// The body breaks rules of §4.1. The text lists them.
    InvalidRequest(String),
    InvalidIdempotencyKey,
    /// The idempotency key was used with another payload.
    IdempotencyKeyReused,
    /// The store could not be read. Nothing was written.
    StoreUnavailable,
    /// The store did not confirm a write, which may have taken effect nevertheless.
    WriteUnconfirmed {
        /// Whether the request has an `Idempotency-Key`.
        repeatable: bool,
    },
    /// The requests in progress already hold as many bytes as the service allows.
    Busy,
    InvalidHost,
    /// The API key's record lacks its copy of the namespace's secret, which a create request needs.
    SecretMissing,
    /// The price list cannot be read, for example because only a later release knows its currency. The text
    /// is the cause, for the log.
    PricesUnreadable(String),
    /// A setting that a create request needs is missing or invalid. The text is for the log.
    Misconfigured(&'static str),
    /// A mistake of the operator or of this program. The text is for the log, not for the caller.
    Internal(String),
}

impl Problem {
    pub const fn status(&self) -> u16 {
        match self {
            Problem::InvalidRequest(_)
            | Problem::InvalidIdempotencyKey
            | Problem::InvalidHost
            | Problem::UnreadableBody => 400,
            Problem::Unauthorized(_) | Problem::UnitRequired(_) | Problem::WrongSignature => 401,
            Problem::PlainHttp => 403,
            Problem::TransactionNotFound | Problem::PathNotFound => 404,
            Problem::MethodNotAllowed(_) => 405,
            Problem::SlowBody => 408,
            Problem::ContentTooLarge | Problem::RecordTooLarge => 413,
            Problem::UnsupportedMediaType => 415,
            Problem::IdempotencyKeyReused => 422,
            Problem::TooManyRefusedKeys => 429,
            Problem::Internal(_) => 500,
            Problem::StoreUnavailable
            | Problem::WriteUnconfirmed { .. }
            | Problem::Busy
            | Problem::SlowReceipt
            | Problem::PricesUnreadable(_)
            | Problem::Misconfigured(_)
            | Problem::SecretMissing => 503,
        }
    }

    /// Returns the cause, for the operator's log. It quotes nothing from the request.
    pub fn cause(&self) -> &str {
        match self {
            Problem::PricesUnreadable(cause) | Problem::Internal(cause) => cause,
            Problem::Misconfigured(cause) => cause,
            Problem::StoreUnavailable => "the store could not be read",
            Problem::WriteUnconfirmed { .. } => "the store did not confirm a write",
            Problem::SlowReceipt => "the order could not be kept within 4 s",
            Problem::Busy => "the requests in flight hold too many bytes",
            Problem::SecretMissing => {
                "the record of this API key lacks the secret of the namespace: make a new key with \
                 `npm run keys -- create`, which adds it, and revoke this one"
            }
            refused => refused.into(),
        }
    }

    /// Returns the additional header of this error, such as `Retry-After`, if it has one.
    ///
    /// Libraries retry automatically after an error with `Retry-After`. So the header is left out of errors
    /// after which a retry could record the request a second time.
    pub const fn header(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Problem::Unauthorized(_) | Problem::UnitRequired(_) => {
                Some(("www-authenticate", "Bearer"))
            }
            Problem::MethodNotAllowed(methods) => Some(("allow", methods)),
            Problem::StoreUnavailable
            | Problem::WriteUnconfirmed { repeatable: true }
            | Problem::Busy => Some((header::RETRY_AFTER, "1")),
            Problem::TooManyRefusedKeys => Some((header::RETRY_AFTER, "60")),
            _ => None,
        }
    }

    /// Returns whether the service is at fault, and not the request. The message of such an error contains
    /// the request's ID, with which the operator finds the cause in the log.
    pub const fn is_ours(&self) -> bool {
        self.status() >= 500
    }

    /// Returns the body. `is_live` is the mode of the key, if it is known. `request_id` is the ID that the message
    /// shows, if any.
    pub fn body(&self, is_live: Option<bool>, request_id: Option<&str>) -> ErrorBody<'_> {
        let error = Cow::Borrowed(self.error());
        let is_live = if matches!(self, Problem::PlainHttp) { Some(true) } else { is_live };
        let message = match (self, request_id) {
            (Problem::TransactionNotFound, _) => {
                return ErrorBody { error, message: None, is_live: None };
            }
            (_, None) => self.message(),
            (_, Some(id)) => format!("{} The request's ID is `{id}`.", self.message()).into(),
        };
        ErrorBody { error, message: Some(message), is_live }
    }

    const fn error(&self) -> &'static str {
        match self {
            Problem::Unauthorized(Operation::Create) | Problem::UnitRequired(Operation::Create) => {
                "true"
            }
            Problem::Unauthorized(Operation::Get) | Problem::UnitRequired(Operation::Get) => {
                "Authentication failed"
            }
            Problem::WrongSignature => "Invalid signature",
            Problem::PlainHttp => "HTTPS required",
            Problem::TransactionNotFound => TRANSACTION_NOT_FOUND,
            Problem::PathNotFound => "Not found",
            Problem::MethodNotAllowed(_) => "Method not allowed",
            Problem::UnsupportedMediaType => "Unsupported media type",
            Problem::ContentTooLarge | Problem::RecordTooLarge => "Content too large",
            Problem::InvalidRequest(_) | Problem::UnreadableBody => "Invalid request",
            Problem::SlowBody => "Request timeout",
            Problem::InvalidIdempotencyKey => "Invalid Idempotency-Key",
            Problem::IdempotencyKeyReused => IDEMPOTENCY_KEY_REUSED,
            Problem::TooManyRefusedKeys => "Too many requests",
            Problem::InvalidHost => "Invalid host",
            Problem::StoreUnavailable
            | Problem::WriteUnconfirmed { .. }
            | Problem::Busy
            | Problem::SlowReceipt
            | Problem::PricesUnreadable(_)
            | Problem::Misconfigured(_)
            | Problem::SecretMissing => "Service unavailable",
            Problem::Internal(_) => "Internal error",
        }
    }

    fn message(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Problem::Unauthorized(Operation::Create) => {
                "Not authorized. Check the API key: send it as `Authorization: Bearer <API_KEY>`."
            }
            Problem::Unauthorized(Operation::Get) => {
                "Check the API key: send it as `Authorization: Bearer <API_KEY>`."
            }
            Problem::UnitRequired(Operation::Create) => {
                "Not authorized. Check the API key: a team-level key needs the header \
                 `X-Service-Unit-Id` with the ID of one of its team's units."
            }
            Problem::UnitRequired(Operation::Get) => {
                "Check the API key: a team-level key needs the header `X-Service-Unit-Id` with \
                 the ID of one of its team's units."
            }
            Problem::PlainHttp => {
                "This live API key was sent over plain HTTP, where others can read it. Nothing was \
                 recorded. Replace the key, and send requests to an `https://` address."
            }
            Problem::TransactionNotFound | Problem::WrongSignature | Problem::SlowReceipt => "",
            Problem::PathNotFound => {
                "Nothing is at this path. The operations are `POST /v2/pledge-transaction` and \
                 `GET /v2/pledge-transaction/{id}`."
            }
            Problem::MethodNotAllowed(methods) => {
                return Cow::Owned(format!("This path takes {methods}."));
            }
            Problem::UnsupportedMediaType => {
                "Send the body as JSON: `Content-Type: application/json`, no `Content-Encoding`."
            }
            Problem::ContentTooLarge => {
                return Cow::Owned(format!(
                    "The body may have {MAX_BODY_BYTES} bytes at most. Split the pledges over \
                     several transactions."
                ));
            }
            Problem::RecordTooLarge => {
                return Cow::Owned(format!(
                    "The record may have {MAX_RECORD_BYTES} bytes at most, and each pledge of it \
                     repeats the recipient. Split the pledges over several transactions."
                ));
            }
            Problem::UnreadableBody => "The body broke off. Send the request again.",
            Problem::SlowBody => {
                "The body came too slowly, and nothing was recorded. Send the request again."
            }
            Problem::InvalidRequest(summary) => summary,
            Problem::InvalidIdempotencyKey => {
                "Send 1 to 255 printable ASCII characters, bare or in double quotes."
            }
            Problem::IdempotencyKeyReused => {
                "This key was used with another payload. Use a new key for a new transaction."
            }
            Problem::TooManyRefusedKeys => {
                "Too many API keys from this address were refused. Check the API key, and send the \
                 request again in a minute."
            }
            Problem::StoreUnavailable => {
                "The records could not be read, and nothing was recorded. Send the request again \
                 in a moment."
            }
            Problem::WriteUnconfirmed { repeatable: true } => {
                "The transaction may have been recorded. Repeat the request with the same \
                 Idempotency-Key: it is recorded only once."
            }
            Problem::WriteUnconfirmed { repeatable: false } => {
                "The transaction may have been recorded, and a repeat may record it twice. To be \
                 able to repeat safely, send an Idempotency-Key."
            }
            Problem::Busy => {
                "The service holds too many requests at once, and nothing was recorded. Send the \
                 request again in a moment."
            }
            Problem::PricesUnreadable(_) => {
                "The prices could not be read, and nothing was recorded. Send the request again later."
            }
            Problem::SecretMissing => {
                "This API key cannot create transactions, and nothing was recorded. Ask the operator \
                 of the service for a new key."
            }
            Problem::Misconfigured(_) => {
                "A setting of the service is missing or invalid, and nothing was recorded. Ask the \
                 operator of the service."
            }
            Problem::InvalidHost => {
                "The `Host` header must be a host name and perhaps a port: timeline addresses \
                 begin with it."
            }
            Problem::Internal(_) => "Something is wrong on our side. Send the request again later.",
        })
    }
}
