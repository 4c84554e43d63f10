//! The filters of the list of transactions: parameters of its address, and a form.

use crate::office::orders::page::find;
use crate::office::orders::page::transaction;
use crate::office::orders::rows::order::TransactionState;
use crate::office::orders::rows::related::Likeness;
use crate::office::orders::rule::{ListQuery, TransactionFilter};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Units;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::{facts, link, month, view};
use crate::pledges::auth::check_id;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::time::{DAY_MS, date_time, day_of, parse_ms};
use crate::pledges::types::TransactionId;
use maud::{Markup, html};
use strum::IntoEnumIterator as _;

/// The query parameters that filter transactions, and the number of rows.
pub(super) const FILTERS: [&str; 14] = [
    "mode",
    "unit",
    "key",
    "month",
    "from",
    "to",
    "state",
    "least",
    "most",
    "since",
    BUYER,
    REFERENCE,
    find::TOKEN,
    ROWS,
];
/// The query parameters `buyer` and `reference`. Each contains a transaction's ID, and restricts the list
/// to transactions with the same buyer or the same reference as that transaction.
pub(crate) const BUYER: &str = "buyer";
pub(crate) const REFERENCE: &str = "reference";
/// The field of the form with an order number. The address has it encrypted, as [`find::TOKEN`].
pub(super) const NUMBER: &str = "number";
/// The query parameter with the number of rows of a page.
pub(super) const ROWS: &str = "rows";

pub(crate) fn address(parameters: &[(&str, &str)]) -> String {
    link::with("/orders", parameters)
}

// ---- Parse ---------------------------------------------------------------------------------------

/// Returns the name of the first invalid filter field, and what is wrong with it; `None` if the month and
/// the unit are valid.
pub(crate) fn wrong_filter(query: &Form) -> Option<(&'static str, String)> {
    match (month::problem(query), unit_problem(query)) {
        ("", problem) if problem.is_empty() => None,
        ("", problem) => Some(("unit", problem)),
        (problem, _) => Some(("month", problem.to_owned())),
    }
}

/// Returns what is wrong with the unit in a query; empty if nothing is.
pub(crate) fn unit_problem(query: &Form) -> String {
    query.given("unit").and_then(|unit| check_id(unit).err()).unwrap_or_default()
}

/// Returns what a query selects, except the order number.
///
/// # Errors
/// What is wrong with the first invalid parameter.
pub(super) fn selected(units: &Units, query: &Form) -> Result<ListQuery, FormProblem> {
    let unit = query.given("unit").map(str::to_owned);
    if let Some(problem) = wrong_filter(query) {
        return Err(FormProblem::at(problem.0, problem.1));
    }
    let (from, to) = (parsed(query, "from", day, NO_DAY)?, parsed(query, "to", day, NO_DAY)?);
    let (least, most) =
        (parsed(query, "least", cents, NO_AMOUNT)?, parsed(query, "most", cents, NO_AMOUNT)?);
    for (field, low, high) in [("to", from, to), ("most", least, most)] {
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err(FormProblem::at(field, "this is before the beginning of the range"));
        }
    }
    Ok(ListQuery {
        filter: TransactionFilter {
            unit,
            mode: parsed(query, "mode", Mode::from_name, "`mode` must be live or test")?,
        },
        within: units.own().map(<[String]>::to_vec),
        key: query.given("key").map(str::to_owned),
        month: query.given("month").and_then(Month::parse),
        from,
        until: to.map(|to| to.saturating_add(DAY_MS)),
        state: parsed(query, "state", state, "choose one of the states")?,
        least,
        greatest: most,
        changed_after: parsed(query, "since", parse_ms, "`since` is not a valid date-time")?,
        like: like(query)?,
        ..ListQuery::default()
    })
}

fn parsed<T>(
    query: &Form,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    problem: &str,
) -> Result<Option<T>, FormProblem> {
    let value =
        query.given(name).map(|text| parse(text).ok_or_else(|| FormProblem::at(name, problem)));
    value.transpose()
}

const NO_DAY: &str = "enter the day in the form 2026-10-31";
const NO_AMOUNT: &str = "enter an amount with at most two decimals, such as 12.50";

/// Returns the beginning of a UTC day, in milliseconds since 1970.
fn day(text: &str) -> Option<u64> {
    let is_day = text.len() == "2026-10-31".len();
    parse_ms(&format!("{text}T00:00:00Z")).filter(|_| is_day)
}

fn cents(text: &str) -> Option<u64> {
    Decimal::parse_bounded(text)?.units(2)
}

fn state(name: &str) -> Option<TransactionState> {
    name.parse().ok()
}

fn like(query: &Form) -> Result<Option<(Likeness, TransactionId)>, FormProblem> {
    let names = [(BUYER, Likeness::Buyer), (REFERENCE, Likeness::Reference)];
    let given = names.into_iter().find_map(|(name, likeness)| Some((likeness, query.given(name)?)));
    let id = |(likeness, text)| Some((likeness, TransactionId::parse(text)?));
    given.map(|given| id(given).ok_or_else(|| FormProblem::at(BUYER, NO_ID))).transpose()
}

const NO_ID: &str = "this link does not name a transaction. Open the list again";

// ---- Words ---------------------------------------------------------------------------------------

/// Says what a list contains.
pub(super) fn selection(query: &Form, selected: &ListQuery) -> Markup {
    let TransactionFilter { unit, mode } = &selected.filter;
    let amount = |name: &str| view::untrusted_text(query.text(name));
    let day = |ms: u64| date_time(ms);
    html! {
        p.lead {
            "Transactions"
            @if let Some(state) = selected.state { " " (words(state)) }
            @if let Some(unit) = unit { " of the unit " (transaction::unit(unit)) }
            @else if selected.within.is_some() { " of your units" }
            @else { " of all units" }
            @match &selected.like {
                None => {}
                Some((Likeness::Buyer, id)) => { ", of the same buyer as " (facts::inline(&Fact::transaction(id.as_str()))) }
                Some((Likeness::Reference, id)) => { ", with the same reference as " (facts::inline(&Fact::transaction(id.as_str()))) }
            }
            @if let Some((_, reference)) = &selected.reference { ", with the order number " (view::untrusted_text(reference)) }
            @if let Some(key) = &selected.key { ", created with the API key " code { (view::untrusted_text(key)) } }
            @if let Some(month) = selected.month { ", in " (view::month(month)) }
            @if let Some(from) = selected.from { ", from " (view::day(&day(from))) }
            @if let Some(until) = selected.until { ", until " (view::day(&day(until.saturating_sub(DAY_MS)))) }
            @if selected.least.is_some() { ", with a charge of at least " (amount("least")) }
            @if selected.greatest.is_some() { ", with a charge of at most " (amount("most")) }
            @if let Some(mode) = mode { ", in " (mode.name()) " mode" }
            @if selected.changed_after.is_some() {
                ", added to the ledger or changed since " (view::time(query.text("since")))
            }
            ", newest first."
        }
    }
}

fn words(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Paid => "whose month is marked as paid,",
        TransactionState::Unpaid => "whose month is not marked as paid,",
        TransactionState::Credited => "with credits,",
        TransactionState::Cancelled => "that were cancelled,",
        TransactionState::Failed => "with an e-mail or message that failed,",
        TransactionState::Unpriced => "with unpriced pledges,",
        TransactionState::Erased => "that were erased,",
    }
}

fn label(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Paid => "Paid",
        TransactionState::Unpaid => "Not paid",
        TransactionState::Credited => "Credited",
        TransactionState::Cancelled => "Cancelled",
        TransactionState::Failed => "E-mail or message failed",
        TransactionState::Unpriced => "Unpriced",
        TransactionState::Erased => "Erased",
    }
}

// ---- The form ------------------------------------------------------------------------------------

/// Renders the form with the filters. `number` is the order number. Without `shows_buyers`, failed notifications are not
/// offered.
pub(super) fn form(
    query: &Form,
    number: &str,
    shows_buyers: bool,
    problem: &FormProblem,
) -> Markup {
    let field = |name: &'static str, label, kind, hint| {
        let value = query.text(name);
        view::Field {
            name,
            label,
            kind,
            hint,
            value,
            problem: problem.of(name),
            ..view::Field::default()
        }
    };
    let days = days(query);
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let mode = query.given("mode").and_then(Mode::from_name).map_or("", Mode::name);
    let states =
        TransactionState::iter().filter(|state| shows_buyers || *state != TransactionState::Failed);
    let states = states.map(|state| (state.into(), label(state)));
    let states: Vec<_> = std::iter::once(("", "All")).chain(states).collect();
    let number = if find::is_secret(number) { "" } else { number };
    let content = html! {
        @for name in [BUYER, REFERENCE, "since", ROWS] {
            @if let Some(value) = query.given(name) { (view::hidden(name, value)) }
        }
        div.fields {
            (view::select("state", "State", &states, query.text("state")))
            (view::Field { value: number, ..field(NUMBER, "Order number", "", "") }.render())
            (view::Field { value: &days.0, ..field("from", "From (UTC)", "date", "") }.render())
            (view::Field { value: &days.1, ..field("to", "To (UTC)", "date", "") }.render())
            (field("least", "Minimum charge", "", "").render())
            (field("most", "Maximum charge", "", "").render())
            (field("unit", "Unit", "", "Leave empty for all units.").render())
            (field("key", "API key ID", "", "").render())
            (view::select("mode", "Mode", &modes, mode))
        }
        button { "Show" }
    };
    view::form("/orders", &content)
}

/// Returns the first and the last day that a query selects, as its month or its fields say.
fn days(query: &Form) -> (String, String) {
    let span = query.given("month").and_then(Month::parse).and_then(Month::span_ms);
    let day = |ms: u64| day_of(&date_time(ms)).to_owned();
    let own = |name: &str, of_month: Option<u64>| match (query.given(name), of_month) {
        (Some(own), _) => own.to_owned(),
        (None, ms) => ms.map(day).unwrap_or_default(),
    };
    (
        own("from", span.map(|(from, _)| from)),
        own("to", span.map(|(_, until)| until.saturating_sub(1))),
    )
}
