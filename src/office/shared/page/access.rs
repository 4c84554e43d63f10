//! Decides who may open the dashboard and what each person may do. Writes the error messages for people
//! without access.

use super::identity::Identity;
use super::refusal::{Refusal, Result};
use super::settings::Settings;
use super::view;
use crate::office::people::rows::people::PersonRole;
use crate::office::people::rule as people;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::{MemberRight, Memberships, Permission, Roles};

impl<'i> Identity<'i> {
    /// Returns the person's e-mail address.
    ///
    /// # Errors
    /// 403 if Access is not set up or knows no address, 503 if Access did not answer.
    pub(crate) fn address(self) -> Result<&'i str> {
        let (status, problem) = match self {
            Identity::Address(address) => return Ok(address),
            Identity::None => (
                403,
                "This Worker has no sign-in. Deploy the dashboard with `--operator` and your e-mail address. Or \
                 protect the Worker by hand: in the Cloudflare dashboard, open Workers & Pages, this Worker, Access. \
                 Select all traffic, and a policy that allows people by their e-mail address.",
            ),
            Identity::WithoutAddress => (
                403,
                "Cloudflare Access let you in without an e-mail address. Access does so for service \
                 tokens, and for policies with the action Bypass. Give the Access application a policy \
                 with the action Allow that includes people by their e-mail address.",
            ),
            Identity::Unknown => (
                503,
                "Cloudflare Access did not identify you in time. Nothing was changed. Reload the \
                 page.",
            ),
        };
        Err(Refusal::Request(status, problem.to_owned()))
    }
}

/// What the person who signed in may do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// The person's operator roles; none for people of shops.
    pub roles: Roles,
    /// The units and teams of a person of a shop; empty for a person with an operator role.
    pub memberships: Memberships,
}

impl Access {
    /// Finds out what a person may do. Ledger cost: 1 query for a person without an operator role.
    pub async fn of(address: &str, settings: &Settings, ledger: &dyn Ledger) -> Result<Self> {
        let roles = settings.roles_of(Identity::Address(address));
        if !roles.0.is_empty() {
            return Ok(Access { roles, memberships: Memberships::default() });
        }
        let memberships = match people::of_person(ledger, address).await {
            Err(OperatorError::Ledger(LedgerError::Unbound)) => Vec::new(),
            memberships => memberships?,
        };
        Ok(Access { roles, memberships: Memberships(memberships) })
    }

    /// Whether the person has an operator role.
    pub fn is_staff(&self) -> bool {
        !self.roles.0.is_empty()
    }

    /// Returns whether the person may use a route. A person with an operator role needs the permission. A
    /// person of a shop needs the right in at least one unit or team.
    pub fn may_open(&self, permission: Permission, right: MemberRight) -> bool {
        match self.is_staff() {
            true => self.roles.may(permission),
            false => self.memberships.has(right),
        }
    }

    /// Returns the person's roles in words, such as `operator, accounts`, `manager` or `viewer`.
    pub fn in_words(&self) -> String {
        let [manages, views] = [MemberRight::Manage, MemberRight::View];
        match &self.memberships {
            _ if self.is_staff() => self.roles.in_words(),
            own if own.has(manages) => PersonRole::Manager.name().to_owned(),
            own if own.has(views) => PersonRole::Viewer.name().to_owned(),
            _ => String::new(),
        }
    }

    pub fn refusal(
        &self,
        address: &str,
        (permission, right): (Permission, MemberRight),
        settings: &Settings,
    ) -> Refusal {
        let text = match (self.is_staff(), self.memberships.0.is_empty()) {
            (true, _) => lacks(address, &self.roles, permission, &settings.problems),
            (false, true) => {
                let hint = hint(settings);
                return Refusal::Stranger { text: stranger(address, settings), hint };
            }
            (false, false) if right == MemberRight::None => {
                "This page is for the operators of this service. Use the menu.".to_owned()
            }
            (false, false) => "This page is for managers of a shop. Use the menu.".to_owned(),
        };
        Refusal::Request(403, text)
    }
}

/// Tells a person without any role whom to ask.
fn stranger(address: &str, Settings { contact, .. }: &Settings) -> String {
    match &**contact {
        "" => format!(
            "{address} has no role here. If you work for a shop, ask a manager of the shop to add you. If you \
             run this service, see the log of the dashboard."
        ),
        contact => format!(
            "{address} has no role here. Ask a manager of your shop to add you, or ask {contact}."
        ),
    }
}

/// Returns what an operator can do for a person without any role, for the log.
fn hint(settings: &Settings) -> String {
    let start = "To give the person a role, add the address to this Worker's secret `OPERATORS`, `SUPPORT` or \
                 `ACCOUNTS`.";
    let problems = settings.problems.iter().map(|text| view::sentence(text));
    std::iter::once(start.to_owned()).chain(problems).collect::<Vec<_>>().join(" ")
}

/// Returns the text for a person whose roles lack a permission. The text names the secrets that grant the
/// permission. It ends with `problems`, the messages about secrets that could not be read.
fn lacks(address: &str, roles: &Roles, permission: Permission, problems: &[String]) -> String {
    let wanted = match permission {
        Permission::Look => "OPERATORS`, `SUPPORT` or `ACCOUNTS",
        Permission::Support => "SUPPORT` or `OPERATORS",
        Permission::Account => "ACCOUNTS` or `OPERATORS",
        Permission::Operate => "OPERATORS",
    };
    let now = roles.in_words();
    let problems: String =
        problems.iter().map(|text| [" ", &view::sentence(text)].concat()).collect();
    format!(
        "{address} has the role {now} here. To get access, ask the person who deploys the dashboard to add the \
         address to this Worker's secret `{wanted}`.{problems}"
    )
}
