//! The parts of the home page that accept tasks, and show those that were accepted.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::view;
use crate::office::shared::rule::roles::Permission;
use crate::office::system::operation::tasks::{ACCEPT, REOPEN};
use crate::office::system::rows::accepted::{AcceptedTask, TaskKind};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::date_time;
use maud::{Markup, html};

/// Maximum number of accepted tasks on the page.
const MAX_SHOWN: usize = 20;

/// Renders the form that accepts the open tasks of a kind. Only operators may accept tasks.
pub(super) fn accept<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    kind: TaskKind,
) -> Markup {
    if !context.may(Permission::Operate) {
        return Markup::default();
    }
    let limit = context.settings.unusual_charge.map(|limit| limit.to_string());
    let limit = limit.iter().map(|limit| ("unusual-charge", limit.as_str()));
    let fixed: Vec<_> = [("task", kind.name())].into_iter().chain(limit).collect();
    let form = OperationForm { fixed: &fixed, ..OperationForm::new(&ACCEPT, "/tasks") };
    html! { details { summary { "Accept …" } (context.operation_form(form)) } }
}

/// Renders the newest of these accepted tasks, for operators, who may open them again.
pub(super) fn accepted<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    tasks: &[AcceptedTask],
) -> Markup {
    html! {
        @if context.may(Permission::Operate) && !tasks.is_empty() {
            details {
                summary { "Accepted tasks" }
                ul { @for AcceptedTask { task, subject, reason, author, at, .. } in tasks.iter().take(MAX_SHOWN) {
                    li {
                        (task.name()) " " (view::untrusted_text(subject)) ": accepted by " (view::untrusted_text(author)) " on "
                        (view::time(&date_time(*at))) " because: " (view::untrusted_text(reason))
                        (context.operation_form(OperationForm {
                            fixed: &[("task", task.name()), ("subject", subject)],
                            ..OperationForm::new(&REOPEN, "/tasks/reopen")
                        }))
                    }
                } }
                @if tasks.len() > MAX_SHOWN { p { "Only the newest " (MAX_SHOWN) " are shown. " code { "tasks list" } " has all." } }
            }
        }
    }
}
