//! The table of transactions. On a narrow screen, each row takes two lines.

use crate::buyer::recipient;
use crate::buyer::recipient::Language;
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Brief, ListedOrder, ListedOrders, Mark};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::view;
use crate::office::shared::page::view::{money, order_link};
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
    Table { shows_buyers, times: &times, names: unit.is_none().then_some(&names) }.render(&listed)
}

/// Renders a table like [`table`], for transactions of one unit. `times` formats their times.
pub(crate) async fn table_of_unit<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    orders: &[Order],
    times: &ListTimes<'_, C>,
) -> Markup {
    let shows_buyers = shows_buyers(context);
    let listed = transactions::listed(context.store, context.clock, orders, shows_buyers).await;
    Table { shows_buyers, times, names: None }.render(&listed)
}

struct Table<'t, Z> {
    shows_buyers: bool,
    times: &'t ListTimes<'t, Z>,
    /// The names of the units; `None` if all transactions are of one unit.
    names: Option<&'t UnitNames>,
}

impl<Z: TimeZones> Table<'_, Z> {
    fn render(&self, ListedOrders { orders, unread, is_partial }: &ListedOrders<'_>) -> Markup {
        let rows: Vec<_> = orders.iter().map(|listed| self.row(listed)).collect();
        let created = self.times.heading("Created");
        let headings = [
            Some("Transaction"),
            Some("Pledged"),
            self.shows_buyers.then_some("Buyer"),
            Some(&*created),
            self.names.map(|_| "Unit"),
            Some("Net amount"),
            Some("State"),
        ];
        let headings: Vec<_> = headings.into_iter().flatten().collect();
        html! {
            div.orders { (view::table_of(&headings, &["Net amount"], &rows, NONE)) }
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

    fn row(&self, listed: &ListedOrder<'_>) -> Vec<Markup> {
        let (order, brief) = (listed.order, listed.brief.as_ref());
        let cells = [
            Some(order_link(&order.id, brief.map(|brief| &*brief.reference))),
            Some(html! { span.pledged { (pledged(brief)) } }),
            self.shows_buyers.then(|| buyer(brief)),
            Some(self.times.cell(&order.created_at)),
            self.names.map(|names| html! { span.shop { (names.link(&order.scope.unit)) } }),
            Some(net(order)),
            Some(html! { span.marks { @for mark in listed.marks() { (tag(&mark)) " " } } }),
        ];
        cells.into_iter().flatten().collect()
    }
}

const NONE: &str = "No transactions.";

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

fn buyer(brief: Option<&Brief>) -> Markup {
    let buyer = brief.map(|brief| &*brief.buyer).filter(|buyer| !buyer.is_empty());
    html! { span.buyer { @match buyer { Some(buyer) => (view::untrusted_text(buyer)), None => "–" } } }
}

/// Renders the charge less the credits and, if they differ, the charge.
fn net(order: &Order) -> Markup {
    let net = order.net();
    html! {
        span.net { (money(&net, &order.currency_code)) }
        @if net != order.amount { " " small { "of " (view::grouped(&order.amount)) } }
    }
}

fn tag(mark: &Mark) -> Markup {
    let class = match mark {
        Mark::Erased | Mark::Failed => "tag alarm",
        Mark::Test | Mark::Unpriced(_) => "tag note",
        Mark::Cancelled | Mark::Credited(_) | Mark::Paid => "tag",
    };
    html! { span class=(class) { (mark.words()) } }
}
