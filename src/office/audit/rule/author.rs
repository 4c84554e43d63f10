//! The author of a change, who writes the change's entry in the audit log.

use super::change::{Change, Subject};
use super::entry::Entry;
use crate::buyer::visible::is_line;
use crate::office::people::rows::people;
use crate::office::people::rows::people::{Membership, normal_address};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::operation_id::OperationId;
use crate::office::shared::rule::records::encode;
use crate::pledges::scope::Mode;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, NoMetadata, OperatorStore, Registered};
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
    /// Whether this attempt may have written an audit log entry. An attempt that wrote no entry has changed
    /// nothing.
    has_entry: Cell<bool>,
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
            return Ok(Author {
                by,
                clock,
                entropy,
                is_of_shop: false,
                rights: None,
                operation: None,
                earlier: None,
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
        earlier: Option<EarlierAttempt>,
    ) -> Self {
        Author { operation: Some(operation), earlier, ..self.anew() }
    }

    /// Creates a copy of this author without the operation's ID and without any trace of its attempts.
    fn anew(&self) -> Self {
        let Author { by, clock, entropy, is_of_shop, rights, .. } = *self;
        let (operation, earlier, has_entry) = (None, None, Cell::default());
        Author { by, clock, entropy, is_of_shop, rights, operation, earlier, has_entry }
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

    /// Writes the audit log entry of a change in Workers KV. The caller may make the change once this returns `Ok`. KV
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
        let Entry { key, change } = self.entry(command, |_| subject).await?;
        self.has_entry.set(true);
        Ok(store.put(&key, encode(&change)?, &NoMetadata).await?)
    }

    /// Creates the entry of a change, without writing it. `on` is called with the time of the change, and returns what
    /// the change concerns. Ledger cost for people of shops: 1 query.
    ///
    /// # Errors
    /// If the author has lost a right since the request began.
    pub(crate) async fn entry<T: Into<Subject>>(
        &self,
        command: &str,
        on: impl FnOnce(&str) -> T,
    ) -> Result<Entry> {
        self.check_rights().await?;
        let now_ms = self.clock.now_ms();
        let mut random = [0; AuditKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        let at = date_time(now_ms);
        let Subject { on, of, changed } = on(&at).into();
        let (by, by_shop, command) = (self.by.to_owned(), self.is_of_shop, command.to_owned());
        let operation = self.operation_hash();
        let change = Change { at, by, by_shop, command, on, of, changed, operation };
        Ok(Entry { key: AuditKey::new(now_ms, random), change })
    }

    /// Derives secret bytes from the operation's ID and from `purpose`, so that another attempt gets the same. If others could
    /// guess the ID, or there is none, the bytes are random. Returns also whether they are derived.
    pub(crate) fn bytes<const N: usize>(
        &self,
        secret: &NamespaceSecret,
        mode: Mode,
        purpose: &[u8],
    ) -> ([u8; N], bool) {
        let operation = self.operation.as_ref();
        let derived = operation.and_then(|id| id.bytes(secret, self.by, mode, purpose));
        let mut bytes = derived.unwrap_or([0; N]);
        if derived.is_none() {
            self.entropy.fill(&mut bytes);
        }
        (bytes, derived.is_some())
    }

    pub(crate) fn operation_hash(&self) -> Option<String> {
        self.operation.as_ref().map(|operation| operation.hash(self.by))
    }

    pub(crate) fn has_operation_of(&self, change: &Change) -> bool {
        change.operation.is_some() && change.operation == self.operation_hash()
    }
}
