//! The table of failures by unit and cause, with the form that resends or dismisses all of a group.

use crate::office::mails::operation::by_cause as by_cause_of;
use crate::office::mails::operation::{question_of_dismissal, question_of_resend};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{BatchQuery, CountedGroup, FailureGroup};
use crate::office::shared::operation::question::Question;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::listing::table_with;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::reason::check_reason;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::NotificationService;
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
    let forms: Vec<_> = shown.iter().map(|group| form(context, group)).collect();
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

/// Renders the form of a group. A blocked address cannot be sent to again: its notifications can only be dismissed.
fn form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    CountedGroup { of: FailureGroup { scope, cause }, service, example, .. }: &CountedGroup,
) -> Markup {
    let can_resend = context.outbox.is_some() && notifications::can_be_sent(example);
    let reason =
        view::Field { name: REASON, label: "Reason", required: true, ..view::Field::default() };
    let group = html! {
        (view::hidden("unit", &scope.unit))
        (view::hidden("mode", scope.mode.name()))
        (view::hidden("cause", cause))
        (view::hidden("service", service.name()))
    };
    html! {
        @if can_resend {
            (context.form("/mails", &html! { (group) button.quiet { "Resend" } }))
        }
        details {
            summary { "Dismiss" }
            (context.form("/mails", &html! {
                (group) (view::hidden(DISMISS, "yes")) (reason.render()) button.quiet { "Dismiss" }
            }))
        }
    }
}

const REASON: &str = "reason";
const DISMISS: &str = "dismiss";

/// What a form does with many failures.
pub(super) enum Batch<'f> {
    Resend,
    /// Takes the failures off the list, for this reason.
    Dismiss(&'f str),
}

impl<'f> Batch<'f> {
    pub fn is_dismissal(form: &Form) -> bool {
        form.has(DISMISS)
    }

    pub fn of(form: &'f Form) -> Result<Self> {
        if !Self::is_dismissal(form) {
            return Ok(Batch::Resend);
        }
        check_reason(form.text(REASON)).map_err(OperatorError::Invalid)?;
        Ok(Batch::Dismiss(form.text(REASON)))
    }

    pub fn question(&self, query: &BatchQuery) -> Question {
        match self {
            Batch::Resend => question_of_resend(query),
            Batch::Dismiss(_) => question_of_dismissal(query),
        }
    }
}

/// Returns the group that a form names; `None` for the form of a day.
pub(super) fn group_of(form: &Form) -> Result<Option<FailureGroup>> {
    let Some(unit) = form.given("unit") else { return Ok(None) };
    let scope = Scope { mode: form.mode()?, unit: unit.to_owned() };
    Ok(Some(FailureGroup { scope, cause: form.text("cause").to_owned() }))
}

/// Returns the service that a form names; `None` for all.
pub(super) fn service_of(form: &Form) -> Result<Option<NotificationService>> {
    let service = |name| {
        NotificationService::from_name(name)
            .ok_or_else(|| Refusal::invalid("this service is not known"))
    };
    form.given("service").map(service).transpose()
}
