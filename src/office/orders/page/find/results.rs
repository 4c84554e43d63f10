//! The results of a search for units, teams and transactions.

use super::form::SearchForm;
use super::found_by::{EMAIL, FoundBy, found_by, only};
use super::key;
use super::pages::pages;
use super::suggestions::{shared, suggestions};
use super::term::{ID, transaction_id};
use crate::office::orders::page::transaction::level;
use crate::office::orders::page::{orders, transaction};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Found, SearchKey, TransactionFilter};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Target;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::office::shops::rows::names;
use crate::office::shops::rows::names::{Name, NameKind};
use crate::office::shops::rule::register;
use crate::office::shops::rule::register::Unregistered;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Transactions per page.
const MAX_ROWS: usize = 50;
/// Maximum number of units that the name beside an order number may mean.
const MAX_SHOPS: usize = 5;
/// Maximum number of units and teams that are shown.
const MAX_NAMES: usize = 20;

/// Shows the results for a search term. If the term names a transaction or an API key, shows the page of that
/// transaction or key. Otherwise, lists the units and teams that match the term, and the transactions with
/// this reference or e-mail address.
///
/// `token` is the encrypted term in the URL of the results; `None` if the results have no URL. `query`
/// contains the filters and the position in the list.
pub(super) async fn show<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    term: &str,
    token: Option<&str>,
    query: &Form,
) -> Result {
    if let Some(id) = transaction_id(term) {
        let target = Target { right: MemberRight::View, id, form: query };
        let record = context.record(target).await?;
        return transaction::transaction(context, &record).await;
    }
    if let Some(page) = key::find(context, term, query).await? {
        return Ok(page);
    }
    let results = Results { context, term, token, query };
    let orders = match results.search().await {
        Err(OperatorError::Invalid(why)) => Err(why.text),
        found => Ok(found?),
    };
    match query.given("unit") {
        Some(unit) => results.of_unit(unit, orders).await,
        None => results.of_all(orders).await,
    }
}

/// Why a person with only the role `accounts` finds nothing by an e-mail address, which such people see masked.
const NOT_BY_EMAIL: &str =
    "with your role you cannot search by e-mail address: enter the order number or the ID";

struct Results<'r, S, C, E> {
    context: &'r PageContext<'r, S, C, E>,
    term: &'r str,
    token: Option<&'r str>,
    query: &'r Form,
}

/// The transactions found by reference or e-mail address, or a text that says why the search was not
/// possible.
type Searched = Result<FoundBy, String>;

impl<S: OperatorStore, C: Clock, E: Entropy> Results<'_, S, C, E> {
    async fn search(&self) -> Result<FoundBy, OperatorError> {
        let (store, ledger) = (self.context.store, self.context.ledger);
        let find = async |of: (&TransactionFilter, &SearchKey), from: &Direction| {
            if matches!(of.1, SearchKey::Email(_)) && !self.context.may(Permission::Support) {
                return Err(OperatorError::invalid(NOT_BY_EMAIL));
            }
            transactions::find(store, ledger, of, from, MAX_ROWS).await
        };
        let units = async |name: &str| {
            let found = names::find(ledger, name, MAX_SHOPS).await.unwrap_or_default(); // the search of transactions reports a failure
            let units = found.into_iter().filter(|name| name.kind == NameKind::Unit);
            Some(units.map(|name| name.id).collect())
        };
        found_by(self.term, self.query, find, units).await
    }

    fn operates(&self) -> bool {
        self.context.may(Permission::Operate)
    }

    /// Says what was searched without a result, and what a search cannot find.
    fn searched(&self, FoundBy { by, found }: &FoundBy) -> Markup {
        let is_email = *by == EMAIL;
        let modes = match Mode::from_name(self.query.text("mode")) {
            Some(mode) => mode.name(),
            None => "live and test",
        };
        html! {
            p {
                "Searched: order numbers" @if is_email { " and e-mail addresses" }
                " of " @if self.query.given("unit").is_some() { "this unit" } @else { "all units" }
                " (" (modes) ")."
                @match (found.coverage.is_some(), is_email) {
                    (false, _) => {
                        " Without the ledger, only the exact reference that the shop sent is found, and transactions of the last " (SHOWN_SECONDS) " s may be missing."
                    }
                    (true, true) => { " Erased transactions have no e-mail address." }
                    (true, false) => { " An erased transaction is found only by its ID, or by the exact reference that the shop sent." }
                }
            }
            @if let Some(coverage) = &found.coverage { (view::coverage(coverage)) }
        }
    }

    fn again(&self) -> Markup {
        html! { section { h2 { "Search again" } (SearchForm::of(self.context, self.term, self.query).render()) } }
    }

    // ---- One unit ------------------------------------------------------------------------------------

    async fn of_unit(&self, unit: &str, orders: Searched) -> Result {
        let again = SearchForm::of(self.context, self.term, self.query);
        let found = match orders {
            Err(problem) => return Ok(again.again(&problem)),
            Ok(found) if !found.found.transactions.is_empty() => {
                return Ok(match only(&found.found, self.query) {
                    Some(page) => page,
                    None => self.orders_page(&found, &html! {}).await,
                });
            }
            Ok(found) => found,
        };
        let level = [KeyLevel::Unit(unit.to_owned())];
        let unknown = register::look_up(self.context.store, &level).await?;
        let content = html! {
            p.lead { "No transaction of the unit " (view::untrusted_text(unit)) " matches this." }
            @if !unknown.is_empty() { p { "There is no unit with this ID." } }
            (suggestions(&unknown, self.operates()))
            (self.searched(&found))
        };
        Ok(again.nothing(&content))
    }

    // ---- All units -----------------------------------------------------------------------------------

    async fn of_all(&self, orders: Searched) -> Result {
        let (levels, unknown) = self.levels().await?;
        let names = self.names(&levels).await;
        let known = self.known(&levels, &names);
        let is_known = !levels.is_empty() || !names.is_empty();
        if let Ok(found) = &orders
            && !found.found.transactions.is_empty()
        {
            return Ok(match only(&found.found, self.query).filter(|_| !is_known) {
                Some(page) => page,
                None => self.orders_page(found, &known).await,
            });
        }
        let content = html! {
            (known)
            @if !is_known { p.lead { "No unit, team, key or transaction matches this." } }
            @if self.term.contains(ID.0) {
                p { "A transaction ID has " (ID.1) " characters. A part of it may be missing." }
            }
            @if names.is_empty() { (suggestions(&unknown, self.operates())) }
            @match &orders {
                Ok(found) => (self.searched(found)),
                Err(problem) if problem == NOT_BY_EMAIL => (view::problem(problem)),
                Err(problem) => {
                    p { "The transactions of all units could not be searched. To find a transaction by its reference, enter its unit." }
                    (view::problem(problem))
                }
            }
            (self.again())
        };
        Ok(Page::new(if is_known { "Search results" } else { "No match" }, content))
    }

    /// Looks up the search term as the ID of a unit and, for operators, of a team. Returns the units and
    /// teams that exist. Also returns those that do not exist, each with the most similar existing ID, if any
    /// is similar.
    async fn levels(&self) -> Result<(Vec<KeyLevel>, Vec<Unregistered>)> {
        let id = self.term.to_owned();
        let mut levels = vec![KeyLevel::Unit(id.clone()), KeyLevel::Team(id)];
        let may_see = |level: &KeyLevel| self.operates() || matches!(level, KeyLevel::Unit(_));
        levels.retain(|level| level.check().is_ok() && may_see(level));
        let unknown = register::look_up(self.context.store, &levels).await?;
        levels.retain(|level| unknown.iter().all(|unknown| unknown.level != *level));
        Ok((levels, unknown))
    }

    /// Returns the units and teams whose ID or name contains a word that begins with the search term, except those in
    /// `levels`.
    async fn names(&self, levels: &[KeyLevel]) -> Vec<Name> {
        let found = names::find(self.context.ledger, self.term, MAX_NAMES + 1).await; // the search of transactions reports a failure
        let is_exact = |name: &Name| levels.iter().any(|level| level_of(name) == *level);
        let mut names = found.unwrap_or_default();
        names.retain(|name| !is_exact(name) && (self.operates() || name.kind == NameKind::Unit));
        names
    }

    fn known(&self, levels: &[KeyLevel], names: &[Name]) -> Markup {
        html! {
            @for known in levels { p.lead { "The " (level(known, self.operates())) "." } }
            @if !names.is_empty() {
                ul.links {
                    @for name in names.iter().take(MAX_NAMES) {
                        li {
                            "The " (level(&level_of(name), self.operates()))
                            @if !name.name.is_empty() { ", " (view::untrusted_text(&name.name)) }
                        }
                    }
                }
                @if names.len() > MAX_NAMES { p { "There are more matches: enter more of the name." } }
            }
        }
    }

    // ---- Transactions --------------------------------------------------------------------------------

    async fn orders_page(&self, FoundBy { by, found }: &FoundBy, above: &Markup) -> Page {
        let unit = self.query.given("unit");
        let table = orders::table(self.context, &found.transactions, unit).await;
        let content = html! {
            (above)
            p.lead {
                @match unit {
                    Some(unit) => { "In the unit " (transaction::unit(unit)) }
                    None => "In all units",
                }
            }
            (table)
            (self.pages(by, found))
            @match &found.coverage {
                Some(coverage) => {
                    @if self.context.may(Permission::Support) { (shared(by, &found.transactions)) }
                    (view::coverage(coverage))
                }
                None => (view::staleness_note()),
            }
            (self.again())
        };
        Page::new("Transactions", content)
    }

    /// Renders links to other pages of results. Renders nothing without a token, because the results then
    /// have no address to link to.
    fn pages(&self, by: &str, found: &Found) -> Markup {
        html! { @if let Some(token) = self.token { (pages(token, self.query, by, found)) } }
    }
}

fn level_of(name: &Name) -> KeyLevel {
    match name.kind {
        NameKind::Unit => KeyLevel::Unit(name.id.clone()),
        NameKind::Team => KeyLevel::Team(name.id.clone()),
    }
}
