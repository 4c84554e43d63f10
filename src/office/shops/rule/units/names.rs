//! The names of the commands that change a unit, and of its profile in messages.

pub(super) const SET: &str = "units set";
pub(super) const UNSET: &str = "units unset";
pub(super) const REMOVE: &str = "units remove";

pub(super) fn words(unit: &str) -> String {
    format!("the profile of the unit `{unit}`")
}
