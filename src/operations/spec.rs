//! What the table says of an operation: its name, its arguments, and what they may be.

use crate::operator::roles::Act;
use serde::Serialize;

/// An operation, as the command line and its reference are built from it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The group that it belongs to, such as `keys`.
    pub group: &'static str,
    /// Its name in the group, such as `create`.
    pub name: &'static str,
    /// What it does, in an imperative sentence without a full stop.
    pub about: &'static str,
    /// Its arguments: those without a name first, in their order.
    pub arguments: &'static [Argument],
    /// What it requires a person's role to allow.
    #[serde(skip)]
    pub act: Act,
    /// The members of its data for programs, in Markdown.
    #[serde(skip)]
    pub answers: &'static str,
    /// Whether it changes records.
    pub changes: bool,
    /// Whether the audit log says who did it.
    pub is_recorded: bool,
    /// Whether it asks for a confirmation.
    pub confirms: bool,
    /// When it asks, such as `a unit is not registered`; empty means always.
    #[serde(skip)]
    pub confirms_if: &'static str,
    /// Whether it puts messages into the queue of notifications.
    pub queues: bool,
    /// More about it, behind the help; may be empty.
    pub note: &'static str,
}

impl Spec {
    /// An operation that reads.
    pub const fn reads(
        group: &'static str,
        name: &'static str,
        about: &'static str,
        arguments: &'static [Argument],
    ) -> Self {
        Spec {
            group,
            name,
            about,
            arguments,
            act: Act::Operate,
            answers: "",
            changes: false,
            is_recorded: false,
            confirms: false,
            confirms_if: "",
            queues: false,
            note: "",
        }
    }

    /// An operation that changes records.
    pub const fn changes(
        group: &'static str,
        name: &'static str,
        about: &'static str,
        arguments: &'static [Argument],
    ) -> Self {
        Spec { changes: true, is_recorded: true, ..Spec::reads(group, name, about, arguments) }
    }

    /// The same operation, for a role that allows this.
    pub const fn act(self, act: Act) -> Self {
        Spec { act, ..self }
    }

    /// The same operation, whose data has these members.
    pub const fn answers(self, answers: &'static str) -> Self {
        Spec { answers, ..self }
    }

    /// The same operation, which the audit log has with some arguments.
    pub const fn recorded(self) -> Self {
        Spec { is_recorded: true, ..self }
    }

    /// The same operation, which asks before it does what cannot be taken back.
    pub const fn confirmed(self) -> Self {
        Spec { confirms: true, ..self }
    }

    /// The same operation, which asks only where a change looks like a mistake.
    pub const fn confirmed_if(self, confirms_if: &'static str) -> Self {
        Spec { confirms_if, ..self.confirmed() }
    }

    /// The same operation, which puts messages into the queue.
    pub const fn queued(self) -> Self {
        Spec { queues: true, ..self }
    }

    /// The same operation, with more about it.
    pub const fn noted(self, note: &'static str) -> Self {
        Spec { note, ..self }
    }

    /// Its name, as the audit log and messages have it, such as `keys create`.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.group, self.name)
    }
}

/// An argument of an operation.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// Its name, such as `accept-unpriced`.
    pub name: &'static str,
    /// What it is, without a full stop.
    pub help: &'static str,
    /// What it may be.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether it is an option, `--name value`, or stands by its position.
    pub is_option: bool,
    /// Whether it must be given.
    pub is_required: bool,
    /// Whether it may be given several times.
    pub is_repeatable: bool,
    /// What it is where it is not given.
    pub default: Option<&'static str>,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Kind {
    /// Any text.
    Text {
        /// Its name in the help.
        what: &'static str,
    },
    /// Given or not.
    Flag,
    /// One of these.
    Choice {
        /// The values.
        choices: &'static [&'static str],
    },
    /// A month in UTC, such as `2026-11`.
    Month,
    /// A day in UTC, such as `2026-11-21`.
    Day,
    /// A day, or a date-time with its offset: an RFC 3339 date-time in UTC.
    Time,
    /// A whole number.
    Number {
        /// From this one on.
        least: u64,
        /// Up to this one.
        most: u64,
    },
    /// A duration such as `90s`, `30m`, `24h` or `7d`, or 0; in seconds.
    Duration {
        /// From so many seconds on.
        least: u64,
        /// Up to so many seconds.
        most: u64,
    },
    /// A file to read; `-` is standard input.
    Input,
    /// A file to make; it must not exist.
    Output,
}

impl Argument {
    /// An argument by its position.
    pub const fn positional(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Argument {
            name,
            help,
            kind,
            is_option: false,
            is_required: true,
            is_repeatable: false,
            default: None,
        }
    }

    /// An option, which may be left out.
    pub const fn option(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Argument { is_option: true, is_required: false, ..Argument::positional(name, kind, help) }
    }

    /// The same argument, which must be given.
    pub const fn required(self) -> Self {
        Argument { is_required: true, ..self }
    }

    /// The same argument, which may be left out.
    pub const fn optional(self) -> Self {
        Argument { is_required: false, ..self }
    }

    /// The same argument, which may be given several times.
    pub const fn repeatable(self) -> Self {
        Argument { is_repeatable: true, ..self }
    }

    /// The same argument, with a value where none is given.
    pub const fn or(self, default: &'static str) -> Self {
        Argument { default: Some(default), ..self }
    }

    /// Its name as a person writes it, such as `--unit` or `<id>`.
    pub fn written(&self) -> String {
        match self.is_option {
            true => format!("--{}", self.name),
            false => format!("<{}>", self.name),
        }
    }
}

/// A text that the help shows as `<what>`.
pub const fn text(what: &'static str) -> Kind {
    Kind::Text { what }
}

/// The option `--unit`.
pub const fn unit(help: &'static str) -> Argument {
    Argument::option("unit", text("id"), help)
}

/// The option `--mode`, for one of both modes.
pub const fn mode(help: &'static str) -> Argument {
    Argument::option("mode", Kind::Choice { choices: &["test", "live"] }, help)
}

/// The option `--mode`, for one of both modes or both.
pub const fn modes(default: &'static str, help: &'static str) -> Argument {
    let kind = Kind::Choice { choices: &["test", "live", "both"] };
    Argument::option("mode", kind, help).or(default)
}

/// The option `--month`.
pub const fn month(help: &'static str) -> Argument {
    Argument::option("month", Kind::Month, help)
}
