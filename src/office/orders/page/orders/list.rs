//! The list of transactions, in pages, and as a CSV file. The URL of a page can be shared: it contains IDs only, and no
//! personal data. An order number is encrypted in it, and only for the person who searched.

use super::filters::{FILTERS, NUMBER, ROWS, address, form, selected, selection};
use super::table::{shows_buyers, table};
use crate::office::orders::operation::listing;
use crate::office::orders::page::find;
use crate::office::orders::rows::order::{PageCursor, TransactionState};
use crate::office::orders::rows::orders::{Direction, OrderPage};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ListQuery, ListedOrders, TransactionPage};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::{Target, Units};
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// The numbers of transactions per page that a person can choose from. The first is the default: on a phone, a page of 25
/// is about four screens long.
const PAGES: [usize; 3] = [25, 50, 100];
/// Largest number of transactions in a CSV file. KV cost: as [`transactions::listed`].
const MAX_CSV: usize = 2_000;

/// Shows a page of transactions, newest first: of all units that the person may see, or those that the filters select. Cost:
/// 3 ledger queries, 1 more for an order number, and the KV reads of [`table`]. Filters by a state that only Workers KV has
/// cost more ([`transactions::add_ids`]).
pub(crate) async fn orders<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    let list = List::read(context, units, query).await?;
    let from = direction(query).map_err(|problem| list.refused(&problem))?;
    let found = list.page(&from, rows(query)).await?;
    let TransactionPage { page, coverage } = &found;
    let unit = list.selected.filter.unit.as_deref().or_else(|| units.single());
    let table = table(context, &page.orders, unit).await;
    let content = html! {
        (selection(query, &list.selected))
        (view::filters(false, &list.form(&FormProblem::default())))
        section {
            (pages(query, &from, page, "Newer and older transactions"))
            (table)
            (pages(query, &from, page, "Newer and older transactions, below the list"))
            @if !page.orders.is_empty() { (sizes(query)) }
            (view::coverage(coverage))
        }
    };
    Ok(Page::new("Transactions", content))
}

/// Redirects the form with the filters to the list. Encrypts the order number. KV cost: 1 read with an order number.
pub(crate) async fn filter<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    sent: &Form,
) -> Result {
    let token = match sent.given(NUMBER) {
        None => None,
        Some(number) => {
            let refused = |problem: String| {
                let selected = ListQuery::default();
                let list = List { context, query: sent, selected, number: number.to_owned() };
                list.refused(&FormProblem::at(NUMBER, problem))
            };
            if let Some(problem) = find::problem(number) {
                return Err(refused(problem));
            }
            let token = find::seal(context, number).await?;
            Some(token.ok_or_else(|| refused(NO_SECRET.to_owned()))?)
        }
    };
    if let Err(problem) = selected(units, sent) {
        let (selected, number) = (ListQuery::default(), sent.text(NUMBER).to_owned());
        return Err(List { context, query: sent, selected, number }.refused(&problem));
    }
    let sent = given(sent);
    let sent = sent.into_iter().filter(|(name, _)| *name != find::TOKEN);
    let token = token.as_deref().map(|token| (find::TOKEN, token));
    Ok(Page::redirect(address(&sent.chain(token).collect::<Vec<_>>())))
}

const NO_SECRET: &str = "there are no transactions to search yet";

/// Returns what the list shows, as a CSV file: all pages of it. Ledger cost: 3 to 5 queries. KV cost: as
/// [`transactions::listed`].
pub(crate) async fn orders_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    let list = List::read(context, units, query).await?;
    let found = list.page(&Direction::Newest, MAX_CSV).await?.page;
    if found.older.is_some() {
        let problem = format!(
            "a file has at most {MAX_CSV} transactions, but more match: choose dates, a state or a unit"
        );
        return Err(list.refused(&FormProblem::at("from", problem)));
    }
    let (store, clock, shows_buyers) = (context.store, context.clock, shows_buyers(context));
    let listed = transactions::listed(store, clock, &found.orders, shows_buyers).await;
    let ListedOrders { orders, unread, is_partial } = &listed;
    if *unread > 0 || *is_partial {
        return Err(Refusal::invalid(format!(
            "some records could not be read, so the file would not be complete. Number of these records: {unread}. \
             Try again, or list these transactions on the page"
        )));
    }
    let names = context.names_of(found.orders.iter().map(|order| &*order.scope.unit)).await;
    let hidden: &[&str] = if shows_buyers { &[] } else { &["Buyer"] };
    let listing = listing::transactions(orders, &names).without(hidden);
    let unit = list.selected.filter.unit.as_deref().or_else(|| units.single());
    let name: Vec<_> = std::iter::once("transactions").chain(unit).collect();
    Ok(Page::csv(&name, &listing.without(&["Transaction", "Erased"])))
}

/// A list as its filters select it.
struct List<'l, S, C, E> {
    context: &'l PageContext<'l, S, C, E>,
    query: &'l Form,
    selected: ListQuery,
    /// The order number, decrypted; empty if there is none.
    number: String,
}

impl<'l, S: OperatorStore, C: Clock, E: Entropy> List<'l, S, C, E> {
    /// Reads the filters, and checks that the person may use them.
    async fn read(
        context: &'l PageContext<'l, S, C, E>,
        units: &Units,
        query: &'l Form,
    ) -> Result<Self> {
        let mut list =
            List { context, query, selected: ListQuery::default(), number: String::new() };
        list.selected = selected(units, query).map_err(|problem| list.refused(&problem))?;
        if let Some((_, like)) = &list.selected.like {
            check_like(context, like.as_str(), query).await?;
        }
        if list.selected.state == Some(TransactionState::Failed) && !shows_buyers(context) {
            return Err(refusal(context, MemberRight::View));
        }
        if let Some(token) = query.given(find::TOKEN) {
            let number = find::open(context, token).await?;
            let closed = || list.refused(&FormProblem::at(NUMBER, find::closed()));
            list.number = number.ok_or_else(closed)?;
            let secret = transactions::find_secret(context.store).await?;
            list.selected.reference = Some((secret, list.number.clone()));
        }
        let (store, clock) = (context.store, context.clock);
        let added = transactions::add_ids(store, clock, &mut list.selected).await;
        added.map_err(|error| list.failed(error))?;
        Ok(list)
    }

    async fn page(&self, from: &Direction, most: usize) -> Result<TransactionPage> {
        let found = transactions::list(self.context.ledger, &self.selected, from, most).await;
        found.map_err(|error| self.failed(error))
    }

    fn form(&self, problem: &FormProblem) -> Markup {
        form(self.query, &self.number, shows_buyers(self.context), problem)
    }

    /// Shows the form with the filters again, with an error message at one field.
    fn refused(&self, problem: &FormProblem) -> Refusal {
        let content = problem.above(&view::filters(true, &self.form(problem)));
        Refusal::Field(Box::new(Page { status: 422, ..Page::new("Transactions", content) }))
    }

    fn failed(&self, error: OperatorError) -> Refusal {
        match error {
            OperatorError::Invalid(refused) => self.refused(&refused.into()),
            error => error.into(),
        }
    }
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
        false => Err(refusal(context, MemberRight::Manage)),
    }
}

/// Returns the refusal for a person who does not have the permission of support.
fn refusal<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    right: MemberRight,
) -> Refusal {
    let wanted = (Permission::Support, right);
    context.access.refusal(context.author.by(), wanted, context.settings)
}

fn direction(query: &Form) -> Result<Direction, FormProblem> {
    let place = |name: &str| {
        let place = query.given(name).map(PageCursor::parse);
        place.map(|place| place.ok_or_else(|| FormProblem::at(name, NO_PLACE))).transpose()
    };
    Ok(match (place("older")?, place("newer")?) {
        (Some(place), _) => Direction::Older(place),
        (None, Some(place)) => Direction::Newer(place),
        (None, None) => Direction::Newest,
    })
}

const NO_PLACE: &str = "this link to a page of the list is not valid. Open the list again";

// ---- Links ---------------------------------------------------------------------------------------

fn rows(query: &Form) -> usize {
    let asked = query.text(ROWS).parse();
    PAGES.into_iter().find(|rows| asked == Ok(*rows)).unwrap_or(PAGES[0])
}

/// Returns the filters that a query has.
fn given(query: &Form) -> Vec<(&str, &str)> {
    FILTERS.iter().filter_map(|name| Some((*name, query.given(name)?))).collect()
}

/// Renders links to the previous and next page. The page has these links above and below the table, so that
/// keyboard users reach them quickly.
fn pages(query: &Form, from: &Direction, page: &OrderPage, label: &str) -> Markup {
    let filters = given(query);
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

/// Renders links that change the number of rows, and the link to the CSV file.
fn sizes(query: &Form) -> Markup {
    let mut filters = given(query);
    let file = link::with("/orders.csv", &filters);
    filters.retain(|(name, _)| *name != ROWS);
    let of = |rows: usize| {
        let rows = rows.to_string();
        address(&[filters.as_slice(), &[(ROWS, &*rows)]].concat())
    };
    html! {
        nav aria-label="Rows per page" {
            ul {
                @for number in PAGES {
                    li {
                        a href=(of(number)) aria-current=[(number == rows(query)).then_some("true")] {
                            (number) " rows"
                        }
                    }
                }
                li { a href=(file) { "Download CSV" } }
            }
        }
    }
}
