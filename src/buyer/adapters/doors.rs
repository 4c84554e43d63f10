//! All doors of a Worker. A door is the service binding or URL of an adapter for a messaging service.

use super::door::{Door, DoorName, DoorProblem};
use crate::pledges::service::Adapters;
use crate::pledges::types::NotificationService;

/// Gives access to the bindings, variables and secrets of a Worker.
pub trait DoorVariables {
    /// Returns whether a service is bound under this name.
    fn has_binding(&self, name: &str) -> bool;
    /// Returns the text of a variable or a secret; empty if it is not set.
    fn text(&self, name: &str) -> String;
}

/// The doors (service bindings or URLs of adapters) that a Worker's settings define, including doors that
/// do not work.
#[derive(Clone, Debug, Default)]
pub struct Doors(Vec<(DoorName, Result<Door, DoorProblem>)>);

impl Doors {
    /// Reads the doors (service bindings or URLs of adapters) of all messaging services.
    pub fn read(variables: &impl DoorVariables) -> Self {
        let names = NotificationService::MESSAGING
            .into_iter()
            .flat_map(|service| [true, false].map(|is_live| DoorName { service, is_live }));
        let door = |name| Some((name, Self::read_one(variables, name).transpose()?));
        Doors(names.filter_map(door).collect())
    }

    /// Reads the door with this name: the service binding or URL of an adapter. Returns `None` if neither
    /// is set.
    ///
    /// # Errors
    /// If the door is set, but does not work.
    pub fn read_one(
        variables: &impl DoorVariables,
        name: DoorName,
    ) -> Result<Option<Door>, DoorProblem> {
        let text = |end: &str| variables.text(&format!("{name}{end}"));
        Door::parse(variables.has_binding(&name.to_string()), &text("_URL"), &text("_SECRET"))
    }

    /// Returns what the service needs to know of the adapters; `None` if the Worker has none.
    pub fn adapters(&self) -> Option<Adapters> {
        let adapters = || Adapters { of_tests: self.of_tests(), problems: self.problems() };
        (!self.0.is_empty()).then(adapters)
    }

    /// Returns the messaging services that have a working adapter for test keys.
    fn of_tests(&self) -> Vec<NotificationService> {
        let works = self.0.iter().filter(|(name, door)| !name.is_live && door.is_ok());
        works.map(|(name, _)| name.service).collect()
    }

    /// Returns what is wrong with the adapters' bindings, URLs and secrets.
    fn problems(&self) -> Vec<String> {
        let problem = |(name, door): &(DoorName, Result<Door, DoorProblem>)| {
            door.as_ref().err().map(|problem| problem.text(*name))
        };
        self.0.iter().filter_map(problem).collect()
    }
}
