//! A unit's profile: its name, the look of its pages, and its e-mails.

use super::form::Form;
use super::layout::{Content, Page};
use super::transaction::MAIL_POLICY;
use super::unit::{self, FormResult};
use super::view::{self, hidden};
use super::{PageContext, Refusal, Result, link, operation, register};
use crate::auth::KeyLevel;
use crate::operator::audit::Change;
use crate::operator::delays::APPLIED_SECONDS;
use crate::operator::register::Unregistered;
use crate::operator::units::{self, UnitRow};
use crate::operator::{OperatorError, RecordVersion};
use crate::pledge::RetrievedPledgeTransaction;
use crate::recipient::{self, Language, NewProfile, Profile};
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// The transaction that previews show.
const EXAMPLE: &[u8] = include_bytes!("example.json");

/// The text fields of a profile: name, label, and hint.
const TEXTS: [(&str, &str, &str); 6] = [
    ("name", "Name", "The shop's name as buyers know it: one line, at most 80 characters."),
    ("logo", "Logo", "The https address of an image, which is shown instead of the name."),
    ("link", "Link", "The https address that the name or logo links to."),
    (
        "accent",
        "Accent colour",
        "For example #8a4b2a. It is darkened or lightened where it would be hard to read.",
    ),
    ("reply-to", "Reply-to address", "Replies to the e-mails go to this address."),
    (
        "time-zone",
        "Time zone",
        "The time zone of the dates that buyers see, for example Europe/Berlin. If empty, UTC.",
    ),
];

const LANGUAGES: [(&str, &str); 13] = [
    ("", "Language of the reader's browser"),
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

const MAILS: [(&str, &str); 2] = [("", "Off"), ("on", "On")];

/// The profile: a form for operators and managers, a list of facts for others. `missing` contains the unit if it does not exist.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UnitRow,
    missing: &[Unregistered],
) -> Markup {
    let profile = members(row);
    html! {
        section {
            h2 { "Profile" }
            @if let Some(problem) = &row.problem {
                (view::problem(&format!("the profile cannot be read ({problem}): fill in the form again")))
            }
            p {
                "How the shop looks to buyers, on their page and in their e-mail. Current preview: "
                a href=(preview_path(&row.unit, "page")) { "page" } ", "
                a href=(preview_path(&row.unit, "mail")) { "e-mail" } "."
            }
            @if context.manages(&KeyLevel::Unit(row.unit.clone())) {
                (profile_form(context, &row.unit, &profile, &seen(&profile), missing, ""))
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

/// Returns the names and values of a profile's fields. The value of an absent field is empty.
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

/// Returns a hash of the profile that a form shows. When the form is sent, the hash reveals whether the profile has changed
/// meanwhile.
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

/// The form of a profile. Fields whose names `problem` contains are marked as invalid.
fn profile_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    profile: &NewProfile,
    seen: &str,
    missing: &[Unregistered],
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
        (context.form(&link::path(&["units", unit, "profile"]), &html! {
            (hidden("seen", seen))
            div.fields {
                @for field in fields { (field.render()) }
                (view::select("language", "Language", &LANGUAGES, language))
                (view::select("mail", "E-mails to buyers", &MAILS, mail))
            }
            (register::question(missing))
            div.row {
                button { "Save profile" }
                @for (of, words) in [("page", "Preview page"), ("mail", "Preview e-mail")] {
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

/// Previews the entered profile, or saves it and shows the unit. KV cost of a preview: none. KV cost of saving: at most
/// 3 lists, 6 reads and 4 writes, and the calls of the unit's page.
pub(super) async fn set_profile<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let wanted = sent(form);
    if let Some(of) = form.given("preview") {
        return match Profile::checked(wanted.clone(), context.clock) {
            Ok(profile) => preview(context, Some(&profile), of),
            Err(problem) => Ok(again(context, id, &wanted, form.text("seen"), &[], problem)),
        };
    }
    if context.was_done().await?.is_some() {
        return save(context, id, wanted, RecordVersion::default()).await;
    }
    let missing = register::missing(context, &[KeyLevel::Unit(id.to_owned())], form).await?;
    if let Some(problem) = register::problem(&missing) {
        return Ok(again(context, id, &wanted, form.text("seen"), &missing, &problem));
    }
    let row = units::get(context.store, id).await?;
    let now = row.as_ref().map(members).unwrap_or_default();
    if row.as_ref().is_some_and(|row| row.profile.is_some()) && seen(&now) == seen(&wanted) {
        let words = html! { "These values are already saved. Nothing was changed." };
        return shown(context, id, view::done(&words), row).await;
    }
    let replaced = row.map(|row| row.seen).unwrap_or_default();
    if form.text("seen") != seen(&now) {
        let change = replaced.change(context.store).await?;
        return Ok(again(context, id, &wanted, &seen(&now), &[], &overtaken(change.as_ref())));
    }
    match save(context, id, wanted.clone(), replaced).await {
        Err(Refusal::Operator(OperatorError::Invalid(problem))) => {
            Ok(again(context, id, &wanted, &seen(&now), &[], &problem))
        }
        page => page,
    }
}

async fn save<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    wanted: NewProfile,
    replaced: RecordVersion,
) -> Result {
    let mails = wanted.mail;
    let done = units::replace(context.store, context.ledger, &context.author, id, wanted, replaced)
        .await?;
    let before = operation::before(done.before.as_ref());
    let notice = html! { (before) (view::done(&saved(mails))) };
    shown(context, id, notice, Some(done.outcome)).await
}

/// Returns the error of a form that shows an outdated profile. `change` is the change that set the current profile, if
/// known.
fn overtaken(change: Option<&Change>) -> String {
    let set = change.map(|Change { by, at, .. }| format!(", set by {by} at {at}"));
    let set = set.unwrap_or_default();
    format!(
        "not saved: the profile has changed since you opened this form{set}, or Workers KV does not show the \
         newest version yet. Check the unit's page in another tab. To replace the profile with the values \
         below, save them again"
    )
}

fn saved(mails: bool) -> Markup {
    html! {
        "The profile was saved. Pages and e-mails use it everywhere after about " (APPLIED_SECONDS) " s."
        @if mails { " E-mails are sent only if the service has a queue, a sender address and a mail service." }
    }
}

async fn shown<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    notice: Markup,
    row: Option<UnitRow>,
) -> Result {
    let after = FormResult { notice, row, is_registered: true };
    unit::page(context, id, after).await
}

fn again<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    profile: &NewProfile,
    seen: &str,
    missing: &[Unregistered],
    problem: &str,
) -> Page {
    let content = html! {
        (view::problem(problem))
        section {
            h2 { "Profile of the unit " a href=(link::path(&["units", id])) { (id) } }
            (profile_form(context, id, profile, seen, missing, problem))
        }
    };
    Page { status: 422, ..Page::new("The profile was not saved", content) }
}

// ---- Previews ------------------------------------------------------------------------------------

/// Previews the stored profile. KV cost: 1 read.
pub(super) async fn preview_profile<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    crate::auth::check_id(id).map_err(Refusal::invalid)?;
    let row = units::get(context.store, id).await?;
    preview(context, row.and_then(|row| row.profile).as_ref(), query.text("of"))
}

fn preview<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    profile: Option<&Profile>,
    of: &str,
) -> Result {
    let example: RetrievedPledgeTransaction<'_> =
        serde_json::from_slice(EXAMPLE).map_err(OperatorError::from)?;
    let document = match of {
        "page" => {
            let page = recipient::page(&example, profile, Language::En, context.clock);
            Some((page.html, page.policy))
        }
        "mail" => recipient::mail(&example, profile, context.clock)
            .map(|mail| (mail.html, Cow::Borrowed(MAIL_POLICY))),
        _ => None,
    };
    let (html, policy) =
        document.ok_or_else(|| Refusal::invalid("`of` must be `page` or `mail`"))?;
    Ok(Page { status: 200, content: Content::Document(html, policy) })
}
