//! The commands that change keys, as the audit log names them.

use crate::office::audit::rule::Change;

pub(super) const CREATE: &str = "keys create";
pub(super) const REVOKE: &str = "keys revoke";
pub(super) const ROTATE: &str = "keys rotate";

pub(super) fn revokes(change: &Change, id: &str) -> bool {
    change.command == REVOKE && change.on == [id]
}

/// Returns the ID of the old key (index 0) or the new key (index 1) of a rotation; `None` for another change.
pub(super) fn of_rotation(change: &Change, index: usize) -> Option<&String> {
    (change.command == ROTATE).then(|| change.on.get(index)).flatten()
}
