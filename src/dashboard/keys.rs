//! API keys: the keys of a unit or a team, and the forms that make, replace and revoke one.
//!
//! A key is shown once, in the answer to the form that made it; a form that is sent again makes no other.

use super::form::Form;
use super::frame::Page;
use super::register::{self, named};
use super::view::{self, hidden};
use super::{Desk, Refusal, Result, link, operation, orders, transaction};
use crate::auth::{KeyLevel, KeyRecord};
use crate::handle::{Clock, Entropy};
use crate::operator::delays::{KEY_CACHED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS, USED_SECONDS};
use crate::operator::keys::{self, End, KeyName, KeyNote, KeyRow, MadeKey};
use crate::operator::register::Unknown;
use crate::operator::{Done, MAX_PAGES, OperatorError};
use crate::scope::Mode;
use crate::store::{CredentialKey, OperatorStore};
use maud::{Markup, html};

/// How long a revoked key can still be used: for the time of KV's cache and of a running Worker's.
fn lives() -> Markup {
    html! {
        "For up to " (REFUSED_SECONDS) " s the service may still take it: Cloudflare's locations answer from \
         their cache for up to " (KEY_CACHED_SECONDS) " s, and a running Worker for " (USED_SECONDS) " s more."
    }
}

/// How long a replaced key goes on: seconds, in words.
const KEEPS: [(&str, &str); 4] =
    [("0", "It ends now"), ("3600", "1 hour"), ("86400", "24 hours"), ("604800", "7 days")];

/// The keys of a unit or a team, with a form that makes another. `missing` is what the register lacks
/// of it. Takes a list for each thousand keys, at most ten, and a read.
pub(super) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    level: &KeyLevel,
    missing: &[Unknown],
) -> Result<Markup> {
    let (mut rows, has_more) = keys::list(desk.store, Some(level), MAX_PAGES).await?;
    rows.sort_by(|one, other| created(other).cmp(created(one)));
    let shown = rows.iter().take(view::MAX_ROWS).map(cells).collect::<Vec<_>>();
    let headings = ["ID", "Mode", "Label", "Change", "Made", "By", "Ends"];
    Ok(html! {
        section {
            h2 { "API keys" }
            (view::table(&headings, &shown, "It has no keys yet."))
            (view::more(rows.len()))
            (view::picked(has_more, "keys of all units and teams"))
            (view::made_just_now())
            h3 { "Make a key" }
            (make_form(desk, level, &Form::default(), missing))
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
            a href=(orders::address(&[("key", &row.name.id)])) aria-label={ "Orders of the key " (row.name.id) } { "Orders" }
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

// ---- Whose key -----------------------------------------------------------------------------------

/// The fields that say whose a key is.
fn level_fields(level: &KeyLevel) -> Markup {
    match level {
        KeyLevel::Unit(id) => hidden("unit", id),
        KeyLevel::Team(id) => hidden("team", id),
    }
}

fn level(form: &Form) -> Result<KeyLevel> {
    let level = match (form.given("unit"), form.given("team")) {
        (Some(unit), None) => KeyLevel::Unit(unit.to_owned()),
        (None, Some(team)) => KeyLevel::Team(team.to_owned()),
        _ => return Err(Refusal::invalid("a key is a unit's or a team's: begin at its page")),
    };
    level.check().map(|()| level).map_err(Refusal::invalid)
}

/// A link to the page of a unit or a team.
pub(super) fn owner(level: &KeyLevel) -> Markup {
    html! { a href=(link::page_of(level)) { (named(level)) } }
}

// ---- Make ----------------------------------------------------------------------------------------

/// Makes the key, with three reads, a list and a read for each hundred changes of the last hour, and two
/// writes; with one more where the register lacks its unit or team.
pub(super) async fn make_key<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let level = level(form)?;
    let mode = Mode::from_name(form.text("mode")).filter(|_| desk.has_operation());
    let mode = mode.ok_or_else(|| Refusal::invalid(NOT_WHOLE))?;
    let missing = register::missing(desk, std::slice::from_ref(&level), form).await?;
    if let Some(problem) = register::problem(&missing) {
        return Ok(make_again(desk, &level, form, &missing, &problem));
    }
    let label = form.text("label").to_owned();
    let record = KeyRecord { label, ..KeyRecord::new(mode, level.clone()) };
    match keys::create(desk.store, desk.ledger, &desk.author, record).await {
        Ok(Done { outcome, before }) => Ok(made(desk, &outcome, before.as_ref(), &level)),
        Err(OperatorError::Invalid(problem)) => {
            Ok(make_again(desk, &level, form, &missing, &problem))
        }
        Err(error) => Err(error.into()),
    }
}

const NOT_WHOLE: &str = "this form is not whole: begin at the page of its unit";

fn make_again<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    level: &KeyLevel,
    form: &Form,
    missing: &[Unknown],
    problem: &str,
) -> Page {
    let content = html! {
        (view::problem(problem))
        section {
            h2 { "Make a key of the " (owner(level)) }
            (make_form(desk, level, form, missing))
        }
    };
    Page { status: 422, ..Page::new("No key was made", content) }
}

fn make_form<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    level: &KeyLevel,
    entered: &Form,
    missing: &[Unknown],
) -> Markup {
    let label = view::Field {
        name: "label",
        label: "Label, such as where it is used",
        value: entered.raw("label"),
        ..view::Field::default()
    };
    let modes = [("test", "Test: tries things out"), ("live", "Live: real pledges and charges")];
    html! {
        (desk.form("/keys", &html! {
            (level_fields(level))
            div.row {
                (view::select("mode", "Mode", &modes, entered.text("mode")))
                (label.render())
            }
            (register::question(missing))
            button { "Make the key" }
        }))
    }
}

/// A key that was made, by this form or when it was sent before.
fn made<S, C, E>(
    desk: &Desk<'_, S, C, E>,
    made: &MadeKey,
    before: Option<&String>,
    level: &KeyLevel,
) -> Page {
    match &made.key {
        Some(key) => Page::new("The new key", shown_once(desk, key, made, level)),
        None => Page {
            status: 409,
            ..Page::new("The key is already made", made_before(made, before, level))
        },
    }
}

/// What to do about a key that was made when its form was sent before: its secret may have been lost on the way.
fn made_before(made: &MadeKey, before: Option<&String>, level: &KeyLevel) -> Markup {
    let id = &made.row.name.id;
    html! {
        (view::notice(&html! {
            "This form has made the key " code { (id) }
            @if let Some(at) = before { " at " (view::time(at)) }
            " already. Its secret was shown once, and cannot be shown again."
        }))
        section {
            (facts(&made.row, level))
            p { "If you have not seen the secret, nobody has: replace the key, which makes another secret, or revoke it." }
            (change_forms(&made.row.name, level))
        }
        p { "Go on: the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// Buttons that lead to a key's replacement and revocation.
fn change_forms(name: &KeyName, level: &KeyLevel) -> Markup {
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

/// The key, with how to use it.
fn shown_once<S, C, E>(
    desk: &Desk<'_, S, C, E>,
    key: &str,
    made: &MadeKey,
    level: &KeyLevel,
) -> Markup {
    let note = made.row.note.as_ref();
    let mode_of = note.map_or(Mode::Test, |note| note.mode);
    let label = note.map_or("", |note| &note.label);
    let level = note.map_or(level, |note| &note.level);
    html! {
        (view::done(&html! { "This is the only time that the key is shown: copy it now." }))
        section {
            p { (view::copyable(key)) }
            (view::facts(&[
                ("ID", html! { code { (made.row.name.id) } " " small { "Lists name it so." } }),
                ("Mode", transaction::mode(mode_of.is_live())),
                ("For", owner(level)),
                ("Label", html! { bdi { (label) } }),
            ]))
        }
        section {
            h2 { "Use it" }
            p {
                "Keep it where the shop's server keeps its secrets, never in a page or an app. "
                "Every request has it in the header " code { "Authorization: Bearer …" }
                @if matches!(level, KeyLevel::Team(_)) {
                    ", and one of the team's units in the header " code { "X-Service-Unit-Id" }
                }
                ". Try it by asking for a transaction that does not exist:"
            }
            pre tabindex="0" { code { (curl(desk, key, level)) } }
            p {
                "The answer to a key that works is " code { "Pledge transaction not found" }
                ", to any other " code { "Authentication failed" } "."
            }
        }
        p { "Go on: the " (owner(level)) ". Its list may not show the key for " (SHOWN_SECONDS) " s." }
    }
}

/// A request that changes nothing, in either mode.
fn curl<S, C, E>(desk: &Desk<'_, S, C, E>, key: &str, level: &KeyLevel) -> String {
    let origin = match &*desk.settings.service_origin {
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

/// Asks how long the old key goes on, with one read; then makes the new one, with about ten reads and
/// writes and a list of the last changes.
pub(super) async fn rotate_key<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    let Some(keep) = keep(form).filter(|_| desk.has_operation()) else {
        return confirm_rotation(desk, key, &level).await;
    };
    let rotated = keys::rotate(desk.store, desk.ledger, &desk.author, &name(key), keep).await;
    let Done { outcome: rotated, before } = match rotated {
        Err(OperatorError::Invalid(problem)) => return Ok(not_replaced(&level, &problem)),
        rotated => rotated?,
    };
    let page = made(desk, &rotated.made, before.as_ref(), &level);
    let old = &rotated.replaces.id;
    let after = match &rotated.end {
        Ok(End { revoked: true, .. }) => html! { "It was revoked at the same time, and stays so." },
        Ok(_) if keep == 0 => html! { "It has ended. " (lives()) },
        Ok(End { ends, .. }) => {
            html! { "It goes on until " (view::time(ends)) ": use the new key by then." }
        }
        Err(error) => html! {
            strong { "It goes on as before" } ", as its end could not be written ("
            (error.to_string()) "). The new key works: revoke one of the two."
        },
    };
    Ok(page.with(&html! { section { h2 { "The old key " code { (old) } } p { (after) } } }))
}

fn not_replaced(level: &KeyLevel, problem: &str) -> Page {
    let content = html! { (view::problem(problem)) p { "Go on: the " (owner(level)) "." } };
    Page { status: 422, ..Page::new("No key was made", content) }
}

fn keep(form: &Form) -> Option<u32> {
    let (seconds, _) = KEEPS.iter().find(|(seconds, _)| *seconds == form.text("keep"))?;
    seconds.parse().ok()
}

/// The key that a form names by its record, which needs no list.
fn named_key(form: &Form) -> Result<CredentialKey> {
    let key = CredentialKey::parse(form.text("key"));
    key.ok_or_else(|| Refusal::invalid("this form names no key: begin at the page of its unit"))
}

fn name(key: CredentialKey) -> String {
    crate::store::Key::name(&key)
}

async fn confirm_rotation<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    key: CredentialKey,
    level: &KeyLevel,
) -> Result {
    let Some(row) = keys::get(desk.store, &name(key)).await? else { return Ok(gone(key, level)) };
    let successor = row.note.as_ref().and_then(|note| note.successor.as_ref());
    let content = html! {
        @if let Some(successor) = successor {
            (view::notice(&html! {
                "The key " code { (successor) } " replaces this one already: replace it once more only \
                 if that one was lost."
            }))
        }
        section {
            (facts(&row, level))
            (desk.form("/keys/rotate", &html! {
                (hidden("key", &row.name.name)) (level_fields(level))
                (view::select("keep", "How long the old key goes on", &KEEPS, "86400"))
                button { "Make the new key" }
            }))
        }
        p { "The new key may do what the old one may, and is shown once. Nothing was changed yet: "
            "back to the " (owner(level)) "." }
    };
    Ok(Page::new("Replace a key", content))
}

/// `level` is what the form says, for a key whose record does not.
fn facts(row: &KeyRow, level: &KeyLevel) -> Markup {
    let level = row.note.as_ref().map_or(level, |note| &note.level);
    let mut facts = vec![("ID", html! { code { (row.name.id) } }), ("For", owner(level))];
    if let Some(KeyNote { mode: mode_of, label, created, by, ends, .. }) = &row.note {
        facts.extend([
            ("Mode", transaction::mode(mode_of.is_live())),
            ("Label", html! { bdi { (label) } }),
            ("Made", html! { (view::time(created)) " by " bdi { (by) } }),
        ]);
        facts.extend(ends.as_ref().map(|ends| ("Ends", view::time(ends))));
    }
    facts.extend(row.problem.as_ref().map(|problem| ("Problem", html! { (problem) })));
    view::facts(&facts)
}

// ---- Revoke --------------------------------------------------------------------------------------

/// Asks first, with one read; then revokes the key, with two reads and two writes.
pub(super) async fn revoke_key<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    form: &Form,
) -> Result {
    let (key, level) = (named_key(form)?, level(form)?);
    if desk.was_done().await?.is_none() {
        let row = keys::get(desk.store, &name(key)).await?;
        let Some(row) = row else { return Ok(gone(key, &level)) };
        if form.text("sure").is_empty() {
            return Ok(confirm_revocation(desk, &row, &level));
        }
    }
    let revoked = keys::revoke(desk.store, desk.ledger, &desk.author, &name(key)).await?;
    let Done { outcome: KeyName { id, .. }, before } = revoked;
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! { "The key " code { (id) } " is revoked. " (lives()) }))
        p { "Go on: the " (owner(&level)) ". Its list may show the key for " (SHOWN_SECONDS) " s." }
    };
    Ok(Page::new("The key is revoked", content))
}

fn confirm_revocation<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    row: &KeyRow,
    level: &KeyLevel,
) -> Page {
    let content = html! {
        section {
            (facts(row, level))
            p {
                "Whatever uses this key is refused from then on, and no backup brings it back. " (lives())
                " To change a key without an interruption, replace it instead."
            }
            (desk.form("/keys/revoke", &html! {
                (hidden("key", &row.name.name)) (level_fields(level)) (hidden("sure", "yes"))
                button.alarm { "Revoke the key " (row.name.id) }
            }))
        }
        p { "Nothing was changed yet: back to the " (owner(level)) "." }
    };
    Page::new("Revoke a key?", content)
}

/// The page of a key that has no record: a form that is sent twice ends here.
fn gone(key: CredentialKey, level: &KeyLevel) -> Page {
    let content = html! {
        p.lead {
            "There is no key " code { (key.0.id()) } " any more: it was revoked, or has ended. "
            "Nothing was changed by this."
        }
        p { "Go on: the " (owner(level)) "." }
    };
    Page::new("This key has ended", content)
}
