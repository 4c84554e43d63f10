//! The head of a request, as a client sends it.

use super::names::{JSON, PLEDGE_TRANSACTION_PATH, header};
use crate::pledges::auth::ApiKey;
use crate::pledges::idempotency::IdempotencyKey;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use strum::IntoStaticStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    pub method: &'static str,
    /// The path, relative to the base address.
    pub path: String,
    /// The name and value of each header, ready to be sent.
    pub headers: Vec<(&'static str, String)>,
}

/// The API key and the unit of a request (§5). Both have been checked and can be sent in headers.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    api_key: ApiKey<'a>,
    unit_id: Option<&'a str>,
}

/// An argument that cannot be sent. The error message does not quote the argument's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum InvalidArgument {
    #[strum(to_string = "`apiKey` must be the key alone: ASCII characters without blanks")]
    ApiKey,
    #[strum(to_string = "`unitId` must be the unit's ID alone: ASCII characters without blanks")]
    UnitId,
    #[strum(
        to_string = "`idempotencyKey` must be 1 to 255 printable ASCII characters: pass other characters through `encodeURIComponent`"
    )]
    IdempotencyKey,
    #[strum(to_string = "`id` must be the ID of a pledge transaction, such as `ptran_…`")]
    Id,
}

impl<'a> Credentials<'a> {
    /// Checks an API key and, for a team-level key, the unit that it acts for.
    ///
    /// # Errors
    /// If the API key or the unit's ID is empty, or has characters that a header cannot carry, such as a line feed.
    pub fn new(api_key: &'a str, unit_id: Option<&'a str>) -> Result<Self, InvalidArgument> {
        let graphic =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !graphic(api_key) {
            return Err(InvalidArgument::ApiKey);
        }
        if !unit_id.is_none_or(graphic) {
            return Err(InvalidArgument::UnitId);
        }
        Ok(Credentials { api_key: ApiKey::new(api_key), unit_id })
    }

    fn headers(self) -> Vec<(&'static str, String)> {
        let mut headers = vec![(header::AUTHORIZATION, self.api_key.authorization())];
        headers.extend(self.unit_id.map(|unit| (header::UNIT_ID, unit.to_owned())));
        headers
    }
}

/// The characters that are percent-encoded in a path segment: all except RFC 3986's unreserved ones. An
/// encoded ID thus stays one segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl RequestHead {
    /// Makes the head of `POST /v2/pledge-transaction` (§4.1).
    pub fn create(credentials: Credentials<'_>, idempotency_key: Option<&IdempotencyKey>) -> Self {
        let mut headers = credentials.headers();
        headers.push((header::CONTENT_TYPE, JSON.to_owned()));
        headers.extend(idempotency_key.map(|key| (header::IDEMPOTENCY_KEY, key.to_header())));
        RequestHead { method: "POST", path: PLEDGE_TRANSACTION_PATH.to_owned(), headers }
    }

    /// Makes the head of `GET /v2/pledge-transaction/{id}` (§4.2).
    ///
    /// # Errors
    /// If the ID cannot be a path segment: it is empty, `.` or `..`. The last two mean another path even if
    /// they are percent-encoded.
    pub fn get(credentials: Credentials<'_>, id: &str) -> Result<Self, InvalidArgument> {
        if matches!(id, "" | "." | "..") {
            return Err(InvalidArgument::Id);
        }
        let mut path = PLEDGE_TRANSACTION_PATH.to_owned() + "/";
        path.extend(utf8_percent_encode(id, SEGMENT));
        Ok(RequestHead { method: "GET", path, headers: credentials.headers() })
    }
}
