//! What lets records grow: a release reads what a later one has written, so that it can be rolled
//! back to.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The format of a record, in its member `version`; records from before 1 have none.
///
/// The service writes it and does not read it: a release that adds a member adds 1, and none takes
/// a member away or changes what it means. The operator's commands find by it what to complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version;

/// The version of what this release writes.
pub const VERSION: u32 = 1;

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

/// No metadata, whatever a later release writes there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMetadata;

impl Serialize for NoMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for NoMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| NoMetadata)
    }
}
