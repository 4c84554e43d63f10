//! The format of stored records. A release can also read the records of later releases, so that a
//! deployment can be rolled back.

use serde::{Serialize, Serializer};

/// The version of the records that this release writes.
pub const VERSION: u32 = 1;

/// The member `version` of a stored record: the version of the record's format.
///
/// The service writes the version and does not read it. A release that adds a member to a record increments
/// the version. No release removes a member or changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}
