//! The record of a person who may sign in to the dashboard for a unit or a team.

use super::key::Key;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use strum::{EnumIter, IntoStaticStr};

/// The key `person:{unit|team}:{id}:{hash}` of a [`PersonNote`], which is stored both as the value and as the
/// metadata. `hash` is the [keyed hash](crate::pledges::secret::NamespaceSecret::person) of the e-mail address.
///
/// The ledger decides who may sign in; this record is a backup of it. The service does not read the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonKey<'k> {
    /// The unit or team of the person: `unit:{id}` or `team:{id}`. The ID may contain colons.
    pub place: &'k str,
    /// The keyed hash of the address: 32 hexadecimal digits.
    pub hash: &'k str,
}

impl Key for PersonKey<'_> {
    type Metadata = PersonNote;
    const KIND: &'static str = "person";
    const PREFIX: &'static str = "person:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([self.place, ":", self.hash].concat())
    }
}

impl<'k> PersonKey<'k> {
    /// Parses the part of a name after [`PREFIX`](Key::PREFIX). Returns `None` for any other text. The unit
    /// or team is not checked.
    pub fn parse_suffix(suffix: &'k str) -> Option<Self> {
        let (place, hash) = suffix.rsplit_once(':')?;
        Some(PersonKey { place, hash })
    }
}

/// What a person may do in a unit or a team.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumIter,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum PersonRole {
    /// May see usage, and transactions with masked personal data.
    Viewer,
    /// May also find transactions, see them unmasked, resend e-mails and erase personal data. May change the
    /// API keys, the profile, and the people who may sign in.
    Manager,
}

impl PersonRole {
    /// Returns the name, such as `manager`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The value and the metadata of a person's record: at most 1,024 bytes of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonNote {
    /// The e-mail address, in lower case: at most 254 bytes.
    pub address: String,
    pub role: PersonRole,
    /// When the person was added, an RFC 3339 date-time.
    pub created: String,
    /// Who added the person.
    pub by: String,
    /// Whether somebody from a shop added the person, rather than an operator.
    #[serde(default, rename = "byShop", skip_serializing_if = "std::ops::Not::not")]
    pub by_shop: bool,
}
