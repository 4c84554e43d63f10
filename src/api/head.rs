//! What a request says besides its body, as a client encodes it.

use super::{JSON, PLEDGE_TRANSACTION_PATH, header};
use crate::auth::ApiKey;
use crate::idempotency::IdempotencyKey;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Method, path and headers of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The HTTP method.
    pub method: &'static str,
    /// Behind the base address.
    pub path: String,
    /// Name and value, ready to be sent.
    pub headers: Vec<(&'static str, String)>,
}

/// In whose name a client asks (§5): texts that fit a header.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    api_key: ApiKey<'a>,
    unit_id: Option<&'a str>,
}

/// A text that no request can carry. Says which option and what to do, and shows nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the option of the same name")]
pub enum Unfit {
    ApiKey,
    UnitId,
    IdempotencyKey,
    Id,
}

impl Unfit {
    /// What is wrong and what to do.
    pub const fn message(self) -> &'static str {
        match self {
            Unfit::ApiKey => "`apiKey` must be the key alone: ASCII characters without blanks",
            Unfit::UnitId => {
                "`unitId` must be the unit's ID alone: ASCII characters without blanks"
            }
            Unfit::IdempotencyKey => "`idempotencyKey` must be 1 to 255 printable ASCII characters",
            Unfit::Id => "`id` must be the ID of a pledge transaction, such as `ptran_…`",
        }
    }
}

impl<'a> Caller<'a> {
    /// Takes an API key and, for a team-level key, the unit that it acts for.
    ///
    /// # Errors
    /// If one of them is empty or has characters that a header cannot carry, such as a line feed.
    pub fn new(api_key: &'a str, unit_id: Option<&'a str>) -> Result<Self, Unfit> {
        let graphic =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !graphic(api_key) {
            return Err(Unfit::ApiKey);
        }
        if !unit_id.is_none_or(graphic) {
            return Err(Unfit::UnitId);
        }
        Ok(Caller { api_key: ApiKey::new(api_key), unit_id })
    }

    fn headers(self) -> Vec<(&'static str, String)> {
        let unit = self.unit_id.map(|unit| (header::UNIT_ID, unit.to_owned()));
        std::iter::once((header::AUTHORIZATION, self.api_key.authorization())).chain(unit).collect()
    }
}

/// Everything but RFC 3986's unreserved characters, so that an ID stays one segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Head {
    /// `POST /v2/pledge-transaction` (§4.1).
    pub fn create(caller: Caller<'_>, idempotency_key: Option<&IdempotencyKey>) -> Self {
        let mut headers = caller.headers();
        headers.push((header::CONTENT_TYPE, JSON.to_owned()));
        headers.extend(idempotency_key.map(|key| (header::IDEMPOTENCY_KEY, key.to_header())));
        Head { method: "POST", path: PLEDGE_TRANSACTION_PATH.to_owned(), headers }
    }

    /// `GET /v2/pledge-transaction/{id}` (§4.2).
    ///
    /// # Errors
    /// If the ID cannot be a segment of a path: empty, `.` or `..`, which even in percent-encoding
    /// mean another path.
    pub fn get(caller: Caller<'_>, id: &str) -> Result<Self, Unfit> {
        if matches!(id, "" | "." | "..") {
            return Err(Unfit::Id);
        }
        let mut path = PLEDGE_TRANSACTION_PATH.to_owned() + "/";
        path.extend(utf8_percent_encode(id, SEGMENT));
        Ok(Head { method: "GET", path, headers: caller.headers() })
    }
}
