//! The messaging services of a profile.

use crate::pledges::types::NotificationService;

/// Returns the names of services.
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

/// Returns the services with these names, each once, in the order of the contract.
///
/// # Errors
/// If a name is not that of a messaging service.
pub(super) fn parse_services(names: &[String]) -> Result<Vec<NotificationService>, &'static str> {
    let problem = "`messaging-services` may contain only MessagingServiceA, MessagingServiceB and MessagingServiceC";
    let services = names.iter().map(|name| messaging_service(name).ok_or(problem));
    let mut services = services.collect::<Result<Vec<_>, _>>()?;
    services.sort_unstable();
    services.dedup();
    Ok(services)
}
