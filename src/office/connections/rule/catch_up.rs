//! Finds deliveries whose messages were lost, or that have to be read again.

use super::api::PledgeApi;
use super::fetch::ShopApi;
use super::intake::Intake;
use crate::office::connections::rows::orders;
use crate::office::connections::rows::received as rows;
use crate::office::connections::rows::received::{KEPT_DAYS, MOST};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::Pages;
use crate::office::system::rows::receive::Verdict;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Key as _, KeyInfo, OperatorStore, RECEIVED_DAYS, ReceivedKey};
use crate::pledges::time::DAY_MS;
use serde::Serialize;

/// How long the queue has to deliver a message, in milliseconds, before the cron reads the order itself.
const QUEUED_MS: u64 = 2 * 60_000;
const HOUR_MS: u64 = 3_600_000;

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaughtUp {
    /// Number of deliveries that were read.
    pub read: usize,
    /// Whether more deliveries are left for the next call.
    pub more: bool,
}

/// What one call does.
struct Round {
    /// Maximum number of deliveries to read.
    most: usize,
    done: CaughtUp,
    /// The time from which the next call compares the records, in milliseconds since 1970: not after a delivery that has to
    /// be read again.
    complete: u64,
}

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi + ShopApi> Intake<'_, S, C, E, A> {
    /// Reads deliveries that have to be read again, and those that the queue has not delivered for two minutes: at most
    /// `most`. Deletes old rows, and records that could not be deleted before. Ledger cost: 5 queries, and 1 for each 100 records
    /// of the last two hours. KV cost: 1 list for each 1,000 of them. Both besides what the deliveries cost.
    ///
    /// # Errors
    /// If the ledger or the store fails. The next call begins again.
    pub async fn catch_up(&self, most: usize) -> Result<CaughtUp> {
        let now_ms = self.clock.now_ms();
        let complete = now_ms.saturating_sub(HOUR_MS); // the hour of what may still be delivered is read again
        let mut round = Round { most, done: CaughtUp::default(), complete };
        for id in rows::waiting(self.ledger).await? {
            self.read_if_few(&id, &mut round).await;
        }
        for prefix in prefixes(self.ledger, now_ms).await? {
            if !round.done.more {
                self.catch_up_list(prefix, &mut round).await?;
            }
        }
        if !round.done.more {
            rows::set_complete(self.ledger, round.complete).await?;
            rows::forget(self.ledger, now_ms.saturating_sub(KEPT_DAYS * DAY_MS)).await?;
            let before = now_ms.saturating_sub(u64::from(RECEIVED_DAYS) * DAY_MS);
            orders::forget_frozen(self.ledger, before).await?;
        }
        Ok(round.done)
    }

    async fn catch_up_list(&self, prefix: String, round: &mut Round) -> Result<()> {
        let before = self.clock.now_ms().saturating_sub(QUEUED_MS);
        let mut pages = Pages::new(self.store, prefix);
        while let Some(page) = pages.next().await? {
            for part in page.chunks(MOST) {
                let ids: Vec<_> =
                    part.iter().filter_map(|record| id_before(record, before)).collect();
                for id in rows::unfinished(self.ledger, &ids).await? {
                    let is_done = self.read_if_few(&id, round).await;
                    if let Some(key) = ReceivedKey::from_id(&id).filter(|_| !is_done) {
                        round.complete = round.complete.min(key.time_ms()); // it may have no row
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether the delivery need not be read again.
    async fn read_if_few(&self, id: &str, round: &mut Round) -> bool {
        if round.done.read >= round.most {
            round.done.more = true;
            return false;
        }
        round.done.read += 1;
        self.read(id, 1).await == Verdict::Done
    }
}

/// Returns the prefixes of the records that may not have been read yet: of each hour since the records were compared last, or
/// of all if they never were. Ledger cost: 1 query.
pub(super) async fn prefixes(ledger: &dyn Ledger, now_ms: u64) -> Result<Vec<String>> {
    let Some(mut hour_ms) = rows::complete(ledger).await? else {
        return Ok(vec![ReceivedKey::PREFIX.to_owned()]);
    };
    let mut prefixes = Vec::new();
    while hour_ms <= now_ms {
        prefixes.push(ReceivedKey::hour_prefix(hour_ms));
        hour_ms = hour_ms.saturating_add(HOUR_MS);
    }
    Ok(prefixes)
}

fn id_before(record: &KeyInfo, before: u64) -> Option<String> {
    let key = ReceivedKey::parse(&record.name)?;
    (key.time_ms() < before).then(|| key.id())
}
