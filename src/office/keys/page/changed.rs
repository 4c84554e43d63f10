//! The pages after a key was created or revoked.

use super::list::{change_forms, create_form};
use crate::office::keys::operation::CREATE;
use crate::office::keys::rule::KeyName;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::named_place;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shops::page::register::owner;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Explains how to use a new key. If the form was refused, shows it again.
pub(crate) async fn created<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let level = level(form)?;
    if context.is_done() {
        return Ok(new_key(context, &CREATE, &level));
    }
    let content = html! {
        section { h2 { "Create a key for the " (owner(&level)) } (create_form(context, &level)) }
        (back(&level))
    };
    Ok(Page::new("The key was not created", content))
}

/// Explains how to use the key that the form created. If the form was sent before, the key cannot be shown again: renders
/// the buttons that replace and revoke the key, which lists may not show yet.
pub(super) fn new_key<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    spec: &Spec,
    level: &KeyLevel,
) -> Page {
    match context.has_made(spec) {
        true => Page::new("New key", html! { (usage(context, level)) (back(level)) }),
        false => {
            let name = context.answered::<KeyName>();
            let content = html! {
                @if let Some(name) = name { section { (change_forms(&name, level)) } }
                (back(level))
            };
            Page::new("This form was sent twice", content)
        }
    }
}

/// Shows the way back after a key was revoked.
pub(crate) async fn revoked<S, C, E>(_: &PageContext<'_, S, C, E>, form: &Form) -> Result {
    Ok(Page::new("API keys", back(&level(form)?)))
}

/// Returns the unit or team that a form about a key names.
pub(super) fn level(form: &Form) -> Result<KeyLevel> {
    let level = named_place(form).ok_or_else(|| {
        Refusal::invalid(
            "a key belongs to a unit or a team: start from the page of that unit or team",
        )
    })?;
    level.check().map(|()| level).map_err(Refusal::invalid)
}

pub(super) fn back(level: &KeyLevel) -> Markup {
    html! { p { "Back to the " (owner(level)) ". Its list may not show the change for " (SHOWN_SECONDS) " s." } }
}

fn usage<S, C, E>(context: &PageContext<'_, S, C, E>, level: &KeyLevel) -> Markup {
    html! {
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
            pre tabindex="0" role="group" aria-label="Example" { code { (curl(context, level)) } }
            p {
                "If the key works, the response is " code { "Pledge transaction not found" }
                "; otherwise it is " code { "Authentication failed" } "."
            }
        }
    }
}

/// Returns a curl command that tests a key. The command changes nothing, in test mode or live mode.
fn curl<S, C, E>(context: &PageContext<'_, S, C, E>, level: &KeyLevel) -> String {
    let origin = match &*context.settings.service_origin {
        "" => "https://YOUR-SERVICE",
        origin => origin,
    };
    let unit = match level {
        KeyLevel::Unit(_) => "",
        KeyLevel::Team(_) => " \\\n  -H 'X-Service-Unit-Id: UNIT'",
    };
    let path = "/v2/pledge-transaction/ptran_none";
    format!("curl {origin}{path} \\\n  -H 'Authorization: Bearer KEY'{unit}")
}
