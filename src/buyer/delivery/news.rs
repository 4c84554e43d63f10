//! Decides what an e-mail with news tells: which updates are published, and the buyer does not know yet.

use super::outcome::{NotSent, done};
use super::schedule::absent;
use super::{Delivery, Mailer, Messenger, Notifier, Timer};
use crate::buyer::news::{Subscription, news_round};
use crate::buyer::recipient::{Language, Mail, OfferingProgress, Profile, news_mail};
use crate::buyer::timeline::Offerings;
use crate::buyer::updates::{OfferingUpdates, Update};
use crate::pledges::api::{TOKEN_PARAMETER, UNSUBSCRIBE_PATH};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::store::{
    Key as _, ListingStore, NewsKey, StoreError, TransactionKey, UpdatesKey, decode,
};
use crate::pledges::time::TimeZones;
use crate::pledges::types::{RetrievedPledgeTransaction, TransactionId};
use futures_util::future::try_join_all;

/// What the buyer knew before an e-mail with news.
pub(super) struct KnownNews {
    pub subscription: Subscription,
    /// The IDs of the updates that earlier e-mails told of.
    pub told: Vec<String>,
}

impl KnownNews {
    fn has(&self, id: &str) -> bool {
        [&self.told, &self.subscription.seen].into_iter().flatten().any(|known| known == id)
    }
}

/// The news of an e-mail.
pub(super) struct News {
    /// The IDs of the offerings, with their updates that the buyer does not know.
    offerings: Vec<(String, Vec<Update>)>,
    language: Language,
    /// The token in the URL that ends such e-mails.
    token: String,
    /// The IDs of all updates that the buyer was told of, with those of this e-mail.
    pub told: Vec<String>,
}

impl News {
    /// Writes the e-mail, and the URL that ends such e-mails. Returns `None` if the record has no timeline URL.
    pub fn mail(
        &self,
        id: &TransactionId,
        record: &RetrievedPledgeTransaction<'_>,
        profile: &Profile,
        origin: &str,
        zones: &dyn TimeZones,
    ) -> Option<(Mail, String)> {
        let url = format!("{origin}{UNSUBSCRIBE_PATH}/{id}?{TOKEN_PARAMETER}={}", self.token);
        let offerings = self.offerings.iter();
        let progress: Vec<_> = offerings
            .map(|(offering_id, updates)| OfferingProgress { offering_id, updates: Some(updates) })
            .collect();
        let mail = news_mail(record, Some(profile), &progress, self.language, &url, zones)?;
        Some((mail, url))
    }
}

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Returns the buyer's subscription; `None` if the notification is no e-mail with news.
    ///
    /// # Errors
    /// If the buyer does not want such e-mails, or no longer.
    pub(super) async fn subscription(
        &self,
        delivery: &Delivery<'_>,
    ) -> Result<Option<Subscription>, NotSent> {
        let month = Month::of(&delivery.message.created_at).filter(|_| delivery.is_news());
        let Some(month) = month else { return Ok(None) };
        let subscription: Option<Subscription> =
            self.load(&NewsKey { month, id: delivery.id }).await?;
        match subscription.filter(|subscription| subscription.on) {
            Some(subscription) => Ok(Some(subscription)),
            None => Err(NotSent::Leave(done("not asked for"))),
        }
    }

    /// Returns the news for a buyer. `bytes` is the transaction's record, and `token` that of the URL that ends such e-mails. KV cost: 1 read for each offering.
    ///
    /// # Errors
    /// If the buyer knows all updates of the message. If the store does not show them yet, the message is delivered again.
    pub(super) async fn news(
        &self,
        delivery: &Delivery<'_>,
        bytes: &[u8],
        known: &KnownNews,
        token: String,
    ) -> Result<News, NotSent> {
        if delivery.message.updates.iter().all(|id| known.has(id)) {
            return Err(NotSent::Leave(done("told before")));
        }
        let record = decode(TransactionKey::KIND, bytes)?;
        let Some(Offerings { month, ids }) = Offerings::of(&record) else {
            return Err(NotSent::Leave(done("the time of the transaction cannot be read")));
        };
        let updates = ids.into_iter().map(|id| self.unknown(month, id, known));
        let mut offerings = try_join_all(updates).await?;
        offerings.retain(|(_, updates)| !updates.is_empty());
        if offerings.is_empty() {
            let age_ms = self.clock.now_ms().saturating_sub(delivery.created_ms);
            return Err(NotSent::Leave(absent(delivery.attempt, age_ms)));
        }
        let new = offerings.iter().flat_map(|(_, updates)| updates).map(|it| it.id.to_string());
        let told = known.told.iter().cloned().chain(new).collect();
        let language = Language::from_tag(&known.subscription.language).unwrap_or_default();
        Ok(News { offerings, language, token, told })
    }

    /// Reads the updates of an offering that are news and that the buyer does not know.
    async fn unknown(
        &self,
        month: Month,
        offering_id: String,
        known: &KnownNews,
    ) -> Result<(String, Vec<Update>), StoreError> {
        let key = UpdatesKey::new(Mode::Live, &offering_id, month);
        let updates: Option<OfferingUpdates> = self.load(&key).await?;
        let mut updates = updates.map(|it| it.updates).unwrap_or_default();
        updates.retain(|update| update.is_news() && !known.has(&update.id));
        Ok((offering_id, updates))
    }

    /// Returns the round that an e-mail ends. An e-mail with news that was sent later than in the month in which it was queued also
    /// ends the later month.
    pub(super) fn ends_round(&self, delivery: &Delivery<'_>) -> u32 {
        let round = delivery.message.round;
        if delivery.is_news() { round.max(news_round(self.clock.now_ms())) } else { round }
    }
}
