//! Prevents two people from changing one profile at the same moment.

use crate::office::shared::rule::shared_record::SharedRecord;
use crate::pledges::store::{ChangeNote, ProfileKey};

pub(super) const SET: &str = "units set";
pub(super) const UNSET: &str = "units unset";
pub(crate) const REMOVE: &str = "units remove";

pub(super) fn is_of(unit: &str) -> impl Fn(&ChangeNote) -> bool {
    move |note| note.on == unit && [SET, UNSET, REMOVE].contains(&&*note.command)
}

/// Describes a unit's profile as a record that several people may change. `is_changed_by` returns whether a
/// change in the audit log concerns the profile.
pub(super) fn shared_record<'c>(
    unit: &'c str,
    is_changed_by: &'c dyn Fn(&ChangeNote) -> bool,
) -> SharedRecord<'c, ProfileKey<'c>> {
    let words = format!("the profile of the unit `{unit}`");
    SharedRecord { key: ProfileKey(unit), words, is_changed_by, removed_by: &[REMOVE] }
}
