//! Who asks, and what they may do.

use super::{Refusal, Result, view};
use strum::{EnumIter, IntoStaticStr};

/// What Cloudflare Access says of who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity<'i> {
    /// This Worker is not behind Access.
    None,
    /// Access let somebody in without an e-mail address, such as a service token.
    WithoutAddress,
    /// Access did not answer in time.
    Unknown,
    /// The person's e-mail address.
    Address(&'i str),
}

impl<'i> Identity<'i> {
    /// The person's e-mail address.
    pub(super) fn address(self) -> Result<&'i str> {
        let (status, problem) = match self {
            Identity::Address(address) => return Ok(address),
            Identity::None => (
                403,
                "This Worker has no sign-in. In the Cloudflare dashboard open Workers & Pages, this \
                 Worker, Settings, Domains & Routes, and enable Cloudflare Access for each of its \
                 addresses, with a policy that allows people by their e-mail address.",
            ),
            Identity::WithoutAddress => (
                403,
                "Cloudflare Access let you in without an e-mail address, as it does with service \
                 tokens and with policies of the action Bypass. Give the Access application a \
                 policy of the action Allow that includes people by their e-mail address.",
            ),
            Identity::Unknown => (
                503,
                "Cloudflare Access did not say in time who you are. Nothing was done: load the page \
                 again.",
            ),
        };
        Err(Refusal::Request(status, problem.to_owned()))
    }
}

/// What a person does here. The Worker's secrets `OPERATORS`, `SUPPORT` and `ACCOUNTS` list who is what.
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

/// The kinds of what is done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Act {
    /// Looks at pages that show no personal data, such as lists of IDs and charges: everybody with a role may.
    Look,
    /// Finds and shows transactions, masked, and looks after their e-mails.
    Support,
    /// Sees usage, and marks payments.
    Account,
    /// All else: keys, teams, prices, profiles, whole addresses, erasures, the record of changes.
    Operate,
}

impl Role {
    fn may(self, act: Act) -> bool {
        match (self, act) {
            (Role::Operator, _) | (_, Act::Look) => true,
            (Role::Support, act) => act == Act::Support,
            (Role::Accounts, act) => act == Act::Account,
        }
    }
}

/// The roles of one person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(pub Vec<Role>);

impl Roles {
    /// Whether one of the roles allows this.
    pub fn may(&self, act: Act) -> bool {
        self.0.iter().any(|role| role.may(act))
    }

    /// `operator, accounts`
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|role| (*role).into()).collect();
        names.join(", ")
    }
}

/// Says what to do for somebody who may not do this. `problems` are those of the lists.
pub(super) fn refusal(address: &str, roles: &Roles, act: Act, problems: &[String]) -> Refusal {
    let wanted = match act {
        Act::Look => "OPERATORS`, `SUPPORT` or `ACCOUNTS",
        Act::Support => "SUPPORT` or `OPERATORS",
        Act::Account => "ACCOUNTS` or `OPERATORS",
        Act::Operate => "OPERATORS",
    };
    let now = match roles.0.as_slice() {
        [] => "has no role here".to_owned(),
        _ => format!("has the role {} here", roles.in_words()),
    };
    let problems: String =
        problems.iter().map(|text| [" ", &view::sentence(text)].concat()).collect();
    Refusal::Request(
        403,
        format!(
            "{address} {now}. Who deploys the dashboard can add the address to this Worker's secret \
             `{wanted}`.{problems}"
        ),
    )
}
