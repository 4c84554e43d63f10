//! The operator's log: a line of JSON for an answer.

use super::{Clock, Entropy, Journal, Service};
use crate::auth::KeyHash;
use crate::http::{Request, Response};
use crate::scope::Mode;
use crate::store::{MailState, Store};
use serde::Serialize;
use std::ops::Not;

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
    /// The ID of the API key, also of one that is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The ID of the transaction that a create recorded, may have recorded, or repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<&'a str>,
    /// Whether a create was answered as an earlier one.
    #[serde(skip_serializing_if = "Not::not")]
    repeat: bool,
    /// Number of pledges whose offering the price catalogue does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced: Option<usize>,
    /// What became of the e-mail that was asked for, if it never reached the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    mail: Option<MailState>,
    /// The cause of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// The first issue of an invalid request.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The place of that issue, a JSON Pointer without the caller's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
}

impl<S: Store, C: Clock, E: Entropy> Service<'_, S, C, E> {
    /// Adds the log line to an answer that is logged: those that [`must_log`](Self::must_log) names, and a
    /// share of the others.
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
        let (journal, id) = (&self.journal, request.id());
        let issue = journal.issue.get();
        let line = Line {
            request: &id,
            version: &self.settings.version,
            route,
            status: response.status,
            ms: self.clock.now_ms().saturating_sub(began_ms),
            kv_ms: journal.waited_ms(),
            unit: journal.unit.get().map(|unit| &**unit),
            mode: journal.mode.get(),
            key: journal.key.get().map(KeyHash::id),
            transaction: journal.transaction.get().map(|id| &**id),
            repeat: journal.is_repeat.get(),
            unpriced: journal.unpriced.get(),
            mail: journal.mail.get(),
            cause,
            code: issue.map(|issue| issue.code.into()),
            pointer: issue.map(|issue| &*issue.pointer),
        };
        response.log = serde_json::to_string(&line).ok(); // it cannot fail
    }

    /// Whether an answer is logged in any case: failures, also those that the answer does not show,
    /// and creates without a price or with an e-mail that never reached the queue. Refusals are only if the
    /// API key was accepted: what strangers can send as often as they like must not cost the operator a line
    /// each.
    fn must_log(&self, status: u16, is_failure: bool) -> bool {
        let is_strangers = (400..500).contains(&status) && self.journal.mode.get().is_none();
        let Journal { unpriced, mail, .. } = &self.journal;
        unpriced.get().is_some() || mail.get().is_some() || is_failure && !is_strangers
    }
}
