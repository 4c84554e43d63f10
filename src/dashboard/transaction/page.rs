//! Puts the page of a transaction together.

use super::details::{self, Facts};
use super::parts::mode;
use super::{erase_form, mail, pledges, related};
use crate::auth::KeyLevel;
use crate::dashboard::guard::Scoped;
use crate::dashboard::page::Page;
use crate::dashboard::{PageContext, Result, view};
use crate::operator::notifications;
use crate::operator::roles::Permission;
use crate::operator::transactions::{Record, TransactionView, ViewOptions};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Shows a transaction, masked. KV cost: at most 11 calls. Ledger cost: 2 queries.
pub(in crate::dashboard) async fn transaction<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    found(context, record, &html! {}).await
}

/// Shows a notice, and below it the page of a transaction, masked.
pub(super) async fn found<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    notice: &Markup,
) -> Result {
    page(context, record, &record.show(ViewOptions::default())?, notice).await
}

pub(super) async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    shown: &TransactionView<'_>,
    notice: &Markup,
) -> Result {
    let row = &shown.row;
    let manages = context.manages(&KeyLevel::Unit(row.unit.clone()));
    let may_search = manages || context.may(Permission::Support);
    let mail = notifications::status(context.store, context.clock, record).await?;
    let prices = record.prices(context.store).await?;
    let facts = Facts {
        paid_at: record.paid_at(context.store).await?,
        created: details::created(context, shown).await,
        key: details::key(context.store, shown.key.as_deref()).await?,
        operates: context.may(Permission::Operate),
        manages,
    };
    let related = match may_search {
        true => related::section(context, row).await,
        false => html! {}, // who buys what is for people who may search
    };
    let content = html! {
        (notice)
        p.lead {
            (view::copyable(&row.id)) " " (mode(row.mode.is_live()))
            @if row.erased.is_some() { " " span.tag.alarm { "Erased" } }
            @if facts.paid_at.is_some() { " " span.tag { "Paid" } }
        }
        div.columns {
            section { h2 { "Details" } (facts.order(shown)) }
            section { h2 { "Recipient" } (facts.recipient(shown)) }
        }
        section { h2 { "Pledges" } (pledges::pledges(prices.as_ref(), shown, context.is_of_shop())) }
        (related)
        section #mail { h2 { "E-mail" } (mail::section(context, &row.id, &mail, may_search)) }
        @if manages {
            section { h2 { "Erase" } (erase_form::section(context, record, (&row.id, row.erased.as_deref()), &mail)) }
        }
    };
    Ok(Page::new("Transaction", content))
}

/// Shows the page of a transaction again, with the error of a form.
pub(super) async fn refused<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    problem: &str,
) -> Result {
    let page = found(context, record, &view::problem(problem)).await?;
    Ok(Page { status: 422, ..page })
}
