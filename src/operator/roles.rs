//! The operator's roles, and what each allows.

use strum::{EnumIter, IntoStaticStr};

/// What a person does. The dashboard's secrets `OPERATORS`, `SUPPORT` and `ACCOUNTS` list who has which role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// Does everything.
    Operator,
    /// Finds transactions, sees them masked, sends e-mails again.
    Support,
    /// Sees usage, and marks payments.
    Accounts,
}

/// What a page or an operation requires a role to allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Act {
    /// Read what has no personal data, such as lists of IDs and charges. Every role allows this.
    Look,
    /// Find and show transactions, masked, and look after their e-mails.
    Support,
    /// See usage, and mark payments.
    Account,
    /// All else: keys, teams, prices, profiles, unmasked data, erasures, the audit log.
    Operate,
}

impl Role {
    /// Whether this role allows an act.
    pub fn may(self, act: Act) -> bool {
        match (self, act) {
            (Role::Operator, _) | (_, Act::Look) => true,
            (Role::Support, act) => act == Act::Support,
            (Role::Accounts, act) => act == Act::Account,
        }
    }
}

/// The roles of one person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(pub Vec<Role>);

impl Roles {
    /// Whether one of the roles allows an act.
    pub fn may(&self, act: Act) -> bool {
        self.0.iter().any(|role| role.may(act))
    }

    /// `operator, accounts`
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|role| (*role).into()).collect();
        names.join(", ")
    }
}
