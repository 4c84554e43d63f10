//! Asks for e-mails with news, and ends them, for the buyer of a transaction.

use super::{Offerings, Timelines};
use crate::buyer::news::Subscription;
use crate::buyer::recipient::Language;
use crate::pledges::api::{NEWS_PARAMETER, Problem, to_json};
use crate::pledges::http::{Address, Request};
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{NewsKey, NewsMetadata, Store, offering_hash};
use crate::pledges::types::{ERASED_EMAIL, RetrievedPledgeTransaction, TransactionId};
use crate::pledges::version::Version;

/// Returns what the form of a timeline asks for: `true` for e-mails with news, `false` to end them. Returns `None` for any other
/// request.
pub(super) fn asked(request: &impl Request, address: &Address<'_>) -> Option<bool> {
    let value = address.parameter(NEWS_PARAMETER).filter(|_| request.method() == "POST")?;
    match &*value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// What a subscription consists of.
pub(super) struct Asking<'a> {
    pub key: NewsKey<'a>,
    pub offerings: &'a Offerings,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: &'a str,
    /// The language of the page.
    pub language: Language,
    /// The IDs of the news that the page shows.
    pub seen: Vec<String>,
}

impl Timelines {
    /// Returns whether the buyer gets e-mails with news; `None` if there are no such e-mails about the transaction: it is of a
    /// test key or erased, or the service sends no e-mails. KV cost: 1 read.
    pub(super) async fn subscribed<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        key: Option<NewsKey<'_>>,
        transaction: &RetrievedPledgeTransaction<'_>,
    ) -> Result<Option<bool>, Problem> {
        let email = transaction.pledges.first().map(|pledge| &*pledge.recipient.email);
        let may_ask = transaction.is_live
            && email.is_some_and(|email| email != ERASED_EMAIL)
            && service.settings.sends_mail
            && service.outbox.is_some();
        let Some(key) = key.filter(|_| may_ask) else { return Ok(None) };
        let subscription: Option<Subscription> = service.load(&key).await?;
        Ok(Some(subscription.is_some_and(|subscription| subscription.on)))
    }

    /// Writes whether the buyer wants e-mails with news, if `asked` says so, and returns it.
    ///
    /// # Errors
    /// If the write is not confirmed.
    pub(super) async fn ask<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        Asking { key, offerings, created_at, language, seen }: Asking<'_>,
        asked: Option<bool>,
    ) -> Result<Option<bool>, Problem> {
        match asked {
            None => return Ok(None),
            Some(false) => self.end_subscription(service, key).await?,
            Some(true) => {
                let language = language.tag().to_owned();
                let subscription = Subscription { on: true, language, seen, version: Version };
                let offerings = offerings.ids.iter().map(|id| offering_hash(id)).collect();
                let metadata = NewsMetadata { created_at: created_at.to_owned(), offerings };
                self.keep(service, &key, &subscription, &metadata).await?;
            }
        }
        Ok(asked)
    }

    /// Keeps that the buyer wants no e-mails with news. The record stays, because the service removes none.
    ///
    /// # Errors
    /// If the write is not confirmed.
    pub(super) async fn end_subscription<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        key: NewsKey<'_>,
    ) -> Result<(), Problem> {
        let (language, seen) = (String::new(), Vec::new());
        let subscription = Subscription { on: false, language, seen, version: Version };
        let metadata = NewsMetadata { created_at: String::new(), offerings: Vec::new() };
        self.keep(service, &key, &subscription, &metadata).await
    }

    async fn keep<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        key: &NewsKey<'_>,
        subscription: &Subscription,
        metadata: &NewsMetadata,
    ) -> Result<(), Problem> {
        let written = service.store.put(key, to_json(subscription), metadata);
        Ok(service.wait(written).await?)
    }
}

/// Returns the key of a transaction's subscription; `None` if its ID or its offerings cannot be read.
pub(super) fn news_key<'k>(
    id: Option<&'k TransactionId>,
    offerings: Option<&Offerings>,
) -> Option<NewsKey<'k>> {
    Some(NewsKey { month: offerings?.month, id: id? })
}
