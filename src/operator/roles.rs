//! The roles of people who operate the service, and what each role allows.

use strum::{EnumIter, IntoStaticStr};

/// A person's role. The dashboard's secrets `OPERATORS`, `SUPPORT` and `ACCOUNTS` list the people of each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// May do everything.
    Operator,
    /// May find transactions, see them masked, and resend e-mails.
    Support,
    /// May see usage and mark payments.
    Accounts,
}

/// A permission that a page or an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Act {
    /// Read data without personal data, such as lists of IDs and charges. Every role allows it.
    Look,
    /// Find transactions, show them masked, and show and resend their e-mails.
    Support,
    /// See usage and mark payments.
    Account,
    /// Everything else: keys, teams, prices, profiles, unmasked data, erasures, the audit log.
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

    /// Returns the names of the roles, such as `operator, accounts`.
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|role| (*role).into()).collect();
        names.join(", ")
    }
}
