//! The table of transactions. On a narrow screen, each row takes two lines.

use crate::office::orders::operation::listing;
use crate::office::orders::operation::listing::NOT_ON_PAGES;
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::ListedOrders;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use futures_util::future::join3;
use maud::{Markup, html};

/// Returns whether lists show the person the buyers, masked, and failed notifications, as the page of a transaction does.
pub(super) fn shows_buyers<S, C, E>(context: &PageContext<'_, S, C, E>) -> bool {
    context.may(Permission::Support) || context.is_of_shop()
}

/// Renders a table of transactions, with their references, pledges, buyers and states. If `unit` is given, all
/// transactions are of that unit, and times are in the unit's time zone. If a read fails, the page says what
/// is missing. KV cost: that of [`transactions::listed`], and 1 read for a unit. Ledger cost:
/// 1 query without a unit.
pub(crate) async fn table<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
    unit: Option<&str>,
) -> Markup {
    let shows_buyers = shows_buyers(context);
    let times = context.times_of(unit.filter(|_| !orders.is_empty()));
    let units = orders.iter().filter(|_| unit.is_none()).map(|order| &*order.scope.unit);
    let listed = transactions::listed(context.store, context.clock, orders, shows_buyers);
    let (listed, times, names) = join3(listed, times, context.names_of(units)).await;
    render(&listed, shows_buyers, &times, unit.is_none().then_some(&names))
}

/// Renders a table like [`table`], for transactions of one unit. `times` formats their times.
pub(crate) async fn table_of_unit<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
    times: &ListTimes<'_, C>,
) -> Markup {
    let shows_buyers = shows_buyers(context);
    let listed = transactions::listed(context.store, context.clock, orders, shows_buyers).await;
    render(&listed, shows_buyers, times, None)
}

/// Renders the table. `names` has the names of the units; `None` if all transactions are of one unit.
fn render(
    ListedOrders { orders, unread, is_partial }: &ListedOrders<'_>,
    shows_buyers: bool,
    times: &ListTimes<'_, impl TimeZones>,
    names: Option<&UnitNames>,
) -> Markup {
    let none = UnitNames::default();
    let listing = listing::transactions(orders, names.unwrap_or(&none)).without(&NOT_ON_PAGES);
    let listing = if shows_buyers { listing } else { listing.without(&["Buyer"]) };
    let listing = if names.is_some() { listing } else { listing.without(&["Unit"]) };
    html! {
        div.orders { (times.table(&listing)) }
        @if *unread > 0 {
            p.problem { "Some records could not be read, so the references, buyers and pledges of their \
                         transactions are not shown. Number of these records: " (unread) "." }
        }
        @if *is_partial {
            p.problem { "The list does not show which transactions are cancelled, or which e-mails failed: \
                         these records could not be read." }
        }
    }
}
