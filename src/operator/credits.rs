//! Credits: a transaction's charge, or a part of it, is taken back with a reason, for example after a refund. The
//! transaction's record and the API do not change.
//!
//! A credit takes two steps: its entry in the audit log, which has the whole credit, and its row in the ledger. If the
//! row cannot be written, the entry is withdrawn. A repeated request finds the row by its operation, so a credit is made
//! once, wherever an attempt stops.
//!
//! Credits contain no personal data: the reason may not name the recipient, and an offering that would be replaced in an
//! erasure is replaced here, too.

use super::audit::{Author, is_line};
use super::claimed_change;
use super::dues::money;
use super::once::{Done, StoredAsIs, once};
use super::payable::stated_money;
use super::payments::{self, ShopMonth};
use super::transactions::{self, Record, ViewOptions};
use super::{OperatorError, Result, bound};
use crate::decimal::Decimal;
use crate::ledger::claims;
use crate::ledger::credits::{self, Charge, CreditRow, Credited, MAX_CREDITS, left_of};
use crate::ledger::{Ledger, LedgerError, Order};
use crate::quantities::Quantities;
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::settlement::Month;
use crate::store::OperatorStore;
use crate::time::date_time;
use serde::{Deserialize, Serialize};

const ADD: &str = "credits add";
/// Largest number of bytes of a reason.
pub const MAX_REASON_BYTES: usize = 200;
/// Largest number of quantities that one credit names.
const MAX_STATED: usize = 200;

/// A credit as a person enters it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditRequest {
    /// The transaction's ID.
    pub transaction: String,
    /// The part to credit; `None` credits all that is left of the charge and of the quantities.
    pub part: Option<Part>,
    /// Why: one line of 1 to [`MAX_REASON_BYTES`] bytes that does not name the recipient.
    pub reason: String,
}

/// A part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// A decimal of at most two places, such as `1234.50`.
    pub amount: String,
    /// The credited quantities, each of another offering. What is not named is still to be delivered.
    pub quantities: Vec<OfferingQuantity>,
}

/// A quantity of an offering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferingQuantity {
    /// The offering's ID.
    pub offering: String,
    /// A decimal, such as `2.5` or `1e21`.
    pub quantity: String,
}

/// A credit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    /// The hash of the operation that made the credit, as in the audit log.
    pub operation: String,
    /// The transaction's ID.
    pub transaction: String,
    /// Counts the credits of the transaction from 1.
    pub number: u32,
    /// The transaction's unit.
    pub unit: String,
    /// Test or live.
    pub mode: Mode,
    /// The month in which the transaction was created, in UTC.
    pub order_month: Month,
    /// The month whose sum the credit reduces: that of the transaction, or a later one if that was settled.
    pub booked_month: Month,
    /// The code of the currency.
    pub currency_code: String,
    /// The charge of the transaction, a decimal with two places.
    pub charge: String,
    /// The credited amount, a decimal with two places.
    pub amount: String,
    /// The credited quantities.
    pub quantities: Vec<OfferingQuantity>,
    /// Why the credit was made.
    pub reason: String,
    /// Who made the credit.
    pub by: String,
    /// When the credit was made, an RFC 3339 date-time.
    pub at: String,
}

impl StoredAsIs for Credit {}

impl From<CreditRow> for Credit {
    fn from(row: CreditRow) -> Self {
        let (charge, amount, at) = (row.charge(), row.amount(), date_time(row.at));
        let CreditRow { operation, id, number, mode, unit, order_month, booked_month, .. } = row;
        Credit {
            operation,
            transaction: id,
            number,
            unit,
            mode,
            order_month,
            booked_month,
            currency_code: row.currency,
            charge,
            amount,
            quantities: stated(&row.quantities),
            reason: row.reason,
            by: row.author,
            at,
        }
    }
}

fn stated(quantities: &Quantities) -> Vec<OfferingQuantity> {
    let each = quantities.iter().map(|(offering, quantity)| OfferingQuantity {
        offering: offering.to_owned(),
        quantity: quantity.decimal().to_exact(),
    });
    each.collect()
}

impl Credit {
    /// Returns words such as `5.00 of 12.00 USD, quantities: 2 tree and 1 reef`.
    pub fn in_words(&self) -> String {
        let Credit { amount, charge, currency_code, .. } = self;
        let quantities = match self.quantities_in_words() {
            words if words.is_empty() => "none".to_owned(),
            words => words,
        };
        format!("{amount} of {charge} {currency_code}, quantities: {quantities}")
    }

    /// Returns words such as `2 tree and 1 reef`; empty for no quantities.
    pub fn quantities_in_words(&self) -> String {
        let each = self.quantities.iter().take(MAX_IN_WORDS);
        let mut words: Vec<_> = each.map(|it| format!("{} {}", it.quantity, it.offering)).collect();
        let more = self.quantities.len().saturating_sub(MAX_IN_WORDS);
        words.extend((more > 0).then(|| format!("{more} more")));
        words.join(" and ")
    }
}

/// Largest number of offerings that words name.
const MAX_IN_WORDS: usize = 5;

// ---- List ----------------------------------------------------------------------------------------

/// The credits of a transaction, and what can still be credited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Credits {
    /// The credits, oldest first.
    pub credits: Vec<Credit>,
    /// What is left.
    pub left: Left,
}

/// What is left of a transaction after its credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    /// The code of the currency.
    pub currency_code: String,
    /// The amount, a decimal with two places.
    pub amount: String,
    /// The quantities.
    pub quantities: Vec<OfferingQuantity>,
    /// Whether a part can be credited. A charge above 2^53 - 1 cents can only be credited whole.
    pub divisible: bool,
}

impl Left {
    /// Returns whether nothing is left.
    pub fn is_nothing(&self) -> bool {
        self.amount == "0.00" && self.quantities.is_empty()
    }
}

/// Returns the credits of a transaction. Ledger cost: 1 query. KV cost: 2 reads.
///
/// # Errors
/// If the record is damaged, or the ledger or the store fails.
pub async fn of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    record: &Record,
) -> Result<Credits> {
    let order = Creditable::read(store, ledger, record).await?;
    let left = Left {
        currency_code: order.row.currency_code.clone(),
        amount: order.left().to_money(),
        quantities: stated(&order.left_quantities()),
        divisible: order.charge.units(2).is_some(),
    };
    Ok(Credits { credits: order.credits.into_iter().map(Credit::from).collect(), left })
}

/// A transaction with what it was charged and credited.
struct Creditable {
    row: Order,
    charge: Decimal,
    pledged: Quantities,
    credits: Vec<CreditRow>,
}

impl Creditable {
    async fn read(
        store: &impl OperatorStore,
        ledger: &dyn Ledger,
        record: &Record,
    ) -> Result<Self> {
        let row = record.show(ViewOptions::default())?.row;
        let charge = money(&row.amount);
        let pledged = transactions::quantities_to_keep(store, record).await?;
        let credits = credits::credits(ledger, &row.id).await?;
        Ok(Creditable { row, charge, pledged, credits })
    }

    /// Returns the amount that can still be credited.
    fn left(&self) -> Decimal {
        let credited = Decimal::sum(self.credits.iter().map(|credit| money(&credit.amount())));
        self.charge.minus(&credited).unwrap_or_else(|| Decimal::from_units(0, 0))
    }

    fn left_quantities(&self) -> Quantities {
        left_of(&self.pledged, &self.credits)
    }
}

// ---- Add -----------------------------------------------------------------------------------------

/// Checks that a credit can be made, and writes nothing. Returns the credit that would be made. Ledger cost: 2 queries.
/// KV cost: 4 reads.
///
/// # Errors
/// - If the transaction does not exist or is damaged, or nothing of it is left to be credited.
/// - If the amount or a quantity is not valid, or exceeds what is left, or the reason is not valid.
/// - If no ledger is bound, or the ledger or the store fails.
pub async fn check(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Credit> {
    plan(store, bound(ledger)?, author, request).await.map(Credit::from)
}

/// Credits a transaction, or a part of it.
///
/// # Errors
/// As [`check`], which runs again; or if the transaction is credited, or the month marked as paid, at the same moment.
pub async fn add(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Done<Credit>> {
    let db = bound(ledger)?;
    let work = async |author: &Author<'_, _, _>| add_now(store, db, author, request).await;
    once(store, ledger, author, (ADD, request), work).await
}

async fn add_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Credit> {
    let operation = author.operation_hash().unwrap_or_default();
    if author.earlier.is_some()
        && let Some(made) = credits::credit_of(ledger, &operation).await?
    {
        return Ok(made.into());
    }
    let planned = plan(store, ledger, author, request).await?;
    let in_words = |credit: &Credit| {
        let Credit { booked_month, reason, .. } = credit;
        format!("{}, booked in {booked_month}: {reason}", credit.in_words())
    };
    let recorded = |at: &str| {
        let credit = Credit { at: at.to_owned(), ..Credit::from(planned.clone()) };
        // All that is left follows from the record, and can be large.
        let is_whole = request.part.is_none();
        let quantities = if is_whole { Vec::new() } else { credit.quantities.clone() };
        let words = in_words(&credit);
        (vec![credit.transaction.clone(), words], Credit { quantities, ..credit })
    };
    let entry = author.begin_entry_with_record(store, ADD, recorded).await?;
    let row = CreditRow { at: entry.key.time_ms(), ..planned };
    let booked = ShopMonth { unit: row.unit.clone(), mode: row.mode, month: row.booked_month };
    let refused = match credits::credit(ledger, &row, &booked.fact()).await {
        Ok(Some(made)) => return Ok(made.into()),
        Ok(None) => {
            "the transaction was credited, or the month marked as paid, at the same moment. Check it, and begin again"
        }
        Err(LedgerError::Refused(_)) => "the credits of the transaction would exceed its charge",
        Err(unknown) => return Err(unknown.into()), // the row may be there: a retry finds out
    };
    author.withdraw(store, &entry).await;
    Err(invalid(refused))
}

/// Returns the row of a credit that can be made.
async fn plan(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<CreditRow> {
    let record = transactions::get(store, &request.transaction).await?;
    let order = Creditable::read(store, ledger, &record).await?;
    check_reason(&record, &order.row, &request.reason)?;
    let (amount, quantities) = match &request.part {
        None => whole(&order)?,
        Some(part) => part_of(&order, part)?,
    };
    let number = u32::try_from(order.credits.len()).unwrap_or(u32::MAX).saturating_add(1);
    if number > MAX_CREDITS {
        return Err(invalid(format!("a transaction can have {MAX_CREDITS} credits at most")));
    }
    let Order { id, mode, unit, created_at, currency_code, .. } = order.row;
    let month = Month::of(&created_at).ok_or_else(|| invalid("its time is not valid"))?;
    let of = ShopMonth { unit, mode, month };
    let booked_month = booked_month(store, ledger, author.clock, &of).await?;
    Ok(CreditRow {
        operation: author.operation_hash().unwrap_or_default(),
        id,
        number,
        mode,
        unit: of.unit,
        order_month: month,
        booked_month,
        currency: currency_code,
        charge: Charge::new(&order.charge),
        amount: Credited::new(&amount),
        quantities,
        reason: request.reason.clone(),
        author: author.by.to_owned(),
        at: author.clock.now_ms(),
    })
}

fn whole(order: &Creditable) -> Result<(Decimal, Quantities)> {
    let (amount, quantities) = (order.left(), order.left_quantities());
    if amount.is_zero() && quantities.is_empty() {
        return Err(invalid("the transaction is already credited whole"));
    }
    Ok((amount, quantities))
}

fn part_of(order: &Creditable, part: &Part) -> Result<(Decimal, Quantities)> {
    if order.charge.units(2).is_none() {
        return Err(invalid(
            "a charge above 2^53 - 1 cents can only be credited whole: leave out the amount and the quantities",
        ));
    }
    let Part { amount: stated, quantities } = part;
    let amount = stated_money(stated)
        .ok_or_else(|| invalid(format!("write the amount as `1234.50`, not `{stated}`")))?;
    let (amount, left) = (money(&amount), order.left());
    if left.minus(&amount).is_none() {
        let (left, code) = (left.to_money(), &order.row.currency_code);
        return Err(invalid(format!("only {left} {code} of the charge can still be credited")));
    }
    let quantities = quantities_of(order, quantities)?;
    if amount.is_zero() && quantities.is_empty() {
        return Err(invalid("enter an amount or a quantity"));
    }
    Ok((amount, quantities))
}

fn quantities_of(order: &Creditable, stated: &[OfferingQuantity]) -> Result<Quantities> {
    if stated.len() > MAX_STATED {
        return Err(invalid(format!("a credit can name {MAX_STATED} quantities at most")));
    }
    let left = order.left_quantities();
    let mut sums: Vec<(String, Decimal)> = Vec::with_capacity(stated.len());
    for OfferingQuantity { offering, quantity } in stated {
        if sums.iter().any(|(other, _)| other == offering) {
            return Err(invalid(format!("`{offering}` has two quantities")));
        }
        let asked = Decimal::parse_bounded(quantity).ok_or_else(|| {
            invalid(format!("write the quantity of `{offering}` as `2.5`, not `{quantity}`"))
        })?;
        let own = left.get(offering).map(|own| own.decimal());
        let own = own.unwrap_or_else(|| Decimal::from_units(0, 0));
        if own.minus(&asked).is_none() {
            let own = own.to_exact();
            return Err(invalid(format!("only {own} of `{offering}` can still be credited")));
        }
        sums.push((offering.clone(), asked));
    }
    Ok(Quantities::of_sums(sums.into_iter()))
}

/// Returns the month in which a credit of an order of this month is booked. A recent claim overrides the record, because
/// KV may show a payment or its undo a minute late. KV cost: 1 read.
async fn booked_month(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    of: &ShopMonth,
) -> Result<Month> {
    let is_marked = payments::get(store, of).await?.is_some();
    let claim = claimed_change::recent(Some(ledger), &[of.fact()], clock).await?.pop();
    let is_open = claim.map_or(!is_marked, |claim| claim.state == claims::State::Gone);
    let running = Month::at(clock.now_ms()).filter(|_| !is_open);
    Ok(running.map_or(of.month, |running| running.max(of.month)))
}

// ---- The reason ----------------------------------------------------------------------------------

/// Refuses a reason that is not one line, or that names the recipient: it is kept in the audit log after an erasure.
fn check_reason(record: &Record, row: &Order, reason: &str) -> Result<()> {
    if !is_line(reason, MAX_REASON_BYTES) || reason.trim().is_empty() {
        return Err(invalid(format!("enter a reason: one line of 1 to {MAX_REASON_BYTES} bytes")));
    }
    let transaction = record.transaction()?;
    let recipients = transaction.pledges.iter().map(|pledge| &pledge.recipient);
    let names = recipients.flat_map(|person| [&person.first_name, &person.name]).flatten();
    let texts = names.chain([&transaction.reference]).filter(|_| row.erased.is_none());
    let said = words(reason);
    let names_person =
        texts.map(|text| words(text)).any(|name| name.len() > 2 && said.contains(&name));
    if reason.contains('@') || names_person {
        return Err(invalid(
            "the reason must not have an e-mail address, the recipient's name or the order's reference, because it is \
             kept after an erasure",
        ));
    }
    Ok(())
}

/// Returns the words of a text in lower case, each between blanks.
fn words(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}

fn invalid(problem: impl std::fmt::Display) -> OperatorError {
    OperatorError::Invalid(format!("nothing was credited: {problem}"))
}
