//! Sets the fields of a unit's profile.

use super::rows::{ID, ONE_PROFILE, after, profile_of};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::refused::Refused;
use crate::office::shops::operation::register::confirm_new;
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::ProfileMembers;
use crate::pledges::auth::KeyLevel;
use serde::Deserialize;
use serde_json::{Map, Value};

pub const SET: Spec = Spec::changes(
    "units",
    "set",
    "set fields of a unit's profile; fields that you leave out stay as they are",
    &[
        ID,
        Argument::option("name", text("name"), "the shop's name: one line, at most 80 characters"),
        Argument::option("logo", text("url"), "the https address of the shop's logo"),
        Argument::option(
            "accent",
            text("colour"),
            "the colour of links, amounts and marks, such as `#8a4b2a`; made darker or lighter where it would be hard to read",
        ),
        Argument::option(
            "language",
            text("code"),
            "the language of its pages, such as `de`; by default, that of the reader's browser",
        ),
        Argument::option("link", text("url"), "the https address that name and logo link to"),
        Argument::option(
            "mail",
            Kind::Choice { choices: &["on", "off"] },
            "whether recipients get the e-mail that a create asks for; `off` by default",
        ),
        Argument::option(
            "messaging-services",
            text("names"),
            "the messaging services that deliver if a create asks for them, separated by commas, such as \
             `MessagingServiceA,MessagingServiceB`; `none` switches all off",
        ),
        Argument::option(
            "reply-to",
            text("address"),
            "the e-mail address that gets the recipients' replies",
        ),
        Argument::option(
            "mail-text",
            text("lines"),
            "a text of the shop's own for its e-mails, plain text without links: at most 6 lines and 300 characters; `\\n` \
             starts a new line",
        ),
        Argument::option(
            "time-zone",
            text("name"),
            "the time zone of dates on its pages and in its e-mails, such as `Europe/Berlin`; \
             by default, UTC",
        ),
        Argument::option(
            "billing-name",
            text("name"),
            "the name of the company on statements: one line, at most 80 characters",
        ),
        Argument::option(
            "billing-address",
            text("lines"),
            "the company's address on statements: at most 6 lines and 300 characters; `\\n` starts a new line",
        ),
        Argument::option(
            "tax-text",
            text("lines"),
            "the company's tax text on statements, such as its VAT number, in the format of `--billing-address`",
        ),
        Argument::option(
            "public-total",
            Kind::Choice { choices: &["on", "off"] },
            "whether everyone may read the shop's rounded total, for its website; `off` by default",
        ),
    ],
)
.confirmed_if("the unit is not registered")
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
    value.as_str().unwrap_or_default().replace("\\n", "\n").into()
}

pub async fn set<P: Ports>(call: &Call<'_, P>, Set { unit, fields }: Set) -> Result<Answer> {
    let level = KeyLevel::Unit(unit.clone());
    if !call.was_done().await? {
        confirm_new(call, &[level], "no profile was changed").await?;
    }
    let turns_mail_on = fields.get("mail").is_some_and(|mail| mail == "on");
    let turns_messages_on = fields.get("messaging-services").is_some_and(|names| names != "none");
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let done = units::set(call.store, call.ledger, &author, &unit, members(fields)?).await?;
    let also = if turns_mail_on { ALSO } else { "" };
    let of_messages = if turns_messages_on { ALSO_OF_MESSAGES } else { "" };
    let text = format!("{}\n\n{}{also}{of_messages}", profile_of(&done.outcome), after());
    Answer::changed(&done, Changed::new(text, Facts::new()))
}

const ALSO: &str = "\nE-mails are sent only if the service has a queue, a sender and a mail service: see \
                    docs/emails.md.";

const ALSO_OF_MESSAGES: &str = "\nA messaging service delivers only if the service has a queue and an adapter for it: \
                                see docs/messaging.md.";
