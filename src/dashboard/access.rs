//! Who asks, as Cloudflare Access says, and what they hear who may not do something.

use super::{Refusal, Result, view};
use crate::operator::roles::{Act, Roles};

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
