//! A row of the table of operations: the operation's name, its arguments and their kinds.

use crate::office::shared::rule::roles::Permission;
use serde::Serialize;

/// An operation as the command line and its reference describe it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The operation's group, such as `keys`.
    pub group: &'static str,
    /// The operation's name in the group, such as `create`.
    pub name: &'static str,
    /// What the operation does: an imperative sentence without a full stop.
    pub about: &'static str,
    /// The operation's arguments: the positional arguments first, in their order.
    pub arguments: &'static [Argument],
    #[serde(skip)]
    pub permission: Permission,
    /// A description of the members of the answer's JSON, in Markdown, without a full stop.
    pub answers: &'static str,
    pub changes: bool,
    /// Whether an operation without [`changes`](Self::changes) writes all the same: it corrects records that differ from
    /// their source.
    pub corrects: bool,
    /// Whether the answer contains personal data of recipients unmasked, or the address of a timeline.
    pub reveals: bool,
    /// Whether the audit log records the operation, at least with some arguments.
    pub is_recorded: bool,
    pub confirms: bool,
    /// The condition under which the operation asks for confirmation, such as `a unit is not registered`. If
    /// this is empty, an operation with [`confirms`](Self::confirms) always asks.
    #[serde(skip)]
    pub confirms_if: &'static str,
    pub queues: bool,
    /// The label of the button of the dashboard's form, such as `Record`; empty if the dashboard has no such form.
    #[serde(skip)]
    pub button: &'static str,
    /// Whether the dashboard's form is filled in with the current values. An empty field then removes the value.
    #[serde(skip)]
    pub is_filled_in: bool,
    /// A text that the help shows at its end; may be empty.
    pub note: &'static str,
}

impl Spec {
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
            permission: Permission::Operate,
            answers: "",
            changes: false,
            corrects: false,
            reveals: false,
            is_recorded: false,
            confirms: false,
            confirms_if: "",
            queues: false,
            button: "",
            is_filled_in: false,
            note: "",
        }
    }

    pub const fn changes(
        group: &'static str,
        name: &'static str,
        about: &'static str,
        arguments: &'static [Argument],
    ) -> Self {
        Spec { changes: true, is_recorded: true, ..Spec::reads(group, name, about, arguments) }
    }

    pub const fn permission(self, permission: Permission) -> Self {
        Spec { permission, ..self }
    }

    pub const fn answers(self, answers: &'static str) -> Self {
        Spec { answers, ..self }
    }

    /// Marks an operation that corrects records that differ from their source.
    pub const fn corrects(self) -> Self {
        Spec { corrects: true, ..self }
    }

    /// Marks an operation whose answer contains personal data unmasked.
    pub const fn reveals(self) -> Self {
        Spec { reveals: true, ..self }
    }

    /// Marks a read-only operation as recorded: the audit log records it, at least with some of its
    /// arguments.
    pub const fn recorded(self) -> Self {
        Spec { is_recorded: true, ..self }
    }

    /// Makes the operation always ask for confirmation.
    pub const fn confirmed(self) -> Self {
        Spec { confirms: true, ..self }
    }

    /// Makes the operation ask for confirmation only if this condition holds. The condition is a sign that
    /// the change may be a mistake.
    pub const fn confirmed_if(self, confirms_if: &'static str) -> Self {
        Spec { confirms_if, ..self.confirmed() }
    }

    /// Marks the operation as one that puts messages into the notification queue.
    pub const fn queued(self) -> Self {
        Spec { queues: true, ..self }
    }

    /// Sets the label of the button of the dashboard's form.
    pub const fn button(self, button: &'static str) -> Self {
        Spec { button, ..self }
    }

    /// Says that the dashboard's form is filled in with the current values, so that an empty field removes a value.
    pub const fn filled_in(self) -> Self {
        Spec { is_filled_in: true, ..self }
    }

    pub const fn noted(self, note: &'static str) -> Self {
        Spec { note, ..self }
    }

    /// Returns whether both are the same operation.
    pub fn is(&self, other: &Spec) -> bool {
        (self.group, self.name) == (other.group, other.name)
    }

    /// Returns the group and the name, such as `keys create`. The audit log uses this name.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.group, self.name)
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// The argument's name, such as `accept-unpriced`.
    pub name: &'static str,
    /// What the argument means, without a full stop.
    pub help: &'static str,
    /// The values that the argument accepts.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether the argument is an option, `--name value`, instead of a positional argument.
    pub is_option: bool,
    pub is_required: bool,
    pub is_repeatable: bool,
    /// The value that the argument has if it is left out.
    pub default: Option<&'static str>,
    /// Whether the argument makes the answer [reveal](Spec::reveals) personal data.
    pub reveals: bool,
    /// The field of the dashboard's form; `None` if the page of the form fixes the argument, or leaves it out.
    #[serde(skip)]
    pub field: Option<Field>,
}

/// A field of the dashboard's form. Its name is that of the argument.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub label: &'static str,
    /// Help below the field; may be empty.
    pub hint: &'static str,
    /// The labels of the values of a choice, in the same order.
    pub choices: &'static [&'static str],
    /// Whether the value is never shown again once it was sent.
    pub is_secret: bool,
    /// The media types of a file that the form uploads; empty for any other field.
    pub uploads: &'static str,
}

impl Field {
    const NONE: Field = Field { label: "", hint: "", choices: &[], is_secret: false, uploads: "" };
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Kind {
    /// Any text.
    Text {
        /// The placeholder that the help shows for the value.
        what: &'static str,
    },
    /// An option without a value.
    Flag,
    /// One of a set of values.
    Choice { choices: &'static [&'static str] },
    /// A month in UTC, such as `2026-11`.
    Month,
    /// A day in UTC, such as `2026-11-21`.
    Day,
    /// A day, or a date-time with a UTC offset. It is converted to an RFC 3339 date-time in UTC.
    Time,
    Number {
        /// The smallest accepted number.
        least: u64,
        /// The largest accepted number.
        most: u64,
    },
    /// A duration such as `90s`, `30m`, `24h` or `7d`, or 0. It is converted to seconds.
    Duration {
        /// The shortest accepted duration other than 0, in seconds.
        least: u64,
        /// The longest accepted duration, in seconds.
        most: u64,
    },
    /// A file to read; `-` is standard input. A form has the content itself.
    Input,
    /// A file to create; it must not exist.
    Output,
}

impl Argument {
    /// Creates a required positional argument.
    pub const fn positional(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Argument {
            name,
            help,
            kind,
            is_option: false,
            is_required: true,
            is_repeatable: false,
            default: None,
            reveals: false,
            field: None,
        }
    }

    /// Creates an option, which may be left out.
    pub const fn option(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Argument { is_option: true, is_required: false, ..Argument::positional(name, kind, help) }
    }

    pub const fn about(self, help: &'static str) -> Self {
        Argument { help, ..self }
    }

    pub const fn required(self) -> Self {
        Argument { is_required: true, ..self }
    }

    pub const fn optional(self) -> Self {
        Argument { is_required: false, ..self }
    }

    pub const fn repeatable(self) -> Self {
        Argument { is_repeatable: true, ..self }
    }

    /// Sets the value that the argument has if it is left out.
    pub const fn or(self, default: &'static str) -> Self {
        Argument { default: Some(default), ..self }
    }

    /// Marks an argument that makes the answer reveal personal data.
    pub const fn reveals(self) -> Self {
        Argument { reveals: true, ..self }
    }

    /// Gives the argument a field in the dashboard's form.
    pub const fn field(self, label: &'static str, hint: &'static str) -> Self {
        Argument { field: Some(Field { label, hint, ..Field::NONE }), ..self }
    }

    /// Gives the argument a field for a secret in the dashboard's form.
    pub const fn secret(self, label: &'static str, hint: &'static str) -> Self {
        Argument { field: Some(Field { label, hint, is_secret: true, ..Field::NONE }), ..self }
    }

    /// Gives the argument a field that uploads a file of these media types. The page stores the file before the operation runs.
    pub const fn upload(
        self,
        label: &'static str,
        hint: &'static str,
        uploads: &'static str,
    ) -> Self {
        Argument { field: Some(Field { label, hint, uploads, ..Field::NONE }), ..self }
    }

    /// Gives the argument a menu in the dashboard's form, with a label for each value.
    pub const fn menu(self, label: &'static str, choices: &'static [&'static str]) -> Self {
        Argument { field: Some(Field { label, choices, ..Field::NONE }), ..self }
    }

    /// Returns the label of a value of a choice.
    pub fn label_of(&self, value: &str) -> Option<&'static str> {
        let (Kind::Choice { choices }, Some(field)) = (self.kind, &self.field) else { return None };
        field.choices.get(choices.iter().position(|own| *own == value)?).copied()
    }

    /// Returns the name as the help shows it, such as `--unit` or `<id>`.
    pub fn written(&self) -> String {
        match self.is_option {
            true => format!("--{}", self.name),
            false => format!("<{}>", self.name),
        }
    }
}

/// Returns the kind of an argument that accepts any text. The help shows it as `<what>`.
pub const fn text(what: &'static str) -> Kind {
    Kind::Text { what }
}

pub const fn unit(help: &'static str) -> Argument {
    Argument::option("unit", text("id"), help)
}

/// Creates the option `--mode`, which accepts one mode.
pub const fn mode(help: &'static str) -> Argument {
    Argument::option("mode", Kind::Choice { choices: &["test", "live"] }, help)
}

/// Creates the option `--mode`, which accepts one mode or `both`.
pub const fn modes(default: &'static str, help: &'static str) -> Argument {
    let kind = Kind::Choice { choices: &["test", "live", "both"] };
    Argument::option("mode", kind, help).or(default)
}

pub const fn month(help: &'static str) -> Argument {
    Argument::option("month", Kind::Month, help)
}
