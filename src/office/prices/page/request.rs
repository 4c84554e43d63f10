//! Handles requests for the page of a price list, and the forms that the page sends.

use super::table;
use super::table::Draft;
use super::wanted::Wanted;
use super::{overview as page, preview};
use crate::office::prices::rule as prices;
use crate::office::prices::rule::Current;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shops::page::register;
use crate::office::shops::rule::register as records;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey, PriceListVersionKey};
use crate::pledges::time::parse_ms;
use maud::html;

/// Shows the price list of the unit in the query. Without a unit, shows the price list of the mode, which is
/// live by default.
///
/// KV cost: at most 2 reads, 11 lists, and 5 reads of 5 price lists each. A unit that does not exist costs 2
/// more lists.
pub(crate) async fn prices<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let now = prices::current(context.store, context.ledger, whose(query)?).await?;
    match missing_unit(context, &now).await? {
        Some(page) => Ok(page),
        None => page::show(context, &now, &Draft::of(&now), None).await,
    }
}

/// Returns the key of the price list that a form or a query names by its mode and, optionally, its unit.
fn whose(form: &Form) -> Result<PriceListKey<'_>> {
    Ok(PriceListKey { mode: form.mode()?, unit: form.given("unit") })
}

/// Returns a 404 page if the price list is for a unit that does not exist; otherwise `None`.
async fn missing_unit<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
) -> Result<Option<Page>> {
    let Some(unit) = now.of.unit.filter(|_| !now.is_set()) else { return Ok(None) };
    let missing = records::look_up(context.store, &[KeyLevel::Unit(unit.to_owned())]).await?;
    let content = html! {
        (register::absence(&missing))
        p { a href="/units" { "Create the unit" } " first. Then set its prices." }
    };
    let page = Page { status: 404, ..Page::new("No such unit", content) };
    Ok((!missing.is_empty()).then_some(page))
}

/// Previews a change of prices, and applies it once the person confirms. KV cost: at most 13 calls, 5 of them
/// writes. If the form is refused, it is shown again with the current prices, at the additional cost of
/// [`prices()`].
pub(crate) async fn set_prices<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let of = whose(form)?;
    if context.was_done().await?.is_some() {
        return preview::save(context, of, &confirmed(form)?, form.text("seen"), None).await;
    }
    let now = prices::current(context.store, context.ledger, of).await?;
    if let Some(page) = missing_unit(context, &now).await? {
        return Ok(page);
    }
    if form.text("step") == "rows" {
        return page::show(context, &now, &table::typed(form, &now).with_empty_rows(), None).await;
    }
    let wanted = match wanted(form, &now) {
        Ok(wanted) => wanted,
        Err((draft, problem)) => return page::show(context, &now, &draft, Some(&problem)).await,
    };
    match change(context, &now, &wanted, form).await {
        Err(Refusal::Operator(OperatorError::Invalid(why))) => {
            let now = prices::current(context.store, context.ledger, of).await?;
            let base = base(context, &now, form).await?;
            let draft = Draft::rebased(&now, base.as_ref(), &wanted);
            page::show(context, &now, &draft, Some(&why.text)).await
        }
        page => page,
    }
}

/// Parses the change of prices in a form.
///
/// # Errors
/// If the change is not valid. The error contains a message, and the entered values, with which the form is
/// shown again.
fn wanted(form: &Form, now: &Current<'_>) -> Result<Wanted, (Draft, String)> {
    match form.text("change") {
        "table" => table::typed(form, now).into_list(now).map(Wanted::List),
        _ => confirmed(form).map_err(|error| {
            let problem = match error {
                Refusal::Operator(error) => error.to_string(),
                _ => "some fields are missing. Reload the page and try again".to_owned(),
            };
            let mut draft = Draft::of(now).with_json(form.raw("list").to_owned());
            draft.seen = form.text("seen").to_owned();
            (draft, problem)
        }),
    }
}

/// Parses the change from the JSON form, from the form that removes a price list, or from the form of the preview.
fn confirmed(form: &Form) -> Result<Wanted> {
    match form.text("change") {
        "list" => {
            let parsed = prices::parse(form.raw("list").as_bytes());
            parsed.map(Wanted::List).map_err(|error| invalid(&format!("the list: {error}")))
        }
        "remove" if form.given("unit").is_some() => Ok(Wanted::Removal),
        _ => Err(Refusal::invalid("some fields are missing. Reload the page and try again")),
    }
}

async fn change<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
    wanted: &Wanted,
    form: &Form,
) -> Result {
    let step = form.text("step");
    let list = match wanted {
        Wanted::List(list) => Some(list),
        Wanted::Removal => None,
    };
    if step == "edit" {
        let base = base(context, now, form).await?;
        let draft = Draft::rebased(now, base.as_ref(), wanted);
        return page::show(context, now, &draft, None).await;
    }
    let seen = form.text("seen");
    now.check_seen(context.ledger, seen, list).await?;
    let change = list.map_or_else(|| now.compare_removal(), |list| now.compare(list));
    if list.is_some() && now.price_list.is_some() && change.is_none() {
        return Err(invalid("these prices are already set, so nothing would change"));
    }
    let is_confirmed = step == "set";
    if is_confirmed && (change.risks.is_empty() || form.given("risks").is_some()) {
        return preview::save(context, now.of, wanted, seen, Some(&change)).await;
    }
    Ok(preview::ask(context, now, wanted, &change, is_confirmed))
}

/// Returns the version of the price list that the person has edited. The form names this version in `seen`.
/// If the form's table has only some of the offerings, returns the current version instead.
///
/// KV cost: 1 read if the version in `seen` has been replaced.
async fn base<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current<'_>,
    form: &Form,
) -> Result<Option<PriceList>> {
    let seen = form.text("seen");
    if seen == now.revision() || table::keeps_others(form) {
        return Ok(now.price_list.clone());
    }
    let key = PriceListVersionKey { of: now.of, time: seen };
    match parse_ms(seen) {
        Some(_) => Ok(prices::listed(context.store, key).await?.map(|seen| seen.price_list)),
        None => Ok(None),
    }
}

fn invalid(problem: &str) -> Refusal {
    OperatorError::invalid(problem).into()
}
