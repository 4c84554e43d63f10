//! The author of a change, who writes the change's entry in the audit log.

use super::change::{Change, Subject, WITHDRAWN};
use super::entry::Entry;
use crate::buyer::visible::is_line;
use crate::office::people::rows::people;
use crate::office::people::rows::people::{Membership, normal_address};
use crate::office::shared::rows::operations::{LedgerOfAttempt, UNDER_WAY_MS};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::operation_id::OperationId;
use crate::office::shared::rule::records::{encode, load};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, ChangeNote, Key as _, OperatorStore, Registered};
use crate::pledges::time::date_time;
use std::cell::Cell;

/// Maximum length of a name, in bytes. An e-mail address can be that long.
const MAX_NAME_BYTES: usize = 254;

/// The name that people of a shop see in place of an operator's name.
pub const THE_OPERATOR: &str = "the operator";

/// The person who makes a change, together with the operation's ID, a clock and a source of randomness.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Author<'a, C, E> {
    pub(crate) by: &'a str,
    pub(crate) clock: &'a C,
    pub(crate) entropy: &'a E,
    /// Whether the person belongs to a shop.
    is_of_shop: bool,
    /// The memberships of a person of a shop when the request began, and the ledger, which has the
    /// current ones.
    rights: Option<(&'a dyn Ledger, &'a [Membership])>,
    /// The ID of the operation; `None` generates one for each change.
    pub(crate) operation: Option<OperationId>,
    /// The earlier attempts of the operation; `None` if this is certainly the first attempt.
    pub(crate) earlier: Option<EarlierAttempt>,
    attempt: Option<Attempt>,
    /// Whether this attempt may have written an audit log entry. An attempt that wrote no entry has changed
    /// nothing.
    has_entry: Cell<bool>,
}

/// An attempt at an operation. While it is the current one, the operation's row in the ledger has its name.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// The ID of the operation's row.
    pub operation: String,
    pub name: String,
    pub began_ms: u64,
}

impl Attempt {
    /// Refuses to go on with an attempt that began too long ago. By now, a repeated request may be making the same
    /// change.
    pub fn check_age(&self, clock: &impl Clock) -> Result<()> {
        if clock.now_ms().saturating_sub(self.began_ms) < UNDER_WAY_MS {
            return Ok(());
        }
        Err(OperatorError::invalid(format!(
            "nothing was done: the ledger took more than {} s to answer. Try again later",
            UNDER_WAY_MS / 1_000
        )))
    }

    fn ledger<'l>(
        &self,
        ledger: &'l dyn Ledger,
        clock: &impl Clock,
    ) -> Result<LedgerOfAttempt<'l>> {
        self.check_age(clock)?;
        Ok(LedgerOfAttempt::new(ledger, &self.operation, &self.name)?)
    }
}

/// The earlier attempts at an operation, which may already have made the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierAttempt {
    /// The earliest time at which these attempts began, in milliseconds since 1970.
    pub since_ms: u64,
    /// Whether the person was shown that the last attempt failed.
    pub has_failed: bool,
}

impl<'a, C: Clock, E: Entropy> Author<'a, C, E> {
    /// Creates an author without an operation ID. `by` is the name: one line of 1 to 254 bytes.
    ///
    /// # Errors
    /// If the name is not valid.
    pub fn new(by: &'a str, clock: &'a C, entropy: &'a E) -> Result<Self> {
        if is_line(by, MAX_NAME_BYTES) {
            let has_entry = Cell::default();
            let (operation, earlier, attempt) = (None, None, None);
            return Ok(Author {
                by,
                clock,
                entropy,
                is_of_shop: false,
                rights: None,
                operation,
                earlier,
                attempt,
                has_entry,
            });
        }
        Err(OperatorError::invalid(format!(
            "the author's name must be one line of 1 to {MAX_NAME_BYTES} bytes"
        )))
    }

    /// Sets the operation's ID. Each change needs its own ID: requests with the same ID make a change only
    /// once.
    #[must_use]
    pub fn with_operation(self, operation: OperationId) -> Self {
        Author { operation: Some(operation), ..self }
    }

    /// Sets whether the person belongs to a shop, in contrast to an operator. The audit log shows the names
    /// of operators to operators only.
    #[must_use]
    pub fn with_shop(self, is_of_shop: bool) -> Self {
        Author { is_of_shop, ..self }
    }

    /// Sets the units and teams of a person of a shop, as they were when the request began. If they are not the
    /// same right before a change, the change is refused.
    #[must_use]
    pub fn with_rights(self, ledger: &'a dyn Ledger, memberships: &'a [Membership]) -> Self {
        Author { rights: Some((ledger, memberships)), ..self.with_shop(true) }
    }

    /// Returns the [normal address](normal_address) of a person of a shop whose right is checked together with a
    /// change.
    pub(crate) fn sender(&self) -> Option<String> {
        self.rights.map(|_| normal_address(self.by))
    }

    /// Refuses a change if the person has lost a right since the request began.
    async fn check_rights(&self) -> Result<()> {
        let Some((ledger, before)) = self.rights else { return Ok(()) };
        let now = people::memberships(ledger, &normal_address(self.by)).await?;
        match before.iter().all(|own| now.contains(own)) {
            true => Ok(()),
            false => Err(OperatorError::lost_right()),
        }
    }

    pub fn has_operation(&self) -> bool {
        self.operation.is_some()
    }

    /// Creates a copy of this author for one step of the operation. The step's ID is derived from the operation's ID
    /// and `position`.
    pub fn of_step(&self, position: &str) -> Self {
        let operation = self.operation.as_ref().map(|operation| operation.step(position));
        Author { operation, ..self.anew() }
    }

    pub(crate) fn of_attempt(
        &self,
        operation: OperationId,
        attempt: Attempt,
        earlier: Option<EarlierAttempt>,
    ) -> Self {
        Author { operation: Some(operation), attempt: Some(attempt), earlier, ..self.anew() }
    }

    /// Changes the ledger, once the change's entry is in the audit log. `work` gets a ledger whose calls take effect only
    /// while this attempt is the operation's current one. If the change is refused, withdraws the entry.
    ///
    /// # Errors
    /// - If the attempt began too long ago, for example because the computer slept, or another attempt has replaced it.
    ///   Nothing was changed.
    /// - As `work`.
    pub(crate) async fn change<T>(
        &self,
        (store, ledger): (&impl OperatorStore, &dyn Ledger),
        entry: &Entry,
        work: impl AsyncFnOnce(&dyn Ledger) -> Result<T>,
    ) -> Result<T> {
        let made = match &self.attempt {
            None => work(ledger).await,
            Some(attempt) => match attempt.ledger(ledger, self.clock) {
                Ok(ledger) => work(&ledger).await,
                Err(late) => Err(late),
            },
        };
        use OperatorError::{Denied, Invalid, Repeated};
        if let Err(Invalid(_) | Repeated(_) | Denied(_)) = &made {
            self.withdraw(store, entry).await;
        }
        made
    }

    /// Creates a copy of this author without the operation's ID and without any trace of its attempts.
    fn anew(&self) -> Self {
        let Author { by, clock, entropy, is_of_shop, rights, .. } = *self;
        let (operation, earlier, attempt, has_entry) = (None, None, None, Cell::default());
        Author { by, clock, entropy, is_of_shop, rights, operation, earlier, attempt, has_entry }
    }

    /// Returns whether this attempt may have changed something, because it may have written an audit log
    /// entry.
    pub(crate) fn has_entry(&self) -> bool {
        self.has_entry.get()
    }

    /// Returns when the person decided on the change, in milliseconds since 1970; `None` if this is not
    /// known. It is the time when the form was opened or when the first attempt began, whichever is earlier.
    pub(crate) fn wanted_ms(&self) -> Option<u64> {
        let sent_ms = self.operation.as_ref().and_then(OperationId::sent_ms);
        sent_ms.into_iter().chain(self.earlier.map(|earlier| earlier.since_ms)).min()
    }

    /// Returns whether this operation made a change. `change` is the name of the change's entry in the audit
    /// log. KV cost: 1 read.
    pub(crate) async fn has_made(&self, store: &impl OperatorStore, change: &str) -> Result<bool> {
        let Some(key) = AuditKey::parse(change) else { return Ok(false) };
        let change: Option<Change> = load(store, key).await?;
        Ok(change.is_some_and(|change| self.has_operation_of(&change)))
    }

    pub fn by(&self) -> &str {
        self.by
    }

    /// Returns the name of another author as this person may see it: people of shops see [`THE_OPERATOR`] instead of the
    /// name of an operator.
    pub fn name_of<'n>(&self, by: &'n str, by_shop: bool) -> &'n str {
        if self.is_of_shop && !by_shop { THE_OPERATOR } else { by }
    }

    /// Returns what a new record states about its creation: the person's name and the current time.
    pub(crate) fn registered(&self) -> Registered {
        let (created, by) = (date_time(self.clock.now_ms()), self.by.to_owned());
        Registered { created, by, by_shop: self.is_of_shop }
    }

    /// Writes the audit log entry of a change. The caller may make the change once this returns `Ok`. KV
    /// cost: 1 write. Ledger cost for people of shops: 1 query.
    ///
    /// # Errors
    /// If the author has lost a right since the request began, or it is not certain that the entry was written. Then the change must not be made.
    pub async fn record(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let on: Vec<String> = on.into_iter().map(Into::into).collect();
        self.record_subject(store, command, on.into()).await
    }

    /// Writes the audit log entry of a change, like [`record`](Self::record). Records all members of a
    /// [`Subject`] instead of only the IDs.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub async fn record_subject(
        &self,
        store: &impl OperatorStore,
        command: &str,
        subject: Subject,
    ) -> Result<()> {
        self.check_rights().await?;
        let note = self.note(command, &subject);
        self.keep(store, &self.entry(), command, subject, note).await
    }

    /// Writes the audit log entry of a change that may still be withdrawn. `on` is called with the time of
    /// the change, and returns what the change concerns.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub(crate) async fn begin_entry<T: Into<Subject>>(
        &self,
        store: &impl OperatorStore,
        command: &str,
        on: impl FnOnce(&str) -> T,
    ) -> Result<Entry> {
        self.check_rights().await?;
        let entry = self.entry();
        let subject = on(&entry.at).into();
        let (note, of) = (self.note(command, &subject), subject.of.clone());
        self.keep(store, &entry, command, subject, note.clone()).await?;
        Ok(Entry { note: Some(note), of, ..entry })
    }

    /// Withdraws an entry of the audit log: records that its change was not made after all. If this fails,
    /// the entry stays valid.
    pub(crate) async fn withdraw(&self, store: &impl OperatorStore, announced: &Entry) {
        let Some(note) = &announced.note else { return };
        let own = announced.key.name();
        let on = vec![note.on.clone(), own.clone()];
        let command = [&*note.command, WITHDRAWN].concat();
        let note = ChangeNote { command: command.clone(), withdraws: Some(own), ..note.clone() };
        let subject = Subject { of: announced.of.clone(), ..on.into() };
        let withdrawn = self.keep(store, &self.entry(), &command, subject, note).await;
        self.has_entry.set(withdrawn.is_err());
    }

    fn note(&self, command: &str, Subject { on, of, .. }: &Subject) -> ChangeNote {
        ChangeNote {
            command: command.to_owned(),
            on: on.first().cloned().unwrap_or_default(),
            by: self.by.to_owned(),
            by_shop: self.is_of_shop,
            of: of.clone(),
            withdraws: None,
            operation: self.operation_hash(),
        }
    }

    pub(crate) fn operation_hash(&self) -> Option<String> {
        self.operation.as_ref().map(|operation| operation.hash(self.by))
    }

    pub(crate) fn has_operation_of(&self, change: &Change) -> bool {
        change.operation.is_some() && change.operation == self.operation_hash()
    }

    /// Creates an entry, without writing it.
    fn entry(&self) -> Entry {
        let now_ms = self.clock.now_ms();
        let mut random = [0; AuditKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        Entry { key: AuditKey::new(now_ms, random), at: date_time(now_ms), note: None, of: None }
    }

    /// Writes an entry of the audit log. Lists of entries show `note`, which is stored as the record's
    /// metadata.
    async fn keep(
        &self,
        store: &impl OperatorStore,
        Entry { key, at, .. }: &Entry,
        command: &str,
        Subject { on, of, changed, record }: Subject,
        note: ChangeNote,
    ) -> Result<()> {
        let (at, by, command) = (at.clone(), self.by.to_owned(), command.to_owned());
        let (by_shop, operation) = (self.is_of_shop, self.operation_hash());
        let change =
            encode(&Change { at, by, by_shop, command, on, of, changed, record, operation })?;
        self.has_entry.set(true);
        Ok(store.put(key, change, &note.fit()).await?)
    }
}
