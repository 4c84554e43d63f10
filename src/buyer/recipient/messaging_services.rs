//! The messaging services of a profile.

use crate::pledges::types::NotificationService;

pub(super) fn names(services: &[NotificationService]) -> Vec<String> {
    services.iter().map(|service| service.name().to_owned()).collect()
}

/// Returns the names that this release knows.
pub(super) fn known_services(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| messaging_service(name).is_some());
    names
}

fn messaging_service(name: &str) -> Option<NotificationService> {
    NotificationService::from_name(name).filter(|service| !service.is_email())
}

/// Returns the services with these names, each once, in the order of the contract; `None` if a name is not that of a
/// messaging service.
pub(super) fn parse_services(names: &[String]) -> Option<Vec<NotificationService>> {
    let services = names.iter().map(|name| messaging_service(name));
    let mut services = services.collect::<Option<Vec<_>>>()?;
    services.sort_unstable();
    services.dedup();
    Some(services)
}
