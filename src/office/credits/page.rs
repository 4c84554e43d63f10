//! The credits of a transaction, and the form that adds one.

use super::operation::{ADD, listing};
use super::rule as credits;
use super::rule::{Credits, Left};
use crate::buyer::visible::shown;
use crate::office::orders::rule::Record;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::{Item, OperationForm};
use crate::office::shared::page::link;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::office::shared::page::view::money;
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of offerings for which the form has a field.
const MAX_FIELDS: usize = 20;

/// Renders the credits of a transaction and, if something is left to be credited and `has_form` is set, the form that adds a
/// credit. Ledger cost: 1 query. KV cost: 2 reads.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    id: &str,
    times: &ListTimes<'_, C>,
    has_form: bool,
) -> Result<Markup> {
    let Credits { credits, left } = match credits::of(context.store, context.ledger, record).await {
        Err(OperatorError::Ledger(error)) => return Ok(view::problem(&error.to_string())),
        credits => credits?,
    };
    Ok(html! {
        @if !credits.is_empty() { (times.table(&listing(&credits))) }
        @if left.is_nothing() { p.soft { "Nothing is left to be credited." } }
        @else if has_form { (form(context, (&ADD, &link::path(&["transactions", id, "credit"])), &left)) }
        @else if credits.is_empty() { p.soft { "None yet." } }
    })
}

/// Renders the form of an operation that credits, or requests a credit of, at most what is left.
pub(crate) fn form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    (spec, path): (&'static Spec, &str),
    left: &Left,
) -> Markup {
    let (amount, code) = (&left.amount, &left.currency_code);
    let (label, hint) = (
        format!("Amount in {code}"),
        format!("Leave empty to credit all that is left: {amount} {code} and every quantity."),
    );
    let quantities = left.quantities.iter().take(MAX_FIELDS);
    let texts: Vec<_> = quantities
        .clone()
        .map(|it| {
            (
                format!("Quantity of {}", shortened(&it.offering)),
                format!("At most {}.", it.quantity),
            )
        })
        .collect();
    let items: Vec<_> = std::iter::zip(quantities, &texts)
        .map(|(it, (label, hint))| Item { item: &it.offering, label, value: "", hint })
        .collect();
    let mut leave_out = if left.divisible { vec![] } else { vec!["amount", "quantity"] };
    leave_out.extend((!context.is_asked_for(spec, "charged")).then_some("charged"));
    html! {
        @if !left.divisible {
            p { "A charge of this size can only be credited in full: " strong { (money(amount, code)) } "." }
        }
        (context.operation_form(OperationForm {
            leave_out: &leave_out,
            texts: &[("amount", (&label, &hint))],
            items: &[("quantity", &items)],
            ..OperationForm::new(spec, path)
        }))
        @if left.quantities.len() > MAX_FIELDS {
            p { small { "The command " code { (spec.full_name()) } " has quantities of other offerings." } }
        }
    }
}

/// Shortens an offering's ID, and replaces its control characters.
fn shortened(offering: &str) -> String {
    offering.chars().take(80).map(shown).collect()
}
