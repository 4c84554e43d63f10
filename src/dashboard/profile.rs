//! A unit's profile: its name, how its pages look, and its e-mails.

use super::form::Form;
use super::frame::{Content, Page};
use super::transaction::MAIL_POLICY;
use super::unit::{self, After};
use super::view::{self, hidden};
use super::{Desk, Refusal, Result, link, operation, register};
use crate::auth::KeyLevel;
use crate::handle::{Clock, Entropy};
use crate::operator::audit::Change;
use crate::operator::delays::APPLIED_SECONDS;
use crate::operator::register::Unknown;
use crate::operator::roles::Act;
use crate::operator::units::{self, UnitRow};
use crate::operator::{OperatorError, Seen};
use crate::pledge::RetrievedPledgeTransaction;
use crate::recipient::{self, Language, NewProfile, Profile};
use crate::store::OperatorStore;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// The transaction of the previews.
const EXAMPLE: &[u8] = include_bytes!("example.json");

/// The texts of a profile: name, label, and what helps to fill them in.
const TEXTS: [(&str, &str, &str); 6] = [
    ("name", "Name", "What buyers call the shop: one line, at most 80 characters."),
    ("logo", "Logo", "The address of an image, by https. It stands in the place of the name."),
    ("link", "Link", "Where name and logo lead to, by https."),
    (
        "accent",
        "Accent colour",
        "Such as #8a4b2a; made darker or lighter where it would be hard to read.",
    ),
    ("reply-to", "Reply-to address", "The e-mail address that buyers answer to."),
    (
        "time-zone",
        "Time zone",
        "The zone of the dates that buyers see, such as Europe/Berlin. Without one, dates are in UTC.",
    ),
];

const LANGUAGES: [(&str, &str); 13] = [
    ("", "Each reader's own"),
    ("da", "Danish"),
    ("de", "German"),
    ("en", "English"),
    ("es", "Spanish"),
    ("fr", "French"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("sv", "Swedish"),
    ("zh", "Chinese"),
];

const MAILS: [(&str, &str); 2] = [("", "No e-mails"), ("on", "Buyers get them")];

/// The profile, as a form for those who may change it. `missing` is what the register lacks of the unit.
pub(super) fn section<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    row: &UnitRow,
    missing: &[Unknown],
) -> Markup {
    let profile = members(row);
    html! {
        section {
            h2 { "Profile" }
            @if let Some(problem) = &row.problem {
                (view::problem(&format!("its record cannot be read ({problem}): fill it in anew")))
            }
            p {
                "What buyers see of the shop on their page and in their e-mail. Examples as it is now: "
                a href=(preview_path(&row.unit, "page")) { "page" } ", "
                a href=(preview_path(&row.unit, "mail")) { "e-mail" } "."
            }
            @if desk.may(Act::Operate) {
                (profile_form(desk, &row.unit, &profile, &seen(&profile), missing, ""))
            } @else {
                (facts(&profile))
            }
        }
    }
}

fn members(row: &UnitRow) -> NewProfile {
    row.profile.as_ref().map(NewProfile::from).unwrap_or_default()
}

fn preview_path(unit: &str, of: &str) -> String {
    [&link::path(&["units", unit, "preview"]), "?of=", of].concat()
}

/// The members of a profile as texts, by the names of their fields; empty where they are absent.
fn texts(profile: &NewProfile) -> [(&str, &str); 8] {
    [
        ("name", &profile.name),
        ("logo", profile.logo.as_deref().unwrap_or_default()),
        ("link", profile.link.as_deref().unwrap_or_default()),
        ("accent", profile.accent.as_deref().unwrap_or_default()),
        ("reply-to", profile.reply_to.as_deref().unwrap_or_default()),
        ("time-zone", profile.time_zone.as_deref().unwrap_or_default()),
        ("language", profile.language.as_deref().unwrap_or_default()),
        ("mail", if profile.mail { "on" } else { "" }),
    ]
}

/// What a form carries of the profile that was seen, so that a later one is not lost.
fn seen(profile: &NewProfile) -> String {
    let members = texts(profile).map(|(_, text)| text).join("\n");
    base16ct::lower::encode_string(&Sha256::digest(members))
}

fn facts(profile: &NewProfile) -> Markup {
    let [texts @ .., (_, language), (_, mail)] = texts(profile);
    let in_words = |options: &[(&'static str, &'static str)], value: &str| {
        options.iter().find(|(option, _)| *option == value).map_or("", |(_, words)| words)
    };
    let texts = TEXTS.iter().zip(texts).map(|((_, label, _), (_, text))| (*label, text));
    let choices =
        [("Language", in_words(&LANGUAGES, language)), ("E-mails", in_words(&MAILS, mail))];
    let set = texts.chain(choices).filter(|(_, text)| !text.is_empty());
    view::facts(&set.map(|(label, text)| (label, html! { bdi { (text) } })).collect::<Vec<_>>())
}

// ---- The form ------------------------------------------------------------------------------------

/// `problem` names the members that are at fault.
fn profile_form<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    unit: &str,
    profile: &NewProfile,
    seen: &str,
    missing: &[Unknown],
    problem: &str,
) -> Markup {
    let [texts @ .., (_, language), (_, mail)] = texts(profile);
    let fields = TEXTS.iter().zip(texts).map(|((name, label, hint), (_, value))| view::Field {
        name,
        label,
        value,
        hint,
        required: *name == "name",
        invalid: problem.contains(&format!("`{name}`")) && (*name == "name" || !value.is_empty()),
    });
    html! {
        (desk.form(&link::path(&["units", unit, "profile"]), &html! {
            (hidden("seen", seen))
            div.fields {
                @for field in fields { (field.render()) }
                (view::select("language", "Language", &LANGUAGES, language))
                (view::select("mail", "E-mails of new pledges", &MAILS, mail))
            }
            (register::question(missing))
            div.row {
                button { "Save the profile" }
                @for (of, words) in [("page", "Try the page"), ("mail", "Try the e-mail")] {
                    button.quiet name="preview" value=(of) formtarget="_blank" formnovalidate {
                        (words)
                    }
                }
            }
        }))
    }
}

fn sent(form: &Form) -> NewProfile {
    let given = |name| form.given(name).map(str::to_owned);
    NewProfile {
        name: form.text("name").to_owned(),
        logo: given("logo"),
        accent: given("accent"),
        language: given("language"),
        link: given("link"),
        mail: form.text("mail") == "on",
        reply_to: given("reply-to"),
        time_zone: given("time-zone"),
    }
}

/// Shows an example of what was filled in, without a call; else sets the profile, with three lists, six reads and
/// four writes at most, and then shows the unit.
pub(super) async fn set_profile<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let wanted = sent(form);
    if let Some(of) = form.given("preview") {
        return match Profile::checked(wanted.clone(), desk.clock) {
            Ok(profile) => preview(desk, Some(&profile), of),
            Err(problem) => Ok(again(desk, id, &wanted, form.text("seen"), &[], problem)),
        };
    }
    if desk.was_done().await?.is_some() {
        return save(desk, id, wanted, Seen::default()).await;
    }
    let missing = register::missing(desk, &[KeyLevel::Unit(id.to_owned())], form).await?;
    if let Some(problem) = register::problem(&missing) {
        return Ok(again(desk, id, &wanted, form.text("seen"), &missing, &problem));
    }
    let row = units::get(desk.store, id).await?;
    let now = row.as_ref().map(members).unwrap_or_default();
    if row.as_ref().is_some_and(|row| row.profile.is_some()) && seen(&now) == seen(&wanted) {
        let words = html! { "The profile is what you sent: nothing was changed." };
        return shown(desk, id, view::done(&words), row).await;
    }
    let replaced = row.map(|row| row.seen).unwrap_or_default();
    if form.text("seen") != seen(&now) {
        let change = replaced.change(desk.store).await?;
        return Ok(again(desk, id, &wanted, &seen(&now), &[], &overtaken(change.as_ref())));
    }
    match save(desk, id, wanted.clone(), replaced).await {
        Err(Refusal::Operator(OperatorError::Invalid(problem))) => {
            Ok(again(desk, id, &wanted, &seen(&now), &[], &problem))
        }
        page => page,
    }
}

async fn save<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    wanted: NewProfile,
    replaced: Seen,
) -> Result {
    let mails = wanted.mail;
    let done = units::replace(desk.store, desk.ledger, &desk.author, id, wanted, replaced).await?;
    let before = operation::before(done.before.as_ref());
    let notice = html! { (before) (view::done(&saved(mails))) };
    shown(desk, id, notice, Some(done.outcome)).await
}

/// `change` is the one that set the profile as it is now.
fn overtaken(change: Option<&Change>) -> String {
    let set = change.map(|Change { by, at, .. }| format!(", set by {by} at {at}"));
    let set = set.unwrap_or_default();
    format!(
        "not saved: the profile is another than the one that you began with{set}, or Workers KV does not \
         show the newest one yet. Look at the unit's page in another tab; to have what stands below \
         instead, save it once more"
    )
}

fn saved(mails: bool) -> Markup {
    html! {
        "The profile is saved. After about " (APPLIED_SECONDS) " s its pages and e-mails have it everywhere."
        @if mails { " E-mails are sent where the service has a queue, a sender and a mail service." }
    }
}

async fn shown<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    notice: Markup,
    row: Option<UnitRow>,
) -> Result {
    let after = After { notice, row, is_registered: true };
    unit::page(desk, id, after).await
}

fn again<S, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    profile: &NewProfile,
    seen: &str,
    missing: &[Unknown],
    problem: &str,
) -> Page {
    let content = html! {
        (view::problem(problem))
        section {
            h2 { "Profile of the unit " a href=(link::path(&["units", id])) { (id) } }
            (profile_form(desk, id, profile, seen, missing, problem))
        }
    };
    Page { status: 422, ..Page::new("The profile was not saved", content) }
}

// ---- Previews ------------------------------------------------------------------------------------

/// An example with the stored profile, with one read.
pub(super) async fn preview_profile<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    crate::auth::check_id(id).map_err(Refusal::invalid)?;
    let row = units::get(desk.store, id).await?;
    preview(desk, row.and_then(|row| row.profile).as_ref(), query.text("of"))
}

fn preview<S, C: Clock, E>(
    desk: &Desk<'_, S, C, E>,
    profile: Option<&Profile>,
    of: &str,
) -> Result {
    let example: RetrievedPledgeTransaction<'_> =
        serde_json::from_slice(EXAMPLE).map_err(OperatorError::from)?;
    let document = match of {
        "page" => {
            let page = recipient::page(&example, profile, Language::En, desk.clock);
            Some((page.html, page.policy))
        }
        "mail" => recipient::mail(&example, profile, desk.clock)
            .map(|mail| (mail.html, Cow::Borrowed(MAIL_POLICY))),
        _ => None,
    };
    let (html, policy) =
        document.ok_or_else(|| Refusal::invalid("there are examples of `page` and `mail`"))?;
    Ok(Page { status: 200, content: Content::Document(html, policy) })
}
