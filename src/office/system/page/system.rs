//! The page System: what works and what is not set up, versions, limits, roles, the ledger, and the last backups.

use super::{last_backups, ledger, setup};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rule::delays::{APPLIED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::roles::Role;
use crate::pledges::api::{MAX_BODY_BYTES, MAX_RECORD_BYTES};
use crate::pledges::http::MAX_BYTES_IN_FLIGHT;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, OperatorStore, TransactionKey};
use crate::pledges::version::VERSION;
use maud::{Markup, html};
use strum::IntoEnumIterator as _;

/// Renders the page System. KV cost: at most 8 lists and 67 reads. Ledger cost: 3 calls.
pub(crate) async fn system<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    let setup = setup::section(context).await;
    let backups = last_backups::section(context).await;
    let backups = backups.unwrap_or_else(|_| view::problem("the last backups could not be read"));
    let ledger = ledger::section(context).await;
    let content = html! {
        (setup)
        div.columns {
            div {
                section { h2 { "Deployment" } (here(context)) }
                section { h2 { "Last backups" } (backups) }
            }
            section { h2 { "Limits" } (limits()) }
        }
        (ledger)
        section { h2 { "Roles" } (members(context)) }
    };
    Ok(Page::new("System", content))
}

fn here<S, C, E>(context: &PageContext<'_, S, C, E>) -> Markup {
    let settings = context.settings;
    let or_not_set = |text: &str| match text {
        "" => html! { span.soft { "not set" } },
        text => view::untrusted_text(text),
    };
    view::facts(&[
        ("Environment", or_not_set(&settings.environment)),
        ("Service", or_not_set(&settings.service_origin)),
        ("Health of the service", health_link(&settings.service_origin)),
        ("Dashboard", html! { "Version " (settings.version) }),
        ("Records", html! { "Format " (VERSION) }),
    ])
}

/// Renders a link to the service's `/healthz`, which shows its version and what its configuration lacks.
fn health_link(origin: &str) -> Markup {
    html! {
        @if origin.starts_with("https://") || origin.starts_with("http://") {
            a href={ (origin) "/healthz" } rel="noreferrer" { "Version and configuration" }
        } @else { span.soft { "not set" } }
    }
}

fn limits() -> Markup {
    const MIB: usize = 1024 * 1024;
    let read_seconds = TransactionKey::READ_MS / 1_000;
    view::facts(&[
        ("Request body", html! { (MAX_BODY_BYTES / MIB) " MiB" }),
        ("Stored transaction", html! { (MAX_RECORD_BYTES / MIB) " MiB" }),
        (
            "Concurrent requests",
            html! { (MAX_BYTES_IN_FLIGHT / MIB) " MiB in each running Worker; beyond that, requests get 503" },
        ),
        ("Longest read from Workers KV", html! { (read_seconds) " s, then 503" }),
        ("Lists on these pages", html! { "can be about " (SHOWN_SECONDS) " s behind" }),
        ("Revoked keys", html! { "are refused everywhere after about " (REFUSED_SECONDS) " s" }),
        (
            "New prices, payments and profiles",
            html! { "apply everywhere after about " (APPLIED_SECONDS) " s" },
        ),
    ])
}

fn members<S, C, E>(context: &PageContext<'_, S, C, E>) -> Markup {
    let row = |role: Role| {
        let name: &str = role.into();
        let members: Vec<_> = context.settings.members(role).collect();
        let may = match role {
            Role::Operator => "everything",
            Role::Support => "masked transactions and their e-mails",
            Role::Accounts => "usage and payments",
        };
        vec![
            html! { (name) },
            html! { (may) },
            html! {
                @if members.is_empty() { span.soft { "no members" } }
                @for member in members { div { (view::untrusted_text(member)) } }
            },
        ]
    };
    let rows: Vec<_> = Role::iter().map(row).collect();
    html! {
        (view::table(&["Role", "Access to", "Members"], &rows, ""))
        p {
            small {
                "Members are listed in the Worker's secrets " code { "OPERATORS" } ", " code { "SUPPORT" } " and "
                code { "ACCOUNTS" } "."
            }
        }
    }
}
