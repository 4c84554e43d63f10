//! Builds the page of a transaction from its parts.

use super::details;
use super::details::Details;
use super::parts::mode;
use super::{erase, history, mail, pledges, related};
use crate::buyer::recipient::Profile;
use crate::office::credit_requests::page as credit_requests;
use crate::office::keys::rule::KeyRow;
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::Status;
use crate::office::orders::rows::order::Order;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Record, TransactionView, ViewOptions};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{facts, view};
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::office::shops::rule::units;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};
use std::iter;

/// Shows a transaction, masked. KV cost: at most 24 calls. Ledger cost: at most 6 queries.
pub(crate) async fn transaction<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    page(context, record, &record.show(ViewOptions::default())?, &html! {}).await
}

/// Shows a link to the erased transaction, whose page may still show the data. If the form was refused, shows the page.
pub(crate) async fn erased<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    match context.is_done() {
        true => Ok(Page::new(
            "Erased",
            html! { p { "Transaction " (facts::inline(&Fact::transaction(record.id()))) } },
        )),
        false => transaction(context, record).await,
    }
}

pub(super) async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    shown: &TransactionView<'_>,
    notice: &Markup,
) -> Result {
    let row = &shown.row;
    let manages = context.manages(&KeyLevel::Unit(row.scope.unit.clone()));
    let may_search = manages || context.may(Permission::Support);
    let unit = units::get(context.store, &row.scope.unit).await.ok().flatten();
    let profile = unit.as_ref().and_then(|unit| unit.profile.as_ref());
    let times = context.times_in(profile);
    let of_support = match may_search || context.is_of_shop() {
        true => Some(OfSupport::read(context, record, (row, &times), may_search).await?),
        false => None,
    };
    let paid_at = record.paid_at(context.store).await?;
    let notifications = of_support.as_ref().map_or(&[][..], |it| &it.notifications);
    let places = (context.store, context.ledger);
    let history =
        transactions::history(places, record, row, notifications, paid_at.as_ref()).await?;
    let of_credits = (manages && context.is_of_shop(), &times);
    let credits =
        credit_requests::section(context, record, history.open_request(), of_credits).await?;
    let prices = record.prices(context.store).await?;
    let key = details::key(context.store, shown.key.as_deref()).await?;
    let details = Details {
        is_foreign_key: key.as_ref().is_some_and(|key| is_foreign(context, key)),
        key,
        paid_at,
        net: history.row.credited.as_ref().map(|_| history.row.net()),
        operates: context.may(Permission::Operate),
        manages,
    };
    let content = html! {
        (notice)
        p.lead {
            (view::copyable(&row.id)) " " (mode(row.scope.mode.is_live()))
            @if row.erased.is_some() { " " span.tag.alarm { "Erased" } }
            @if details.paid_at.is_some() { " " span.tag { "Paid" } }
        }
        div.columns {
            section { h2 { "Details" } (details.order(shown, &times)) }
            @if of_support.is_some() { section { h2 { "Recipient" } (details.recipient(shown, &times)) } }
        }
        (history::section(context, &history, &times))
        section { h2 { "Pledges" } (pledges::pledges(prices.as_ref(), shown, context.is_of_shop(), &times)) }
        @if let Some(credits) = &credits { (credits) }
        @if let Some(OfSupport { related, notifications }) = &of_support {
            (related)
            @for status in notifications { (mail::section(context, &row.id, (status, &times), may_search)) }
            @if manages {
                section { h2 { "Erase" } (erase::section(context, record, (&row.id, row.erased.as_deref().map(|at| times.text(at))), notifications)) }
            }
        }
        (history::others(context, manages))
    };
    let shop = profile.map(Profile::name).filter(|name| !name.is_empty());
    Ok(Page::new(title(shown, shop.unwrap_or(&row.scope.unit)), content))
}

/// Maximum number of characters of an order number, and of a shop's name, in a title.
const MAX_TITLE: usize = 60;

/// Returns the order number and the shop, as `Order 1053, Northwind`. An erased transaction has no order number.
fn title(shown: &TransactionView<'_>, shop: &str) -> String {
    let reference = view::beginning(shown.transaction.reference.trim(), MAX_TITLE);
    let shop = view::beginning(shop, MAX_TITLE);
    let has_word = reference.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("order"));
    match (shown.row.erased.is_some() || reference.is_empty(), has_word) {
        (true, _) => format!("Transaction of {shop}"),
        (false, true) => format!("{reference}, {shop}"),
        (false, false) => format!("Order {reference}, {shop}"),
    }
}

/// Returns whether a key belongs to a unit or team that the person may not see. For example, a team's key can
/// create transactions for the person's unit.
fn is_foreign<S, C, E>(context: &PageContext<'_, S, C, E>, key: &KeyRow) -> bool {
    let level = key.note.as_ref().map(|note| &note.level);
    let may_see = |level| context.access.memberships.may(MemberRight::View, level);
    context.is_of_shop() && !level.is_some_and(may_see)
}

/// The parts of the page for people who may see the recipient: support, operators, and people of the shop.
struct OfSupport {
    /// Other transactions with the same reference or of the same buyer; empty for people who may not search.
    related: Markup,
    /// The state of the e-mail, even if it was not requested, and of each requested messaging service.
    notifications: Vec<Status>,
}

impl OfSupport {
    async fn read<S: OperatorStore, C: Clock, E: Entropy>(
        context: &PageContext<'_, S, C, E>,
        record: &Record,
        (row, times): (&Order, &ListTimes<'_, C>),
        may_search: bool,
    ) -> Result<Self> {
        let (store, clock) = (context.store, context.clock);
        let (mail, messages) = notifications::statuses(store, clock, record).await?;
        let notifications = iter::once(mail).chain(messages).collect();
        let related = match may_search {
            true => related::section(context, row, times).await,
            false => html! {}, // only people who may search see who buys what
        };
        Ok(OfSupport { related, notifications })
    }
}
