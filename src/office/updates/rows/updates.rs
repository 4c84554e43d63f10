//! Updates: news about the pledges of an offering and month, which buyers' timelines show. The rows are the system of
//! record; the records in Workers KV are compiled from them.

use crate::buyer::updates::Update;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pledges {
    /// Test or live.
    pub mode: Mode,
    pub month: Month,
    pub offering: String,
}

/// Whether timelines show an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum UpdateState {
    /// Not published yet.
    Draft,
    /// Shown on timelines.
    Published,
    /// Not shown any more.
    Withdrawn,
}

impl UpdateState {
    /// Returns `draft`, `published` or `withdrawn`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateRow {
    pub id: String,
    pub pledges: Pledges,
    pub state: UpdateState,
    /// What timelines show.
    pub update: Update,
    /// The ID of the fulfilment that the update was made from.
    #[serde(default)]
    pub fulfilment: Option<String>,
    /// Counts the changes, from 1.
    pub revision: u64,
    /// The hash of the operation that made the last change.
    pub operation: String,
    pub by: String,
    /// When the update was added, an RFC 3339 date-time.
    pub at: String,
    pub changed_by: String,
    /// When the last change was made, an RFC 3339 date-time.
    pub changed_at: String,
}

/// Returns an update; `None` if there is none with this ID. One query.
pub async fn get(ledger: &dyn Ledger, id: &str) -> Result<Option<UpdateRow>> {
    Ok(ask(ledger, &Get { id }).await?.pop().map(Row::into_update))
}

/// Returns the update that was made from a fulfilment; `None` if there is none. Ledger cost: 1 query.
pub async fn of_fulfilment(ledger: &dyn Ledger, fulfilment: &str) -> Result<Option<UpdateRow>> {
    Ok(ask(ledger, &OfFulfilment { fulfilment }).await?.pop().map(Row::into_update))
}

/// Selects updates. A member that is `None` selects all.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UpdateFilter<'a> {
    /// Test or live.
    pub mode: Option<Mode>,
    /// The months of the pledges.
    pub months: &'a [Month],
    pub offering: Option<&'a str>,
}

/// Returns at most `most` updates. They are sorted by month (newest first), mode, offering, and date (newest first).
/// One query.
pub async fn list(
    ledger: &dyn Ledger,
    filter: &UpdateFilter<'_>,
    most: usize,
) -> Result<Vec<UpdateRow>> {
    let rows = ask(ledger, &List { filter, most }).await?;
    Ok(rows.into_iter().map(Row::into_update).collect())
}

#[derive(Deserialize)]
pub(crate) struct Row {
    id: String,
    pledges: Pledges,
    state: UpdateState,
    update: Update,
    fulfilment: Option<String>,
    revision: u64,
    operation: String,
    by: String,
    at: u64,
    changer: String,
    changed: u64,
}

impl Row {
    pub fn into_update(self) -> UpdateRow {
        let Row { id, pledges, state, update, fulfilment, revision, operation, by, .. } = self;
        let (at, changed_at) = (date_time(self.at), date_time(self.changed));
        let changed_by = self.changer;
        UpdateRow {
            id,
            pledges,
            state,
            update,
            fulfilment,
            revision,
            operation,
            by,
            at,
            changed_by,
            changed_at,
        }
    }
}

/// SQL for a row of the table `updates`, as JSON.
macro_rules! update {
    () => {
        "json_object('id', id, 'pledges', json_object('mode', mode, 'month', month, 'offering', offering), 'state', state,
  'update', json(content), 'fulfilment', fulfilment, 'revision', revision, 'operation', operation, 'by', author, 'at', at,
  'changer', changer, 'changed', changed)"
    };
}

#[derive(Serialize)]
pub(crate) struct Get<'a> {
    pub id: &'a str,
}

impl Query for Get<'_> {
    type Row = Row;
    const SQL: &'static str =
        concat!("SELECT ", update!(), " FROM updates WHERE id = ?1 ->> '$.id'");
}

#[derive(Serialize)]
struct OfFulfilment<'a> {
    fulfilment: &'a str,
}

impl Query for OfFulfilment<'_> {
    type Row = Row;
    const SQL: &'static str =
        concat!("SELECT ", update!(), " FROM updates WHERE fulfilment = ?1 ->> '$.fulfilment'");
}

#[derive(Serialize)]
struct List<'a> {
    filter: &'a UpdateFilter<'a>,
    most: usize,
}

impl Query for List<'_> {
    type Row = Row;
    const SQL: &'static str = concat!(
        "SELECT ",
        update!(),
        " FROM updates WHERE month IN (SELECT value FROM json_each(?1, '$.filter.months'))
  AND (?1 ->> '$.filter.mode' IS NULL OR mode = ?1 ->> '$.filter.mode')
  AND (?1 ->> '$.filter.offering' IS NULL OR offering = ?1 ->> '$.filter.offering')
ORDER BY month DESC, mode, offering, day DESC, at DESC, id LIMIT ?1 ->> '$.most'"
    );
}
