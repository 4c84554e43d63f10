use super::find::{complete_of, found};
use super::listing::listed;
use super::parts::MOST;
use super::receipt::{NOTHING_ERASED, Receipt};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Found, PersonErasure, SearchKey, TransactionFilter};
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::once::Done;
use crate::pledges::scope::Scope;

/// Largest number of transactions that one step erases.
const STEP: usize = 100;

/// Erases all transactions of an address, and what shop systems have sent about it. In each unit that has such transactions,
/// searches every record, because the ledger may lack some transactions.
pub(super) async fn erase_person<P: Ports>(
    call: &Call<'_, P>,
    email: &str,
    filter: TransactionFilter,
) -> Result<Answer> {
    let found = found(call, &filter, &SearchKey::Email(email.to_owned())).await?;
    let units = units_of(&found, &filter)?;
    let counts = transactions::counts_by_scope(&found.transactions);
    let counts = counts
        .iter()
        .map(|(Scope { mode, unit }, count)| format!("{unit} ({}): {count}", mode.name()));
    let counts = format!("By unit: {}.", counts.collect::<Vec<_>>().join(", "));
    let counts = if found.transactions.is_empty() { String::new() } else { counts };
    let list = paragraphs([listed(&found.transactions), counts, complete_of(&found)]);
    let effect = "Every match is erased, even if it is not listed above, and what shop systems have sent about this buyer. \
                  This cannot be undone.";
    let ask = match units.is_empty() {
        true => "Search what shop systems have sent for the address?".to_owned(),
        false => format!("Search all transactions of {} for the address?", units.join(", ")),
    };
    let question = Question::new(ask, NOTHING_ERASED).effect(paragraphs([list, effect.to_owned()]));
    call.confirm(question).await?;
    let mut receipt = Receipt {
        by: call.host.person().await?,
        transactions: Vec::new(),
        checked: 0,
        received: 0,
        damaged: 0,
        complete_up_to: found.coverage.as_ref().map(|it| it.complete_up_to.clone()),
    };
    let (mode, is_everywhere) = (filter.mode, filter.unit.is_none());
    let person = PersonErasure { address: email, units: &units, mode, is_everywhere };
    erase_in(call, person, &mut receipt).await?;
    let others = match found.more {
        true => {
            format!(
                "The ledger has more than {MOST} transactions with this address. Run the command again \
                 to erase the others."
            )
        }
        false => String::new(),
    };
    let damaged = match receipt.damaged {
        0 => String::new(),
        count => {
            format!("Damaged records that were not checked: {count}. They may contain the address.")
        }
    };
    let text = paragraphs([receipt.in_words(), others, complete_of(&found), damaged]);
    let is_left = receipt.left() > 0 || found.more;
    Ok(Answer::new(&receipt, text)?.failing_if(is_left))
}

/// Returns the units whose records must all be searched for the address.
fn units_of(found: &Found, filter: &TransactionFilter) -> Result<Vec<String>> {
    match &filter.unit {
        Some(unit) => Ok(vec![unit.clone()]),
        None => Ok(transactions::units_to_erase(found)?),
    }
}

/// Erases the transactions of an address in some units. A transaction that cannot be erased, such as one that is too
/// young, does not stop the erasure of the others.
async fn erase_in<P: Ports>(
    call: &Call<'_, P>,
    person: PersonErasure<'_>,
    receipt: &mut Receipt,
) -> Result<()> {
    let by = receipt.by.clone();
    let author = call.author(&by)?;
    let records = (call.store, call.ledger);
    let mut next = None;
    loop {
        let from = next.as_ref();
        let step =
            transactions::erase_person_step(records, &author, person, from, STEP, usize::MAX);
        match step.await.map_err(Failure::from) {
            Ok(Done { outcome: step, .. }) => {
                next = step.next.clone();
                receipt.add(step);
            }
            Err(error) if error.is_thrown() => {
                let answer = Answer::new(receipt, receipt.in_words())?;
                return Err(Failure::Partial(Box::new(error), Box::new(answer)));
            }
            Err(error) => return Err(error),
        }
        if next.is_none() {
            return Ok(());
        }
    }
}
