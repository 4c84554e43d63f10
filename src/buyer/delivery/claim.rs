//! Lets a delivery claim its notification before sending it. Without claims, two concurrent deliveries could
//! both send the same notification.
//!
//! Workers KV has no compare-and-set. If two deliveries write their claims to the same record, the last write
//! wins. So each delivery reads the record back to see whose claim was stored. The record also counts the
//! notification towards the daily limit.

use super::schedule::{LEAST_WAIT, held};
use super::{Delivery, Mailer, Messenger, NotSent, Notifier, Timer};
use crate::pledges::store::{Key as _, ListingStore, MailedKey, NoMetadata, StoreError};
use crate::pledges::time::{date_time, day_of, parse_ms};
use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How long a claim is valid, in milliseconds: [`SLOW_MS`], plus at most 45 s to send the notification. A
/// retry waits at least this long, so the claim of the previous attempt has always expired.
pub(super) const CLAIM_MS: u64 = 60_000;
const _: () = assert!(CLAIM_MS <= 1_000 * LEAST_WAIT as u64);

/// How long a delivery waits between writing its claim and reading it back, in milliseconds. Within this
/// time, any concurrent delivery that has not seen the claim writes its own. There is no wait if no other
/// delivery of the notification can be running.
const SETTLE_MS: u32 = 2_000;

/// Longest time from the claim to the sending of the notification, in milliseconds. A slower delivery does
/// not send it.
const SLOW_MS: u64 = 15_000;

/// The record `mailed:{day}:{HMAC}:{id}`, with which a delivery claims a notification.
#[derive(Serialize, Deserialize)]
struct Claim {
    round: u32,
    /// When the claim ends, an RFC 3339 date-time.
    until: String,
    /// The token of the delivery that made the claim.
    token: String,
    #[serde(skip_deserializing)]
    version: Version,
}

impl Claim {
    /// Returns for how many more milliseconds the claim blocks other deliveries of the notification; 0 if
    /// it blocks none. It does not block a later resend, which has a higher `round`.
    fn holds_ms(&self, round: u32, now_ms: u64) -> u64 {
        let until_ms = parse_ms(&self.until).filter(|_| self.round >= round);
        until_ms.map_or(0, |until_ms| until_ms.saturating_sub(now_ms).min(CLAIM_MS))
    }
}

/// How many of a service's notifications count towards an address's daily limit.
pub(super) struct Counted {
    /// Number of notifications of this day that are about other transactions. Only the first page of KV's
    /// list is counted.
    pub others: usize,
    /// The day of the record that counts a notification about this transaction; `None` if there is no such
    /// record. The record may also contain a claim.
    own: Option<String>,
}

impl<S: ListingStore, M: Mailer, A: Messenger, C: Timer> Notifier<'_, S, M, A, C> {
    /// Counts a service's notifications to an address on the current day. Shortly after midnight, also
    /// searches the day before for a notification about this transaction, because a claim of that day may
    /// still be valid.
    pub(super) async fn counted(
        &self,
        delivery: &Delivery<'_>,
        address: &str,
    ) -> Result<Counted, StoreError> {
        let now_ms = self.clock.now_ms();
        let [today, lately] = [now_ms, now_ms.saturating_sub(CLAIM_MS)].map(date_time);
        let [today, lately] =
            [&today, &lately].map(|time| mailed_key(delivery, day_of(time), address));
        let names = self.names(&today).await?;
        let has_own = |names: &BTreeSet<String>, key: &MailedKey<'_>| {
            names.contains(&key.name()).then(|| key.day.to_owned())
        };
        let mut own = has_own(&names, &today);
        let others = names.len() - usize::from(own.is_some());
        if own.is_none() && lately.day != today.day {
            own = has_own(&self.names(&lately).await?, &lately);
        }
        Ok(Counted { others, own })
    }

    /// Returns the names of the records that count notifications to an address on a day: those that
    /// KV lists, and those that this instance wrote so recently that KV may not list them yet.
    async fn names(&self, key: &MailedKey<'_>) -> Result<BTreeSet<String>, StoreError> {
        let prefix = key.address_prefix();
        let listed = self.store.names(&prefix).await?.into_iter();
        let known = self.deliveries.counted(&prefix, self.clock.now_ms());
        Ok(listed.chain(known).collect())
    }

    /// Checks that no other delivery has claimed this notification.
    ///
    /// # Errors
    /// If another delivery has claimed the notification, and may be sending it now.
    pub(super) async fn check_unclaimed(
        &self,
        delivery: &Delivery<'_>,
        address: &str,
        counted: &Counted,
    ) -> Result<(), NotSent> {
        let Some(day) = &counted.own else { return Ok(()) };
        let key = mailed_key(delivery, day, address);
        self.yield_to(self.load(&key).await?, delivery)
    }

    /// Claims the notification for this delivery. The claim also counts towards the daily limit, even if the
    /// notification is not sent afterwards.
    ///
    /// # Errors
    /// If another delivery has claimed the notification in the meantime, or the store is so slow that the
    /// claim could expire before the notification is sent.
    pub(super) async fn claim(
        &self,
        delivery: &Delivery<'_>,
        address: &str,
    ) -> Result<(), NotSent> {
        let now_ms = self.clock.now_ms();
        let (now, until) = (date_time(now_ms), date_time(now_ms + CLAIM_MS));
        let key = mailed_key(delivery, day_of(&now), address);
        self.deliveries.count(key.name(), now_ms);
        let (round, token) = (delivery.message.round, delivery.token.to_owned());
        let claim = Claim { round, until, token, version: Version };
        self.store.put(&key, crate::pledges::api::to_json(&claim), &NoMetadata).await?;
        if delivery.may_have_rivals() {
            self.clock.pause(SETTLE_MS).await;
        }
        self.yield_to(self.load(&key).await?, delivery)?;
        match self.clock.now_ms().saturating_sub(now_ms) {
            0..=SLOW_MS => Ok(()),
            _ => Err(NotSent::Failed("the store is slow".to_owned())),
        }
    }

    fn yield_to(&self, claim: Option<Claim>, delivery: &Delivery<'_>) -> Result<(), NotSent> {
        let now_ms = self.clock.now_ms();
        let others = claim.filter(|claim| claim.token != delivery.token);
        match others.map_or(0, |claim| claim.holds_ms(delivery.message.round, now_ms)) {
            0 => Ok(()),
            holds_ms => Err(NotSent::Leave(held(holds_ms))),
        }
    }
}

fn mailed_key<'k>(delivery: &Delivery<'k>, day: &'k str, address: &'k str) -> MailedKey<'k> {
    let (service, id, is_news) = (delivery.service(), delivery.id, delivery.is_news());
    MailedKey { day, address, service, id, is_news }
}
