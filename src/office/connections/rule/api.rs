//! The service's API, to which the pledges of orders are sent like those of any shop.

use serde::Deserialize;

/// Sends create requests (§4.1) to the service.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait PledgeApi {
    /// Sends a create request. Returns `None` if there is no answer. The pledge may be recorded then.
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer>;
}

/// The answer to a create request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// What an answer says about the pledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The ID of the transaction.
    Yes(String),
    /// The API key was revoked, which ends the connection.
    Revoked,
    /// The service will never record this request. The text says why.
    No(String),
    /// The service may record the request, or has recorded it, when it is sent again. The text says what it answered.
    Unknown(String),
}

impl Recorded {
    fn unknown(status: u16) -> Self {
        Recorded::Unknown(format!(
            "the service answered {status}, and the order is sent to it again"
        ))
    }
}

#[derive(Deserialize)]
struct Created {
    id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    message: String,
}

impl ApiAnswer {
    pub(super) fn recorded(&self) -> Recorded {
        match self.status {
            200 => match serde_json::from_slice::<Created>(&self.body) {
                Ok(created) => Recorded::Yes(created.id),
                Err(_) => Recorded::unknown(200),
            },
            401 => Recorded::Revoked,
            422 => Recorded::No(
                "the order was pledged before, with other content, and stays as it was pledged"
                    .to_owned(),
            ),
            400 | 413 => Recorded::No(self.message()),
            status => Recorded::unknown(status),
        }
    }

    fn message(&self) -> String {
        serde_json::from_slice::<Refused>(&self.body).unwrap_or_default().message
    }
}
