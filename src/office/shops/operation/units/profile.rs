//! Sets the fields of a unit's profile.

use super::rows::{ID, ONE_PROFILE, after, profile_of};
use crate::buyer::recipient::NewProfile;
use crate::office::audit::rule::Change;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::published::RecordVersion;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::operation::register::confirm_new;
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::ProfileMembers;
use crate::pledges::auth::KeyLevel;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The value of `--language` that stands for no fixed language: the reader's browser decides.
pub(crate) const READER: &str = "reader";
const ON_OFF: Kind = Kind::Choice { choices: &["on", "off"] };

pub const SET: Spec = Spec::changes(
    "units",
    "set",
    "set fields of a unit's profile; fields that you leave out stay as they are, and an empty value removes a field",
    &[
        ID,
        Argument::option("name", text("name"), "the shop's name: one line, at most 80 characters")
            .field("Name", "The shop's name as buyers know it: one line, at most 80 characters."),
        Argument::option("logo", text("url"), "the https address of the shop's logo")
            .field("Logo", "The https address of an image, which is shown instead of the name."),
        Argument::option("link", text("url"), "the https address that name and logo link to")
            .field("Link", "The https address that the name or logo links to."),
        Argument::option(
            "accent",
            text("colour"),
            "the colour of links, amounts and marks, such as `#8a4b2a`; made darker or lighter where it would be hard to read",
        )
        .field(
            "Accent colour",
            "For example #8a4b2a. Where this colour would be hard to read, a darker or lighter shade is used.",
        ),
        Argument::option(
            "time-zone",
            text("name"),
            "the time zone of dates on its pages and in its e-mails, such as `Europe/Berlin`; \
             by default, UTC",
        )
        .field("Time zone", "The time zone of the dates that buyers see, for example Europe/Berlin. If empty, UTC."),
        Argument::option(
            "language",
            text("code"),
            "the language of its pages, such as `de`; by default, or with `reader`, that of the reader's browser",
        )
        .field(
            "Language",
            "The language of the sentences, dates and numbers that buyers see. Choose the language in which the shop writes the \
             texts of its pledges. Those texts are never translated, even if the page follows the reader's browser.",
        ),
        Argument::option(
            "mail",
            ON_OFF,
            "whether recipients get the e-mail that a create asks for; `off` by default",
        )
        .menu("E-mails to buyers", &["On", "Off"]),
        Argument::option(
            "messaging-services",
            text("names"),
            "the messaging services that deliver if a create asks for them, separated by commas, such as \
             `MessagingServiceA,MessagingServiceB`; `none` switches all off",
        )
        .boxes(
            "Messaging services",
            &["MessagingServiceA", "MessagingServiceB", "MessagingServiceC"],
        ),
        Argument::option(
            "reply-to",
            text("address"),
            "the e-mail address that gets the recipients' replies",
        )
        .field("Reply-to address", "Replies to the e-mails go to this address."),
        Argument::option(
            "mail-text",
            text("lines"),
            "a text of the shop's own for its e-mails, plain text without links: at most 6 lines and 300 characters; `\\n` \
             starts a new line",
        )
        .lines(
            "Your own text in e-mails",
            "Shown above the button: at most 6 lines and 300 characters of plain text. It is not translated. Web addresses in it \
             do not become links.",
        ),
        Argument::option(
            "public-total",
            ON_OFF,
            "whether everyone may read the shop's rounded total, for its website; `off` by default",
        )
        .menu("Public total", &["On", "Off"]),
        Argument::option(
            "billing-name",
            text("name"),
            "the name of the company on statements: one line, at most 80 characters",
        )
        .field("Billing name", "The name of the company on statements."),
        Argument::option(
            "billing-address",
            text("lines"),
            "the company's address on statements: at most 6 lines and 300 characters; `\\n` starts a new line",
        )
        .lines("Billing address", "The address on statements, at most 6 lines."),
        Argument::option(
            "tax-text",
            text("lines"),
            "the company's tax text on statements, such as its VAT number, in the format of `--billing-address`",
        )
        .lines("Tax text", "The tax text on statements, for example the VAT number."),
    ],
)
.confirmed_if("the unit is not registered")
.button("Save profile")
.edited()
.answers(ONE_PROFILE);

#[derive(Deserialize)]
pub struct Set {
    unit: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

pub fn check(values: &Values) -> Result<(), Refused> {
    let Set { fields, .. } = values.read()?;
    match fields.is_empty() {
        true => {
            let options = SET.arguments.iter().filter(|argument| argument.is_option);
            let options: Vec<_> = options.map(|option| format!("`--{}`", option.name)).collect();
            Err(format!("give at least one field to set: {}", options.join(", ")).into())
        }
        false => Ok(()),
    }
}

/// Renames the command line's fields to the members of a profile's record.
fn members(fields: Map<String, Value>) -> Result<ProfileMembers> {
    let named = fields.into_iter().map(|(name, value)| match &*name {
        "reply-to" => ("replyTo".to_owned(), value),
        "mail-text" => ("mailText".to_owned(), in_lines(&value)),
        "time-zone" => ("timeZone".to_owned(), value),
        "billing-name" => ("billingName".to_owned(), value),
        "billing-address" => ("billingAddress".to_owned(), in_lines(&value)),
        "tax-text" => ("taxText".to_owned(), in_lines(&value)),
        "mail" => (name, (value == "on").into()),
        "public-total" => ("publicTotal".to_owned(), (value == "on").into()),
        "messaging-services" => ("messagingServices".to_owned(), names(&value)),
        "language" if value == READER => (name, "".into()),
        _ => (name, value),
    });
    serde_json::from_value(named.collect())
        .map_err(|error| Failure::Usage(error.to_string().into()))
}

/// Splits a list of names at its commas. The word `none` stands for an empty list.
fn names(value: &Value) -> Value {
    let names = value.as_str().unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty() && *name != "none").collect()
}

/// Replaces each `\n` that a person typed, a backslash and an `n`, with a line break.
fn in_lines(value: &Value) -> Value {
    value.as_str().unwrap_or_default().replace("\\n", "\n").replace("\r\n", "\n").into()
}

impl Set {
    /// Returns the members of the profile to set.
    ///
    /// # Errors
    /// If a value has the wrong type.
    pub(crate) fn members(self) -> Result<ProfileMembers> {
        members(self.fields)
    }
}

pub async fn set<P: Ports>(call: &Call<'_, P>, asked: Set) -> Result<Answer> {
    let unit = asked.unit.clone();
    if !call.was_done().await? {
        confirm_new(call, &[KeyLevel::Unit(unit.clone())], "no profile was changed").await?;
        check_fields(call, &asked).await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let turns_on =
        |name: &str| asked.fields.get(name).is_some_and(|value| value != "none" && value != "off");
    let also = if turns_on("mail") { ALSO } else { "" };
    let of_messages = if turns_on("messaging-services") { ALSO_OF_MESSAGES } else { "" };
    let done = units::set(call.store, call.ledger, &author, &unit, asked.members()?).await?;
    let said = format!("The profile is saved. {}{also}{of_messages}", after());
    let text = format!("{}\n\n{said}", profile_of(&done.outcome));
    let change = Changed::new(said, Facts::new());
    Ok(Answer { text, ..Answer::changed(&done, change)? })
}

/// Checks the fields of a form against the profile of now: somebody may have changed a field since the page was opened, and a new
/// profile needs a choice of the language.
async fn check_fields<P: Ports>(call: &Call<'_, P>, asked: &Set) -> Result<()> {
    if !call.host.is_page() {
        return Ok(());
    }
    let row = units::newest(call.store, call.ledger, &asked.unit).await?.unwrap_or_default();
    let now = row.profile.as_ref().map(NewProfile::from);
    if now.is_none() && asked.fields.get("language").is_none_or(|language| language == "") {
        return Err(OperatorError::at("language", RefusalCode::Required, NO_LANGUAGE).into());
    }
    let Some(now) = now else { return Ok(()) };
    let stays = |(name, value): &(&str, String)| {
        asked.fields.get(*name).is_none_or(|wanted| wanted == value)
    };
    if texts(&now).iter().all(stays) {
        return Err(invalid("these values are already saved, so nothing was changed"));
    }
    let is_overtaken = |(name, value): &(&'static str, String)| {
        let is_changed = call.host.initial(name).is_some_and(|initial| initial != value);
        is_changed && asked.fields.get(*name).is_some_and(|wanted| wanted != value)
    };
    match texts(&now).iter().find(|it| is_overtaken(it)) {
        Some((name, value)) => Err(overtaken(call, &row.seen, (name, value)).await?.into()),
        None => Ok(()),
    }
}

/// Returns the refusal of a field that somebody else has changed since the page was opened.
async fn overtaken<P: Ports>(
    call: &Call<'_, P>,
    seen: &RecordVersion,
    (name, value): (&'static str, &str),
) -> Result<OperatorError> {
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let set = seen.change(call.ledger).await?.map(|Change { by, by_shop, at, .. }| {
        format!(" by {} at {at}", author.name_of(&by, by_shop))
    });
    let text = format!(
        "nothing was saved: `{name}` was set to `{value}`{} since you opened this page. Reload the page to change it",
        set.unwrap_or_default()
    );
    Ok(OperatorError::at(name, RefusalCode::TryAgain, text))
}

/// Returns the values of a profile's fields, as the arguments have them. The value of an absent field is empty.
pub(crate) fn texts(profile: &NewProfile) -> [(&'static str, String); 14] {
    let on_off = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        ("name", profile.name.clone()),
        ("logo", text(&profile.logo)),
        ("link", text(&profile.link)),
        ("accent", text(&profile.accent)),
        ("time-zone", text(&profile.time_zone)),
        ("language", profile.language.clone().unwrap_or_else(|| READER.to_owned())),
        ("mail", on_off(profile.mail)),
        ("messaging-services", profile.messaging_services.join(",")),
        ("reply-to", text(&profile.reply_to)),
        ("mail-text", text(&profile.mail_text)),
        ("public-total", on_off(profile.public_total)),
        ("billing-name", text(&profile.billing_name)),
        ("billing-address", text(&profile.billing_address)),
        ("tax-text", text(&profile.tax_text)),
    ]
}

const NO_LANGUAGE: &str =
    "choose the `language` of the shop's pages, or “Follow the reader's browser”";

const ALSO: &str = " E-mails are sent only if the service has a queue, a sender and a mail service: see docs/emails.md.";

const ALSO_OF_MESSAGES: &str = " A messaging service delivers only if the service has a queue and an adapter for it: see \
                                docs/messaging.md.";
