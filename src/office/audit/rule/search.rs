//! Pages of the audit log, with filters.

use super::change::{Change, WITHDRAWN};
use super::own::{AN_OPERATOR, OwnPlaces};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::position::Position;
use crate::office::shared::rule::records::read_values;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::{
    AuditKey, ChangeNote, Key as _, KeyInfo, MAX_READS, OperatorStore, PriceListVersionKey,
    SettlementKey, decode,
};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};

/// The limits of one search with a filter: the number of list pages (1,000 entries each), and the number of
/// entries that are read.
const MAX_LISTS: usize = 5;
const MAX_READ: usize = 2_000;

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

    /// Returns whether an entry may match the filter, judged by its name and metadata alone. The change
    /// itself may still not match.
    fn may_match(&self, key: AuditKey, record: &KeyInfo) -> bool {
        let note = ChangeNote::deserialize(&record.metadata).ok();
        self.until_ms.is_none_or(|until_ms| key.time_ms() < until_ms)
            && note.is_none_or(|note| self.may_match_note(&note))
    }

    fn may_match_note(&self, note: &ChangeNote) -> bool {
        let (by, is_own) = match &self.own {
            Some(own) if note.by_shop => (&*note.by, own.may_concern(note)),
            Some(own) => (AN_OPERATOR, own.may_concern(note)),
            None => (&*note.by, true),
        };
        is_own && self.is_by(by) && self.is_of(&note.command)
    }

    fn is_too_old(&self, key: AuditKey) -> bool {
        self.since_ms.is_some_and(|since_ms| key.time_ms() < since_ms)
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
        let command = command.strip_suffix(WITHDRAWN).unwrap_or(command);
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
/// cursor from the previous page. Without it, the page begins with the newest change. Changes of the last
/// minute may be missing.
///
/// KV cost: 1 list, and 1 read per 100 changes. With a filter: at most 5 lists of 1,000 entries, and 20
/// reads.
///
/// # Errors
/// If `next` is not a cursor, or the store fails.
pub async fn page(
    store: &impl OperatorStore,
    filter: &AuditFilter,
    next: Option<&str>,
    count: usize,
) -> Result<AuditPage> {
    let position = next.map_or(Some(Position::default()), Position::parse);
    let position = position.ok_or_else(|| {
        OperatorError::invalid(
            "this is not a valid position in the audit log: start again from the newest entries"
                .to_owned(),
        )
    })?;
    let count = count.max(1);
    let mut search = Search { filter, count, position, page: AuditPage::default(), read: 0 };
    let lists = if filter.is_empty() { 1 } else { MAX_LISTS };
    let mut has_more = true;
    for _ in 0..lists {
        has_more = search.list(store).await?;
        if !has_more || search.is_full() {
            break;
        }
    }
    let next = has_more.then(|| search.position.to_string());
    Ok(AuditPage { next, ..search.page })
}

struct Search<'f> {
    filter: &'f AuditFilter,
    count: usize,
    position: Position,
    page: AuditPage,
    read: usize,
}

impl Search<'_> {
    fn is_full(&self) -> bool {
        self.page.changes.len() + self.page.damaged >= self.count || self.read >= MAX_READ
    }

    /// Searches a page of the list, from the current position on. Returns whether there may be more changes
    /// after the new position.
    async fn list(&mut self, store: &impl OperatorStore) -> Result<bool> {
        let listed = store.list(AuditKey::PREFIX, self.position.cursor.as_deref()).await?;
        let (wanted, is_last) = self.wanted(&listed.records);
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            if self.is_full() {
                return Ok(true);
            }
            let (some, others) = rest.split_at(rest.len().min(self.step()));
            if !self.read(store, some).await? {
                return Ok(true);
            }
            rest = others;
        }
        match listed.cursor.filter(|_| !is_last) {
            None => Ok(false),
            Some(cursor) => {
                self.position = self.position.next_page(Some(cursor));
                Ok(true)
            }
        }
    }

    /// Returns the number of entries to read next. A search without a filter reads only as many as the page still
    /// needs, because it shows every entry.
    fn step(&self) -> usize {
        let missing = self.count.saturating_sub(self.page.changes.len() + self.page.damaged);
        if self.filter.is_empty() { missing.clamp(1, MAX_READS) } else { MAX_READS }
    }

    /// Returns the names of the entries after the current position that may match the filter. Also returns
    /// whether all later entries in the list are too old for the filter.
    fn wanted<'l>(&self, records: &'l [KeyInfo]) -> (Vec<&'l str>, bool) {
        let mut wanted = Vec::new();
        for record in records.iter().filter(|record| self.position.is_before(&record.name)) {
            match AuditKey::parse(&record.name) {
                Some(key) if self.filter.is_too_old(key) => return (wanted, true),
                Some(key) if !self.filter.may_match(key, record) => {}
                _ => wanted.push(&*record.name),
            }
        }
        (wanted, false)
    }

    /// Reads entries, and adds the matching changes to the page. Returns `false` if the page became full
    /// before all these entries were examined.
    async fn read(&mut self, store: &impl OperatorStore, names: &[&str]) -> Result<bool> {
        let keys: Vec<_> = names.iter().filter_map(|name| AuditKey::parse(name)).collect();
        self.read += names.len();
        let mut values = read_values(store, &keys).await?.into_iter();
        for name in names {
            if self.page.changes.len() + self.page.damaged >= self.count {
                return Ok(false);
            }
            self.position = self.position.after(name);
            let value = match AuditKey::parse(name) {
                Some(_) => values.next().flatten(),
                None => Some(Vec::new()), // an entry with an invalid name counts as damaged
            };
            match value.map(|value| decode::<Change>(AuditKey::KIND, &value)) {
                Some(Ok(change)) => self.page.changes.extend(self.filter.matching(change)),
                Some(Err(_)) if self.filter.own.is_none() => self.page.damaged += 1,
                Some(Err(_)) | None => {}
            }
        }
        Ok(true)
    }
}
