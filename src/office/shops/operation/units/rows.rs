//! Units and profiles as the commands print them.

use crate::buyer::recipient::NewProfile;
use crate::office::shared::operation::spec::{Argument, text};
use crate::office::shared::operation::table::{facts, paragraphs, table, time};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shops::rule::units::UnitRow;

pub(super) const ID: Argument = Argument::positional("unit", text("unit"), "the ID of the unit");

/// Describes the JSON of commands that return one profile.
pub(super) const ONE_PROFILE: &str =
    "`unit`; `profile`, or `problem` if the stored profile cannot be read";

pub(super) const HEADS: [&str; 9] =
    ["UNIT", "NAME", "LOGO", "ACCENT", "LANGUAGE", "LINK", "MAIL", "REPLY-TO", "TIME-ZONE"];

pub(super) fn profile_of(row: &UnitRow) -> String {
    let profile = table(HEADS, &[cells(row)]);
    let fields = row.profile.as_ref().map(NewProfile::from).unwrap_or_default();
    let in_one_line = |text: Option<String>| text.map(|text| text.replace('\n', ", "));
    let texts = facts([
        ("Messaging services", listed(&fields.messaging_services)),
        ("Text in e-mails", in_one_line(fields.mail_text)),
        ("Billing name", fields.billing_name),
        ("Billing address", in_one_line(fields.billing_address)),
        ("Tax text", in_one_line(fields.tax_text)),
        ("Public total", fields.public_total.then(|| "on".to_owned())),
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

pub(super) fn registered_cells(row: &UnitRow) -> [String; 11] {
    let [a, b, c, d, e, f, g, h, i] = cells(row);
    let registered = row.registered.as_ref();
    let created = registered.map(|it| time(&it.created)).unwrap_or_default();
    let by = registered.map(|it| it.by.clone()).unwrap_or_default();
    [a, b, c, d, e, f, g, h, i, created, by]
}

pub(super) fn after() -> String {
    format!("The unit's timelines and e-mails show the change within about {APPLIED_SECONDS} s.")
}
