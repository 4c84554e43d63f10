//! The orders that a webhook did not bring.

use super::address::address;
use crate::office::connections::operation::FETCH;
use crate::office::connections::rows::fetches::FetchRow;
use crate::office::connections::rule::Connection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::list_times::ListTimes;
use crate::pledges::orders::System;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::date_time;
use maud::{Markup, html};

/// Says how far missed orders were fetched.
pub(super) fn missed<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    fetched: Option<&FetchRow>,
    times: &ListTimes<'_, C>,
) -> Markup {
    let system = found.record.endpoint.system;
    let Some(fetched) = fetched else {
        return html! {
            p {
                "Orders that the webhook does not bring are not fetched, because this connection has no API token of " (system.label())
                ". "
                @if system == System::WooCommerce {
                    "WooCommerce does not send them again: they are missing until somebody saves them again in WordPress. "
                }
                "Enter an API token below."
            }
        };
    };
    let done = fetched.done.map(date_time);
    html! {
        p {
            "Orders that were changed are fetched hourly. They are listed above only if they lead to something new: a pledge, a credit, a difference, or a reason why not. "
            @if let Some(done) = &done { "Last fetched: " (times.cell(done)) "." } @else { "Not fetched yet." }
        }
        (fetch_form(context, found))
    }
}

fn fetch_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
) -> Markup {
    let action = [&address(&found.id), "/fetch"].concat();
    let fixed = [("connection", found.id.as_str())];
    context.operation_form(OperationForm { fixed: &fixed, ..OperationForm::new(&FETCH, &action) })
}
