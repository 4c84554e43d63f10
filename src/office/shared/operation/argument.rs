//! An argument of an operation: its kind, and its field in the dashboard's form.

use serde::Serialize;

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
    /// The labels of the values of a choice, in the same order. For a text, the names in a list that is separated by commas:
    /// each has a box to tick.
    pub choices: &'static [&'static str],
    /// Whether the value may have several lines.
    pub has_lines: bool,
    /// Whether the value is never shown again once it was sent.
    pub is_secret: bool,
    /// The media types of a file that the form uploads; empty for any other field.
    pub uploads: &'static str,
}

impl Field {
    const NONE: Field = Field {
        label: "",
        hint: "",
        choices: &[],
        has_lines: false,
        is_secret: false,
        uploads: "",
    };
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

    /// Gives the argument a field with several lines in the dashboard's form.
    pub const fn lines(self, label: &'static str, hint: &'static str) -> Self {
        Argument { field: Some(Field { label, hint, has_lines: true, ..Field::NONE }), ..self }
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

    /// Gives the argument, names that are separated by commas, a box for each name in the dashboard's form.
    pub const fn boxes(self, label: &'static str, choices: &'static [&'static str]) -> Self {
        self.menu(label, choices)
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
