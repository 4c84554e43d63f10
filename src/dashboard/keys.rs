//! API keys: the keys of a unit or a team, and the forms that create, replace and revoke a key.
//!
//! A key is shown once, in the response to the form that created it. Sending the form again creates no second key.

use super::form::Form;
use super::guard::Scoped;
use super::page::Page;
use super::register::{self, owner};
use super::view::{self, hidden};
use super::{PageContext, Refusal, Result, operation, orders, transaction};
use crate::auth::{KeyLevel, KeyRecord};
use crate::operator::delays::{KEY_CACHED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS, USED_SECONDS};
use crate::operator::keys::{self, KeyExpiry, KeyMetadata, KeyName, KeyRow, MadeKey};
use crate::operator::register::Unregistered;
use crate::operator::{Done, MAX_PAGES, OperatorError};
use crate::scope::Mode;
use crate::service::{Clock, Entropy};
use crate::store::{CredentialKey, OperatorStore};
use maud::{Markup, html};

/// Says how long a revoked key may still work: the cache TTL of Workers KV, plus the cache TTL of a running Worker.
fn lives() -> Markup {
    html! {
        "The service may still accept the key for up to " (REFUSED_SECONDS) " s: Cloudflare's locations cache keys for \
         up to " (KEY_CACHED_SECONDS) " s, and a running Worker for another " (USED_SECONDS) " s."
    }
}

/// The choices for how long a replaced key keeps working: the seconds, and the label of the choice.
const KEEPS: [(&str, &str); 4] =
    [("0", "Revoke it now"), ("3600", "1 hour"), ("86400", "24 hours"), ("604800", "7 days")];

/// The keys of a unit or a team, with the form to create a key. `missing` contains the unit or team if it does not exist. KV
/// cost: 1 read, 1 list per 1,000 keys, at most 10.
pub(super) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    missing: &[Unregistered],
) -> Result<Markup> {
    let (mut rows, has_more) = keys::list(context.store, Some(level), MAX_PAGES).await?;
    rows.sort_by(|one, other| created(other).cmp(created(one)));
    let shown = rows.iter().take(view::MAX_ROWS).map(cells).collect::<Vec<_>>();
    let headings = ["ID", "Mode", "Label", "Change", "Created", "Created by", "Expires"];
    Ok(html! {
        section {
            h2 { "API keys" }
            (view::table(&headings, &shown, "No API keys yet."))
            (view::more(rows.len()))
            (view::picked(has_more, "keys of all units and teams"))
            (view::staleness_note())
            h3 { "Create a key" }
            (make_form(context, level, &Form::default(), missing, ""))
        }
    })
}

fn created(row: &KeyRow) -> &str {
    row.note.as_ref().map_or("", |note| &note.created)
}

fn cells(row: &KeyRow) -> Vec<Markup> {
    let Some(note) = &row.note else { return vec![] };
    vec![
        html! { code { (row.name.id) } },
        transaction::mode(note.mode.is_live()),
        html! { bdi { (note.label) } },
        html! {
            (change_forms(&row.name, &note.level))
            a href=(orders::address(&[("key", &row.name.id)])) aria-label={ "Transactions of the key " (row.name.id) } { "Transactions" }
        },
        view::time(&note.created),
        html! { bdi { (note.by) } },
        html! {
            @if let Some(ends) = &note.ends { (view::time(ends)) }
            @if let Some(successor) = &note.successor {
                " " small { "replaced by " code { (successor) } }
            }
            @if let Some(problem) = &row.problem { " " small.problem { (problem) } }
        },
    ]
}

// ---- The owner of a key --------------------------------------------------------------------------

/// The hidden field with the unit or team that owns a key.
fn level_fields(level: &KeyLevel) -> Markup {
    match level {
        KeyLevel::Unit(id) => hidden("unit", id),
        KeyLevel::Team(id) => hidden("team", id),
    }
}

const NO_OWNER: &str = "a key belongs to a unit or a team: start from the page of one";

fn level(form: &Form) -> Result<KeyLevel> {
    let level = match (form.given("unit"), form.given("team")) {
        (Some(unit), None) => KeyLevel::Unit(unit.to_owned()),
        (None, Some(team)) => KeyLevel::Team(team.to_owned()),
        _ => {
            return Err(Refusal::invalid(NO_OWNER));
        }
    };
    level.check().map(|()| level).map_err(Refusal::invalid)
}

// ---- Create --------------------------------------------------------------------------------------

/// Creates a key. KV cost: 3 reads and 2 writes, plus 1 list and 1 read per 100 changes of the last hour. If the unit
/// or team is new, 1 more write.
pub(super) async fn make_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    owner: &Scoped<Option<KeyLevel>>,
    form: &Form,
) -> Result {
    let level = owner.as_ref().ok_or_else(|| Refusal::invalid(NO_OWNER))?.clone();
    level.check().map_err(Refusal::invalid)?;
    let mode = Mode::from_name(form.text("mode")).filter(|_| context.has_operation());
    let mode = mode.ok_or_else(|| Refusal::invalid(NOT_WHOLE))?;
    let missing = register::missing(context, std::slice::from_ref(&level), form).await?;
    if let Some(problem) = register::problem(&missing) {
        return Ok(make_again(context, &level, form, &missing, &problem));
    }
    let label = form.text("label").to_owned();
    let record = KeyRecord { label, ..KeyRecord::new(mode, level.clone()) };
    match keys::create(context.store, context.ledger, &context.author, record).await {
        Ok(Done { outcome, before }) => Ok(made(context, &outcome, before.as_ref(), &level)),
        Err(OperatorError::Invalid(problem)) => {
            Ok(make_again(context, &level, form, &missing, &problem))
        }
        Err(error) => Err(error.into()),
    }
}

const NOT_WHOLE: &str = "some fields are missing: start from the page of the unit or team";

fn make_again<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    form: &Form,
    missing: &[Unregistered],
    problem: &str,
) -> Page {
    let content = html! {
        (view::form_problem(problem, Some("label").filter(|label| problem.contains(label))))
        section {
            h2 { "Create a key for the " (owner(level)) }
            (make_form(context, level, form, missing, problem))
        }
    };
    Page { status: 422, ..Page::new("The key was not created", content) }
}

fn make_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    level: &KeyLevel,
    entered: &Form,
    missing: &[Unregistered],
    problem: &str,
) -> Markup {
    let label = view::Field {
        name: "label",
        label: "Label, e.g. “web shop”",
        value: entered.raw("label"),
        problem: if problem.contains("label") { problem } else { "" },
        ..view::Field::default()
    };
    let modes = [("test", "Test: nothing is charged"), ("live", "Live: real pledges and charges")];
    html! {
        (context.form("/keys", &html! {
            (level_fields(level))
            div.row {
                (view::select("mode", "Mode", &modes, entered.text("mode")))
                (label.render())
            }
            (register::question(missing, " and the key"))
            @if missing.is_empty() { button { "Create key" } }
        }))
    }
}

/// The page of a new key. If the form was sent before, it is the page of the key that was created then.
fn made<S, C: Clock, E: Entropy>(
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

/// Explains what to do if this form has already created a key. A reload or a double click sends it again, and this page
/// then replaces the page that showed the secret.
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
            (facts(&made.row, level))
            p { "If you did not copy the secret, nobody has it. Get a new key in place of this one:" }
            (context.form("/keys/rotate", &html! {
                (hidden("key", &name.name)) (level_fields(level)) (hidden("keep", "0"))
                button { "Replace the key and show the new secret" }
            }))
            p { "To keep the key for now, replace or revoke it later:" }
            (change_forms(name, level))
        }
        p { "Back to the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// The buttons to replace and revoke a key.
pub(super) fn change_forms(name: &KeyName, level: &KeyLevel) -> Markup {
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

/// The new key, and how to use it.
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
                "Send it with each request in the header " code { "Authorization: Bearer …" }
                @if matches!(level, KeyLevel::Team(_)) {
                    ", with one of the team's units in the header " code { "X-Service-Unit-Id" }
                }
                ". To test it, request a transaction that does not exist:"
            }
            pre tabindex="0" { code { (curl(context, key, level)) } }
            p {
                "If the key works, the response is " code { "Pledge transaction not found" }
                "; otherwise it is " code { "Authentication failed" } "."
            }
        }
        p { "Back to the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// A curl command that tests a key. It changes nothing in either mode.
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

// ---- Replace -------------------------------------------------------------------------------------

/// Asks how long the old key is to keep working, then creates the new key. KV cost of the question: 1 read. KV cost of
/// the new key: about 10 reads and writes, and 1 list of the last changes.
pub(super) async fn rotate_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    let Some(keep) = keep(form).filter(|_| context.has_operation()) else {
        return confirm_rotation(context, key, &level).await;
    };
    let rotated =
        keys::rotate(context.store, context.ledger, &context.author, &name(key), keep).await;
    let Done { outcome: rotated, before } = match rotated {
        Err(OperatorError::Invalid(problem)) => return Ok(not_replaced(&level, &problem)),
        rotated => rotated?,
    };
    let page = made(context, &rotated.made, before.as_ref(), &level);
    let old = &rotated.replaces.id;
    let after = match &rotated.end {
        Ok(KeyExpiry { revoked: true, .. }) => {
            html! { "Somebody revoked the old key at the same time. It stays revoked." }
        }
        Ok(_) if keep == 0 => html! { "The old key was revoked. " (lives()) },
        Ok(KeyExpiry { ends, .. }) => {
            html! { "The old key stops working on " (view::time(ends)) ". Use the new key by then." }
        }
        Err(error) => html! {
            strong { "The old key keeps working as before" } ", because its expiry could not be saved ("
            (error.to_string()) "). The new key works, too: revoke one of the two."
        },
    };
    Ok(page.with(&html! { section { h2 { "The old key " code { (old) } } p { (after) } } }))
}

fn not_replaced(level: &KeyLevel, problem: &str) -> Page {
    let content = html! { (view::problem(problem)) p { "Back to the " (owner(level)) "." } };
    Page { status: 422, ..Page::new("The key was not replaced", content) }
}

fn keep(form: &Form) -> Option<u32> {
    let (seconds, _) = KEEPS.iter().find(|(seconds, _)| *seconds == form.text("keep"))?;
    seconds.parse().ok()
}

/// Parses the key in a form. The form contains the name of the key's record, so that no list is needed.
fn named_key(form: &Form) -> Result<CredentialKey> {
    let key = CredentialKey::parse(form.text("key"));
    key.ok_or_else(|| {
        Refusal::invalid("the form has no valid key: start from the page of the unit or team")
    })
}

fn name(key: CredentialKey) -> String {
    crate::store::Key::name(&key)
}

async fn confirm_rotation<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    key: CredentialKey,
    level: &KeyLevel,
) -> Result {
    let Some(row) = keys::get(context.store, &name(key)).await? else {
        return Ok(gone(key, level));
    };
    let successor = row.note.as_ref().and_then(|note| note.successor.as_ref());
    let content = html! {
        @if let Some(successor) = successor {
            (view::notice(&html! {
                "This key was already replaced by the key " code { (successor) } ". Replace it again only if \
                 that key was lost."
            }))
        }
        section {
            (facts(&row, level))
            (context.form("/keys/rotate", &html! {
                (hidden("key", &row.name.name)) (level_fields(level))
                (view::select("keep", "Keep the old key working for", &KEEPS, "86400"))
                button { "Create the new key" }
            }))
        }
        p { "The new key has the same permissions as the old one, and is shown once. Nothing was changed yet. "
            "Back to the " (owner(level)) "." }
    };
    Ok(Page::new("Replace a key", content))
}

/// Lists the facts about a key. `level` is the owner that the form names. It is shown if the key's record names no
/// owner.
fn facts(row: &KeyRow, level: &KeyLevel) -> Markup {
    let level = row.note.as_ref().map_or(level, |note| &note.level);
    let mut facts = vec![("ID", html! { code { (row.name.id) } }), ("For", owner(level))];
    if let Some(KeyMetadata { mode: mode_of, label, created, by, ends, .. }) = &row.note {
        facts.extend([
            ("Mode", transaction::mode(mode_of.is_live())),
            ("Label", html! { bdi { (label) } }),
            ("Created", html! { (view::time(created)) " by " bdi { (by) } }),
        ]);
        facts.extend(ends.as_ref().map(|ends| ("Expires", view::time(ends))));
    }
    facts.extend(row.problem.as_ref().map(|problem| ("Problem", html! { (problem) })));
    view::facts(&facts)
}

// ---- Revoke --------------------------------------------------------------------------------------

/// Asks for confirmation, then revokes the key. KV cost of the question: 1 read. KV cost of revoking: 2 reads, 2
/// writes.
pub(super) async fn revoke_key<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    if context.was_done().await?.is_none() {
        let row = keys::get(context.store, &name(key)).await?;
        let Some(row) = row else { return Ok(gone(key, &level)) };
        if form.text("sure").is_empty() {
            return Ok(confirm_revocation(context, &row, &level));
        }
    }
    let revoked = keys::revoke(context.store, context.ledger, &context.author, &name(key)).await?;
    let Done { outcome: KeyName { id, .. }, before } = revoked;
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { "The key " code { (id) } " was revoked. " (lives()) }))
        p { "Back to the " (owner(&level)) ". Its list may still show the key for " (SHOWN_SECONDS) " s." }
    };
    Ok(Page::new("Key revoked", content))
}

fn confirm_revocation<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &KeyRow,
    level: &KeyLevel,
) -> Page {
    let content = html! {
        section {
            (facts(row, level))
            p {
                "Everything that uses this key will stop working, and no backup restores the key. " (lives())
                " To change a key without an interruption, replace it instead."
            }
            (context.form("/keys/revoke", &html! {
                (hidden("key", &row.name.name)) (level_fields(level)) (hidden("sure", "yes"))
                button.alarm { "Revoke the key " (row.name.id) }
            }))
        }
        p { "Nothing was changed yet. Back to the " (owner(level)) "." }
    };
    Page::new("Revoke this key?", content)
}

/// The page that is shown if the key no longer exists, for example because its form was sent twice.
fn gone(key: CredentialKey, level: &KeyLevel) -> Page {
    let content = html! {
        p.lead {
            "The key " code { (key.0.id()) } " no longer exists: it was revoked or has expired. "
            "Nothing was changed."
        }
        p { "Back to the " (owner(level)) "." }
    };
    Page::new("Key not found", content)
}
