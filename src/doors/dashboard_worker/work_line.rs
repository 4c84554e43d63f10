//! The log lines of the cron's works.

use crate::office::shared::rule::error::{OperatorError, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use worker::{console_error, console_log};

/// A line such as `{"totals":"write","written":2,"removed":0}`; with a `cause` if the work failed.
#[derive(Serialize)]
struct WorkLine<T> {
    #[serde(flatten)]
    work: BTreeMap<&'static str, &'static str>,
    #[serde(flatten)]
    done: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

/// Logs what a work did: as an error if it failed, and not at all if it was idle. `name` and `verb` begin the line.
pub fn log_work<T: Default + Serialize>(
    (name, verb): (&'static str, &'static str),
    outcome: Result<T>,
    is_idle: impl FnOnce(&T) -> bool,
) {
    let cause = outcome.as_ref().err().map(OperatorError::to_string);
    let line =
        WorkLine { work: BTreeMap::from([(name, verb)]), done: outcome.unwrap_or_default(), cause };
    let text = serde_json::to_string(&line).unwrap_or_default(); // cannot fail
    match line.cause {
        Some(_) => console_error!("{text}"),
        None if is_idle(&line.done) => {}
        None => console_log!("{text}"),
    }
}
