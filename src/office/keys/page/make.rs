use super::new_key::made;
use super::parts::{NO_OWNER, level_fields};
use crate::office::keys::rule as keys;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::Refused;
use crate::office::shops::page::register;
use crate::office::shops::page::register::owner;
use crate::office::shops::rule::register::Unregistered;
use crate::pledges::auth::{KeyLevel, KeyRecord};
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Creates a key. KV cost: 3 reads and 2 writes, plus 1 list and 1 read per 100 changes of the last hour. A
/// new unit or team costs 1 more write.
pub(crate) async fn make_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    owner: &Scoped<Option<KeyLevel>>,
    form: &Form,
) -> Result {
    let level = owner.as_ref().ok_or_else(|| Refusal::invalid(NO_OWNER))?.clone();
    level.check().map_err(Refusal::invalid)?;
    let mode = Mode::from_name(form.text("mode")).filter(|_| context.has_operation());
    let mode = mode.ok_or_else(|| Refusal::invalid(NOT_WHOLE))?;
    let missing = register::missing(context, std::slice::from_ref(&level), form).await?;
    if let Some(problem) = register::problem(&missing) {
        return Ok(make_again(context, &level, form, &missing, problem));
    }
    let label = form.text("label").to_owned();
    let record = KeyRecord { label, ..KeyRecord::new(mode, level.clone()) };
    match keys::create(context.store, context.ledger, &context.author, record).await {
        Ok(Done { outcome, before }) => Ok(made(context, &outcome, before.as_ref(), &level)),
        Err(OperatorError::Invalid(why)) => Ok(make_again(context, &level, form, &missing, why)),
        Err(error) => Err(error.into()),
    }
}

const NOT_WHOLE: &str = "some fields are missing: start from the page of the unit or team";

fn make_again<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    form: &Form,
    missing: &[Unregistered],
    why: Refused,
) -> Page {
    let problem = FormProblem::from(why);
    let content = html! {
        section {
            h2 { "Create a key for the " (owner(level)) }
            (make_form(context, level, form, missing, &problem))
        }
    };
    Page { status: 422, ..Page::new("The key was not created", problem.above(&content)) }
}

pub(super) fn make_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    entered: &Form,
    missing: &[Unregistered],
    problem: &FormProblem,
) -> Markup {
    let label = view::Field {
        name: "label",
        label: "Label, e.g. “web shop”",
        value: entered.raw("label"),
        problem: problem.of("label"),
        ..view::Field::default()
    };
    let modes = [("test", "Test: nothing is charged"), ("live", "Live: real pledges and charges")];
    html! {
        (context.form("/keys", &html! {
            (level_fields(level))
            div.row {
                (view::select("mode", "Mode", &modes, entered.text("mode")))
                (label.render())
            }
            (register::question(missing, " and the key"))
            @if missing.is_empty() { button { "Create key" } }
        }))
    }
}
