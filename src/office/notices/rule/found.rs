//! Finds what there is to tell.

use super::super::rows::notices::NoticeKind;
use crate::office::mails::rule::recent_failures;
use crate::office::orders::rule::TransactionFilter;
use crate::office::payments::rows::scope_months::{MonthFilter, scope_months};
use crate::office::payments::rule::due::{money, zero};
use crate::office::payments::rule::due_months::{DueFilter, due_months};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::coverage_of_dues;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::Pages;
use crate::office::shops::rows::scopes;
use crate::office::system::rule::epoch;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::service::Clock;
use crate::pledges::settlement::Month;
use crate::pledges::store::{FailedMailKey, OperatorStore};
use crate::pledges::time::{DAY_MS, date_time, day_of};
use crate::pledges::types::TransactionId;
use std::collections::BTreeMap;
use std::iter::successors;

pub(super) const HOUR_MS: u64 = 60 * 60_000;
/// A problem of the ledger is told if it is still there after this time.
pub(super) const LASTING_MINUTES: u64 = 60;
/// A month and its statements are told during this many days after the month counts as ended.
const MONTH_DAYS: u64 = 7;
/// Number of units on a page of statements, and the maximum number of pages: 20,000 units.
const PAGE: usize = 1_000;
const MAX_PAGES: usize = 20;
/// Number of units on a page of what is owed, and the maximum number of pages: 1,000 units. A page costs 8 queries.
const OWED_PAGE: usize = 200;
const MAX_OWED_PAGES: usize = 5;
/// Maximum number of list pages of failures of a day: 10,000 failures.
const MAX_LISTS: usize = 10;

/// What there is to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// What units owe for a month: their number, the sum for each currency, and whether there may be more.
    Month { month: Month, count: u64, sums: Vec<(String, String)>, has_more: bool },
    /// The units with a statement for a month.
    Statements { month: Month, units: Vec<String> },
    /// The units whose e-mails or messages failed on a day, with their number.
    Bounces { day: String, units: BTreeMap<String, u64> },
    /// The number of e-mails and messages that failed and can be sent again, and whether there may be more.
    Failures { count: u64, has_more: bool },
    /// The problem of the ledger, as a sentence without a capital letter and a full stop.
    Ledger { problem: String },
}

impl Found {
    /// Returns the units that it is about; `None` if it is for the people of a role.
    pub fn units(&self) -> Option<Vec<&str>> {
        match self {
            Found::Statements { units, .. } => Some(units.iter().map(String::as_str).collect()),
            Found::Bounces { units, .. } => Some(units.keys().map(String::as_str).collect()),
            Found::Month { .. } | Found::Failures { .. } | Found::Ledger { .. } => None,
        }
    }
}

/// Returns the day or the month that an e-mail of this kind is about now; `None` if this kind is not sent now.
///
/// The failures of a day are told an hour after its end: until then, Workers KV may not show all of them.
pub(super) fn period(kind: NoticeKind, now_ms: u64) -> Option<String> {
    let day = |ms| day_of(&date_time(ms)).to_owned();
    match kind {
        NoticeKind::Month | NoticeKind::Statement => ended_month(now_ms).map(|it| it.to_string()),
        NoticeKind::Bounces => Some(day(now_ms.checked_sub(DAY_MS + HOUR_MS)?)),
        NoticeKind::Failures | NoticeKind::Ledger => Some(day(now_ms)),
    }
}

/// Returns the month that ended in the last [`MONTH_DAYS`] days.
fn ended_month(now_ms: u64) -> Option<Month> {
    let mut back = successors(Month::at(now_ms), |month| month.previous());
    let ended = back.find(|month| month.has_ended(now_ms))?;
    (now_ms < ended.ended_ms().saturating_add(MONTH_DAYS * DAY_MS)).then_some(ended)
}

/// Finds what an e-mail of this kind tells about its [`period`]; `None` if there is nothing to tell.
///
/// # Errors
/// If the ledger or the store fails, or the ledger has lost rows or does not keep the month.
pub(super) async fn found(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    kind: NoticeKind,
    period: &str,
) -> Result<Option<Found>> {
    match (kind, Month::parse(period)) {
        (NoticeKind::Month, Some(month)) => owed(store, ledger, clock.now_ms(), month).await,
        (NoticeKind::Statement, Some(month)) => statements(store, ledger, month).await,
        (NoticeKind::Month | NoticeKind::Statement, None) => Ok(None),
        (NoticeKind::Bounces, _) => bounces(store, ledger, period).await,
        (NoticeKind::Failures, _) => {
            let recent = recent_failures(store, clock).await?;
            let failures = Found::Failures { count: recent.count, has_more: recent.has_more };
            Ok((recent.count > 0).then_some(failures))
        }
        (NoticeKind::Ledger, _) => {
            let health = epoch::health(store, ledger, clock.now_ms()).await?;
            Ok(health.problem.map(|problem| Found::Ledger { problem }))
        }
    }
}

async fn owed(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
    month: Month,
) -> Result<Option<Found>> {
    let scopes = TransactionFilter { unit: None, mode: Some(Mode::Live) };
    let filter = DueFilter { scopes, month: Some(month), is_paid: Some(false) };
    let (mut count, mut sums, mut after) = (0, BTreeMap::<String, Decimal>::new(), None);
    for _ in 0..MAX_OWED_PAGES {
        let page = due_months(store, ledger, now_ms, &filter, after.as_ref(), OWED_PAGE).await?;
        let owing: Vec<_> = page.months.iter().filter(|usage| usage.owes()).collect();
        count += owing.len() as u64;
        for due in owing.iter().flat_map(|usage| &usage.sums).filter(|due| due.is_owed()) {
            let sum = sums.entry(due.currency_code.clone()).or_insert_with(zero);
            *sum = Decimal::sum([sum.clone(), money(&due.due)].into_iter());
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let sums = sums.into_iter().map(|(currency, sum)| (currency, sum.to_money())).collect();
    let has_more = after.is_some();
    Ok((count > 0).then_some(Found::Month { month, count, sums, has_more }))
}

async fn statements(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    month: Month,
) -> Result<Option<Found>> {
    coverage_of_dues(store, ledger, None).await?.check(month)?;
    let filter =
        MonthFilter { mode: Some(Mode::Live), months: vec![month], ..MonthFilter::default() };
    let (mut units, mut after) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = scope_months(ledger, &filter, after.as_ref(), PAGE).await?;
        units.extend(page.iter().map(|of| of.scope.unit.clone()));
        after = page.into_iter().nth(PAGE - 1);
        if after.is_none() {
            break;
        }
    }
    Ok((!units.is_empty()).then_some(Found::Statements { month, units }))
}

/// Counts the failures of a day by unit. The ID of a transaction begins with a prefix that its unit determines, so that no
/// transaction is read.
async fn bounces(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    day: &str,
) -> Result<Option<Found>> {
    let (mut failed, mut pages) = (Vec::new(), Pages::new(store, FailedMailKey::day_prefix(day)));
    for _ in 0..MAX_LISTS {
        let Some(page) = pages.next().await? else { break };
        let ids = page.iter().filter_map(|record| Some(FailedMailKey::parse(&record.name)?.1));
        failed.extend(ids.map(TransactionId::into_string));
    }
    if failed.is_empty() {
        return Ok(None);
    }
    failed.sort_unstable();
    let mut units = BTreeMap::new();
    for Scope { unit, mode } in scopes::scopes(ledger, Some(Mode::Live), None).await? {
        let prefix = TransactionId::scope_prefix(&Scope { unit: unit.clone(), mode });
        let first = failed.partition_point(|id| *id < prefix);
        let own = failed.iter().skip(first).take_while(|id| id.starts_with(&prefix)).count();
        if own > 0 {
            units.insert(unit, own as u64);
        }
    }
    let day = day.to_owned();
    Ok((!units.is_empty()).then_some(Found::Bounces { day, units }))
}
