//! The format of records. A release can read the records of later releases, so that a deployment can be rolled back.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the records that this release writes.
pub const VERSION: u32 = 1;

/// The format of a record: its member `version`.
///
/// The service writes the version and does not read it. A release that adds a member increments the version. No release
/// removes a member or changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Version)
    }
}
