//! The Worker's variables.

use super::access::Identity;
use crate::operator::roles::{Role, Roles};
use crate::validate::format::is_email;

/// The texts of the Worker's variables and secrets; empty where they are not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'v> {
    /// `OPERATORS`: addresses, with commas, semicolons or blanks between them; one may be `Ada <ada@shop.example>`.
    pub operators: &'v str,
    /// `SUPPORT`: the same.
    pub support: &'v str,
    /// `ACCOUNTS`: the same.
    pub accounts: &'v str,
    /// `ENVIRONMENT`, such as `production`.
    pub environment: &'v str,
    /// `SERVICE_ORIGIN`: the origin of the service's API.
    pub service_origin: &'v str,
    /// The platform's ID of the deployed version.
    pub deployment: &'v str,
}

/// Who may do what, and where this is.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// In lower case.
    members: Vec<(Role, String)>,
    /// Why a list names nobody.
    pub problems: Vec<String>,
    /// The environment's name; empty if it has none.
    pub environment: String,
    /// The origin of the service's API; empty if it is not known.
    pub service_origin: String,
    /// The release and the deployed version.
    pub version: String,
}

impl Settings {
    /// Reads the variables. An empty list names nobody.
    pub fn parse(variables: Variables<'_>) -> Self {
        let lists = [
            (Role::Operator, "OPERATORS", variables.operators),
            (Role::Support, "SUPPORT", variables.support),
            (Role::Accounts, "ACCOUNTS", variables.accounts),
        ];
        let (mut members, mut problems) = (Vec::new(), Vec::new());
        for (role, name, list) in lists {
            match addresses(list) {
                Ok(own) => members.extend(own.into_iter().map(|address| (role, address))),
                Err(number) => problems.push(unreadable(name, number)),
            }
        }
        let release = env!("CARGO_PKG_VERSION");
        let version = match variables.deployment {
            "" => release.to_owned(),
            deployment => [release, "+", deployment].concat(),
        };
        Settings {
            members,
            problems,
            environment: variables.environment.trim().to_owned(),
            service_origin: variables.service_origin.trim().trim_end_matches('/').to_owned(),
            version,
        }
    }

    /// The roles of a person.
    pub(super) fn roles_of(&self, identity: Identity<'_>) -> Roles {
        let Identity::Address(address) = identity else { return Roles::default() };
        let address = address.trim_ascii();
        let own = self.members.iter().filter(|(_, member)| member.eq_ignore_ascii_case(address));
        Roles(own.map(|(role, _)| *role).collect())
    }

    /// The addresses of those who have a role, in lower case.
    pub(super) fn members(&self, role: Role) -> impl Iterator<Item = &str> {
        let own = self.members.iter().filter(move |(other, _)| *other == role);
        own.map(|(_, address)| &**address)
    }

    /// Whether shops use this environment.
    pub(super) fn is_production(&self) -> bool {
        self.environment == "production"
    }
}

/// The addresses of a list, in lower case: ASCII's, as another letter's is not the same address. Refuses a list of which a
/// part is none, by the number of that entry.
fn addresses(list: &str) -> Result<Vec<String>, usize> {
    let mut found = Vec::new();
    let entries = list.split([',', ';', '\n', '\r']).map(str::trim_ascii);
    for (number, entry) in (1..).zip(entries.filter(|entry| !entry.is_empty())) {
        let own: Vec<_> = match named(entry) {
            Some(address) => vec![address],
            None => entry.split_ascii_whitespace().collect(),
        };
        if !own.iter().all(|address| is_address(address)) {
            return Err(number);
        }
        found.extend(own.into_iter().map(str::to_ascii_lowercase));
    }
    Ok(found)
}

/// The address of `Ada <ada@shop.example>`.
fn named(entry: &str) -> Option<&str> {
    let (name, address) = entry.strip_suffix('>')?.split_once('<')?;
    (!name.contains('@')).then_some(address)
}

/// Whether this is an e-mail address, which may have letters of any script.
fn is_address(text: &str) -> bool {
    let ascii: String = text.chars().map(|it| if it.is_ascii() { it } else { 'x' }).collect();
    is_email(ascii.as_bytes())
}

fn unreadable(name: &str, number: usize) -> String {
    format!(
        "the Worker's secret `{name}` names nobody, as its entry {number} is no e-mail address: write e-mail \
         addresses with commas between them"
    )
}
