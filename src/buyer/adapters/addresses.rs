//! All addresses of a Worker. An address is the service binding or URL of an adapter for a messaging service.

use super::address::{AdapterAddress, AdapterName, AddressProblem};
use crate::pledges::service::Adapters;
use crate::pledges::types::NotificationService;

/// Gives access to the bindings, variables and secrets of a Worker.
pub trait AddressVariables {
    fn has_binding(&self, name: &str) -> bool;
    /// Returns the text of a variable or a secret; empty if it is not set.
    fn text(&self, name: &str) -> String;
}

/// The addresses (service bindings or URLs of adapters) that a Worker's settings define, including addresses that
/// do not work.
#[derive(Clone, Debug, Default)]
pub struct AdapterAddresses(Vec<(AdapterName, Result<AdapterAddress, AddressProblem>)>);

impl AdapterAddresses {
    /// Reads the addresses (service bindings or URLs of adapters) of all messaging services.
    pub fn read(variables: &impl AddressVariables) -> Self {
        let names = NotificationService::MESSAGING
            .into_iter()
            .flat_map(|service| [true, false].map(|is_live| AdapterName { service, is_live }));
        let address = |name| Some((name, Self::read_one(variables, name).transpose()?));
        AdapterAddresses(names.filter_map(address).collect())
    }

    /// Reads the address with this name: the service binding or URL of an adapter. Returns `None` if neither
    /// is set.
    ///
    /// # Errors
    /// If the address is set, but does not work.
    pub fn read_one(
        variables: &impl AddressVariables,
        name: AdapterName,
    ) -> Result<Option<AdapterAddress>, AddressProblem> {
        let text = |end: &str| variables.text(&format!("{name}{end}"));
        AdapterAddress::parse(
            variables.has_binding(&name.to_string()),
            &text("_URL"),
            &text("_SECRET"),
        )
    }

    /// Returns the adapters' state for the service; `None` if the Worker has no adapters.
    pub fn adapters(&self) -> Option<Adapters> {
        let adapters = || Adapters { of_tests: self.of_tests(), problems: self.problems() };
        (!self.0.is_empty()).then(adapters)
    }

    fn of_tests(&self) -> Vec<NotificationService> {
        let works = self.0.iter().filter(|(name, address)| !name.is_live && address.is_ok());
        works.map(|(name, _)| name.service).collect()
    }

    fn problems(&self) -> Vec<String> {
        let problem = |(name, address): &(AdapterName, Result<AdapterAddress, AddressProblem>)| {
            address.as_ref().err().map(|problem| problem.text(*name))
        };
        self.0.iter().filter_map(problem).collect()
    }
}
