//! The keys under which Workers KV stores the records of API keys, units and teams, and the profiles and
//! settlements of units.

use super::key::{Key, LEAST_CACHE_SECONDS};
use super::metadata::{NoMetadata, Registered};
use crate::pledges::auth::KeyHash;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::settlement::{Month, ScopeMonth};
use std::borrow::Cow;

/// The key `key:{sha256}` of a [`KeyRecord`](crate::pledges::auth::KeyRecord), the record of an API key. It contains
/// the API key's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialKey(pub KeyHash);

impl Key for CredentialKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "key";
    const PREFIX: &'static str = "key:";
    /// This cache TTL limits how long a revoked key still works.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_hex())
    }
}

impl CredentialKey {
    /// Returns the prefix for a list of the API keys' records. The list contains the keys whose hash begins
    /// with these digits.
    pub fn hash_prefix(hexadecimal: &str) -> String {
        [Self::PREFIX, hexadecimal].concat()
    }

    pub fn parse(name: &str) -> Option<Self> {
        KeyHash::from_hex(name.strip_prefix(Self::PREFIX)?).map(CredentialKey)
    }
}

/// The key `member:{team}:{unit}` of the record which says that a unit belongs to a team. A team's ID
/// contains no colon, so the first colon ends it. A unit's ID may contain colons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberKey<'k> {
    pub team: &'k str,
    /// The unit's ID.
    pub unit: &'k str,
}

impl Key for MemberKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "member";
    const PREFIX: &'static str = "member:";
    const IS_COPY: bool = true;
    /// The same cache TTL as for the record of an API key. After a unit was removed from a team, the TTL
    /// limits how long the team's key still works for the unit.
    const CACHE_SECONDS: Option<u32> = CredentialKey::CACHE_SECONDS;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([self.team, ":", self.unit].concat())
    }
}

impl<'k> MemberKey<'k> {
    pub fn team_prefix(team: &str) -> String {
        [Self::PREFIX, team, ":"].concat()
    }

    pub fn parse(name: &'k str) -> Option<Self> {
        let (team, unit) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        Some(MemberKey { team, unit })
    }
}

/// The key `unit:{id}` of a unit's entry in the operators' register of units. Only operators read it, not the
/// service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitKey<'k>(pub &'k str);

impl Key for UnitKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "unit";
    const PREFIX: &'static str = "unit:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

/// The key `team:{id}` of a team's entry in the operators' register of teams. Only operators read it, not the
/// service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamKey<'k>(pub &'k str);

impl Key for TeamKey<'_> {
    type Metadata = Registered;
    const KIND: &'static str = "team";
    const PREFIX: &'static str = "team:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

/// The key `profile:{unit}` of a unit's [`Profile`](crate::buyer::recipient::Profile).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileKey<'k>(pub &'k str);

impl Key for ProfileKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "profile";
    const PREFIX: &'static str = "profile:";
    const IS_COPY: bool = true;
    /// The deadline for reading a profile, in milliseconds. It is short, because a timeline can be shown
    /// without the profile.
    const READ_MS: u32 = 1_000;
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}

impl<'k> ProfileKey<'k> {
    pub fn parse(name: &'k str) -> Option<Self> {
        name.strip_prefix(Self::PREFIX).map(ProfileKey)
    }
}

/// The key `settlement:{mode}:{unit}:{month}` of a [`Settlement`](crate::pledges::settlement::Settlement). This record
/// marks the transactions of a scope and month as paid. The unit's ID may contain colons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementKey<'k>(pub &'k ScopeMonth);

impl Key for SettlementKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "settlement";
    const PREFIX: &'static str = "settlement:";
    const IS_COPY: bool = true;
    fn suffix(&self) -> Cow<'_, str> {
        let ScopeMonth { scope, month } = self.0;
        Cow::Owned([scope.mode.name(), ":", &scope.unit, ":", &month.to_string()].concat())
    }
}

impl SettlementKey<'_> {
    /// Parses the name of a settlement's record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<ScopeMonth> {
        Self::parse_suffix(name.strip_prefix(Self::PREFIX)?)
    }

    /// Parses the part of a name after [`PREFIX`](Key::PREFIX). Returns `None` for any other text.
    pub fn parse_suffix(suffix: &str) -> Option<ScopeMonth> {
        let (mode, rest) = suffix.split_once(':')?;
        let (unit, month) = rest.rsplit_once(':')?;
        let (mode, month) = (Mode::from_name(mode)?, Month::parse(month)?);
        Some(ScopeMonth { scope: Scope { unit: unit.to_owned(), mode }, month })
    }
}
