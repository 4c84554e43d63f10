//! Decides from the stored records whether a delivery sends its notification.

use super::claim::Counted;
use super::deliveries::Turn;
use super::draft::Draft;
use super::news::{KnownNews, News};
use super::schedule::absent;
use super::{
    Delivery, ENDED, LOOK_MS, Mailer, Messenger, NotSent, Notifier, Reason, Timer, WAIT_MS, busy,
    done,
};
use crate::buyer::recipient::Profile;
use crate::pledges::secret::SecretRecord;
use crate::pledges::store::{
    Cancelled, CancelledKey, Key as _, ListingStore, ProfileKey, SecretKey, Stored,
    StoredValue as _, TransactionKey, TransactionMetadata, decode,
};
use crate::pledges::time::parse_ms;
use crate::pledges::types::RetrievedPledgeTransaction;
use futures_util::future::{try_join3, try_join4};
use std::cmp::Ordering;

/// Maximum number of notifications that one recipient gets from one service in a day (UTC), across all units.
/// The count may be a minute old.
const MAX_A_DAY: usize = 5;
/// Maximum number of notifications for transactions of test keys, per service and day. This limit is higher
/// than the limit for live keys, because all e-mails for test keys go to one address that the operator has
/// set.
const MAX_TESTS_A_DAY: usize = 100;

/// A transaction's record, the namespace's secret, and the IDs of the updates that the buyer was told of.
type Opened<V> = (Stored<V, TransactionMetadata>, Option<SecretRecord>, Vec<String>);

/// A notification that is ready to be sent. `address` is the HMAC of the address whose daily limit applies.
pub(super) struct Ready {
    pub draft: Draft,
    pub address: String,
    /// The IDs of all updates that the buyer was told of by e-mails with news, after this one.
    pub told: Vec<String>,
}

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Returns the notification that a delivery must send, or why it sends none now. Independent reads run
    /// concurrently.
    pub(super) async fn verdict(
        &self,
        delivery: &Delivery<'_>,
        turn: &Turn<'_>,
    ) -> Result<Ready, NotSent> {
        let (stored, secret, told) = self.open(delivery).await?;
        let unit = stored.metadata.scope.unit.clone();
        let profile = async { Ok(self.load::<_, Profile>(&ProfileKey(&unit)).await?) };
        let cancelled = self.refuse_cancelled(delivery);
        let (record, subscription) = (self.read(turn, stored), self.subscription(delivery));
        let (profile, bytes, (), subscription) =
            try_join4(profile, record, cancelled, subscription).await?;
        let secret = secret.map(|record| record.secret);
        let news = match subscription {
            Some(subscription) => {
                let known = KnownNews { subscription, told };
                let token = secret.as_ref().ok_or(Reason::NoSecret)?;
                let token = token.unsubscribe_token(delivery.id.as_str());
                Some(self.news(delivery, &bytes, &known, token).await?)
            }
            None => None,
        };
        let draft = self.draft_of(delivery, &unit, &bytes, profile.as_ref(), news.as_ref())?;
        drop(bytes); // freed before the next wait
        turn.hold(draft.bytes());
        let address = secret.ok_or(Reason::NoSecret)?.address(&draft.to);
        let counted = self.counted(delivery, &address).await?;
        self.check_unclaimed(delivery, &address, &counted).await?;
        is_within_limit(&counted, draft.is_live)?;
        Ok(Ready { draft, address, told: news.map(|news| news.told).unwrap_or_default() })
    }

    /// Reads the transaction's record, the namespace's secret, and which updates the buyer was told of. Returns an error if this
    /// notification already has an outcome, or the record is not found.
    async fn open(&self, delivery: &Delivery<'_>) -> Result<Opened<S::Value>, NotSent> {
        let transaction = TransactionKey(delivery.id);
        let (ended, stored) = (self.ended(delivery), self.store.get(&transaction));
        let (ended, stored, secret) = try_join3(ended, stored, self.load(&SecretKey)).await?;
        if ended.as_ref().is_some_and(|ended| ended.round >= delivery.message.round) {
            return Err(NotSent::Leave(done(ENDED)));
        }
        let told = ended.map(|ended| ended.told).unwrap_or_default();
        let stored = stored.ok_or_else(|| {
            let age_ms = self.clock.now_ms().saturating_sub(delivery.created_ms);
            NotSent::Leave(absent(delivery.attempt, age_ms))
        })?;
        Ok((stored, secret, told))
    }

    /// Returns an error if the transaction was cancelled: the recipient gets nothing, so the notification must
    /// not announce anything. Workers KV may show a cancellation 60 s late.
    async fn refuse_cancelled(&self, delivery: &Delivery<'_>) -> Result<(), NotSent> {
        match self.load::<_, Cancelled>(&CancelledKey(delivery.id)).await? {
            Some(_) => Err(Reason::Cancelled.into()),
            None => Ok(()),
        }
    }

    /// Waits until this instance has room in memory for the transaction's record, which may have 3 MiB. Then
    /// reads it.
    async fn read(
        &self,
        turn: &Turn<'_>,
        stored: Stored<S::Value, TransactionMetadata>,
    ) -> Result<Vec<u8>, NotSent> {
        let bytes = TransactionKey::bytes(&stored.metadata);
        for _ in 0..WAIT_MS / LOOK_MS {
            if turn.reserve(bytes) {
                return Ok(stored.value.read(TransactionKey::READ_MS).await?);
            }
            self.clock.pause(LOOK_MS).await;
        }
        Err(NotSent::Leave(busy("the deliveries of this instance hold too many bytes")))
    }

    fn draft_of(
        &self,
        delivery: &Delivery<'_>,
        unit: &str,
        bytes: &[u8],
        profile: Option<&Profile>,
        news: Option<&News>,
    ) -> Result<Draft, NotSent> {
        let record = decode(TransactionKey::KIND, bytes)?;
        of_this_create(&record, delivery)?;
        Ok(self.draft(delivery, unit, record, profile, news)?)
    }
}

fn is_within_limit(counted: &Counted, is_live: bool) -> Result<(), Reason> {
    let most = if is_live { MAX_A_DAY } else { MAX_TESTS_A_DAY };
    if counted.others < most { Ok(()) } else { Err(Reason::DailyLimit) }
}

/// Checks that the record was written by the create request that queued this message. A repeated create
/// request may overwrite the record. The repeated request then queues a message of its own.
///
/// # Errors
/// If another create request wrote the record. The error says what happens to the message.
fn of_this_create(
    record: &RetrievedPledgeTransaction<'_>,
    delivery: &Delivery<'_>,
) -> Result<(), NotSent> {
    let Some(created_ms) = parse_ms(&record.created_at) else {
        return Err(NotSent::Failed(
            "the stored transaction is damaged: its time cannot be read".to_owned(),
        ));
    };
    match created_ms.cmp(&delivery.created_ms) {
        // KV may not show the record of this message's create request yet, or it was never written.
        Ordering::Less => Err(NotSent::Failed("an earlier create's record".to_owned())),
        Ordering::Greater => Err(NotSent::Leave(done("a later create's record"))),
        Ordering::Equal => Ok(()),
    }
}
