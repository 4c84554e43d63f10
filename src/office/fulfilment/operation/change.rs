//! Records and removes what was done.

use super::arguments::{FULFILMENT, MODE};
use crate::office::fulfilment::rows::fulfilments::{Fulfilment, NewFulfilment};
use crate::office::fulfilment::rule as fulfilments;
use crate::office::shared::operation::call::{Answer, Call, Changed, Host as _, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Deserialize;
use serde_json::Value;

pub const ADD: Spec = Spec::changes(
    "fulfilments",
    "add",
    "record what was done for the pledges of a month, such as trees that were planted",
    &[
        Argument::positional(
            "month",
            Kind::Month,
            "the month of the pledges, in UTC, such as 2026-10",
        ),
        Argument::positional("offering", text("offering"), "the offering's ID, such as tree")
            .field("Offering", ""),
        Argument::positional(
            "quantity",
            text("quantity"),
            "the quantity that was done, such as 1200 or 12.5",
        )
        .field("Quantity", "For example 1200."),
        MODE,
        Argument::option("done-on", Kind::Day, "the day on which it was done, such as 2026-11-20")
            .required()
            .field("Done on", ""),
        Argument::option("partner", text("name"), "the organisation that did it; not a person")
            .field("Partner", "The organisation that did it; not a person."),
        Argument::option("place", text("place"), "where it was done").field("Place", ""),
        Argument::option("report", text("url"), "the address of a report, with https://")
            .field("Report", "A web address, with https://."),
    ],
)
.confirmed_if("the quantity done would exceed the quantity pledged")
.button("Record")
.answers(FULFILMENT);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Add {
    month: Month,
    offering: String,
    quantity: String,
    mode: Mode,
    done_on: String,
    partner: Option<String>,
    place: Option<String>,
    report: Option<String>,
}

impl From<Add> for NewFulfilment {
    fn from(add: Add) -> Self {
        let Add { month, offering, quantity, mode, done_on, partner, place, report } = add;
        NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report }
    }
}

pub async fn add<P: Ports>(call: &Call<'_, P>, add: Add) -> Result<Answer> {
    let new = NewFulfilment::from(add);
    if !call.was_done().await? {
        fulfilments::check(&new, call.platform)?;
        if let Some(beyond) = fulfilments::beyond(call.store, call.ledger, &new).await? {
            let ask = format!("Record {} {} as done?", new.quantity, new.offering);
            let question = Question::new(ask, "nothing was recorded").button("Record");
            call.confirm(question.effect(format!("{beyond}."))).await?;
        }
    }
    let by = call.host.person().await?;
    let added = fulfilments::add(call.store, call.ledger, &call.author(&by)?, &new).await?;
    let NewFulfilment { quantity, offering, .. } = &added.outcome.done;
    let said = format!("{quantity} {offering} was recorded as done.");
    let change = Changed::new(said, facts(&added.outcome));
    Answer::changed(&done(&added)?, change)
}

fn facts(Fulfilment { id, done, by, at, .. }: &Fulfilment) -> Facts {
    let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } = done;
    vec![
        ("Offering", Fact::Text(offering.clone())),
        ("Quantity", Fact::Words(quantity.clone())),
        ("Pledged in", Fact::Month(*month)),
        ("Mode", Fact::Words(mode.name().to_owned())),
        ("Done on", Fact::Day(done_on.clone())),
        ("Partner", Fact::text(partner.as_deref())),
        ("Place", Fact::text(place.as_deref())),
        ("Report", Fact::Link(report.clone().unwrap_or_default())),
        ("Recorded by", Fact::Text(by.clone())),
        ("Recorded at", Fact::Time(at.clone())),
        ("ID", Fact::Id(id.clone())),
    ]
}

/// Returns a fulfilment as JSON. The place where it was done is called `location` there, because `place` in an answer
/// already says where the command ran.
pub(super) fn printed(fulfilment: &Fulfilment) -> Result<Value, OperatorError> {
    let mut value = serde_json::to_value(fulfilment)?;
    if let Some(members) = value.as_object_mut() {
        let place = members.remove("place").unwrap_or_default();
        members.insert("location".to_owned(), place);
    }
    Ok(value)
}

/// Returns the outcome of a change as JSON.
fn done(Done { outcome, before }: &Done<Fulfilment>) -> Result<Done<Value>, OperatorError> {
    Ok(Done { outcome: printed(outcome)?, before: before.clone() })
}

pub const REMOVE: Spec = Spec::changes(
    "fulfilments",
    "remove",
    "remove a fulfilment that was recorded by mistake; it stays in the database and the audit log",
    &[Argument::positional("fulfilment", text("id"), "the fulfilment's ID, such as ful_…")],
)
.confirmed()
.answers("the members of `fulfilments add`; `removed`: `by` and `at`");

#[derive(Deserialize)]
pub struct Remove {
    fulfilment: String,
}

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    Remove { fulfilment: id }: Remove,
) -> Result<Answer> {
    if !call.was_done().await? {
        let found = fulfilments::get(call.ledger, &id).await?;
        fulfilments::check_removable(&found)?;
        let question = Question::new("Remove this fulfilment?", "nothing was removed");
        call.confirm(question.about(facts(&found)).button("Remove")).await?;
    }
    let by = call.host.person().await?;
    let removed = fulfilments::remove(call.store, call.ledger, &call.author(&by)?, &id).await?;
    let NewFulfilment { quantity, offering, .. } = &removed.outcome.done;
    let said = format!(
        "{quantity} {offering} was removed, and no longer counts in any sum. It stays in the audit log."
    );
    Answer::changed(&done(&removed)?, Changed::new(said, Facts::new()))
}
