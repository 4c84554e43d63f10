//! Pages of the audit log, with filters.

use super::change::Change;
use super::notes;
use super::own::OwnPlaces;
use crate::office::audit::rows;
use crate::office::audit::rows::AuditRow;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::{
    AuditKey, Key as _, OperatorStore, PriceListVersionKey, SettlementKey, decode,
};
use crate::pledges::types::TransactionId;
use serde::Serialize;

/// The limits of one search with a filter: the number of queries, and of entries that each returns.
const MAX_QUERIES: usize = 5;
const MAX_ROWS: usize = 1_000;
/// Largest size of a cursor, in bytes.
const MAX_CURSOR_BYTES: usize = 512;

/// Selects changes of the audit log. A member that is `None` selects all changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only changes by people whose name contains this text, whatever its case.
    pub by: Option<String>,
    /// Only changes by this command, such as `keys revoke`, or by the commands of this group, such as `keys`.
    pub command: Option<String>,
    /// Only changes that concern the unit or the team with this ID.
    pub shop: Option<String>,
    /// Only changes that concern these units and teams. The names of operators, and of people outside
    /// these units and teams, are hidden. Entries that cannot be read are left out.
    pub own: Option<OwnPlaces>,
    /// Only changes at or after this time, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Only changes before this time, in milliseconds since 1970.
    pub until_ms: Option<u64>,
}

impl AuditFilter {
    fn is_empty(&self) -> bool {
        *self == AuditFilter::default()
    }

    fn is_too_old(&self, key: AuditKey) -> bool {
        self.since_ms.is_some_and(|since_ms| key.time_ms() < since_ms)
    }

    fn is_too_new(&self, key: AuditKey) -> bool {
        self.until_ms.is_some_and(|until_ms| key.time_ms() >= until_ms)
    }

    /// Returns the change as the search shows it; `None` if the change does not match the filter.
    fn matching(&self, change: Change) -> Option<Change> {
        let change = match &self.own {
            Some(own) => own.own_part(change)?,
            None => change,
        };
        self.matches(&change).then_some(change)
    }

    fn matches(&self, change: &Change) -> bool {
        self.is_by(&change.by)
            && self.is_of(&change.command)
            && self.shop.as_deref().is_none_or(|shop| concerns(change, shop))
    }

    fn is_by(&self, name: &str) -> bool {
        let wanted = self.by.as_ref().map(|by| by.to_lowercase());
        wanted.is_none_or(|wanted| name.to_lowercase().contains(&wanted))
    }

    fn is_of(&self, command: &str) -> bool {
        self.command.as_deref().is_none_or(|wanted| {
            let rest = command.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

/// Returns whether a change concerns the unit or the team with this ID. A unit's transactions are recognised
/// by the common prefix of their IDs.
fn concerns(change: &Change, shop: &str) -> bool {
    let prefix = |mode| TransactionId::scope_prefix(&Scope { mode, unit: shop.to_owned() });
    let prefixes = [Mode::Test, Mode::Live].map(prefix);
    let is_shop = |text: &String| {
        text == shop
            || SettlementKey::parse(text).is_some_and(|of| of.scope.unit == shop)
            || PriceListVersionKey::parse(text).is_some_and(|version| version.of.unit == Some(shop))
            || prefixes.iter().any(|prefix| text.starts_with(prefix))
    };
    change.of.as_ref().map(KeyLevel::id) == Some(shop) || change.on.iter().any(is_shop)
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditPage {
    /// The changes, newest first.
    pub changes: Vec<Change>,
    /// Number of entries of the page that cannot be read.
    pub damaged: usize,
    /// The cursor of the next page, which has older changes; `None` on the last page. A search that reached
    /// its limit also has a cursor, even if it found fewer changes than requested.
    pub next: Option<String>,
}

/// Returns a page of at most `count` changes that match the filter; a `count` of 0 means 1. `next` is the
/// cursor from the previous page. Without it, the page begins with the newest change. Changes of keys in the last
/// minute may be missing.
///
/// Ledger cost: 2 queries, with a filter at most 6. KV cost: 1 list, and 1 read if the cron has not brought in all
/// entries.
///
/// # Errors
/// If `next` is not a cursor, or the store or the ledger fails.
pub async fn page(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    filter: &AuditFilter,
    next: Option<&str>,
    count: usize,
) -> Result<AuditPage> {
    let mut search = Search { filter, count: count.max(1), page: AuditPage::default() };
    let most = if filter.is_empty() { search.count.saturating_add(1) } else { MAX_ROWS };
    let mut log = Log::new(store, ledger, cursor(next)?).await?;
    for _ in 0..MAX_QUERIES {
        let Some(rows) = log.next(most).await? else { return Ok(search.page) };
        for row in rows {
            match search.add(&row) {
                Found::Next => log.after = row.name,
                Found::Full => return Ok(search.ended_at(log.after)),
                Found::TooOld => return Ok(search.page),
            }
        }
    }
    Ok(search.ended_at(log.after))
}

/// Returns the change with this entry in the ledger; `None` if there is none, or it cannot be read. One query.
pub(crate) async fn change_named(ledger: &dyn Ledger, key: AuditKey) -> Result<Option<Change>> {
    let row = rows::get(ledger, &key.name()).await?;
    Ok(row.and_then(|row| decode(AuditKey::KIND, row.content.as_bytes()).ok()))
}

fn cursor(next: Option<&str>) -> Result<String> {
    let text = next.unwrap_or_default();
    let is_plain =
        text.len() <= MAX_CURSOR_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || (is_plain && text.starts_with(AuditKey::PREFIX)) {
        return Ok(text.to_owned());
    }
    Err(OperatorError::invalid(
        "this is not a valid position in the audit log: start again from the newest entries"
            .to_owned(),
    ))
}

/// Reads the entries of the ledger together with those that are only in Workers KV.
struct Log<'l> {
    ledger: &'l dyn Ledger,
    pending: Vec<AuditRow>,
    /// The name of the last entry that was read.
    after: String,
    is_at_end: bool,
}

impl<'l> Log<'l> {
    async fn new(
        store: &impl OperatorStore,
        ledger: &'l dyn Ledger,
        after: String,
    ) -> Result<Self> {
        let pending = notes::pending(store, ledger).await?;
        Ok(Log { ledger, pending, after, is_at_end: false })
    }

    /// Returns the next entries, newest first; `None` after the last ones.
    async fn next(&mut self, most: usize) -> Result<Option<Vec<AuditRow>>> {
        if self.is_at_end {
            return Ok(None);
        }
        let mut rows = rows::page(self.ledger, &self.after, most).await?;
        self.is_at_end = rows.len() < most;
        let last = rows.last().filter(|_| !self.is_at_end).map(|row| row.name.clone());
        let is_here = |row: &&AuditRow| {
            row.name > self.after && last.as_ref().is_none_or(|last| row.name < *last)
        };
        rows.extend(self.pending.iter().filter(is_here).cloned());
        rows.sort_unstable();
        rows.dedup_by(|a, b| a.name == b.name); // brought in meanwhile
        Ok(Some(rows))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Next,
    Full,
    TooOld,
}

struct Search<'f> {
    filter: &'f AuditFilter,
    count: usize,
    page: AuditPage,
}

impl Search<'_> {
    fn ended_at(self, after: String) -> AuditPage {
        AuditPage { next: Some(after), ..self.page }
    }

    fn add(&mut self, row: &AuditRow) -> Found {
        let key = AuditKey::parse(&row.name);
        if key.is_some_and(|key| self.filter.is_too_old(key)) {
            return Found::TooOld;
        }
        if self.page.changes.len() + self.page.damaged >= self.count {
            return Found::Full;
        }
        if key.is_some_and(|key| self.filter.is_too_new(key)) {
            return Found::Next;
        }
        match decode::<Change>(AuditKey::KIND, row.content.as_bytes()) {
            Ok(change) => self.page.changes.extend(self.filter.matching(change)),
            Err(_) => self.page.damaged += usize::from(self.filter.own.is_none()),
        }
        Found::Next
    }
}
