//! The price list of a mode: current prices, previews of changes, and the history.

use super::form::Form;
use super::page::Page;
use super::view::{self, Field};
use super::{PageContext, Refusal, Result, operation};
use crate::charge::{PriceList, UnitPrice};
use crate::operator::delays::{APPLIED_SECONDS, SHOWN_SECONDS};
use crate::operator::prices::{self, Change, Current, Edit, PriceListEntry};
use crate::operator::{Done, OperatorError};
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::store::{OperatorStore, StoreError};
use maud::{Markup, html};

/// Maximum number of prices that are shown, and that can be edited as one list.
const MAX_ROWS: usize = 200;
/// Maximum number of price lists in the history, and of changed prices that are shown for each.
const MAX_HISTORY: usize = 20;
const MAX_CHANGES: usize = 10;
/// Maximum number of KV lists that are read to find the names of price lists.
const MAX_PAGES: usize = 10;

/// The price list of the mode in the query, which defaults to live. KV cost: at most 16 calls: 1 read, 10 lists, and 5 reads
/// of 5 price lists each.
pub(super) async fn prices<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let now = prices::current(context.store, query.mode()?).await?;
    show(context, &now, &Form::default(), None).await
}

/// Previews a change of prices, and applies it after confirmation. KV cost: at most 11 calls, 4 of which write. If the
/// form is refused, it is shown again with the current prices, which also costs the calls of [`prices()`].
pub(super) async fn set_prices<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let mode = form.mode()?;
    if context.was_done().await?.is_some() {
        return set(context, mode, &wanted(form)?, form.text("seen"), None).await;
    }
    let now = prices::current(context.store, mode).await?;
    match change(context, &now, form).await {
        Err(Refusal::Operator(OperatorError::Invalid(problem))) => {
            let now = prices::current(context.store, mode).await?;
            show(context, &now, form, Some(&problem)).await
        }
        page => page,
    }
}

async fn change<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current,
    form: &Form,
) -> Result {
    let edit = wanted(form)?;
    let new = now.with(&edit)?;
    let seen = form.text("seen");
    now.check_seen(context.store, seen, &new).await?;
    let change = now.compare(&new);
    if now.price_list.is_some() && change.is_none() {
        return Err(invalid("these prices are already set, so nothing would change"));
    }
    let is_confirmed = form.text("step") == "set";
    if is_confirmed && (change.risks.is_empty() || form.given("risks").is_some()) {
        return set(context, now.mode, &edit, seen, Some(&change)).await;
    }
    Ok(ask(context, now, &new, &change, is_confirmed))
}

fn invalid(problem: &str) -> Refusal {
    OperatorError::Invalid(problem.to_owned()).into()
}

/// Parses the change in a form.
fn wanted(form: &Form) -> Result<Edit> {
    let (change, offering) = (form.text("change"), form.text("offering"));
    if change == "list" {
        let parsed = prices::parse(form.raw("list").as_bytes());
        return parsed.map(Edit::All).map_err(|error| invalid(&format!("the list: {error}")));
    }
    if offering.is_empty() {
        return Err(invalid("enter the ID of an offering"));
    }
    let offering = offering.to_owned();
    Ok(match change {
        "remove" => Edit::Remove { offering },
        _ => Edit::Set { offering, price: form.text("price").to_owned() },
    })
}

// ---- The page ------------------------------------------------------------------------------------

/// Shows the page of prices, with the entered values and an error, if any.
async fn show<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current,
    entered: &Form,
    problem: Option<&str>,
) -> Result {
    let recent = prices::history(context.store, now.mode, MAX_HISTORY, MAX_PAGES).await;
    let recent = match recent {
        Err(error @ OperatorError::Store(StoreError::Unavailable | StoreError::Busy)) => {
            return Err(error.into());
        }
        recent => recent.map_err(|error| error.to_string()),
    };
    let content = html! {
        @if let Some(problem) = problem { (view::problem(problem)) }
        (view::modes("/prices", now.mode, None))
        (staleness(now, recent.as_deref().unwrap_or_default()))
        div.columns {
            section { (today(now, recent.as_deref().unwrap_or_default())) }
            section { (forms(now, entered)) }
        }
        section { (history(&recent)) }
    };
    let status = if problem.is_some() { 422 } else { 200 };
    Ok(Page { status, ..Page::new("Prices", content) })
}

/// A notice that newer prices were set, which Workers KV does not show yet.
fn staleness(now: &Current, recent: &[PriceListEntry]) -> Markup {
    let seen = now.price_list.as_ref().and_then(|price_list| price_list.prices.as_deref());
    let newer = recent.last().filter(|last| Some(&*last.time) > seen);
    html! {
        @if let Some(PriceListEntry { time, .. }) = newer {
            (view::notice(&html! {
                "Newer prices were set on " (view::time(time)) ", but this page still shows the previous ones. \
                 Workers KV may take " (SHOWN_SECONDS) " s to show the new ones."
            }))
        }
    }
}

fn today(now: &Current, recent: &[PriceListEntry]) -> Markup {
    let code = code(now.price_list.as_ref());
    html! {
        h2 { "Current prices" }
        @match (&now.price_list, &now.problem) {
            (Some(price_list), _) => {
                (origin(price_list, recent))
                (list(price_list, code))
            }
            (None, Some(problem)) => { p.problem { (view::sentence(problem)) } }
            (None, None) => { p.soft { "No prices are set: every charge is 0.00 " (code) "." } }
        }
        p {
            small {
                "Unlisted offerings are charged 0.00. New prices take effect within about "
                (APPLIED_SECONDS) " s. Past charges never change."
            }
        }
    }
}

fn code(price_list: Option<&PriceList>) -> &'static str {
    price_list.map(|price_list| price_list.currency_code).unwrap_or_default().code()
}

/// Says when the prices were set, and by whom.
fn origin(price_list: &PriceList, recent: &[PriceListEntry]) -> Markup {
    let Some(time) = &price_list.prices else { return html! {} };
    let by = recent.iter().find(|listed| listed.time == *time);
    let by = by.and_then(|listed| listed.by.as_ref());
    html! {
        p.soft {
            "Set on " (view::time(time))
            @if let Some(by) = by { " by " (view::untrusted_text(by)) }
        }
    }
}

fn list(price_list: &PriceList, code: &str) -> Markup {
    let prices = price_list.unit_prices.iter();
    let row = |(offering, price): (&String, &UnitPrice)| {
        vec![view::untrusted_text(offering), html! { (price.as_str()) }]
    };
    let rows: Vec<_> = prices.take(MAX_ROWS).map(row).collect();
    let more = price_list.unit_prices.len() - rows.len();
    html! {
        (view::table_of(&["Offering", code], &[code], &rows, "No offering has a price."))
        @if more > 0 { p { small { "And " (more) " more." } } }
    }
}

// ---- The forms -----------------------------------------------------------------------------------

fn forms(now: &Current, entered: &Form) -> Markup {
    let seen = html! {
        (view::hidden("mode", now.mode.name()))
        (view::hidden("seen", now.revision()))
    };
    let is_list = entered.text("change") == "list";
    html! {
        h2 { "Change prices" }
        @if now.price_list.is_some() {
            (view::form("/prices", &html! { (seen) (one(if is_list { None } else { Some(entered) })) }))
        }
        details open[is_list || now.price_list.is_none()] {
            summary { "Replace the whole list" }
            (view::form("/prices", &html! {
                (seen)
                (view::hidden("change", "list"))
                (whole(now, is_list.then(|| entered.raw("list"))))
            }))
        }
    }
}

/// The fields of one price.
fn one(entered: Option<&Form>) -> Markup {
    let value = |name| entered.map_or("", |entered| entered.text(name));
    let field =
        |name, label, hint| Field { name, label, hint, value: value(name), ..Field::default() };
    html! {
        (Field { required: true, ..field("offering", "Offering", "The offering's ID, as shops send it.") }.render())
        (field("price", "Unit price", "A decimal such as 0.50.").render())
        div.row {
            button name="change" value="price" { "Set price …" }
            button.quiet name="change" value="remove" { "Remove price …" }
        }
    }
}

const EMPTY: &str =
    "{\n  \"currencyCode\": \"USD\",\n  \"unitPrices\": {\n    \"tree\": \"0.50\"\n  }\n}";

/// The field for a whole price list. It contains the entered text, or the current prices if there are at most
/// [`MAX_ROWS`].
fn whole(now: &Current, entered: Option<&str>) -> Markup {
    let today = now.price_list.as_ref().filter(|today| today.unit_prices.len() <= MAX_ROWS);
    let text = entered.map(str::to_owned).or_else(|| today.map(as_text)).unwrap_or_default();
    html! {
        label {
            span { "All prices as JSON" }
            textarea name="list" rows="12" required spellcheck="false" placeholder=(EMPTY)
                aria-describedby="list-hint" { "\n" (text) }
            small #list-hint { "Offerings that you leave out lose their price. Put prices in quotes." }
        }
        button { "Preview changes …" }
    }
}

/// Writes a price list as JSON, one price per line.
fn as_text(price_list: &PriceList) -> String {
    let price = |(offering, price): (&String, &UnitPrice)| {
        let offering = serde_json::to_string(offering).unwrap_or_default(); // cannot fail
        format!("    {offering}: \"{}\"", price.as_str())
    };
    let prices: Vec<_> = price_list.unit_prices.iter().map(price).collect();
    let code = price_list.currency_code.code();
    let prices = prices.join(",\n");
    format!("{{\n  \"currencyCode\": \"{code}\",\n  \"unitPrices\": {{\n{prices}\n  }}\n}}")
}

// ---- A change ------------------------------------------------------------------------------------

fn ask<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    now: &Current,
    new: &PriceList,
    change: &Change,
    is_missing: bool,
) -> Page {
    let mode = now.mode.name();
    let content = html! {
        @if is_missing { (view::problem("nothing was saved: tick the box to confirm")) }
        p.lead { "Preview of the changes in " (mode) " mode. Nothing was saved yet." }
        section {
            (differences(change, code(Some(new))))
            (context.form("/prices", &html! {
                (view::hidden("mode", mode))
                (view::hidden("seen", now.revision()))
                (view::hidden("change", "list"))
                (view::hidden("step", "set"))
                (view::hidden("list", &as_text(new)))
                (risks(&change.risks, is_missing))
                button { "Save prices" }
            }))
        }
        (back(now.mode, "Cancel"))
    };
    Page { status: if is_missing { 422 } else { 200 }, ..Page::new("New prices", content) }
}

fn risks(risks: &[String], is_missing: bool) -> Markup {
    html! {
        @if !risks.is_empty() {
            div.notice #risks { @for risk in risks { p { (view::sentence(risk)) } } }
            label {
                input type="checkbox" name="risks" value="accepted" required
                    aria-describedby="risks" aria-invalid=[is_missing.then_some("true")];
                "Yes, save these prices"
            }
        }
    }
}

fn differences(Change { currency, prices, .. }: &Change, code: &str) -> Markup {
    let row = |change: &prices::PriceChange| {
        let price = |price: &Option<UnitPrice>| match price {
            Some(price) => html! { (price.as_str()) },
            None => html! { span.soft { "none" } },
        };
        vec![view::untrusted_text(&change.offering), price(&change.from), price(&change.to)]
    };
    let rows: Vec<_> = prices.iter().take(MAX_ROWS).map(row).collect();
    let more = prices.len() - rows.len();
    html! {
        @match currency {
            Some((from, to)) => { p { "Currency: " (from.code()) " → " strong { (to.code()) } } }
            None => { p.soft { "In " (code) "." } }
        }
        (view::table_of(&["Offering", "Before", "After"], &["Before", "After"], &rows, "No price changes."))
        @if more > 0 { p { small { "And " (more) " more." } } }
    }
}

/// Saves the prices, and shows the changes if they are known.
async fn set<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    mode: Mode,
    edit: &Edit,
    seen: &str,
    change: Option<&Change>,
) -> Result {
    let done =
        prices::set(context.store, context.ledger, &context.author, mode, edit, Some(seen)).await?;
    let Done { outcome: time, before } = done;
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! {
            "The prices of " (mode.name()) " mode were saved on " (view::time(&time)) ". They take effect \
             within about " (APPLIED_SECONDS) " s."
        }))
        @if let Some(change) = change { section { (differences(change, "the same currency")) } }
        (back(mode, "All prices"))
        (view::staleness_note())
    };
    Ok(Page::new("New prices", content))
}

fn back(mode: Mode, label: &str) -> Markup {
    html! { p { a href={ "/prices?mode=" (mode.name()) } { (label) } } }
}

// ---- The history ---------------------------------------------------------------------------------

fn history(recent: &Result<Vec<PriceListEntry>, String>) -> Markup {
    html! {
        h2 { "History" }
        @match recent {
            Ok(recent) => {
                (view::table(
                    &["Set on", "Changes", "By"],
                    &recent.iter().rev().map(line).collect::<Vec<_>>(),
                    "No price list has been saved yet.",
                ))
                @if recent.len() == MAX_HISTORY { p { small { "Only the newest " (MAX_HISTORY) " are shown." } } }
                (view::staleness_note())
            }
            Err(problem) => { p.problem { (view::sentence(problem)) } }
        }
    }
}

fn line(PriceListEntry { time, by, change, .. }: &PriceListEntry) -> Vec<Markup> {
    let more = change.prices.len().saturating_sub(MAX_CHANGES);
    let price =
        |price: &Option<UnitPrice>| price.as_ref().map_or("none", UnitPrice::as_str).to_owned();
    vec![
        view::time(time),
        html! {
            div.wide {
                @if let Some((from, to)) = change.currency { div { (from.code()) " → " (to.code()) } }
            @for it in change.prices.iter().take(MAX_CHANGES) {
                div { (view::untrusted_text(&it.offering)) ": " (price(&it.from)) " → " (price(&it.to)) }
            }
            @if more > 0 { div.soft { "and " (more) " more" } }
            @if change.is_none() { span.soft { "no changes" } }
            }
        },
        html! { @match by { Some(by) => { (view::untrusted_text(by)) } None => { "unknown" } } },
    ]
}
