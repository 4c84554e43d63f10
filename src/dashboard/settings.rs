//! The Worker's variables.

use super::access::{Identity, Role, Roles};

/// The texts of the Worker's variables and secrets; empty where they are not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'v> {
    /// `OPERATORS`: addresses, with commas, semicolons or blanks between them.
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
            (Role::Operator, variables.operators),
            (Role::Support, variables.support),
            (Role::Accounts, variables.accounts),
        ];
        let members = lists.into_iter().flat_map(|(role, list)| {
            list.split([',', ';', ' ', '\n', '\r', '\t'])
                .filter(|address| !address.is_empty())
                .map(move |address| (role, address.to_lowercase()))
        });
        let release = env!("CARGO_PKG_VERSION");
        let version = match variables.deployment {
            "" => release.to_owned(),
            deployment => [release, "+", deployment].concat(),
        };
        Settings {
            members: members.collect(),
            environment: variables.environment.trim().to_owned(),
            service_origin: variables.service_origin.trim().trim_end_matches('/').to_owned(),
            version,
        }
    }

    /// The roles of a person.
    pub(super) fn roles_of(&self, identity: Identity<'_>) -> Roles {
        let Identity::Address(address) = identity else { return Roles::default() };
        let address = address.trim().to_lowercase();
        let own = self.members.iter().filter(|(_, member)| *member == address);
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
