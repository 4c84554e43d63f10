//! What runs here: versions, limits, who may do what, the ledger, and the last backups.

use super::frame::Page;
use super::{Desk, Result, last_backups, ledger, view};
use crate::api::{MAX_BODY_BYTES, MAX_RECORD_BYTES};
use crate::handle::{Clock, Entropy};
use crate::http::MAX_BYTES_IN_FLIGHT;
use crate::operator::delays::{APPLIED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS};
use crate::operator::roles::Role;
use crate::store::{Key as _, OperatorStore, TransactionKey};
use crate::version::VERSION;
use maud::{Markup, html};
use strum::IntoEnumIterator as _;

/// The page. Makes two calls of Workers KV, and two of the ledger.
pub(super) async fn system<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
) -> Result {
    let backups = last_backups::section(desk).await?;
    let ledger = ledger::section(desk).await;
    let content = html! {
        div.columns {
            div {
                section { h2 { "Here" } (here(desk)) }
                section { h2 { "Last backups" } (backups) }
            }
            section { h2 { "Limits" } (limits()) }
        }
        (ledger)
        section { h2 { "Who may do what" } (members(desk)) }
    };
    Ok(Page::new("System", content))
}

fn here<S, C, E>(desk: &Desk<'_, S, C, E>) -> Markup {
    let settings = desk.settings;
    let or_not_set = |text: &str| match text {
        "" => html! { span.soft { "not set" } },
        text => view::told(text),
    };
    view::facts(&[
        ("Environment", or_not_set(&settings.environment)),
        ("Service", or_not_set(&settings.service_origin)),
        ("Dashboard", html! { "Version " (settings.version) }),
        ("Records", html! { "Format " (VERSION) }),
    ])
}

fn limits() -> Markup {
    const MIB: usize = 1024 * 1024;
    let read_seconds = TransactionKey::READ_MS / 1_000;
    view::facts(&[
        ("A request", html! { (MAX_BODY_BYTES / MIB) " MiB" }),
        ("A transaction", html! { (MAX_RECORD_BYTES / MIB) " MiB as stored" }),
        (
            "Requests at once",
            html! { (MAX_BYTES_IN_FLIGHT / MIB) " MiB in each running Worker, then 503" },
        ),
        ("A read of Workers KV", html! { (read_seconds) " s, then 503" }),
        ("A list here", html! { "may lack what is newer than about " (SHOWN_SECONDS) " s" }),
        ("A revoked key", html! { "is refused everywhere after about " (REFUSED_SECONDS) " s" }),
        (
            "New prices",
            html! { "apply everywhere after about " (APPLIED_SECONDS) " s; so do payments and profiles" },
        ),
    ])
}

fn members<S, C, E>(desk: &Desk<'_, S, C, E>) -> Markup {
    let row = |role: Role| {
        let name: &str = role.into();
        let members: Vec<_> = desk.settings.members(role).collect();
        let may = match role {
            Role::Operator => "everything",
            Role::Support => "transactions, masked, and their e-mails",
            Role::Accounts => "usage and payments",
        };
        vec![
            html! { (name) },
            html! { (may) },
            html! {
                @if members.is_empty() { span.soft { "nobody" } }
                @for member in members { div { (view::told(member)) } }
            },
        ]
    };
    let rows: Vec<_> = Role::iter().map(row).collect();
    html! {
        @for problem in &desk.settings.problems { (view::problem(problem)) }
        (view::table(&["Role", "May do", "Who"], &rows, ""))
        p {
            small {
                "The Worker's secrets " code { "OPERATORS" } ", " code { "SUPPORT" } " and "
                code { "ACCOUNTS" } " list them."
            }
        }
    }
}
