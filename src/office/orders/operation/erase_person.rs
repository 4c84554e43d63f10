use super::find::{complete_of, found};
use super::listing::transactions as listing_of;
use super::parts::MOST;
use super::receipt::{NOTHING_ERASED, PERMANENT, Receipt};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{
    ErasureCursor, Found, ListedOrder, PersonErasure, SearchKey, TransactionFilter,
};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::steps::Steps;
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::operation::unit_names::UnitNames;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::scope::Scope;
use serde::{Deserialize, Serialize};

/// Limits of one step: transactions that it erases, and KV lists that it reads. The dashboard has little time for a request.
const PAGE_STEP: (usize, usize) = (20, 40);
const COMMAND_STEP: (usize, usize) = (100, usize::MAX);
/// Number of transactions that the dashboard shows before they are erased.
const MAX_SHOWN: usize = 20;

/// An erasure of a person, as its steps hand it on.
#[derive(Serialize, Deserialize)]
struct Erasure {
    /// The units whose records are searched.
    units: Vec<String>,
    has_more: bool,
    /// How complete the search was, in words.
    complete: String,
    receipt: Receipt,
}

/// Erases all transactions of an address, and what shop systems have sent about it. In each unit that has such transactions,
/// searches every record, because the ledger may lack some transactions.
pub(super) async fn erase_person<P: Ports>(
    call: &Call<'_, P>,
    email: &str,
    filter: TransactionFilter,
) -> Result<Answer> {
    if call.memberships.is_some() && filter.unit.is_none() {
        return Err(Failure::Operator(OperatorError::at("unit", RefusalCode::Required, NO_UNIT)));
    }
    let limits = if call.host.is_page() { PAGE_STEP } else { COMMAND_STEP };
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let begin = async || begin(call, email, &filter).await;
    let step = async |steps: &mut Steps<Erasure>| {
        let units = filter.unit.as_ref().map_or(&*steps.done.units, std::slice::from_ref);
        let from = steps.next.as_deref();
        let from = from.map(|from| ErasureCursor::parse(from).ok_or_else(|| invalid(NO_PLACE)));
        let (mode, is_everywhere) = (filter.mode, filter.unit.is_none());
        let person = PersonErasure { address: email, units, mode, is_everywhere };
        let (records, from) = ((call.store, call.ledger), from.transpose()?);
        let done = transactions::erase_person_step(records, &author, person, from.as_ref(), limits)
            .await?;
        steps.next = done.outcome.next.as_ref().map(ErasureCursor::to_string);
        steps.done.receipt.add(done.outcome);
        Ok(())
    };
    let (steps, failure) = call.in_steps(begin, step).await?;
    let Erasure { has_more, receipt, complete, .. } = &steps.done;
    let said = match steps.next {
        Some(_) => "There are more records to check.".to_owned(),
        None => paragraphs([end(*has_more, receipt), complete.clone()]),
    };
    let is_left = receipt.left() > 0 || *has_more;
    let receipt_text = receipt.in_words();
    let change = Changed::new(said.clone(), vec![("Receipt", Fact::Lines(receipt_text.clone()))]);
    let answer = Answer::new(receipt, paragraphs([receipt_text, said]))?.failing_if(is_left);
    let answer = Answer { change, rest: steps.rest()?, ..answer };
    match failure {
        Some(failure) if failure.is_thrown() => {
            Err(Failure::Partial(Box::new(failure), Box::new(answer)))
        }
        Some(failure) => Err(failure),
        None => Ok(answer),
    }
}

const NO_UNIT: &str = "nothing was erased: enter one of your units";
const NO_PLACE: &str = "this form is damaged, and nothing was erased. Begin again";

/// Describes what an erasure has left out.
fn end(has_more: bool, receipt: &Receipt) -> String {
    let others = match has_more {
        true => format!(
            "The ledger has more than {MOST} transactions with this address. Erase the person again to erase the others."
        ),
        false => String::new(),
    };
    let damaged = match receipt.damaged {
        0 => String::new(),
        count => {
            format!("Damaged records that were not checked: {count}. They may contain the address.")
        }
    };
    paragraphs(["All records were checked.".to_owned(), others, damaged])
}

/// Finds a person's transactions, and asks whether to erase them.
async fn begin<P: Ports>(
    call: &Call<'_, P>,
    email: &str,
    filter: &TransactionFilter,
) -> Result<Erasure> {
    let found = found(call, filter, &SearchKey::Email(email.to_owned())).await?;
    let units = units_of(&found, filter)?;
    call.confirm(question(&found, filter, &units, call.host.is_page())).await?;
    let covered = found.coverage.as_ref().map(|it| it.complete_up_to.clone());
    let receipt = Receipt::new(call.host.person().await?, covered);
    Ok(Erasure { units, has_more: found.more, complete: complete_of(&found), receipt })
}

fn question(
    found: &Found,
    filter: &TransactionFilter,
    units: &[String],
    is_page: bool,
) -> Question {
    let counts = transactions::counts_by_scope(&found.transactions);
    let count = |(Scope { mode, unit }, count): (&&Scope, &usize)| {
        Fact::Text(format!("{unit} ({}): {count}", mode.name()))
    };
    let counts = Fact::List(counts.iter().map(count).collect());
    let most = if is_page { MAX_SHOWN } else { MOST };
    let listed: Vec<_> = found.transactions.iter().take(most).map(ListedOrder::from).collect();
    let effect = format!(
        "All transactions are searched for the address. Every match is erased, even if it is not listed above, and what shop \
         systems have sent about this buyer. {PERMANENT}\n\n{}",
        complete_of(found)
    );
    let ask = match units.is_empty() {
        true => "Erase what shop systems have sent about this person?".to_owned(),
        false => format!("Erase this person in {}?", units.join(", ")),
    };
    Question::new(ask, NOTHING_ERASED)
        .about(vec![("Transactions by unit", counts)])
        .with_rows(listing_of(&listed, &UnitNames::default()).only(&[
            "ID",
            "Created",
            "Unit",
            "Mode",
            "Net amount",
        ]))
        .effect(effect)
        .typed(filter.unit.as_deref().unwrap_or("all units"))
        .button("Erase permanently")
}

/// Returns the units whose records must all be searched for the address.
fn units_of(found: &Found, filter: &TransactionFilter) -> Result<Vec<String>> {
    match &filter.unit {
        Some(unit) => Ok(vec![unit.clone()]),
        None => Ok(transactions::units_to_erase(found)?),
    }
}
