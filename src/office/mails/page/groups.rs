//! The table of failures by unit and cause, with the forms that resend or dismiss all of a group.

use crate::office::mails::operation::by_cause as by_cause_of;
use crate::office::mails::operation::{DISMISS, RESEND};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{CountedGroup, FailureGroup};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::listing::table_with;
use crate::office::shared::page::refusal::Result;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of groups that the page shows.
const MAX_GROUPS: usize = 20;

/// Renders the failures by unit and cause, the largest group first. KV cost: 1 list, and at most 30 reads. Ledger cost: 2
/// queries.
pub(super) async fn by_cause<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result<Markup> {
    let now_ms = context.clock.now_ms();
    let groups = notifications::groups(context.store, context.ledger, now_ms).await?;
    let shown = groups.get(..MAX_GROUPS).unwrap_or(&groups);
    let names = context.names_of(shown.iter().map(|group| &*group.of.scope.unit)).await;
    let forms: Vec<_> = shown.iter().map(|group| forms(context, group)).collect();
    Ok(html! {
        @if !shown.is_empty() {
            section {
                h2 { "By unit and cause" }
                (table_with(&by_cause_of(shown, &names), "All of them", forms))
                @if groups.len() > shown.len() { p { "These are the " (MAX_GROUPS) " largest of " (groups.len()) " groups." } }
            }
        }
    })
}

/// Renders the forms of a group. A blocked address cannot be sent to again: its notifications can only be dismissed.
fn forms<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    CountedGroup { of: FailureGroup { scope, cause }, service, example, .. }: &CountedGroup,
) -> Markup {
    let can_resend = context.outbox.is_some() && notifications::can_be_sent(example);
    let fixed = &[
        ("unit", &*scope.unit),
        ("mode", scope.mode.name()),
        ("cause", cause),
        ("service", service.name()),
    ];
    html! {
        @if can_resend { (context.operation_form(OperationForm { fixed, ..OperationForm::new(&RESEND, "/mails") })) }
        details {
            summary { "Dismiss" }
            (context.operation_form(OperationForm { fixed, ..OperationForm::new(&DISMISS, "/mails/dismiss") }))
        }
    }
}
