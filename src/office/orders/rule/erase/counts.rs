//! Removes the records that count the notifications to an address.

use crate::buyer::delivery::Marker;
use crate::office::orders::rule::record::Record;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::load;
use crate::office::system::rule::secret;
use crate::pledges::store::{MAILED_DAYS, MailedKey, NewsSentKey, NotificationKey, OperatorStore};
use crate::pledges::time::{DAY_MS, date_time, day_of};
use crate::pledges::types::{ERASED_EMAIL, NotificationService};

/// Removes the records that count one service's notifications about a transaction, or the e-mails with news if `is_news`. The
/// names of these records contain a hash of the recipient's address.
///
/// If an earlier erasure has removed the address, the hash is taken from the notification record. This is
/// needed because a notification that was being sent during the earlier erasure may have been counted later.
pub(super) async fn forget_counts(
    store: &impl OperatorStore,
    record: &Record,
    (service, is_news): (NotificationService, bool),
    now_ms: u64,
) -> Result<()> {
    let marker: Option<Marker> = match is_news {
        true => load(store, NewsSentKey(&record.id)).await?,
        false => load(store, NotificationKey(&record.id, service)).await?,
    };
    let marked = marker.and_then(|marker| marker.address);
    let transaction = record.transaction()?;
    let email = transaction.pledges.first().map(|pledge| &*pledge.recipient.email);
    let secret = secret::recorded(store).await?;
    let own = secret.zip(email.filter(|email| *email != ERASED_EMAIL));
    let own = own.map(|(secret, email)| secret.address(email));
    let mut addresses: Vec<_> = [marked, own].into_iter().flatten().collect();
    addresses.dedup();
    for address in addresses {
        for back in 0..=u64::from(MAILED_DAYS) {
            let time = date_time(now_ms.saturating_sub(back * DAY_MS));
            let (day, id) = (day_of(&time), &record.id);
            let key = MailedKey { day, address: &address, service, id, is_news };
            store.remove(&key).await?;
        }
    }
    Ok(())
}
