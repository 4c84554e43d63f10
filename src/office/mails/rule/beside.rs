//! The records that say what will happen to a notification: its message in the queue, and the cancellation of
//! its transaction.

use crate::buyer::delivery::Queued;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::pledges::store::{CancelledKey, Key as _, OperatorStore, QueuedMailKey, decode};
use crate::pledges::time::parse_ms;
use crate::pledges::types::{NotificationService, TransactionId};
use futures_util::future::try_join;

/// Hours after which a notification without a delivery result counts as failed. All delivery attempts
/// together take less time. The hours begin at the create request or, for a queued message, when the queue
/// should have delivered it.
pub const WAITING_HOURS: u64 = 24;
pub(super) const WAITING_MS: u64 = WAITING_HOURS * 3_600_000;

#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The message in the queue; `None` if there is no such record, if it cannot be read, or if the queue
    /// should have delivered the message more than 24 hours ago.
    pub queued: Option<Queued>,
    /// The [`Cancelled`](crate::pledges::store::Cancelled) record of the transaction.
    pub cancelled: Option<Vec<u8>>,
}

impl Beside {
    /// Reads the records of notifications, in their order. KV cost: 2 reads per 100 notifications, both at the
    /// same time.
    pub async fn read<'n>(
        store: &impl OperatorStore,
        now_ms: u64,
        notifications: impl Iterator<Item = (&'n TransactionId, NotificationService)> + Clone,
    ) -> Result<Vec<Beside>> {
        let queued: Vec<_> =
            notifications.clone().map(|(id, service)| QueuedMailKey(id, service)).collect();
        let cancelled: Vec<_> = notifications.map(|(id, _)| CancelledKey(id)).collect();
        let reads = try_join(read_values(store, &queued), read_values(store, &cancelled));
        let (queued, cancelled) = reads.await?;
        let of = |(queued, cancelled): (Option<Vec<u8>>, _)| Beside {
            queued: queued.and_then(|queued| in_queue(&queued, now_ms)),
            cancelled,
        };
        Ok(queued.into_iter().zip(cancelled).map(of).collect())
    }

    /// Returns whether a notification whose round `ended` has failed needs no resend: a later round is in the
    /// queue, or the transaction was cancelled.
    pub fn is_settled(&self, ended: u32) -> bool {
        self.cancelled.is_some() || self.queued.as_ref().is_some_and(|queued| queued.round > ended)
    }
}

fn in_queue(record: &[u8], now_ms: u64) -> Option<Queued> {
    let queued: Queued = decode(QueuedMailKey::KIND, record).ok()?;
    let until_ms = parse_ms(&queued.until)?;
    (now_ms < until_ms.saturating_add(WAITING_MS)).then_some(queued)
}
