//! Who may open the dashboard: people with an e-mail address and a permission.

use super::{Identity, PageContext, Refusal, Result, view};
use crate::operator::roles::{Permission, Roles};
use crate::service::{Clock, Entropy};

impl<'i> Identity<'i> {
    /// Returns the person's e-mail address.
    ///
    /// # Errors
    /// 403 if Access is not set up or knows no address, 503 if Access did not answer.
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
                "Cloudflare Access let you in without an e-mail address, as it does for service \
                 tokens and for policies with the action Bypass. Give the Access application a \
                 policy with the action Allow that includes people by their e-mail address.",
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

impl<S, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Refuses a page to a person without this permission, if its route alone does not decide that.
    pub fn require(&self, permission: Permission) -> Result<()> {
        match self.may(permission) {
            true => Ok(()),
            false => {
                let (by, problems) = (self.author.by(), &self.settings.problems);
                Err(refusal(by, self.roles, permission, problems))
            }
        }
    }
}

/// Returns the error for a person who lacks this permission. Its text names the secrets that grant the permission, and
/// repeats `problems`, which says which secrets could not be read.
pub(super) fn refusal(
    address: &str,
    roles: &Roles,
    permission: Permission,
    problems: &[String],
) -> Refusal {
    let wanted = match permission {
        Permission::Look => "OPERATORS`, `SUPPORT` or `ACCOUNTS",
        Permission::Support => "SUPPORT` or `OPERATORS",
        Permission::Account => "ACCOUNTS` or `OPERATORS",
        Permission::Operate => "OPERATORS",
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
            "{address} {now}. To get access, ask the person who deploys the dashboard to add the address \
             to this Worker's secret `{wanted}`.{problems}"
        ),
    )
}
