//! The operator's log: a line of JSON for an answer.

use super::Service;
use super::ports::{Clock, Entropy};
use crate::api::header;
use crate::http::{Request, Response};
use crate::scope::Mode;
use crate::store::Store;
use serde::Serialize;

/// The line of an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    /// The ID of the request, which the answer has, too.
    request: &'a str,
    /// The deployed version.
    version: &'a str,
    /// Method and path, with a name for what differs from request to request.
    route: &'static str,
    status: u16,
    ms: u64,
    /// Of these, how many the store was waited for.
    kv_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// The ID of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// How many of the pledges have an offering that the price catalogue does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced: Option<usize>,
    /// Why it is no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Gives an answer that is logged its line, and the request's ID, so that a caller and the
    /// operator can speak of the same one: the platform's, else a random one. All failures are
    /// logged, also those that an answer does without, and creates without a price; other successes
    /// as often as the settings say.
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
        let caller = self.journal.caller();
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
        response.log = serde_json::to_string(&line).ok(); // none of it can fail
        response.request_id = Some(id);
    }
}
