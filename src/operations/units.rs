//! Operations on units.

use super::call::{Answer, Call, Failure, Host as _, Ports, Result, invalid};
use super::register::confirm_new;
use super::spec::{Argument, Kind, Spec, text};
use super::table::{facts, paragraphs, table, time};
use super::values::Values;
use crate::auth::KeyLevel;
use crate::operator::Done;
use crate::operator::delays::APPLIED_SECONDS;
use crate::operator::register;
use crate::operator::roles::Permission;
use crate::operator::units::{self, Member, ProfileMembers, UnitRow};
use crate::recipient::NewProfile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const ID: Argument = Argument::positional("unit", text("unit"), "the ID of the unit");

pub const ADD: Spec = Spec::changes(
    "units",
    "add",
    "register the IDs of units; commands ask for confirmation before they use an ID that is not registered",
    &[Argument::positional("units", text("units"), "the IDs of the units").repeatable()],
)
.answers("`units`");

#[derive(Deserialize, Serialize)]
pub struct Units {
    units: Vec<String>,
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Units) -> Result<Answer> {
    let by = call.host.person().await?;
    let done = register::add(call.store, call.ledger, &call.author(&by)?, &asked.units).await?;
    let text = format!("Registered: {}.", asked.units.join(", "));
    Answer::done(&done.map(|()| asked), text)
}

// ---- The profile ---------------------------------------------------------------------------------

/// Describes the JSON of commands that return one profile.
const ONE_PROFILE: &str = "`unit`; `profile`, or `problem` if the stored profile cannot be read";

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
            "the company's tax text on statements, such as its VAT number; written as `--billing-address`",
        ),
    ],
)
.confirmed_if("the unit is not registered")
.answers(ONE_PROFILE);

/// The fields of a profile, by their names on the command line.
const FIELDS: [&str; 13] = [
    "name",
    "logo",
    "accent",
    "language",
    "link",
    "mail",
    "messaging-services",
    "reply-to",
    "mail-text",
    "time-zone",
    "billing-name",
    "billing-address",
    "tax-text",
];

#[derive(Deserialize)]
pub struct Set {
    unit: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

pub fn check(values: &Values) -> Result<(), String> {
    let Set { fields, .. } = values.read()?;
    match fields.is_empty() {
        true => {
            let options: Vec<_> = FIELDS.iter().map(|field| format!("`--{field}`")).collect();
            Err(format!("give at least one field to set: {}", options.join(", ")))
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
        "messaging-services" => ("messagingServices".to_owned(), names(&value)),
        _ => (name, value),
    });
    serde_json::from_value(named.collect()).map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the names that a person separated by commas. `none` is no name.
fn names(value: &Value) -> Value {
    let names = value.as_str().unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty() && *name != "none").collect()
}

/// Replaces each `\n` that a person wrote as two characters with a line break.
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
    Answer::done(&done, text)
}

fn after() -> String {
    format!("Its timelines and e-mails show the change within about {APPLIED_SECONDS} s.")
}

const ALSO: &str = "\nE-mails are sent only if the service has a queue, a sender and a mail service: see \
                    docs/emails.md.";

const ALSO_OF_MESSAGES: &str = "\nA messaging service delivers only if the service has a queue and an adapter for it: \
                                see docs/messaging.md.";

pub const UNSET: Spec = Spec::changes(
    "units",
    "unset",
    "remove fields from a unit's profile; `units set` replaces a name; `--mail off` and `--messaging-services none` switch notifications off",
    &[
        ID,
        Argument::positional(
            "fields",
            Kind::Choice {
                choices: &[
                    "logo",
                    "accent",
                    "language",
                    "link",
                    "reply-to",
                    "mail-text",
                    "time-zone",
                    "billing-name",
                    "billing-address",
                    "tax-text",
                ],
            },
            "the fields to remove",
        )
        .repeatable(),
    ],
)
.answers(ONE_PROFILE);

#[derive(Deserialize)]
pub struct Unset {
    unit: String,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Field {
    Logo,
    Accent,
    Language,
    Link,
    ReplyTo,
    MailText,
    TimeZone,
    BillingName,
    BillingAddress,
    TaxText,
}

impl From<Field> for Member {
    fn from(field: Field) -> Self {
        match field {
            Field::Logo => Member::Logo,
            Field::Accent => Member::Accent,
            Field::Language => Member::Language,
            Field::Link => Member::Link,
            Field::ReplyTo => Member::ReplyTo,
            Field::MailText => Member::MailText,
            Field::TimeZone => Member::TimeZone,
            Field::BillingName => Member::BillingName,
            Field::BillingAddress => Member::BillingAddress,
            Field::TaxText => Member::TaxText,
        }
    }
}

pub async fn unset<P: Ports>(call: &Call<'_, P>, Unset { unit, fields }: Unset) -> Result<Answer> {
    let by = call.host.person().await?;
    let members: Vec<_> = fields.into_iter().map(Member::from).collect();
    let author = call.author(&by)?;
    let Done { outcome, before } =
        units::unset(call.store, call.ledger, &author, &unit, &members).await?;
    let row = outcome.ok_or_else(|| invalid(format!("the unit `{unit}` has no profile")))?;
    let text = format!("{}\n\n{}", profile_of(&row), after());
    Ok(Answer::new(&row, text)?.since(before.as_deref()))
}

// ---- Show, list, remove --------------------------------------------------------------------------

pub const SHOW: Spec = Spec::reads("units", "show", "print a unit's profile", &[ID])
    .permission(Permission::Look)
    .answers(ONE_PROFILE);

#[derive(Deserialize)]
pub struct UnitArguments {
    unit: String,
}

pub async fn show<P: Ports>(
    call: &Call<'_, P>,
    UnitArguments { unit }: UnitArguments,
) -> Result<Answer> {
    let row = units::get(call.store, &unit).await?.ok_or_else(|| {
        invalid(format!(
            "the unit `{unit}` has no profile: its timelines show the name Impact Pledge"
        ))
    })?;
    let text = profile_of(&row);
    Answer::new(&row, text)
}

pub const LIST: Spec = Spec::reads("units", "list", "list the units with their profiles", &[])
    .permission(Permission::Look)
    .answers("`units`: for each `unit`; `profile`, or `problem` if the stored profile cannot be read; `created` and `by`: when and by whom it was registered");

#[derive(Deserialize)]
pub struct NoArguments {}

#[derive(Serialize)]
struct UnitList {
    units: Vec<UnitRow>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let (units, _) = units::list(call.store, usize::MAX).await?;
    let text = match units.is_empty() {
        true => "no units".to_owned(),
        false => {
            let [a, b, c, d, e, f, g, h, i] = HEADS;
            let rows: Vec<_> = units.iter().map(registered_cells).collect();
            table([a, b, c, d, e, f, g, h, i, "CREATED", "BY"], &rows)
        }
    };
    Answer::new(&UnitList { units }, text)
}

pub const REMOVE: Spec = Spec::changes(
    "units",
    "remove",
    "remove a unit's profile, its price lists and its entry in the register, without asking for confirmation; its keys, \
     teams and transactions stay",
    &[ID],
)
.answers("`unit`, `removed`");

#[derive(Serialize)]
struct Removed {
    unit: String,
    removed: bool,
}

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    UnitArguments { unit }: UnitArguments,
) -> Result<Answer> {
    let by = call.host.person().await?;
    let done = units::remove(call.store, call.ledger, &call.author(&by)?, &unit).await?;
    if !done.outcome {
        return Err(invalid(format!(
            "the unit `{unit}` is not registered, and has no profile and no price list"
        )));
    }
    let text = format!(
        "The profile and the price lists of {unit} are removed. Its timelines stop showing the profile, and the \
         prices of the mode apply to it, within about {APPLIED_SECONDS} s."
    );
    Answer::done(&done.map(|removed| Removed { unit, removed }), text)
}

const HEADS: [&str; 9] =
    ["UNIT", "NAME", "LOGO", "ACCENT", "LANGUAGE", "LINK", "MAIL", "REPLY-TO", "TIME-ZONE"];

fn profile_of(row: &UnitRow) -> String {
    let profile = table(HEADS, &[cells(row)]);
    let fields = row.profile.as_ref().map(NewProfile::from).unwrap_or_default();
    let in_one_line = |text: Option<String>| text.map(|text| text.replace('\n', ", "));
    let texts = facts([
        ("Messaging services", listed(&fields.messaging_services)),
        ("Text in e-mails", in_one_line(fields.mail_text)),
        ("Billing name", fields.billing_name),
        ("Billing address", in_one_line(fields.billing_address)),
        ("Tax text", in_one_line(fields.tax_text)),
    ]);
    paragraphs([profile, texts])
}

fn listed(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", "))
}

fn cells(row: &UnitRow) -> [String; 9] {
    let mut cells: [String; 9] = Default::default();
    let [unit, name, logo, accent, language, link, mail, reply_to, time_zone] = &mut cells;
    unit.clone_from(&row.unit);
    if let Some(problem) = &row.problem {
        *name = format!("unreadable record: {problem}");
    }
    if let Some(profile) = &row.profile {
        let fields = NewProfile::from(profile);
        *name = fields.name;
        *logo = fields.logo.unwrap_or_default();
        *accent = fields.accent.unwrap_or_default();
        *language = fields.language.unwrap_or_default();
        *link = fields.link.unwrap_or_default();
        *mail = if fields.mail { "on" } else { "off" }.to_owned();
        *reply_to = fields.reply_to.unwrap_or_default();
        *time_zone = fields.time_zone.unwrap_or_default();
    }
    cells
}

fn registered_cells(row: &UnitRow) -> [String; 11] {
    let [a, b, c, d, e, f, g, h, i] = cells(row);
    let registered = row.registered.as_ref();
    let created = registered.map(|it| time(&it.created)).unwrap_or_default();
    let by = registered.map(|it| it.by.clone()).unwrap_or_default();
    [a, b, c, d, e, f, g, h, i, created, by]
}
