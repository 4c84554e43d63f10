//! Generates the operators' commands: their delays, table and reference.

use super::is_current;
use impact_pledge::office::mails::rule::WAITING_HOURS;
use impact_pledge::office::operations::{GROUPS, Operation};
use impact_pledge::office::shared::operation::spec as operations;
use impact_pledge::office::shared::operation::spec::Spec;
use impact_pledge::office::shared::rule::delays::{
    APPLIED_SECONDS, MAILED_SECONDS, REFUSED_SECONDS, SHOWN_SECONDS,
};
use impact_pledge::office::shared::rule::roles::Role;
use impact_pledge::pledges::store::{FAILED_MAIL_DAYS, NOTIFICATION_DAYS};
use serde_json::json;
use std::fmt::Write as _;
use strum::IntoEnumIterator as _;

#[test]
fn commands_state_the_delays_of_their_causes() {
    let rows = [
        ("a list or a read of Workers KV shows a write", "SHOWN_SECONDS", SHOWN_SECONDS),
        ("prices, payments and profiles apply everywhere", "APPLIED_SECONDS", APPLIED_SECONDS),
        (
            "a revoked key, or a unit that was removed from its team, is refused",
            "REFUSED_SECONDS",
            REFUSED_SECONDS,
        ),
        ("the delivery state of an e-mail shows", "MAILED_SECONDS", MAILED_SECONDS),
        ("an e-mail without a result counts as failed", "WAITING_HOURS", WAITING_HOURS),
        ("the outcome of an e-mail is deleted", "NOTIFICATION_DAYS", NOTIFICATION_DAYS.into()),
        (
            "a failed e-mail is removed from the list of failures",
            "FAILED_MAIL_DAYS",
            FAILED_MAIL_DAYS.into(),
        ),
    ];
    let head = "/** How long it takes until something happens. Written by `UPDATE=1 cargo test --test native generated`. */\n";
    let line = |(what, name, value)| {
        format!("/** How long until {what}. */\nexport const {name} = {value};\n")
    };
    is_current("../tests/support/delays.mjs", &[head.to_owned(), rows.map(line).concat()].concat());
}

/// Returns the groups of operations, each with its operations.
fn groups() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static Spec>)> {
    GROUPS.iter().map(|(group, about)| {
        let specs = Operation::iter().map(Operation::spec);
        (*group, *about, specs.filter(|spec| spec.group == *group).collect())
    })
}

#[test]
fn the_command_line_has_the_operations_of_the_table() {
    let named = |(group, about, operations)| json!({ "group": group, "about": about, "operations": operations });
    let table: Vec<_> = groups().map(named).collect();
    let text = serde_json::to_string_pretty(&table).unwrap() + "\n";
    is_current("../scripts/lib/operations.json", &text);
}

#[test]
fn the_reference_of_commands_is_current() {
    let mut index = include_str!("commands.md").to_owned();
    for (group, about, operations) in groups() {
        let link =
            |spec: &&Spec| format!("[`{}`](commands/{group}.md#{})", spec.name, anchor(spec));
        let links: Vec<_> = operations.iter().map(link).collect();
        writeln!(index, "| `{group}` | {about} | {} |", links.join(", ")).unwrap();
        let hand_written = match group {
            "transactions" => BACKUP,
            "ledger" => CHECK_ATOMIC,
            _ => "",
        };
        let page = page(group, about, &operations, hand_written);
        is_current(&format!("../docs/commands/{group}.md"), &page);
    }
    is_current("../docs/commands.md", &index);
}

/// The sections about `transactions backup` and `restore`, which are scripts and not in the table of operations.
const BACKUP: &str = include_str!("backup.md");
/// The section about `ledger check-atomic`, which is a script, too.
const CHECK_ATOMIC: &str = include_str!("check_atomic.md");

/// Returns the page of a group's commands, with hand-written sections at its end. The links in the texts begin at `docs`.
fn page(group: &str, about: &str, operations: &[&Spec], hand_written: &str) -> String {
    let sections: String = operations.iter().map(|spec| described(spec)).collect();
    let sections = sections + hand_written;
    let link = regex_lite::Regex::new(r"\]\(([a-z-]+\.md)").unwrap();
    format!(
        "# Commands: {group}\n\nFor operators. {} [Commands](../commands.md) describes what all commands have in common.\n{}",
        sentence(about),
        link.replace_all(&sections, "](../$1")
    )
}

/// Returns the address of an operation's section on its page.
fn anchor(spec: &Spec) -> String {
    let heading = format!("{}{}", spec.full_name(), positions(spec));
    let kept = heading.chars().filter(|char| char.is_ascii_alphanumeric() || " -".contains(*char));
    kept.collect::<String>().replace(' ', "-")
}

/// Returns an operation's arguments without the options, as the usage line has them.
fn positions(spec: &Spec) -> String {
    let positions = spec.arguments.iter().filter(|it| !it.is_option).map(|it| {
        let name = if it.is_repeatable { format!("{}...", it.name) } else { it.name.to_owned() };
        if it.is_required { format!(" <{name}>") } else { format!(" [{name}]") }
    });
    positions.collect()
}

/// Returns an operation's section of the reference.
fn described(spec: &Spec) -> String {
    let confirms = match (spec.confirms, spec.confirms_if) {
        (false, _) => String::new(),
        (true, "") => " Asks for a confirmation.".to_owned(),
        (true, when) => format!(" Asks for a confirmation if {when}."),
    };
    let about = sentence(spec.about);
    let roles: Vec<&str> =
        Role::iter().filter(|it| it.may(spec.permission)).map(Into::into).collect();
    let roles = format!(" Dashboard roles: {}.", roles.join(", "));
    let positions = positions(spec);
    let mut text = format!("\n## {}{positions}\n\n{about}{confirms}{roles}\n", spec.full_name());
    let rows = spec.arguments.iter().map(|it| {
        let required = if it.is_required { ", required" } else { "" };
        let several = if it.is_repeatable { ", repeatable" } else { "" };
        let default = it.default.filter(|text| !text.is_empty());
        let default = default.map(|text| format!(", default `{text}`")).unwrap_or_default();
        let kind = match it.kind {
            operations::Kind::Choice { choices } => format!(" ({})", choices.join(", ")),
            _ => String::new(),
        };
        format!("- `{}`{required}{several}{default}{kind}: {}\n", it.written(), it.help)
    });
    let rows: String = rows.collect();
    if !rows.is_empty() {
        text = text + "\n" + &rows;
    }
    if !spec.answers.is_empty() {
        write!(text, "\n`--json`: {}.\n", spec.answers).unwrap();
    }
    if !spec.note.is_empty() {
        write!(text, "\n```text\n{}\n```\n", spec.note).unwrap();
    }
    text
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|char| char.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}
