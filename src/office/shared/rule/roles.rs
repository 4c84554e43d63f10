//! The roles of people who operate the service, the people of shops, and what each of them may do.

use crate::office::people::rows::people::Membership;
use crate::office::people::rows::people::PersonRole;
use crate::pledges::auth::KeyLevel;
use strum::{EnumIter, IntoStaticStr};

/// A person's role. The dashboard's secrets `OPERATORS`, `SUPPORT` and `ACCOUNTS` list the people of each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// May do everything.
    Operator,
    /// May find transactions, see them with masked personal data, and see and resend their e-mails.
    Support,
    /// May see usage, credit transactions and mark payments.
    Accounts,
}

/// A permission that a page or an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Permission {
    /// See transactions without their recipients, and other data that is not personal, such as lists of IDs
    /// and charges. Every role allows this.
    Look,
    /// Find transactions, show them masked, and show and resend their e-mails.
    Support,
    /// See payments, credit transactions and mark months as paid.
    Account,
    /// Everything else: keys, teams, prices, profiles, unmasked data, erasures, the audit log.
    Operate,
}

impl Role {
    pub fn may(self, permission: Permission) -> bool {
        match (self, permission) {
            (Role::Operator, _) | (_, Permission::Look) => true,
            (Role::Support, permission) => permission == Permission::Support,
            (Role::Accounts, permission) => permission == Permission::Account,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(pub Vec<Role>);

impl Roles {
    pub fn may(&self, permission: Permission) -> bool {
        self.0.iter().any(|role| role.may(permission))
    }

    /// Returns the names of the roles, such as `operator, accounts`.
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|role| (*role).into()).collect();
        names.join(", ")
    }
}

/// The people with each role, as the dashboard's secrets list them. Addresses are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staff(pub Vec<(Role, String)>);

impl Staff {
    /// Returns the roles of the person with this address.
    pub fn roles_of(&self, address: &str) -> Roles {
        let address = address.trim_ascii();
        let own = self.0.iter().filter(|(_, member)| member.eq_ignore_ascii_case(address));
        Roles(own.map(|(role, _)| *role).collect())
    }

    /// Returns the addresses of a role's members, in lower case.
    pub fn members(&self, role: Role) -> impl Iterator<Item = &str> {
        let own = self.0.iter().filter(move |(other, _)| *other == role);
        own.map(|(_, address)| &**address)
    }
}

/// Which people of a shop may open a page, or send a form, about their own unit or team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum MemberRight {
    /// Nobody from the shop: only operators may.
    None,
    /// Viewers and managers.
    View,
    /// Managers only.
    Manage,
}

impl MemberRight {
    pub fn has(self, role: PersonRole) -> bool {
        match self {
            MemberRight::None => false,
            MemberRight::View => true,
            MemberRight::Manage => role == PersonRole::Manager,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memberships(pub Vec<Membership>);

impl Memberships {
    /// Returns whether the person has a right in this unit or team. A right in a team also applies to the
    /// team's units.
    pub fn may(&self, right: MemberRight, place: &KeyLevel) -> bool {
        let has = |own: &Membership| match place {
            KeyLevel::Unit(unit) => own.units.contains(unit),
            KeyLevel::Team(_) => own.place == *place,
        };
        self.0.iter().any(|own| right.has(own.role) && has(own))
    }

    pub fn places(&self) -> Vec<KeyLevel> {
        let teams = self.0.iter().map(|own| own.place.clone());
        let teams = teams.filter(|place| matches!(place, KeyLevel::Team(_)));
        let units = self.units(MemberRight::View).into_iter().map(KeyLevel::Unit);
        teams.chain(units).collect()
    }

    /// Returns the units in which the person has this right, sorted.
    pub fn units(&self, right: MemberRight) -> Vec<String> {
        let own = self.0.iter().filter(|own| right.has(own.role));
        let mut units: Vec<_> = own.flat_map(|own| own.units.iter().cloned()).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    pub fn has(&self, right: MemberRight) -> bool {
        self.0.iter().any(|own| right.has(own.role))
    }
}
