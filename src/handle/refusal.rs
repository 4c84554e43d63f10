//! Why a request is refused, and the mode of its key.

use crate::api::Problem;
use crate::http::Response;

/// A problem, and the mode of the key if it is known by then (§5.3).
pub struct Refusal {
    problem: Problem,
    is_live: Option<bool>,
}

impl Problem {
    pub(super) fn with_mode(self, is_live: bool) -> Refusal {
        Refusal { problem: self, is_live: Some(is_live) }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Refusal { problem, is_live: None }
    }
}

impl<V> From<Refusal> for Response<V> {
    fn from(refusal: Refusal) -> Self {
        Response::problem(&refusal.problem, refusal.is_live)
    }
}
