//! The record of changes: who changed what, by which command, and when. It is written before the
//! change: if it cannot be written, nothing is changed.

use super::position::Position;
use super::{OperatorError, Pages, Result, encode, read_values};
use crate::handle::{Clock, Entropy};
use crate::store::{AuditKey, Key as _, NoMetadata, OperatorStore, Registered, decode};
use crate::time::date_time;
use serde::{Deserialize, Serialize};

/// Most bytes of a name: it is part of metadata.
const MAX_NAME_BYTES: usize = 80;

/// The person who changes records, with the ports that a change takes.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a, C, E> {
    pub(super) by: &'a str,
    pub(super) clock: &'a C,
    pub(super) entropy: &'a E,
}

/// A change. It has no secret and no personal data but the author's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When it was made, an RFC 3339 date-time.
    pub at: String,
    /// Who made it.
    pub by: String,
    /// The command, such as `keys revoke`.
    pub command: String,
    /// The IDs of what it changed, and of a payment what was marked.
    pub on: Vec<String>,
}

impl<'a, C: Clock, E: Entropy> Author<'a, C, E> {
    /// Takes a name: one line of 1 to 80 bytes.
    ///
    /// # Errors
    /// For any other text.
    pub fn new(by: &'a str, clock: &'a C, entropy: &'a E) -> Result<Self> {
        if is_line(by, MAX_NAME_BYTES) {
            return Ok(Author { by, clock, entropy });
        }
        Err(OperatorError::Invalid(format!(
            "this is not the name of who changes records: give one line of 1 to {MAX_NAME_BYTES} \
             bytes by `--by`"
        )))
    }

    /// Their name.
    pub fn by(&self) -> &str {
        self.by
    }

    /// The author and the time, for a record that is made now.
    pub(super) fn registered(&self) -> Registered {
        Registered { created: date_time(self.clock.now_ms()), by: self.by.to_owned() }
    }

    /// Writes the record of a change, which may be made once this is `Ok`.
    ///
    /// # Errors
    /// If the record may not have been kept: then leave everything as it is.
    pub async fn record(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let now_ms = self.clock.now_ms();
        let mut random = [0; AuditKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        let change = Change {
            at: date_time(now_ms),
            by: self.by.to_owned(),
            command: command.to_owned(),
            on: on.into_iter().map(Into::into).collect(),
        };
        Ok(store.put(&AuditKey::new(now_ms, random), encode(&change)?, &NoMetadata).await?)
    }
}

/// Whether a text is one line of 1 byte to so many.
pub(super) fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The changes since a time, in milliseconds since 1970, the newest first. Those of the last minute
/// may be missing.
///
/// # Errors
/// If a record is damaged, or the store fails.
pub async fn since(store: &impl OperatorStore, since_ms: u64) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut pages = Pages::new(store, AuditKey::PREFIX);
    while let Some(page) = pages.next().await? {
        let keys: Vec<_> = page.iter().filter_map(|record| AuditKey::parse(&record.name)).collect();
        let recent: Vec<_> =
            keys.iter().copied().take_while(|key| key.time_ms() >= since_ms).collect();
        for value in read_values(store, &recent).await?.into_iter().flatten() {
            changes.push(decode(AuditKey::KIND, &value)?);
        }
        if recent.len() < keys.len() {
            break;
        }
    }
    Ok(changes)
}

/// Some of the changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditPage {
    /// The newest first.
    pub changes: Vec<Change>,
    /// Number of records among them that cannot be read.
    pub damaged: usize,
    /// Leads to older changes; `None` if these are the oldest.
    pub next: Option<String>,
}

/// At most so many changes, and at least one, from one list call: the newest, or those that `next` of
/// the page before leads to. Those of the last minute may be missing.
///
/// # Errors
/// If `next` is not such a text, or the store fails.
pub async fn page(
    store: &impl OperatorStore,
    next: Option<&str>,
    count: usize,
) -> Result<AuditPage> {
    let position = next.map_or(Some(Position::default()), Position::parse);
    let position = position.ok_or_else(|| {
        OperatorError::Invalid(
            "this is no place in the record of changes: begin with the newest ones".to_owned(),
        )
    })?;
    let listed = store.list(AuditKey::PREFIX, position.cursor.as_deref()).await?;
    let mut names = listed.records.iter().map(|record| &*record.name);
    let some = names.by_ref().filter(|name| position.is_before(name)).take(count.max(1));
    let some: Vec<_> = some.collect();
    let next = match (names.next(), some.last()) {
        (Some(_), Some(last)) => Some(position.after(last)),
        _ => listed.cursor.map(|cursor| position.next_page(Some(cursor))),
    };
    let keys: Vec<_> = some.iter().filter_map(|name| AuditKey::parse(name)).collect();
    let (mut changes, mut damaged) = (Vec::new(), some.len() - keys.len());
    for value in read_values(store, &keys).await?.into_iter().flatten() {
        match decode(AuditKey::KIND, &value) {
            Ok(change) => changes.push(change),
            Err(_) => damaged += 1,
        }
    }
    Ok(AuditPage { changes, damaged, next: next.map(|next| next.to_string()) })
}
