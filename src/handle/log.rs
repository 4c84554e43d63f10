//! The operator's log: a line of JSON for an answer.

use super::{Clock, Entropy, Service};
use crate::api::header;
use crate::http::{Request, Response};
use crate::scope::Mode;
use crate::store::Store;
use serde::Serialize;

/// The line of an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    /// The ID of the request, which the answer has as well.
    request: &'a str,
    /// The deployed version.
    version: &'a str,
    /// Method and path, with placeholders.
    route: &'static str,
    status: u16,
    ms: u64,
    /// The part of `ms` that was spent waiting for the store.
    kv_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// The ID of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Number of pledges whose offering the price catalogue does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced: Option<usize>,
    /// The cause of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Adds the log line to an answer that is logged, and an ID that caller and operator can name it
    /// by: the platform's, else a random one. Logged are all failures, also those that the answer
    /// does not show, creates without a price, and a share of the other successes.
    pub(super) fn log(
        &self,
        request: &impl Request,
        route: &'static str,
        began_ms: u64,
        response: &mut Response<S::Value>,
    ) {
        let cause = response.log.take();
        let unpriced = self.journal.unpriced.get();
        let is_failure = cause.is_some() || unpriced.is_some();
        if !is_failure && !self.settings.draws_log_line(self.entropy) {
            return;
        }
        let id = request.header(header::CF_RAY).unwrap_or_else(|| {
            let mut random = [0; 8];
            self.entropy.fill(&mut random);
            base16ct::lower::encode_string(&random)
        });
        let caller = self.journal.caller.get();
        let line = Line {
            request: &id,
            version: &self.settings.version,
            route,
            status: response.status,
            ms: self.clock.now_ms().saturating_sub(began_ms),
            kv_ms: self.journal.waited_ms(),
            unit: caller.map(|(_, scope)| &*scope.unit),
            mode: caller.map(|(_, scope)| scope.mode),
            key: caller.map(|(key, _)| key.id()),
            unpriced,
            cause,
        };
        response.log = serde_json::to_string(&line).ok(); // it cannot fail
        response.request_id = Some(id);
    }
}
