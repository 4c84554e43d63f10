//! Erasure of all that a unit has of a person, in steps.

use super::erase::{Erased, erase};
use super::find::{By, Search};
use super::{Damaged, Position, Wanted, get};
use crate::auth::check_id;
use crate::handle::{Clock, Entropy};
use crate::operator::audit::Author;
use crate::operator::{OperatorError, Result};
use crate::pledge::TransactionId;
use crate::store::{Key as _, OperatorStore, Recorded, StoreError, TransactionKey};
use serde::Serialize;

/// What a step has erased.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PersonStep {
    /// What is erased, also what had been before and is still listed.
    pub erased: Vec<Erased>,
    /// The IDs of those that cannot be erased, each with the reason: most are too young, and can be later.
    pub refused: Vec<(String, String)>,
    /// Records of this step that could not be read: some may be of this person.
    pub damaged: Damaged,
    /// Number of records that were listed.
    pub listed: usize,
    /// Where the next step goes on; `None` at the end.
    #[serde(skip)]
    pub next: Option<Position>,
}

impl PersonStep {
    fn done(&self) -> usize {
        self.erased.len() + self.refused.len()
    }

    /// Takes note of what became of a transaction, and that the next step goes on after it.
    fn add(&mut self, id: &TransactionId, outcome: Result<Erased>) -> Result<()> {
        match outcome {
            Ok(erased) => self.erased.push(erased),
            Err(error @ OperatorError::Store(StoreError::Unavailable | StoreError::Busy)) => {
                return Err(error);
            }
            Err(error) => self.refused.push((id.to_string(), error.to_string())),
        }
        self.next = self.next.take().map(|place| place.after(&TransactionKey(id).name()));
        Ok(())
    }
}

/// Erases transactions of a unit that have an address, of test and live keys: at most so many, and at
/// least one, of what at most so many list calls show. Begins where the step before ended, and each step
/// comes further: the last one has no `next`. Transactions of the last minute may be missing.
///
/// # Errors
/// If the unit's ID is out of bounds, the namespace has no secret, or the store fails before anything is
/// erased or refused: if it fails later, the step ends there, and the next one begins with the rest.
pub async fn erase_person_step(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    address: &str,
    from: Option<&Position>,
    at_most: usize,
    lists: usize,
) -> Result<PersonStep> {
    check_id(unit).map_err(OperatorError::Invalid)?;
    let wanted = Wanted { unit: Some(unit.to_owned()), mode: None };
    let by = By::Email(address.to_owned());
    let mut search = Search::new(store, &wanted, &by, from).await?;
    let mut step = PersonStep { next: search.listing.position.clone(), ..PersonStep::default() };
    let outcome = erase_pages(&mut search, author, at_most.max(1), lists.max(1), &mut step).await;
    (step.damaged, step.listed) = (search.listing.damaged, search.listing.listed);
    match outcome {
        Err(error) if step.done() == 0 => Err(error),
        _ => Ok(step),
    }
}

async fn erase_pages(
    search: &mut Search<'_, impl OperatorStore>,
    author: &Author<'_, impl Clock, impl Entropy>,
    at_most: usize,
    lists: usize,
    step: &mut PersonStep,
) -> Result<()> {
    for _ in 0..lists {
        let Some(found) = search.next().await? else { break };
        for Recorded { id, .. } in &found {
            if step.done() == at_most {
                return Ok(());
            }
            step.add(id, erase_by_id(search.listing.store, author, id).await)?;
        }
        step.next = search.listing.position.clone();
    }
    Ok(())
}

async fn erase_by_id(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    id: &TransactionId,
) -> Result<Erased> {
    erase(store, author, &get(store, id.as_str()).await?).await
}
