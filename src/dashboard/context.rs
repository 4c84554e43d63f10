//! The context of one request.

use super::Settings;
use crate::ledger::Ledger;
use crate::operator::audit::Author;
use crate::operator::notifications::QueuedRounds;
use crate::operator::roles::{Permission, Roles};
use crate::service::Outbox;

/// The context of one request: the ports, and the roles of the signed-in person.
pub(super) struct PageContext<'d, S, C, E> {
    pub store: &'d S,
    pub author: Author<'d, C, E>,
    pub clock: &'d C,
    pub entropy: &'d E,
    pub settings: &'d Settings,
    pub outbox: Option<&'d dyn Outbox>,
    pub ledger: Option<&'d dyn Ledger>,
    pub rounds: &'d QueuedRounds,
    pub roles: &'d Roles,
}

impl<S, C, E> PageContext<'_, S, C, E> {
    /// Returns whether the person has this permission. Pages leave out links and forms that the person may not use.
    pub fn may(&self, permission: Permission) -> bool {
        self.roles.may(permission)
    }
}
