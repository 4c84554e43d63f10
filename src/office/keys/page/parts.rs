//! Parts of the pages and forms about keys.

use crate::office::keys::rule::{KeyMetadata, KeyName, KeyRow};
use crate::office::orders::page::transaction;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shared::rule::delays::{KEY_CACHED_SECONDS, REFUSED_SECONDS, USED_SECONDS};
use crate::office::shops::page::register::owner;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::CredentialKey;
use maud::{Markup, html};

/// Says how long a revoked key may still work: the sum of two cache TTLs. Workers KV caches a key first,
/// then a running Worker does.
pub(super) fn lives() -> Markup {
    html! {
        "The service may still accept the key for up to " (REFUSED_SECONDS) " s: each location of Cloudflare \
         caches a key for up to " (KEY_CACHED_SECONDS) " s, and then a running Worker for another " (USED_SECONDS) " s."
    }
}

// ---- Keys in forms -------------------------------------------------------------------------------

pub(super) fn level_fields(level: &KeyLevel) -> Markup {
    match level {
        KeyLevel::Unit(id) => hidden("unit", id),
        KeyLevel::Team(id) => hidden("team", id),
    }
}

pub(super) const NO_OWNER: &str =
    "a key belongs to a unit or a team: start from the page of that unit or team";

pub(super) fn level(form: &Form) -> Result<KeyLevel> {
    let level = match (form.given("unit"), form.given("team")) {
        (Some(unit), None) => KeyLevel::Unit(unit.to_owned()),
        (None, Some(team)) => KeyLevel::Team(team.to_owned()),
        _ => {
            return Err(Refusal::invalid(NO_OWNER));
        }
    };
    level.check().map(|()| level).map_err(Refusal::invalid)
}

/// Parses the key that a form names. The form contains the name of the key's record, so that the record is
/// found without a list.
pub(super) fn named_key(form: &Form) -> Result<CredentialKey> {
    let key = CredentialKey::parse(form.text("key"));
    key.ok_or_else(|| {
        Refusal::invalid("the form has no valid key: start from the page of the unit or team")
    })
}

pub(super) fn name(key: CredentialKey) -> String {
    crate::pledges::store::Key::name(&key)
}

pub(crate) fn change_forms(name: &KeyName, level: &KeyLevel) -> Markup {
    html! {
        @for (path, word) in [("/keys/rotate", "Replace"), ("/keys/revoke", "Revoke")] {
            (view::form(path, &html! {
                (hidden("key", &name.name)) (level_fields(level))
                button.quiet aria-label={ (word) " the key " (name.id) } { (word) }
            }))
            " "
        }
    }
}

// ---- Facts ---------------------------------------------------------------------------------------

/// Renders the facts about a key. If the key's record names no owner, shows `level`, the owner that the form
/// names.
pub(super) fn facts<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &KeyRow,
    level: &KeyLevel,
) -> Markup {
    let level = row.note.as_ref().map_or(level, |note| &note.level);
    let mut facts = vec![("ID", html! { code { (row.name.id) } }), ("For", owner(level))];
    if let Some(KeyMetadata { mode: mode_of, label, created, by, by_shop, ends, .. }) = &row.note {
        facts.extend([
            ("Mode", transaction::mode(mode_of.is_live())),
            ("Label", html! { bdi { (label) } }),
            ("Created", html! { (view::time(created)) " by " (context.author_of(by, *by_shop)) }),
        ]);
        facts.extend(ends.as_ref().map(|ends| ("Expires", view::time(ends))));
    }
    facts.extend(row.problem.as_ref().map(|problem| ("Problem", html! { (problem) })));
    view::facts(&facts)
}

/// Returns the page that says that a key no longer exists, for example because a form was sent twice.
pub(super) fn gone(key: CredentialKey, level: &KeyLevel) -> Page {
    let content = html! {
        p.lead {
            "The key " code { (key.0.id()) } " no longer exists: it was revoked or has expired. "
            "Nothing was changed."
        }
        p { "Back to the " (owner(level)) "." }
    };
    Page::new("Key not found", content)
}
