//! Selects the failed notifications of a step.

use super::group::{Failure, FailureGroup, with_cause};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::position::Position;
use crate::pledges::store::{FailedMailKey, Key as _, MAX_READS, OperatorStore};
use crate::pledges::types::NotificationService;
use serde::Serialize;

/// Selects the failed notifications of one step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BatchQuery {
    /// The UTC day of the failures, such as `2026-11-21`; `None` for all days.
    pub day: Option<String>,
    /// The service of the notifications; `None` for all services.
    pub service: Option<NotificationService>,
    /// Only failures of this unit with this cause.
    pub group: Option<FailureGroup>,
    /// The position at which the step begins: `next` of the previous step, or `None` for the first step.
    pub from: Option<String>,
    /// The largest number of failures in a step.
    pub count: usize,
}

/// The failures of one step.
pub(super) struct Batch {
    pub failed: Vec<Failure>,
    pub from: Position,
    /// The position after these failures; `None` if there are no others.
    pub next: Option<String>,
}

impl Batch {
    pub async fn select(store: &impl OperatorStore, query: &BatchQuery) -> Result<Self> {
        let from = query.from.as_deref().map_or(Some(Position::default()), Position::parse);
        let from = from.ok_or_else(|| OperatorError::invalid(NO_PLACE))?;
        let prefix = match &query.day {
            Some(day) => FailedMailKey::day_prefix(day),
            None => FailedMailKey::PREFIX.to_owned(),
        };
        let page = store.list(&prefix, from.cursor.as_deref()).await?;
        let records = page.records.iter().filter(|record| !record.is_tombstone());
        let failures = records.filter(|it| from.is_before(&it.name)).filter_map(Failure::parse);
        let mut failed: Vec<_> = failures.filter(|failure| query.is_about(failure)).collect();
        let mut is_cut = shorten(&mut failed, query.most_read());
        let mut end = failed.last().map(|failure| failure.name.clone());
        if let Some(group) = &query.group {
            failed = with_cause(store, failed, &group.cause).await?;
        }
        if shorten(&mut failed, query.count) {
            is_cut = true;
            end = failed.last().map(|failure| failure.name.clone());
        }
        let next = match (page.cursor, end) {
            (_, Some(end)) if is_cut => Some(from.after(&end).to_string()),
            (cursor, _) => cursor.map(|cursor| from.next_page(Some(cursor)).to_string()),
        };
        Ok(Batch { failed, from, next })
    }
}

/// Keeps the first `most` items. Returns whether there were more.
fn shorten<T>(items: &mut Vec<T>, most: usize) -> bool {
    let is_longer = items.len() > most;
    items.truncate(most);
    is_longer
}

impl BatchQuery {
    fn is_about(&self, failure: &Failure) -> bool {
        let is_of_service = self.service.is_none_or(|wanted| wanted == failure.service);
        is_of_service && self.group.as_ref().is_none_or(|group| group.has(&failure.id))
    }

    /// Returns the largest number of failures whose cause is read in a step.
    fn most_read(&self) -> usize {
        if self.group.is_some() { MAX_READS } else { self.count }
    }
}

const NO_PLACE: &str =
    "this is not a valid position in the list of failures: begin again with the first failure";
