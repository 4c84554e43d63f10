//! Units and profiles as the commands print them.

use crate::buyer::recipient::NewProfile;
use crate::office::shared::operation::facts::{Fact, Tone};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, text};
use crate::office::shared::operation::table::{facts, paragraphs};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shops::rule::units::UnitRow;

pub(super) const ID: Argument = Argument::positional("unit", text("unit"), "the ID of the unit");

/// Describes the JSON of commands that return one profile.
pub(super) const ONE_PROFILE: &str =
    "`unit`; `profile`, or `problem` if the stored profile cannot be read";

pub(super) fn profile_of(row: &UnitRow) -> String {
    let profile = listing(std::slice::from_ref(row)).without(&["Created", "Created by"]);
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
    paragraphs([profile.in_lines(), texts])
}

fn listed(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", "))
}

/// The columns of a list of units that only commands show.
pub(crate) const ONLY_IN_COMMANDS: [&str; 6] =
    ["Logo", "Accent", "Language", "Link", "Reply to", "Time zone"];

/// Returns the list of units with their profiles.
pub(crate) fn listing(units: &[UnitRow]) -> Listing {
    let profile = |row: &UnitRow| row.profile.as_ref().map(NewProfile::from).unwrap_or_default();
    Listing::new(
        units.iter().map(|row| (row, profile(row))),
        "There are no units yet.",
        &[
            ("Unit", &|(row, _)| Fact::unit(&row.unit)),
            ("Name", &|(row, profile)| match &row.problem {
                Some(problem) => Fact::Tag(Tone::Alarm, format!("Unreadable profile: {problem}")),
                None => Fact::Text(profile.name.clone()),
            }),
            ("Logo", &|(_, profile)| Fact::text(profile.logo.as_deref())),
            ("Accent", &|(_, profile)| Fact::text(profile.accent.as_deref())),
            ("Language", &|(_, profile)| Fact::text(profile.language.as_deref())),
            ("Link", &|(_, profile)| Fact::text(profile.link.as_deref())),
            ("E-mails", &|(_, profile)| Fact::words(if profile.mail { "on" } else { "off" })),
            ("Reply to", &|(_, profile)| Fact::text(profile.reply_to.as_deref())),
            ("Time zone", &|(_, profile)| Fact::text(profile.time_zone.as_deref())),
            ("Created", &|(row, _)| Fact::time(row.registered.as_ref().map(|it| &*it.created))),
            ("Created by", &|(row, _)| Fact::text(row.registered.as_ref().map(|it| &*it.by))),
        ],
    )
}

pub(super) fn after() -> String {
    format!("The unit's timelines and e-mails show the change within about {APPLIED_SECONDS} s.")
}
