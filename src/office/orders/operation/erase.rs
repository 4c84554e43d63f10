//! Erases the personal data of a transaction, or of all transactions of an e-mail address.

use super::erase_person::erase_person;
use super::parts::{EMAIL, MODE};
use super::receipt::{NOTHING_ERASED, PERMANENT, after};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::TransactionFilter;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text, unit};
use crate::office::shared::operation::table::time;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::pledges::scope::Mode;
use serde::{Deserialize, Serialize};

pub const ERASE: Spec = Spec::changes(
    "transactions",
    "erase",
    "permanently delete the recipient and the texts of one transaction, or of all transactions with an \
     e-mail address, with what shop systems have sent about it",
    &[
        Argument::positional(
            "id",
            text("id"),
            "the ID of the transaction; leave it out to erase by `--email`",
        )
        .optional(),
        EMAIL.field("E-mail address", "In full; capitals do not matter."),
        unit("with `--email`: only transactions of this unit; by default, of each unit in which the ledger finds the address")
            .field("Unit", "Operators leave this empty to erase the person in all units."),
        MODE,
    ],
)
.confirmed()
.button("Erase permanently")
.answers("`id`; `erased`: `true`; `before`: when it was first erased, or `null` if that was now. With `--email`: `by`; `transactions`: for each `id`, `unit`, `mode`, `erased` (when, or `null` with a `problem`); `checked`: number of records that were checked; `received`: number of deleted orders that shop systems had sent; `damaged`: number of records that could not be checked; `completeUpTo`. With `--email`, the exit code is 1 if a transaction is not erased");

#[derive(Deserialize)]
pub struct Erase {
    id: Option<String>,
    email: Option<String>,
    unit: Option<String>,
    mode: Option<Mode>,
}

enum Erasing {
    One(String),
    Person { email: String, filter: TransactionFilter },
}

impl Erase {
    fn what(self) -> Result<Erasing, Refused> {
        match self {
            Erase { id: Some(id), email: None, unit: None, mode: None } => Ok(Erasing::One(id)),
            Erase { id: None, email: Some(email), unit, mode } => {
                Ok(Erasing::Person { email, filter: TransactionFilter { unit, mode } })
            }
            Erase { id: Some(_), email: None, .. } => {
                let problem = "`--unit` and `--mode` need `--email`";
                Err(Refused::at("email", RefusalCode::Required, problem))
            }
            _ => Err("give either the ID of a transaction, or `--email`".into()),
        }
    }
}

pub fn check_erase(values: &Values) -> Result<(), Refused> {
    values.read::<Erase>()?.what().map(drop)
}

pub async fn erase<P: Ports>(call: &Call<'_, P>, asked: Erase) -> Result<Answer> {
    match asked.what().map_err(Failure::Usage)? {
        Erasing::One(id) => erase_one(call, &id).await,
        Erasing::Person { email, filter } => erase_person(call, &email, filter).await,
    }
}

#[derive(Serialize)]
struct ErasedOne<'e> {
    id: &'e str,
    erased: bool,
    before: Option<&'e str>,
}

async fn erase_one<P: Ports>(call: &Call<'_, P>, id: &str) -> Result<Answer> {
    if !call.was_done().await? {
        let record = transactions::get(call.store, id).await?;
        transactions::check_erasable(call.platform, &record)?;
        let question = Question::new(format!("Erase {id}?"), NOTHING_ERASED).typed(id);
        call.confirm(question.effect(PERMANENT).button(ERASE.button)).await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let record = transactions::get(call.store, id).await?; // it may have changed during the confirmation
    let done = transactions::erase(call.store, call.ledger, &author, &record).await?;
    let before = done.outcome.before.as_deref();
    let again = before.map(|at| format!("; it was first erased at {}", time(at)));
    let said = format!("{id} is erased{}. {}", again.unwrap_or_default(), after());
    let outcome = ErasedOne { id, erased: true, before };
    let done = Done { outcome, before: done.before.clone() };
    Answer::changed(&done, Changed::new(said, Facts::new()))
}
