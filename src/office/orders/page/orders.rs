//! Lists of transactions, in pages. The URL of a page can be shared: it contains IDs only, and no personal data.

use super::transaction;
use crate::buyer::recipient;
use crate::buyer::recipient::Language;
use crate::office::orders::rows::order::{Order, PageCursor};
use crate::office::orders::rows::orders::{Direction, OrderPage};
use crate::office::orders::rows::related::Likeness;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Brief, ListQuery, TransactionFilter, TransactionPage};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::{Target, Units};
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::view::{id_link, money};
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::pledges::auth::check_id;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{TimeZones, parse_ms};
use crate::pledges::types::TransactionId;
use futures_util::future::{join, join3};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Transactions per page.
const PAGE: usize = 50;
/// The query parameters that filter transactions.
const FILTERS: [&str; 8] = ["mode", "unit", "key", "month", "unpriced", "since", BUYER, REFERENCE];
/// The query parameters `buyer` and `reference`. Each contains a transaction's ID, and restricts the list
/// to transactions with the same buyer or the same reference as that transaction.
pub(crate) const BUYER: &str = "buyer";
pub(crate) const REFERENCE: &str = "reference";

/// Shows a page of transactions, newest first: of all units that the person may see, of one unit, or of one key. Cost:
/// 3 ledger queries, and 1 KV read.
pub(crate) async fn orders<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    if let Some((field, problem)) = wrong_filter(query) {
        return Ok(again(query, field, &problem));
    }
    let (selected, from) = (selected(units, query)?, direction(query)?);
    if let Some((_, like)) = &selected.like {
        check_like(context, like.as_str(), query).await?;
    }
    let listed = transactions::list(context.ledger, &selected, &from, PAGE).await?;
    let TransactionPage { page, coverage } = &listed;
    let unit = selected.filter.unit.as_deref().or_else(|| units.single());
    let table = table(context, &page.orders, unit).await;
    let content = html! {
        (selection(query, &selected))
        (view::filters(false, &filters(query)))
        section {
            (pages(query, &from, page, "Newer and older transactions"))
            (table)
            (pages(query, &from, page, "Newer and older transactions, below the list"))
            (view::coverage(coverage))
        }
    };
    Ok(Page::new("Transactions", content))
}

/// Returns the name of the first invalid filter field, and what is wrong with it; `None` if the month and
/// the unit are valid.
pub(crate) fn wrong_filter(query: &Form) -> Option<(&'static str, String)> {
    match (month_problem(query), unit_problem(query)) {
        ("", problem) if problem.is_empty() => None,
        ("", problem) => Some(("unit", problem)),
        (problem, _) => Some(("month", problem.to_owned())),
    }
}

/// Returns what is wrong with the unit in a query; empty if nothing is.
pub(crate) fn unit_problem(query: &Form) -> String {
    query.given("unit").and_then(|unit| check_id(unit).err()).unwrap_or_default()
}

/// Shows the form with the filters again, with an error message at one field.
fn again(query: &Form, field: &str, problem: &str) -> Page {
    let content = html! {
        (view::form_problem(problem, Some(field)))
        (view::filters(true, &filters(query)))
    };
    Page { status: 422, ..Page::new("Transactions", content) }
}

/// Checks that the person may list all transactions of one buyer or reference. Such a list reveals who buys
/// what. Operators need the permission to search. People of shops must manage the unit of the transaction
/// `id`.
async fn check_like<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result<()> {
    if context.is_of_shop() {
        let target = Target { right: MemberRight::Manage, id, form: query };
        return context.record(target).await.map(drop);
    }
    match context.may(Permission::Support) {
        true => Ok(()),
        false => Err(context.access.refusal(
            context.author.by(),
            (Permission::Support, MemberRight::Manage),
            context.settings,
        )),
    }
}

fn selected(units: &Units, query: &Form) -> Result<ListQuery> {
    let unit = query.given("unit").map(str::to_owned);
    let mode = query.given("mode").map(|_| query.mode()).transpose()?;
    let changed_after = query.given("since").map(|time| {
        parse_ms(time).ok_or_else(|| Refusal::invalid("`since` is not a valid date-time"))
    });
    Ok(ListQuery {
        filter: TransactionFilter { unit, mode },
        within: units.own().map(<[String]>::to_vec),
        key: query.given("key").map(str::to_owned),
        month: query.given("month").map(month).transpose()?,
        unpriced: query.given("unpriced").is_some(),
        changed_after: changed_after.transpose()?,
        like: like(query)?,
    })
}

fn like(query: &Form) -> Result<Option<(Likeness, TransactionId)>> {
    let names = [(BUYER, Likeness::Buyer), (REFERENCE, Likeness::Reference)];
    let given = names.into_iter().find_map(|(name, likeness)| Some((likeness, query.given(name)?)));
    let id = |(likeness, text)| Some((likeness, TransactionId::parse(text)?));
    given.map(|given| id(given).ok_or_else(|| Refusal::invalid(NO_ID))).transpose()
}

const NO_ID: &str = "this link does not name a transaction. Open the list again";

pub(crate) fn month(text: &str) -> Result<Month> {
    Month::parse(text).ok_or_else(|| Refusal::invalid(NO_MONTH))
}

pub(crate) const NO_MONTH: &str = "enter the month in the form 2026-10";

/// Returns what is wrong with the month in a query; empty if nothing is.
pub(crate) fn month_problem(query: &Form) -> &'static str {
    let is_wrong = query.given("month").is_some_and(|text| Month::parse(text).is_none());
    if is_wrong { NO_MONTH } else { "" }
}

fn direction(query: &Form) -> Result<Direction> {
    let place = |name: &str| {
        let place = query.given(name).map(PageCursor::parse);
        place.map(|place| place.ok_or_else(|| Refusal::invalid(NO_PLACE))).transpose()
    };
    Ok(match (place("older")?, place("newer")?) {
        (Some(place), _) => Direction::Older(place),
        (None, Some(place)) => Direction::Newer(place),
        (None, None) => Direction::Newest,
    })
}

const NO_PLACE: &str = "this link to a page of the list is not valid. Open the list again";

pub(crate) fn address(parameters: &[(&str, &str)]) -> String {
    link::with("/orders", parameters)
}

fn selection(query: &Form, selected: &ListQuery) -> Markup {
    let TransactionFilter { unit, mode } = &selected.filter;
    html! {
        p.lead {
            @if selected.unpriced { "Transactions with unpriced pledges" } @else { "Transactions" }
            @if let Some(unit) = unit { " of the unit " (transaction::unit(unit)) }
            @else if selected.within.is_some() { " of your units" }
            @else { " of all units" }
            @match &selected.like {
                None => {}
                Some((Likeness::Buyer, id)) => { ", of the same buyer as " (id_link(id.as_str())) }
                Some((Likeness::Reference, id)) => { ", with the same reference as " (id_link(id.as_str())) }
            }
            @if let Some(key) = &selected.key { ", created with the API key " code { (view::untrusted_text(key)) } }
            @if let Some(month) = selected.month { ", in " (view::month(month)) }
            @if let Some(mode) = mode { ", in " (mode.name()) " mode" }
            @if selected.changed_after.is_some() {
                ", added to the ledger or changed since " (view::time(query.text("since")))
            }
            ", newest first."
        }
    }
}

/// Renders a table of transactions, with their references and pledges. If `unit` is given, all transactions
/// are of that unit, and times are in the unit's time zone. If a read fails, the page says how many
/// transactions lack their reference and pledges. KV cost: 2 reads per 100 transactions, and 1 for a unit. Ledger cost:
/// 1 query without a unit.
pub(crate) async fn table<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
    unit: Option<&str>,
) -> Markup {
    let times = context.times_of(unit.filter(|_| !orders.is_empty()));
    let units = orders.iter().filter(|_| unit.is_none()).map(|order| &*order.scope.unit);
    let (read, times, names) = join3(read(context, orders), times, context.names_of(units)).await;
    table_with(orders, read, &times, unit.is_none().then_some(&names))
}

/// The parts of a table that come from Workers KV: references and pledges (`None` if they could not
/// be read), and the IDs of cancelled transactions.
type Read = (Vec<Option<Brief>>, BTreeSet<String>);

async fn read<S: OperatorStore, C, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
) -> Read {
    let briefs = transactions::briefs(context.store, orders);
    let (briefs, cancelled) = join(briefs, transactions::cancelled(context.store, orders)).await;
    (briefs.unwrap_or_default(), cancelled.unwrap_or_default())
}

/// Renders a table like [`table`], for transactions of one unit. `times` formats their times.
pub(crate) async fn table_of_unit<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
    times: &ListTimes<'_, C>,
) -> Markup {
    table_with(orders, read(context, orders).await, times, None)
}

fn table_with(
    orders: &[Order],
    (mut briefs, cancelled): Read,
    times: &ListTimes<'_, impl TimeZones>,
    names: Option<&UnitNames>,
) -> Markup {
    briefs.resize(orders.len(), None);
    let unread = briefs.iter().filter(|brief| brief.is_none()).count();
    let row = |(order, brief): (&Order, &Option<Brief>)| {
        let mut cells = vec![named(&order.id, brief.as_ref()), pledged(brief.as_ref())];
        cells.push(times.cell(&order.created_at));
        cells.extend(names.map(|names| names.link(&order.scope.unit)));
        cells.extend(last_cells(order, cancelled.contains(&order.id)));
        cells
    };
    let rows: Vec<_> = orders.iter().zip(&briefs).map(row).collect();
    let created = times.heading("Created");
    let of_all: &[&str] = if names.is_some() { &["Unit"] } else { &[] };
    let headings =
        [&["Transaction", "Pledged", &created], of_all, &["Charge", "Mode", "Notes"]].concat();
    html! {
        (view::table_of(&headings, &["Charge"], &rows, NONE))
        @if unread > 0 {
            p.problem { "Some records could not be read, so the references and pledges of their \
                         transactions are not shown. Number of these records: " (unread) "." }
        }
    }
}

const NONE: &str = "No transactions.";

/// Renders the link to a transaction: its reference, or its ID if the reference is not known.
fn named(id: &str, brief: Option<&Brief>) -> Markup {
    match brief {
        Some(Brief { reference, .. }) if !reference.trim().is_empty() => {
            html! { a.reference href=(link::path(&["transactions", id])) { (view::untrusted_text(reference)) } }
        }
        _ => id_link(id),
    }
}

/// Renders what was pledged, such as `3 × tree`.
fn pledged(brief: Option<&Brief>) -> Markup {
    let Some(Brief { pledged, more, .. }) = brief else { return html! { "–" } };
    html! {
        @for (index, (amount, offering)) in pledged.iter().enumerate() {
            @if index > 0 { ", " }
            (recipient::write_amount(Language::En, *amount)) " × " (view::untrusted_text(offering))
        }
        @if *more > 0 { ", and " (more) " more" }
    }
}

fn last_cells(order: &Order, is_cancelled: bool) -> [Markup; 3] {
    [
        money(&order.amount, &order.currency_code),
        transaction::mode(order.scope.mode.is_live()),
        html! {
            @if order.erased.is_some() { span.tag.alarm { "Erased" } " " }
            @if order.unpriced > 0 { span.tag.note { "Unpriced: " (order.unpriced) } " " }
            @if is_cancelled { span.tag { "Cancelled" } " " }
            @if let Some(credited) = &order.credited { span.tag { "Credited: " (credited) } " " }
            @if order.paid { span.tag { "Paid" } }
        },
    ]
}

/// Renders links to the previous and next page. The page has these links above and below the table, so that
/// keyboard users reach them quickly.
fn pages(query: &Form, from: &Direction, page: &OrderPage, label: &str) -> Markup {
    let filters = FILTERS.iter().filter_map(|name| Some((*name, query.given(name)?)));
    let filters: Vec<_> = filters.collect();
    let place = |name, place: &PageCursor| {
        let text = place.to_string();
        address(&[filters.as_slice(), &[(name, &*text)]].concat())
    };
    html! {
        nav aria-label=(label) {
            ul {
                @if *from != Direction::Newest { li { a href=(address(&filters)) { "Newest" } } }
                @if let Some(newer) = &page.newer { li { a rel="prev" href=(place("newer", newer)) { "← Newer" } } }
                @if let Some(older) = &page.older { li { a rel="next" href=(place("older", older)) { "Older →" } } }
            }
        }
    }
}

fn filters(query: &Form) -> Markup {
    let field = |name, label, hint| view::Field {
        name,
        label,
        hint,
        value: query.text(name),
        ..view::Field::default()
    };
    let modes = [("", "Live and test"), ("live", "Live"), ("test", "Test")];
    let mode = query.given("mode").and_then(Mode::from_name).map_or("", Mode::name);
    let content = html! {
        @for name in [BUYER, REFERENCE] {
            @if let Some(id) = query.given(name) { (view::hidden(name, id)) }
        }
        div.fields {
            (view::Field {
                problem: &unit_problem(query),
                ..field("unit", "Unit", "Leave empty for all units.")
            }.render())
            (field("key", "API key ID", "").render())
            (view::month_field(query.text("month"), month_problem(query)))
            (view::select("mode", "Mode", &modes, mode))
        }
        div.field {
            label.choice {
                input type="checkbox" name="unpriced" value="yes" checked[query.given("unpriced").is_some()];
                "Only transactions with unpriced pledges"
            }
        }
        button { "Show" }
    };
    view::filter("/orders", &content)
}
