//! Shows a transaction unmasked.

use super::page::page;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Record, ViewOptions};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::html;

/// Records in the audit log that the person views the transaction, then shows it unmasked, with the URL of its
/// timeline. KV cost: that of [`transaction`](crate::office::orders::page::transaction::page::transaction), plus 1 write.
pub(crate) async fn reveal<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    let view = ViewOptions { reveal: true, timeline: true };
    let shown = transactions::reveal(context.store, &context.author, record, view).await?;
    let notice = view::notice(&html! {
        "This page shows personal data. Your viewing was recorded in the audit log."
    });
    page(context, record, &shown, &notice).await
}
