//! The roles of people who operate the service, and what each role allows.

use strum::{EnumIter, IntoStaticStr};

/// A person's role. The dashboard's secrets `OPERATORS`, `SUPPORT` and `ACCOUNTS` list the people of each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// May do everything.
    Operator,
    /// May find transactions, see them masked, and see and resend their e-mails.
    Support,
    /// May see usage, credit transactions and mark payments.
    Accounts,
}

/// A permission that a page or an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Permission {
    /// See data that is not personal, such as lists of IDs and charges, and transactions without their recipients. Every
    /// role allows it.
    Look,
    /// Find transactions, show them masked, and show and resend their e-mails.
    Support,
    /// See usage, credit transactions and mark payments.
    Account,
    /// Everything else: keys, teams, prices, profiles, unmasked data, erasures, the audit log.
    Operate,
}

impl Role {
    /// Returns whether this role allows a permission.
    pub fn may(self, permission: Permission) -> bool {
        match (self, permission) {
            (Role::Operator, _) | (_, Permission::Look) => true,
            (Role::Support, permission) => permission == Permission::Support,
            (Role::Accounts, permission) => permission == Permission::Account,
        }
    }
}

/// The roles of one person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(pub Vec<Role>);

impl Roles {
    /// Returns whether one of the roles allows a permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.0.iter().any(|role| role.may(permission))
    }

    /// Returns the names of the roles, such as `operator, accounts`.
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|role| (*role).into()).collect();
        names.join(", ")
    }
}
