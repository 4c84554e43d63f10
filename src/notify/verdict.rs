//! The decision about a delivery, from what is stored.

use super::schedule::{absent, again};
use super::{Delivery, Mailer, Notifier, Outcome, Reason, done};
use crate::handle::Clock;
use crate::http::at_origin;
use crate::pledge::{ERASED_EMAIL, RetrievedPledgeTransaction};
use crate::recipient::{Mail, Profile, mail};
use crate::secret::SecretRecord;
use crate::store::{
    Key as _, ListingStore, ProfileKey, SecretKey, StoreError, Stored, StoredValue as _,
    TransactionKey, TransactionMetadata, decode,
};
use crate::time::parse_ms;
use std::cmp::Ordering;

/// Most e-mails to one recipient on a day (UTC), whatever unit asks. The count may be a minute old.
const MAX_A_DAY: usize = 5;
/// Most e-mails of test keys on a day: all of them go to one address, which asked for them.
const MAX_TESTS_A_DAY: usize = 100;

/// An e-mail that is to be sent to an address, whose HMAC is `address`.
pub(super) struct Sending {
    pub mail: Mail,
    pub to: String,
    pub address: String,
    pub reply_to: Option<String>,
}

/// Why nothing is sent now.
pub(super) enum Unsent {
    /// Nothing is to be sent.
    Skip(Reason),
    /// The message is not of this record, or not yet.
    Leave(Outcome),
    /// The store failed.
    Failed(StoreError),
}

impl From<Reason> for Unsent {
    fn from(reason: Reason) -> Self {
        Unsent::Skip(reason)
    }
}

impl From<StoreError> for Unsent {
    fn from(error: StoreError) -> Self {
        Unsent::Failed(error)
    }
}

/// An e-mail, to whom, and whether a live key asked for it.
struct Draft {
    mail: Mail,
    to: String,
    is_live: bool,
}

impl<S: ListingStore, M: Mailer, C: Clock> Notifier<'_, S, M, C> {
    /// Decides about a delivery. A record, of up to 3 MiB, is read after profile and secret, and let go
    /// before the next wait.
    pub(super) async fn verdict(&self, delivery: &Delivery<'_>) -> Result<Sending, Unsent> {
        let stored = self.store.get(&TransactionKey(delivery.id)).await?;
        let stored = stored.ok_or_else(|| {
            let age_ms = self.clock.now_ms().saturating_sub(delivery.created_ms);
            Unsent::Leave(absent(delivery.attempt, age_ms))
        })?;
        let profile: Option<Profile> =
            self.load(&ProfileKey(&stored.metadata.scope().unit)).await?;
        let secret: Option<SecretRecord> = self.load(&SecretKey).await?;
        let Draft { mail, to, is_live } = self.read(delivery, stored, profile.as_ref()).await?;
        let SecretRecord { secret } = secret.ok_or(Reason::NoSecret)?;
        let address = secret.address(&to);
        let most = if is_live { MAX_A_DAY } else { MAX_TESTS_A_DAY };
        if self.mails_today(delivery.id, &address).await? >= most {
            return Err(Reason::DailyLimit.into());
        }
        Ok(Sending { mail, to, address, reply_to: profile.and_then(|profile| profile.reply_to) })
    }

    /// Reads a record, and drafts the e-mail about it.
    async fn read(
        &self,
        delivery: &Delivery<'_>,
        stored: Stored<S::Value, TransactionMetadata>,
        profile: Option<&Profile>,
    ) -> Result<Draft, Unsent> {
        let bytes = stored.value.read(TransactionKey::READ_MS).await?;
        let record = decode(TransactionKey::KIND, &bytes)?;
        of_this_create(&record, delivery).map_err(Unsent::Leave)?;
        Ok(self.draft(record, profile)?)
    }

    fn draft(
        &self,
        mut record: RetrievedPledgeTransaction<'_>,
        profile: Option<&Profile>,
    ) -> Result<Draft, Reason> {
        let recipient = record.pledges.first().map(|pledge| &*pledge.recipient.email);
        let email = recipient.filter(|email| *email != ERASED_EMAIL).ok_or(Reason::Erased)?;
        let origin = self.settings.origin.as_deref().ok_or(Reason::NoOrigin)?;
        let profile = profile.filter(|profile| profile.mail).ok_or(Reason::MailOff)?;
        let test_to = || self.settings.test_to.as_deref().ok_or(Reason::TestMode);
        let to = if record.is_live { email } else { test_to()? }.to_owned();
        // Whoever sent the create may have chosen the origin of the address in the record.
        record.timeline_url = record.timeline_url.map(|url| at_origin(&url, origin).into());
        let mail = mail(&record, Some(profile), self.clock).ok_or(Reason::NoPage)?;
        Ok(Draft { mail, to, is_live: record.is_live })
    }
}

/// Whether a record is of the create that put the message. A repeat of a create writes the record once
/// more, with a message of its own.
///
/// # Errors
/// If it is not: what becomes of the message.
fn of_this_create(
    record: &RetrievedPledgeTransaction<'_>,
    delivery: &Delivery<'_>,
) -> Result<(), Outcome> {
    let Some(created_ms) = parse_ms(&record.created_at) else {
        return Err(again(
            delivery.attempt,
            "the stored transaction is damaged: no time".to_owned(),
        ));
    };
    match created_ms.cmp(&delivery.created_ms) {
        // Its own may not be shown yet, or never come.
        Ordering::Less => Err(again(delivery.attempt, "an earlier create's record".to_owned())),
        Ordering::Greater => Err(done("a later create's record")),
        Ordering::Equal => Ok(()),
    }
}
