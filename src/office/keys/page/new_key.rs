//! The page of a new key. It shows the key, and how to use it.

use super::parts::{change_forms, facts, level_fields};
use crate::office::keys::rule::MadeKey;
use crate::office::orders::page::transaction;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shops::page::register::owner;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Renders the page of a new key. If the form was sent before, renders the page of the key that was created
/// then.
pub(super) fn made<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    made: &MadeKey,
    before: Option<&String>,
    level: &KeyLevel,
) -> Page {
    match &made.key {
        Some(key) => Page::new("New key", shown_once(context, key, made, level)),
        None => Page {
            status: 409,
            ..Page::new("This form was sent twice", made_before(context, made, before, level))
        },
    }
}

/// Explains what to do if a form has already created a key. A reload or a double click sends the form again,
/// and the new page replaces the one that showed the secret.
fn made_before<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    made: &MadeKey,
    before: Option<&String>,
    level: &KeyLevel,
) -> Markup {
    let name = &made.row.name;
    html! {
        div.notice.alarm role="alert" tabindex="-1" autofocus {
            "A reload or a double click sent this form again. It had already created the key " code { (name.id) }
            @if let Some(at) = before { " on " (view::time(at)) }
            ". Its secret was shown once, on the page that this page replaced, and cannot be shown again."
        }
        section {
            (facts(context, &made.row, level))
            p { "If you did not copy the secret, it is lost. Replace this key:" }
            (context.form("/keys/rotate", &html! {
                (hidden("key", &name.name)) (level_fields(level)) (hidden("keep", "0"))
                button { "Replace the key and show the new secret" }
            }))
            p { "You can also keep the key for now, and replace or revoke it later:" }
            (change_forms(name, level))
        }
        p { "Back to the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// Renders the new key, which is shown only once, and how to use it.
fn shown_once<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    key: &str,
    made: &MadeKey,
    level: &KeyLevel,
) -> Markup {
    let note = made.row.note.as_ref();
    let mode_of = note.map_or(Mode::Test, |note| note.mode);
    let label = note.map_or("", |note| &note.label);
    let level = note.map_or(level, |note| &note.level);
    html! {
        (view::done(&html! { "Copy the key now: this is the only time that it is shown." }))
        section {
            p { (view::copyable(key)) }
            (view::facts(&[
                ("ID", html! { code { (made.row.name.id) } " " small { "Shown in lists." } }),
                ("Mode", transaction::mode(mode_of.is_live())),
                ("For", owner(level)),
                ("Label", html! { bdi { (label) } }),
            ]))
        }
        section {
            h2 { "Use it" }
            p {
                "Store the key with the secrets of the shop's server, never in a page or an app. "
                "Send the key with each request in the header " code { "Authorization: Bearer …" }
                @if matches!(level, KeyLevel::Team(_)) {
                    ", with one of the team's units in the header " code { "X-Service-Unit-Id" }
                }
                ". To test it, request a transaction that does not exist:"
            }
            pre tabindex="0" role="group" aria-label="Example" { code { (curl(context, key, level)) } }
            p {
                "If the key works, the response is " code { "Pledge transaction not found" }
                "; otherwise it is " code { "Authentication failed" } "."
            }
        }
        p { "Back to the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// Returns a curl command that tests a key. The command changes nothing, in test mode or live mode.
fn curl<S, C, E>(context: &PageContext<'_, S, C, E>, key: &str, level: &KeyLevel) -> String {
    let origin = match &*context.settings.service_origin {
        "" => "https://YOUR-SERVICE",
        origin => origin,
    };
    let unit = match level {
        KeyLevel::Unit(_) => "",
        KeyLevel::Team(_) => " \\\n  -H 'X-Service-Unit-Id: UNIT'",
    };
    let path = "/v2/pledge-transaction/ptran_none";
    format!("curl {origin}{path} \\\n  -H 'Authorization: Bearer {key}'{unit}")
}
