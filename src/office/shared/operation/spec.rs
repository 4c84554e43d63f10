//! A row of the table of operations: the operation's name, its arguments and their kinds.

pub use super::argument::{Argument, Field, Kind, mode, modes, month, text, unit};
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
    /// Whether the dashboard's form leaves out the fields that the person did not change.
    #[serde(skip)]
    pub is_edit: bool,
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
            is_edit: false,
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

    /// Says that the dashboard's form is [filled in](Self::filled_in), and leaves out the fields that the person did not change.
    pub const fn edited(self) -> Self {
        Spec { is_edit: true, ..self.filled_in() }
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
