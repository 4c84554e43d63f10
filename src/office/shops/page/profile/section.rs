//! The profile on the page of a unit, and its form.

use crate::buyer::recipient::NewProfile;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::office::shared::page::view;
use crate::office::shops::operation::units::{READER, SET, texts};
use crate::office::shops::rule::units::UnitRow;
use crate::office::system::page::setup_messaging::attachment;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::types::NotificationService;
use maud::{Markup, html};

/// The languages of timelines: tag and name. The first entry follows the reader's browser.
pub(crate) const LANGUAGES: [(&str, &str); 14] = [
    (READER, "Follow the reader's browser"),
    ("da", "Danish"),
    ("de", "German"),
    ("en", "English"),
    ("es", "Spanish"),
    ("fr", "French"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("pt", "Portuguese (Portugal)"),
    ("pt-BR", "Portuguese (Brazil)"),
    ("sv", "Swedish"),
    ("zh", "Chinese"),
];

/// Renders the profile: as a form for operators and managers, as a list of facts for others.
pub(crate) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UnitRow,
) -> Markup {
    let profile = row.profile.as_ref().map(NewProfile::from);
    html! {
        section #profile {
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
                (profile_form(context, &row.unit, profile.as_ref()))
            } @else {
                (facts(&profile.unwrap_or_default()))
            }
        }
    }
}

fn preview_path(unit: &str, of: &str) -> String {
    [&link::path(&["units", unit, "preview"]), "?of=", of].concat()
}

fn facts(profile: &NewProfile) -> Markup {
    let label = |name: &str| {
        let argument = SET.arguments.iter().find(|argument| argument.name == name);
        argument.and_then(|argument| argument.field).map_or("", |field| field.label)
    };
    let language = |tag: &str| LANGUAGES.iter().find(|(own, _)| *own == tag);
    let value = |(name, text): (&'static str, String)| match name {
        "language" => (name, language(&text).map_or("", |(_, words)| words).to_owned()),
        _ => (name, text),
    };
    let set = texts(profile).into_iter().map(value).filter(|(_, text)| !text.is_empty());
    view::facts(
        &set.map(|(name, text)| (label(name), html! { bdi { (text) } })).collect::<Vec<_>>(),
    )
}

/// Renders the form of a profile. Only the part that every profile needs is always open. In a new profile, the person has to choose
/// the language.
fn profile_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    profile: Option<&NewProfile>,
) -> Markup {
    let choose = [("", "Choose a language")];
    let languages = [if profile.is_none() { &choose[..] } else { &[] }, &LANGUAGES].concat();
    let default = NewProfile::default();
    let texts = texts(profile.unwrap_or(&default));
    let is_shown = |(name, _): &(&str, &str)| profile.is_some() || *name != "language";
    let values: Vec<_> =
        texts.iter().map(|(name, text)| (*name, &**text)).filter(is_shown).collect();
    let on = |name| texts.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
    let (path, preview) = (link::path(&["units", unit, "profile"]), |of| preview_path(unit, of));
    context.operation_form(OperationForm {
        values: &values,
        menus: &[("language", &languages)],
        leave_out: &["unit"],
        texts: &[("messaging-services", ("Messaging services", &unattached(context)))],
        parts: &[
            (
                &format!("E-mails and messages: e-mails {}", on("mail")),
                &["mail", "messaging-services", "reply-to", "mail-text"],
            ),
            (&format!("Public total: {}", on("public-total")), &["public-total"]),
            (
                "Statements: name, address and tax, which buyers do not see",
                &["billing-name", "billing-address", "tax-text"],
            ),
        ],
        buttons: html! {
            @for (of, words) in [("page", "Preview page"), ("mail", "Preview e-mail")] {
                button.quiet formaction=(preview(of)) formtarget="_blank" formnovalidate { (words) }
            }
        },
        ..OperationForm::new(&SET, &path)
    })
}

/// Says which messaging services have no adapter.
fn unattached<S, C, E>(context: &PageContext<'_, S, C, E>) -> String {
    let is_attached = |service: &NotificationService| {
        let attachment = attachment(&context.settings.messaging_bindings, *service);
        attachment.is_some_and(|attachment| attachment.is_attached)
    };
    let names = NotificationService::MESSAGING.into_iter().filter(|service| !is_attached(service));
    let names = names.map(NotificationService::name).collect::<Vec<_>>().join(", ");
    let advice = match context.is_of_shop() {
        true => "Ask the operator to attach one.",
        false => "The page System says how to attach one.",
    };
    match names.is_empty() {
        true => String::new(),
        false => {
            format!("No adapter is attached to {names}, so these messages are not sent. {advice}")
        }
    }
}
