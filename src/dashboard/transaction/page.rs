//! Puts the page of a transaction together.

use super::details::{self, Facts};
use super::parts::mode;
use super::{erase_form, mail, pledges, related};
use crate::dashboard::page::Page;
use crate::dashboard::{PageContext, Result, credit, view};
use crate::ledger::Order;
use crate::operator::OperatorError;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::notifications::{self, Status};
use crate::operator::roles::Permission;
use crate::operator::transactions::{self, Record, TransactionView, ViewOptions};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};

/// Shows a transaction, masked. KV cost: at most 13 calls. Ledger cost: 3 queries.
pub(in crate::dashboard) async fn transaction<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
) -> Result {
    match transactions::get(context.store, id).await {
        Ok(record) => found(context, &record, &html! {}).await,
        Err(OperatorError::Invalid(problem)) => Ok(absent(&problem)),
        Err(error) => Err(error.into()),
    }
}

/// The page for a transaction that was not found, with status 404.
pub(super) fn absent(problem: &str) -> Page {
    let content = html! {
        p.lead { (view::inline_code(&view::sentence(problem))) }
        p {
            "Transactions of the last " (SHOWN_SECONDS) " s may not show yet, and each environment has \
             its own transactions. " a href="/" { "Search again" } "."
        }
    };
    Page { status: 404, ..Page::new("Transaction not found", content) }
}

/// Shows a notice, and below it the page of a transaction, masked.
pub(super) async fn found<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    notice: &Markup,
) -> Result {
    page(context, record, &record.show(ViewOptions::default())?, notice).await
}

pub(super) async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    shown: &TransactionView<'_>,
    notice: &Markup,
) -> Result {
    let row = &shown.row;
    let of_support = match context.may(Permission::Support) {
        true => Some(OfSupport::read(context, record, row).await?),
        false => None,
    };
    let credits = match context.may(Permission::Account) {
        true => Some(credit::section(context, record, &row.id).await?),
        false => None,
    };
    let prices = record.prices(context.store).await?;
    let facts = Facts {
        paid_at: record.paid_at(context.store).await?,
        created: details::created(context, shown).await,
        key: details::key(context.store, shown.key.as_deref()).await?,
        operates: context.may(Permission::Operate),
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
            @if of_support.is_some() { section { h2 { "Recipient" } (facts.recipient(shown)) } }
        }
        section { h2 { "Pledges" } (pledges::pledges(prices.as_ref(), shown)) }
        @if let Some(credits) = &credits { section #credits { h2 { "Credits" } (credits) } }
        @if let Some(OfSupport { related, mail }) = &of_support {
            (related)
            section #mail { h2 { "E-mail" } (mail::section(context, &row.id, mail)) }
            @if facts.operates {
                section { h2 { "Erase" } (erase_form::section(context, record, (&row.id, row.erased.as_deref()), mail)) }
            }
        }
    };
    Ok(Page::new("Transaction", content))
}

/// What only the roles see that may see the recipient.
struct OfSupport {
    /// Other transactions with the reference, and of the buyer.
    related: Markup,
    mail: Status,
}

impl OfSupport {
    async fn read<S: OperatorStore, C: Clock, E: Entropy>(
        context: &PageContext<'_, S, C, E>,
        record: &Record,
        row: &Order,
    ) -> Result<Self> {
        let mail = notifications::status(context.store, context.clock, record).await?;
        Ok(OfSupport { related: related::section(context, row).await, mail })
    }
}

/// Shows the page of a transaction again, with the error of a form.
pub(super) async fn refused<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    problem: &str,
) -> Result {
    let page = found(context, record, &view::problem(problem)).await?;
    Ok(Page { status: 422, ..page })
}
