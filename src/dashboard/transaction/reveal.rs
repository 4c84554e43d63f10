//! Shows a transaction unmasked.

use super::page::page;
use crate::dashboard::guard::Scoped;
use crate::dashboard::{PageContext, Result, view};
use crate::operator::transactions::{self, Record, ViewOptions};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

/// Records in the audit log that the person views the transaction, then shows it unmasked, with the URL of its
/// timeline. KV cost: that of [`transaction`](super::page::transaction), plus 1 write.
pub(in crate::dashboard) async fn reveal<S: OperatorStore, C: Clock, E: Entropy>(
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
