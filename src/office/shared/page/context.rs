use super::access::Access;
use super::outcome::FormOutcome;
use super::settings::Settings;
use super::view;
use crate::office::audit::rule::Author;
use crate::office::mails::rule::QueuedRounds;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy, Outbox};
use maud::Markup;
use std::cell::OnceCell;

/// The context of one request: the store, the clock and other ports, and what the signed-in person may do.
pub(crate) struct PageContext<'d, S, C, E> {
    pub store: &'d S,
    pub author: Author<'d, C, E>,
    pub clock: &'d C,
    pub entropy: &'d E,
    pub settings: &'d Settings,
    pub outbox: Option<&'d dyn Outbox>,
    pub ledger: &'d dyn Ledger,
    pub rounds: &'d QueuedRounds,
    pub access: &'d Access,
    /// The path of the request.
    pub path: &'d str,
    /// What the form of this request did; not set for a page, and until a form has run its operation.
    pub outcome: OnceCell<FormOutcome>,
}

impl<S, C, E> PageContext<'_, S, C, E> {
    /// Returns whether one of the person's roles (operator, support or accounts) gives this permission. Pages leave out
    /// links and forms that the person may not use.
    pub fn may(&self, permission: Permission) -> bool {
        self.access.roles.may(permission)
    }

    /// Returns whether the person is a manager of this unit or team, or an operator, who has the same rights.
    pub fn manages(&self, place: &KeyLevel) -> bool {
        self.may(Permission::Operate) || self.access.memberships.may(MemberRight::Manage, place)
    }

    /// Renders the author of a record. People of shops see "the operator" instead of the name of an operator.
    pub fn author_of(&self, by: &str, by_shop: bool) -> Markup
    where
        C: Clock,
        E: Entropy,
    {
        view::untrusted_text(self.author.name_of(by, by_shop))
    }

    /// Returns whether the person belongs to a shop, not to the service's staff. People of shops see only
    /// the transactions of their own units.
    pub fn is_of_shop(&self) -> bool {
        !self.access.is_staff()
    }
}
