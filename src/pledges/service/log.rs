//! The operator's log: one line of JSON per logged answer.

use super::{Clock, Entropy, Recipients, RequestLog, Service};
use crate::pledges::auth::KeyHash;
use crate::pledges::http::{Request, Response};
use crate::pledges::scope::Mode;
use crate::pledges::store::{MailState, Store};
use crate::pledges::types::NotificationService;
use serde::Serialize;
use std::ops::Not;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogLine<'a> {
    /// The request's ID, which the answer also has.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The ID of the transaction that a create request recorded, may have recorded, or replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<&'a str>,
    /// Whether the answer is an idempotent replay.
    #[serde(skip_serializing_if = "Not::not")]
    repeat: bool,
    /// Number of pledges whose offering is not on the price list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced: Option<usize>,
    /// `unsent` if the message of a requested e-mail never reached the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    mail: Option<MailState>,
    /// The requested messaging services whose message never reached the queue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unsent: Vec<NotificationService>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The JSON Pointer to the value with the first issue, without the caller's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
}

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Adds the log line to an answer. An answer for which [`must_log`](Self::must_log) returns true is
    /// always logged. A random share of all other answers is logged.
    pub(super) fn log(
        &self,
        request: &impl Request,
        route: &'static str,
        began_ms: u64,
        response: &mut Response<S::Value>,
    ) {
        let cause = response.log.take();
        let must_log = self.must_log(response.status, cause.is_some());
        if !must_log && !self.settings.draws_log_line(self.entropy) {
            return;
        }
        let (request_log, id) = (&self.request_log, request.id());
        let (issue, unsent) = (request_log.issue.get(), request_log.unsent.borrow());
        let line = LogLine {
            request: &id,
            version: &self.settings.version,
            route,
            status: response.status,
            ms: self.clock.now_ms().saturating_sub(began_ms),
            kv_ms: request_log.waited_ms(),
            unit: request_log.unit.get().map(|unit| &**unit),
            mode: request_log.mode.get(),
            key: request_log.key.get().map(KeyHash::id),
            transaction: request_log.transaction.get().map(|id| &**id),
            repeat: request_log.is_repeat.get(),
            unpriced: request_log.unpriced.get(),
            mail: unsent.iter().any(NotificationService::is_email).then_some(MailState::Unsent),
            unsent: unsent.iter().filter(|service| !service.is_email()).copied().collect(),
            cause,
            code: issue.map(|issue| issue.code.into()),
            pointer: issue.map(|issue| &*issue.pointer),
        };
        response.log = serde_json::to_string(&line).ok(); // never fails
    }

    /// Returns whether an answer is always logged. This is so for:
    ///
    /// - failures, including those that the answer does not show;
    /// - create requests with an unpriced pledge;
    /// - create requests whose notification never reached the queue.
    ///
    /// Refused requests count as failures only if their API key was accepted. Otherwise, strangers could make
    /// the operator pay for any number of log lines.
    fn must_log(&self, status: u16, is_failure: bool) -> bool {
        let is_strangers = (400..500).contains(&status) && self.request_log.mode.get().is_none();
        let RequestLog { unpriced, unsent, .. } = &self.request_log;
        let has_unsent = !unsent.borrow().is_empty();
        unpriced.get().is_some() || has_unsent || is_failure && !is_strangers
    }
}
