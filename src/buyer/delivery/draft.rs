//! Makes the notification about a transaction from the transaction's record, right before it is sent.

use super::news::News;
use super::outgoing_message::{AdapterState, message_body};
use super::{Delivery, Mailer, Messenger, Notifier, Reason, Timer};
use crate::buyer::adapters::AdapterName;
use crate::buyer::recipient::{Language, Mail, Profile, mail, message_texts};
use crate::pledges::http::at_origin;
use crate::pledges::store::ListingStore;
use crate::pledges::types::{ERASED_EMAIL, NotificationService, RetrievedPledgeTransaction};

pub(super) struct Draft {
    pub content: DraftContent,
    pub language: Language,
    /// The address whose daily limit applies. Normally this is the recipient's address. For e-mails about
    /// transactions of test keys, this is the operator's address.
    pub to: String,
    /// Whether a live key created the transaction.
    pub is_live: bool,
}

pub(super) enum DraftContent {
    Mail {
        mail: Mail,
        reply_to: Option<String>,
        /// The URL that ends e-mails with news, if it is one.
        unsubscribe: Option<String>,
    },
    /// A message for an adapter, as the body of a request.
    Message { address: AdapterName, body: Vec<u8> },
}

impl Draft {
    pub fn bytes(&self) -> usize {
        match &self.content {
            DraftContent::Mail { mail, .. } => mail.text.len() + mail.html.len(),
            DraftContent::Message { body, .. } => body.len(),
        }
    }
}

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Makes the notification about a transaction of a unit.
    ///
    /// # Errors
    /// If the notification must not be sent. The error is the reason.
    pub(super) fn draft(
        &self,
        delivery: &Delivery<'_>,
        unit: &str,
        mut record: RetrievedPledgeTransaction<'_>,
        profile: Option<&Profile>,
        news: Option<&News>,
    ) -> Result<Draft, Reason> {
        let (service, is_live) = (delivery.service(), record.is_live);
        let recipient = record.pledges.first().map(|pledge| &*pledge.recipient.email);
        let email = recipient.filter(|email| *email != ERASED_EMAIL).ok_or(Reason::Erased)?;
        let origin = self.settings.origin.as_deref().ok_or(Reason::NoOrigin)?;
        let is_on = |profile: &&Profile| profile.notifies(service);
        let profile = profile.filter(is_on).ok_or(switched_off(service))?;
        let to = self.address(service, is_live, email)?.to_owned();
        // The client of the create request may have determined the origin of the timeline URL in the record.
        record.timeline_url = record.timeline_url.map(|url| at_origin(&url, origin).into());
        let (content, language) = if service.is_email() {
            let written = match news {
                Some(news) => news
                    .mail(delivery.id, &record, profile, origin, self.clock)
                    .map(|(mail, unsubscribe)| (mail, Some(unsubscribe))),
                None => mail(&record, Some(profile), self.clock).map(|mail| (mail, None)),
            };
            let (mail, unsubscribe) = written.ok_or(Reason::NoPage)?;
            let (language, reply_to) = (mail.language, profile.reply_to.clone());
            (DraftContent::Mail { mail, reply_to, unsubscribe }, language)
        } else {
            let texts = message_texts(&record, Some(profile), self.clock).ok_or(Reason::NoPage)?;
            let body = message_body(service, (delivery.id, unit), &record, profile, &texts);
            let address = AdapterName { service, is_live };
            (DraftContent::Message { address, body: body.ok_or(Reason::NoPage)? }, texts.language)
        };
        Ok(Draft { content, language, to, is_live })
    }

    /// Returns the address that a notification goes to. Normally this is the recipient's address, `email`.
    /// E-mails about transactions of test keys go to the operator's address.
    fn address<'a>(
        &'a self,
        service: NotificationService,
        is_live: bool,
        email: &'a str,
    ) -> Result<&'a str, Reason> {
        match (service.is_email(), is_live) {
            (true, true) => Ok(email),
            (true, false) => self.settings.test_to.as_deref().ok_or(Reason::TestMode),
            (false, _) => match (self.messenger.adapter(AdapterName { service, is_live }), is_live)
            {
                (AdapterState::Attached, _) => Ok(email),
                (AdapterState::Invalid, _) => Err(Reason::InvalidAdapter),
                (AdapterState::Absent, true) => Err(Reason::NotAttached),
                (AdapterState::Absent, false) => Err(Reason::TestMode),
            },
        }
    }
}

/// Returns the reason why a notification is not sent if its service is not switched on in the unit's profile.
fn switched_off(service: NotificationService) -> Reason {
    if service.is_email() { Reason::MailOff } else { Reason::ServiceOff }
}
