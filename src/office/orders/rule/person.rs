//! Erases all transactions of a person in one or more units, in steps.
//!
//! First deletes what is kept of orders of shop systems. Then erases the transactions that the ledger finds. Then lists the units'
//! records in Workers KV, because the ledger may lack some transactions.

use super::erase::{ERASE, Erased, erase_now};
use super::erasure_cursor::ErasureCursor;
use super::find::{Found, find_secret};
use super::{TransactionFilter, get};
use crate::office::audit::rule::Author;
use crate::office::connections::rule::{Received, ReceivedStep, connected_scopes};
use crate::office::orders::rows::order::PageCursor;
use crate::office::orders::rows::orders;
use crate::office::orders::rows::orders::Direction;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::DamagedRecords;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, Outcome, once};
use crate::office::shared::rule::position::Position;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{KeyInfo, OperatorStore, Recorded, StoreError, TransactionKey};
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PersonStep {
    /// The erased transactions. Some may have been erased before, but are still listed.
    pub erased: Vec<Erased>,
    /// The transactions, and deliveries of shop systems, that were not erased. Most are too young, and can be erased later.
    pub refused: Vec<NotErased>,
    /// Records that this step could not read. Some of them may belong to the person.
    pub damaged: DamagedRecords,
    pub listed: usize,
    /// Number of kept orders of shop systems that were deleted.
    pub deleted: usize,
    /// The position of the next step; `None` after the last one.
    #[serde(skip)]
    pub next: Option<ErasureCursor>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotErased {
    pub id: String,
    #[serde(flatten)]
    pub scope: Scope,
    pub why: String,
}

/// Whose transactions are erased, and where.
#[derive(Clone, Copy, Debug)]
pub struct PersonErasure<'e> {
    pub address: &'e str,
    /// The units whose records are searched. All steps of an erasure have the same units, in the same order.
    pub units: &'e [String],
    /// Only transactions of this mode.
    pub mode: Option<Mode>,
    /// Whether the orders of all connections are searched, also those of other units.
    pub is_everywhere: bool,
}

impl PersonErasure<'_> {
    fn scopes(&self) -> Result<Vec<Scope>> {
        let mut scopes = Vec::new();
        for unit in self.units {
            check_unit(unit)?;
            let filter = TransactionFilter { unit: Some(unit.clone()), mode: self.mode };
            scopes.extend(filter.scopes().unwrap_or_default());
        }
        Ok(scopes)
    }
}

/// Returns the units in which a person's transactions were found by a search of all units.
///
/// # Errors
/// If the ledger does not keep all months, because other units may have older transactions.
pub fn units_to_erase(found: &Found) -> Result<Vec<String>> {
    let from = found.coverage.as_ref().and_then(|coverage| coverage.complete_from.as_deref());
    if let Some(from) = from {
        return Err(OperatorError::invalid(format!(
            "the ledger keeps only transactions from {from} on, so it does not know which units have older \
             transactions of this address. Erase the person in each unit separately"
        )));
    }
    let units: BTreeSet<_> = found.transactions.iter().map(|order| &order.scope.unit).collect();
    Ok(units.into_iter().cloned().collect())
}

/// Stores the whole step to answer a repeated request. The position of the next step is stored as text.
impl Outcome for PersonStep {
    type Stored = (PersonStep, Option<String>);

    fn to_stored(&self) -> Option<Self::Stored> {
        Some((self.clone(), self.next.as_ref().map(ErasureCursor::to_string)))
    }

    fn from_stored((step, next): Self::Stored) -> Self {
        PersonStep { next: next.as_deref().and_then(ErasureCursor::parse), ..step }
    }
}

impl PersonStep {
    fn done(&self) -> usize {
        self.erased.len() + self.refused.len() + self.deleted
    }

    /// Records that a transaction was erased, or why its erasure was refused. The next step begins at
    /// `next`, after this transaction.
    fn add(
        &mut self,
        (id, scope): (&str, &Scope),
        outcome: Result<Erased>,
        next: ErasureCursor,
    ) -> Result<()> {
        let mut refuse = |why| {
            self.refused.push(NotErased { id: id.to_owned(), scope: scope.clone(), why });
        };
        match outcome {
            Ok(erased) => self.erased.push(erased),
            Err(OperatorError::Invalid(why)) => refuse(why.text),
            Err(error @ OperatorError::Store(StoreError::Damaged(_))) => refuse(error.to_string()),
            Err(error) => return Err(error),
        }
        self.next = Some(next);
        Ok(())
    }
}

/// Erases transactions of one e-mail address in some units, in one mode or both. This is one step of several. It
/// begins at `from`, where the previous step ended. The last step has no `next`.
///
/// A step handles at most `at_most` transactions, and makes at most `lists` list calls. Both limits are at
/// least 1.
///
/// # Errors
/// - If a unit's ID is not valid, or the namespace has no secret.
/// - If the store or the ledger fails before any transaction is erased or refused. After a later failure, the
///   step ends without an error, and the next step continues from there.
pub async fn erase_person_step(
    (store, ledger): (&impl OperatorStore, &dyn Ledger),
    author: &Author<'_, impl Clock, impl Entropy>,
    person: PersonErasure<'_>,
    from: Option<&ErasureCursor>,
    (at_most, lists): (usize, usize),
) -> Result<Done<PersonStep>> {
    let scopes = person.scopes()?;
    let secret = find_secret(store).await?;
    let address = person.address;
    let from = from.cloned().unwrap_or(ErasureCursor::Received(None));
    let position = from.to_string();
    let addresses: Vec<_> = scopes.iter().map(|scope| secret.email(scope, address)).collect();
    let what = (PERSON, person.units, person.is_everywhere, addresses, &position);
    let work = async |author: &Author<'_, _, _>| {
        let at_most = at_most.max(1);
        let erasure = Erasure { store, ledger, author, secret, person, scopes, at_most };
        let mut step = PersonStep { next: Some(from), ..PersonStep::default() };
        match erasure.go_on(&mut step, lists.max(1)).await {
            Err(error) if step.done() == 0 => Err(error),
            _ => Ok(step),
        }
    };
    once(ledger, &author.of_step(&position), (ERASE, &what), work).await
}

/// The first argument of this operation. It distinguishes erasing a person from erasing one transaction.
const PERSON: &str = "person";

struct Erasure<'e, S, C, E> {
    store: &'e S,
    ledger: &'e dyn Ledger,
    author: &'e Author<'e, C, E>,
    secret: NamespaceSecret,
    person: PersonErasure<'e>,
    scopes: Vec<Scope>,
    at_most: usize,
}

impl<S: OperatorStore, C: Clock, E: Entropy> Erasure<'_, S, C, E> {
    async fn go_on(&self, step: &mut PersonStep, lists: usize) -> Result<()> {
        for _ in 0..lists {
            if step.done() >= self.at_most {
                break;
            }
            match step.next.clone() {
                Some(ErasureCursor::Received(after)) => self.erase_received(after, step).await?,
                Some(ErasureCursor::Found(place)) => self.erase_found(place, step).await?,
                Some(ErasureCursor::Listed(position)) => self.erase_listed(&position, step).await?,
                None => break,
            }
        }
        Ok(())
    }

    /// Deletes what is kept of orders of the person, which were received after a delivery.
    async fn erase_received(&self, after: Option<String>, step: &mut PersonStep) -> Result<()> {
        let mut scopes = self.scopes.clone();
        let Erasure { store, ledger, secret, author, person, .. } = self;
        let PersonErasure { address, mode, is_everywhere, .. } = *person;
        if is_everywhere {
            let connected = connected_scopes(*ledger).await?;
            scopes
                .extend(connected.into_iter().filter(|it| mode.is_none_or(|mode| it.mode == mode)));
        }
        let now_ms = author.clock.now_ms();
        let received =
            Received { store: *store, ledger: *ledger, secret, address, scopes: &scopes, now_ms };
        if after.is_none() {
            step.deleted += received.begin().await?;
        }
        let ReceivedStep { left, next, deleted } =
            received.step(&after.unwrap_or_default()).await?;
        let left = left.into_iter().map(|(id, scope, why)| NotErased { id, scope, why });
        step.refused.extend(left);
        step.deleted += deleted;
        let found = ErasureCursor::Found(None);
        step.next = Some(next.map_or(found, |id| ErasureCursor::Received(Some(id))));
        Ok(())
    }

    /// Erases the transactions that the ledger finds after a position.
    async fn erase_found(&self, place: Option<PageCursor>, step: &mut PersonStep) -> Result<()> {
        let from = place.map_or(Direction::Newest, Direction::Older);
        let of = (&*self.scopes, self.person.address);
        let most = self.at_most.saturating_sub(step.done()).max(1);
        let found = orders::by_email(self.ledger, &self.secret, of, &from, most).await?;
        for order in &found.orders {
            let next = ErasureCursor::Found(Some(order.place()));
            step.add((&order.id, &order.scope), self.erase(&order.id).await, next)?;
        }
        if found.older.is_none() {
            step.next = Some(ErasureCursor::Listed(Position::default()));
        }
        Ok(())
    }

    /// Reads one page of a KV list. Erases the person's transactions on this page: those with the person's
    /// e-mail address as the recipient's.
    async fn erase_listed(&self, position: &Position, step: &mut PersonStep) -> Result<()> {
        let prefixes = self.prefixes();
        let Some(prefix) = prefixes.get(position.list) else {
            step.next = None;
            return Ok(());
        };
        let page = self.store.list(prefix, position.cursor.as_deref()).await?;
        step.listed += page.records.len();
        for record in page.records.iter().filter(|record| position.is_before(&record.name)) {
            let Some((id, scope)) = self.own(record, &mut step.damaged) else { continue };
            if step.done() >= self.at_most {
                return Ok(());
            }
            let next = ErasureCursor::Listed(position.after(&record.name));
            step.add((id.as_str(), &scope), self.erase(id.as_str()).await, next)?;
        }
        let next = position.next_page(page.cursor);
        step.next = (next.list < prefixes.len()).then_some(ErasureCursor::Listed(next));
        Ok(())
    }

    fn prefixes(&self) -> Vec<String> {
        let mut prefixes: Vec<_> = self.scopes.iter().map(TransactionKey::scope_prefix).collect();
        prefixes.dedup(); // the 40-bit hashes of both modes can be equal
        prefixes
    }

    /// Returns the transaction's ID and scope if its recipient has the person's e-mail address. If the record cannot be
    /// read, adds its name to `damaged`.
    fn own(
        &self,
        KeyInfo { name, metadata, .. }: &KeyInfo,
        damaged: &mut DamagedRecords,
    ) -> Option<(TransactionId, Scope)> {
        let recorded =
            TransactionKey::parse(name).and_then(|id| Recorded::from_metadata(id, metadata).ok());
        let Some(recorded) = recorded else {
            damaged.add(name.clone());
            return None;
        };
        let Recorded { id, scope, summary } = recorded;
        let lookup = summary.lookup?; // an erased one has no hashes
        let is_own = self.scopes.contains(&scope)
            && lookup.email == self.secret.email(&scope, self.person.address);
        is_own.then_some((id, scope))
    }

    async fn erase(&self, id: &str) -> Result<Erased> {
        let record = get(self.store, id).await?;
        erase_now(self.store, self.ledger, self.author, &record).await
    }
}
