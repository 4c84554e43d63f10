//! The profile on the page of a unit, and its form.

use crate::buyer::recipient::NewProfile;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::link;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::view;
use crate::office::shared::page::view::hidden;
use crate::office::shops::rule::units::UnitRow;
use crate::office::system::page::setup_messaging::attachment;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::types::NotificationService;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

/// A text field of a profile: name, label, and hint.
type Text = (&'static str, &'static str, &'static str);

/// The text fields about the shop's looks.
const LOOKS: [Text; 5] = [
    ("name", "Name", "The shop's name as buyers know it: one line, at most 80 characters."),
    ("logo", "Logo", "The https address of an image, which is shown instead of the name."),
    ("link", "Link", "The https address that the name or logo links to."),
    (
        "accent",
        "Accent colour",
        "For example #8a4b2a. Where this colour would be hard to read, a darker or lighter shade is used.",
    ),
    (
        "time-zone",
        "Time zone",
        "The time zone of the dates that buyers see, for example Europe/Berlin. If empty, UTC.",
    ),
];

/// The text fields about e-mails. The second one has several lines.
const MAIL: [Text; 2] = [
    ("reply-to", "Reply-to address", "Replies to the e-mails go to this address."),
    (
        "mail-text",
        "Your own text in e-mails",
        "Shown above the button: at most 6 lines and 300 characters of plain text. It is not translated. Web \
         addresses in it do not become links.",
    ),
];

/// The text fields for statements. Buyers do not see their values. The first one has a single line.
const BILLING: [Text; 3] = [
    ("billing-name", "Billing name", "The name of the company on statements."),
    ("billing-address", "Billing address", "The address on statements, at most 6 lines."),
    ("tax-text", "Tax text", "The tax text on statements, for example the VAT number."),
];

/// The form value that stands for no fixed language: the reader's browser decides.
pub(super) const READER: &str = "reader";

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

const TOTAL_HINT: &str = "Lets everyone read how much the shop's orders have pledged in all, rounded and without small \
                          numbers, for a badge on its website.";

const MAILS: [(&str, &str); 2] = [("", "Off"), ("on", "On")];

/// Renders the profile: as a form for operators and managers, as a list of facts for others.
pub(crate) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    row: &UnitRow,
) -> Markup {
    let profile = members(row);
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
                (profile_form(context, &row.unit, &profile, &seen(&profile), &FormProblem::default()))
            } @else {
                (facts(context, &profile))
            }
        }
    }
}

/// Returns the values of a unit's profile. They are empty if the unit has no profile.
pub(super) fn members(row: &UnitRow) -> NewProfile {
    row.profile.as_ref().map(NewProfile::from).unwrap_or_default()
}

fn preview_path(unit: &str, of: &str) -> String {
    [&link::path(&["units", unit, "preview"]), "?of=", of].concat()
}

/// Returns the names and values of a profile's fields. The value of an absent field is empty.
fn texts(profile: &NewProfile) -> [(&'static str, &str); 16] {
    [
        ("name", &profile.name),
        ("logo", profile.logo.as_deref().unwrap_or_default()),
        ("link", profile.link.as_deref().unwrap_or_default()),
        ("accent", profile.accent.as_deref().unwrap_or_default()),
        ("time-zone", profile.time_zone.as_deref().unwrap_or_default()),
        ("reply-to", profile.reply_to.as_deref().unwrap_or_default()),
        ("mail-text", profile.mail_text.as_deref().unwrap_or_default()),
        ("billing-name", profile.billing_name.as_deref().unwrap_or_default()),
        ("billing-address", profile.billing_address.as_deref().unwrap_or_default()),
        ("tax-text", profile.tax_text.as_deref().unwrap_or_default()),
        ("language", profile.language.as_deref().unwrap_or_default()),
        ("mail", if profile.mail { "on" } else { "" }),
        ("public-total", if profile.public_total { "on" } else { "" }),
        is_on(profile, NotificationService::MessagingServiceA),
        is_on(profile, NotificationService::MessagingServiceB),
        is_on(profile, NotificationService::MessagingServiceC),
    ]
}

fn is_on(profile: &NewProfile, service: NotificationService) -> (&'static str, &'static str) {
    let is_on = profile.messaging_services.iter().any(|name| name == service.name());
    (service.name(), if is_on { "on" } else { "" })
}

/// Returns the profile to store: the profile that was sent, but without a language if the language field
/// contains [`READER`].
pub(super) fn as_stored(sent: NewProfile) -> NewProfile {
    NewProfile { language: sent.language.filter(|language| language != READER), ..sent }
}

/// Returns a hash of a profile. A form contains the hash of the profile that it shows. When the form is
/// sent, a different hash of the current profile means that the profile was changed meanwhile.
pub(super) fn seen(profile: &NewProfile) -> String {
    let members = texts(profile).map(|(_, text)| text).join("\0");
    base16ct::lower::encode_string(&Sha256::digest(members))
}

fn facts<S, C, E>(context: &PageContext<'_, S, C, E>, profile: &NewProfile) -> Markup {
    let [texts @ .., (_, language), (_, mail), (_, total), _, _, _] = texts(profile);
    let service = |name: &String| match is_attached(context, name) {
        true => name.clone(),
        false => [name, " (nothing is attached)"].concat(),
    };
    let messaging = profile.messaging_services.iter().map(service).collect::<Vec<_>>().join(", ");
    let in_words = |options: &[(&'static str, &'static str)], value: &str| {
        options.iter().find(|(option, _)| *option == value).map_or("", |(_, words)| words)
    };
    let labels = LOOKS.iter().chain(&MAIL).chain(&BILLING);
    let texts = labels.zip(texts).map(|((_, label, _), (_, text))| (*label, text));
    let language = if language.is_empty() { READER } else { language };
    let choices = [
        ("Language", in_words(&LANGUAGES, language)),
        ("E-mails", in_words(&MAILS, mail)),
        ("Public total", in_words(&MAILS, total)),
        ("Messaging services", &*messaging),
    ];
    let set = texts.chain(choices).filter(|(_, text)| !text.is_empty());
    view::facts(&set.map(|(label, text)| (label, html! { bdi { (text) } })).collect::<Vec<_>>())
}

/// Renders the form of a profile. Only the part that every profile needs is always open. The others are sent as well while they
/// are folded; the one with a problem is open.
pub(super) fn profile_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
    profile: &NewProfile,
    seen: &str,
    problem: &FormProblem,
) -> Markup {
    let [texts @ .., (_, language), (_, mail), (_, total), a, b, c] = texts(profile);
    let ([name, logo, link, accent, time_zone], [reply_to, mail_text], [billing, address, tax]) =
        fields(&texts, problem);
    let language = language_choice(language, seen, problem);
    let looks = html! { @for field in [name, logo, link, accent, time_zone] { (field.render()) } (language) };
    let mails = html! {
        (view::select("mail", "E-mails to buyers", &MAILS, mail))
        (reply_to.render()) (mail_text.render_lines())
        @for (name, is_on) in [a, b, c] { (messaging_choice(context, name, is_on)) }
    };
    let public = view::select_with("public-total", "Public total", &MAILS, total, TOTAL_HINT);
    let billing = html! { (billing.render()) (address.render_lines()) (tax.render_lines()) };
    let on = |is_on| if is_on { "on" } else { "off" };
    html! {
        (context.form(&link::path(&["units", unit, "profile"]), &html! {
            (hidden("seen", seen))
            div.fields { (looks) }
            (folded(&format!("E-mails and messages: e-mails {}", on(profile.mail)), &mails))
            (folded(&format!("Public total: {}", on(profile.public_total)), &public))
            (folded("Statements: name, address and tax, which buyers do not see", &billing))
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

/// Returns the text fields of the profile's parts: looks, e-mails and statements.
fn fields<'f>(
    texts: &[(&'static str, &'f str); 10],
    problem: &'f FormProblem,
) -> ([view::Field<'f>; 5], [view::Field<'f>; 2], [view::Field<'f>; 3]) {
    let field = |(name, label, hint): Text| view::Field {
        name,
        label,
        value: texts.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value),
        hint,
        required: name == "name",
        problem: problem.of(name),
        ..view::Field::default()
    };
    (LOOKS.map(field), MAIL.map(field), BILLING.map(field))
}

/// Renders a part of the form, folded unless one of its fields has a problem.
fn folded(summary: &str, fields: &Markup) -> Markup {
    let has_problem = fields.0.contains("aria-invalid=\"true\"");
    html! { details open[has_problem] { summary { (summary) } div.fields { (fields) } } }
}

/// Renders the field that switches a messaging service on or off. Says so if no adapter is attached
/// to the service.
fn messaging_choice<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    name: &str,
    is_on: &str,
) -> Markup {
    let hint = if is_attached(context, name) { "" } else { unattached(context) };
    view::select_with(name, name, &MAILS, is_on, hint)
}

fn is_attached<S, C, E>(context: &PageContext<'_, S, C, E>, name: &str) -> bool {
    let set = &context.settings.messaging_bindings;
    let service = NotificationService::from_name(name);
    let attachment = service.and_then(|service| attachment(set, service));
    attachment.is_some_and(|attachment| attachment.is_attached)
}

fn unattached<S, C, E>(context: &PageContext<'_, S, C, E>) -> &'static str {
    match context.is_of_shop() {
        true => {
            "Nothing is attached to this service, so its messages are not sent. Ask the operator to attach it."
        }
        false => {
            "No adapter is attached to this service, so its messages are not sent. The page System says how to attach one."
        }
    }
}

/// Renders the choice of the language. For a new profile, no language is selected, so the person has to choose one.
/// `before` is the [hash](seen) of the stored profile.
fn language_choice(language: &str, before: &str, problem: &FormProblem) -> Markup {
    let is_new = before == seen(&NewProfile::default());
    let chosen = if language.is_empty() && !is_new { READER } else { language };
    let options = [("", "Choose a language")].into_iter().filter(|_| chosen.is_empty());
    view::Field {
        name: "language",
        label: "Language",
        value: chosen,
        hint: "The language of the sentences, dates and numbers that buyers see. Choose the language in \
               which the shop writes the texts of its pledges. Those texts are never translated, even if \
               the page follows the reader's browser.",
        required: true,
        problem: problem.of("language"),
        ..view::Field::default()
    }
    .render_select(&options.chain(LANGUAGES).collect::<Vec<_>>())
}
