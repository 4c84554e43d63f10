//! Saves the profile that a form sends.

use super::preview::preview;
use super::section::{as_stored, members, profile_form, seen};
use crate::buyer::recipient::{NewProfile, Profile};
use crate::office::audit::rule::Change;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::{link, operation, view};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::published::RecordVersion;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::page::register;
use crate::office::shops::page::unit;
use crate::office::shops::page::unit::FormResult;
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::UnitRow;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::NotificationService;
use maud::{Markup, html};

fn no_language() -> Refused {
    let problem = "choose the `language` of the shop's pages, or “Follow the reader's browser”";
    Refused::at("language", RefusalCode::Required, problem)
}

fn sent(form: &Form) -> NewProfile {
    let given = |name| form.given(name).map(str::to_owned);
    let lines = |name| form.given(name).map(|text| text.replace("\r\n", "\n"));
    NewProfile {
        name: form.text("name").to_owned(),
        logo: given("logo"),
        accent: given("accent"),
        language: given("language"),
        link: given("link"),
        mail: form.text("mail") == "on",
        messaging_services: services(form),
        reply_to: given("reply-to"),
        mail_text: lines("mail-text"),
        time_zone: given("time-zone"),
        billing_name: given("billing-name"),
        billing_address: lines("billing-address"),
        tax_text: lines("tax-text"),
        public_total: form.text("public-total") == "on",
    }
}

fn services(form: &Form) -> Vec<String> {
    let names = NotificationService::MESSAGING.map(NotificationService::name);
    names.into_iter().filter(|name| form.text(name) == "on").map(str::to_owned).collect()
}

/// Previews the entered profile, or saves it and then shows the unit's page. A preview costs no KV calls.
/// Saving costs at most 3 lists, 6 reads and 4 writes in KV, besides the calls that the unit's page makes.
pub(crate) async fn set_profile<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let entered = sent(form);
    let wanted = as_stored(entered.clone());
    if let Some(of) = form.given("preview") {
        return match Profile::checked(wanted.clone(), context.clock) {
            Ok(profile) => preview(context, Some(&profile), of),
            Err(wrong) => Ok(again(context, id, &entered, form.text("seen"), wrong.into())),
        };
    }
    if context.was_done().await?.is_some() {
        return save(context, id, wanted, RecordVersion::default()).await;
    }
    let level = KeyLevel::Unit(id.to_owned());
    let about = (form, "no profile was changed");
    if let Some(page) = register::ask(context, &[level], about).await? {
        return Ok(page);
    }
    let row = units::newest(context.store, context.ledger, id).await?;
    let now = row.as_ref().map(members).unwrap_or_default();
    if row.as_ref().is_some_and(|row| row.profile.is_some()) && seen(&now) == seen(&wanted) {
        let words = html! { "These values are already saved. Nothing was changed." };
        return shown(context, id, view::done(&words), row).await;
    }
    if entered.language.is_none() && row.as_ref().is_none_or(|row| row.profile.is_none()) {
        return Ok(again(context, id, &entered, &seen(&now), no_language()));
    }
    let replaced = row.map(|row| row.seen).unwrap_or_default();
    if form.text("seen") != seen(&now) {
        let change = replaced.change(context.ledger).await?;
        let problem = overtaken(context, change.as_ref());
        return Ok(again(context, id, &entered, &seen(&now), problem.into()));
    }
    match save(context, id, wanted, replaced).await {
        Err(Refusal::Operator(OperatorError::Invalid(why))) => {
            Ok(again(context, id, &entered, &seen(&now), why))
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
    let (mails, messages) = (wanted.mail, !wanted.messaging_services.is_empty());
    let done = units::replace(context.store, context.ledger, &context.author, id, wanted, replaced)
        .await?;
    let before = operation::before(done.before.as_ref());
    let notice = html! { (before) (view::done(&saved(mails, messages))) };
    shown(context, id, notice, Some(done.outcome)).await
}

/// Returns the error for a form that was filled in from an outdated version of the profile. `change` is the
/// audit log's entry for the current version, if that entry is known.
fn overtaken<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    change: Option<&Change>,
) -> String {
    let set = change.map(|Change { by, by_shop, at, .. }| {
        format!(", set by {} at {at}", context.author.name_of(by, *by_shop))
    });
    let set = set.unwrap_or_default();
    format!(
        "not saved: the profile has changed since you opened this form{set}, or Workers KV does not show the \
         newest version yet. Check the unit's page in another tab. To replace the profile with the values \
         below, save them again"
    )
}

fn saved(mails: bool, messages: bool) -> Markup {
    html! {
        "The profile was saved. Pages and e-mails use it everywhere after about " (APPLIED_SECONDS) " s."
        @if mails { " E-mails are sent only if the service has a queue, a sender address and a mail service." }
        @if messages { " Messages are sent only if there is an adapter for their messaging service." }
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
    why: Refused,
) -> Page {
    let problem = FormProblem::from(why);
    let content = html! {
        section {
            h2 { "Profile of the unit " a href=(link::path(&["units", id])) { (id) } }
            (profile_form(context, id, profile, seen, &problem))
        }
    };
    Page { status: 422, ..Page::new("The profile was not saved", problem.above(&content)) }
}
