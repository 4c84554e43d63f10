//! Reads the updates of a transaction's offerings for its timeline.

use super::offerings::Offerings;
use super::{Damaged, KnownUpdates, Timelines};
use crate::buyer::recipient::OfferingProgress;
use crate::buyer::updates::OfferingUpdates;
use crate::pledges::api::Problem;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::store::{Key as _, Store, UpdatesKey};
use futures_util::future::join_all;
use std::rc::Rc;

#[derive(Default)]
pub(super) struct ReadUpdates {
    /// The offerings' IDs with their updates; `None` if the store failed.
    offerings: Vec<(String, Option<Rc<KnownUpdates>>)>,
    /// The total size of the records that this request read, in bytes.
    pub bytes: usize,
    /// Why a record could not be read, for the log.
    pub cause: Option<String>,
}

impl ReadUpdates {
    /// Returns the IDs of the updates that are [news](crate::buyer::updates::Update::is_news).
    pub fn news(&self) -> Vec<String> {
        let progress = self.progress();
        let updates = progress.iter().filter_map(|offering| offering.updates).flatten();
        updates.filter(|update| update.is_news()).map(|update| update.id.to_string()).collect()
    }

    pub fn progress(&self) -> Vec<OfferingProgress<'_>> {
        fn progress(
            (offering_id, known): &(String, Option<Rc<KnownUpdates>>),
        ) -> OfferingProgress<'_> {
            let updates = match known.as_deref() {
                Some(Ok(Some(OfferingUpdates { updates, .. }))) => Some(&**updates),
                Some(Ok(None)) => Some(&[][..]),
                Some(Err(Damaged)) | None => None,
            };
            OfferingProgress { offering_id, updates }
        }
        self.offerings.iter().map(progress).collect()
    }
}

/// The updates of an offering, the size of their record in bytes, and the problem if the record is damaged.
/// The size is 0 if the record was cached.
type Read = (Rc<KnownUpdates>, usize, Option<Problem>);

impl Timelines {
    /// Returns the updates of the offerings. An offering has no updates if its record cannot be read; the log
    /// gets the cause. KV cost: 1 read for each offering whose updates are not cached. All reads run at the
    /// same time.
    pub(super) async fn updates<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        mode: Mode,
        offerings: Option<Offerings>,
    ) -> ReadUpdates {
        let mut updates = ReadUpdates::default();
        let Some(Offerings { month, ids }) = offerings else { return updates };
        let reads =
            ids.iter().map(|id| self.offering_updates(service, UpdatesKey::new(mode, id, month)));
        let reads = join_all(reads).await;
        for (id, read) in ids.into_iter().zip(reads) {
            let (known, problem) = match read {
                Ok((known, bytes, problem)) => {
                    updates.bytes += bytes;
                    (Some(known), problem)
                }
                Err(problem) => (None, Some(problem)),
            };
            if let Some(problem) = problem {
                updates.cause.get_or_insert_with(|| format!("updates: {}", problem.cause()));
            }
            updates.offerings.push((id, known));
        }
        updates
    }

    /// Returns the updates of an offering and month, from the cache or the store. The cache also remembers
    /// that a record is missing or damaged. A damaged record is a problem only at the first read, before it
    /// is cached.
    ///
    /// # Errors
    /// If the store fails to return the record.
    async fn offering_updates<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        key: UpdatesKey,
    ) -> Result<Read, Problem> {
        let (now_ms, name) = (service.clock.now_ms(), key.name());
        if let Some(known) = self.updates.get(&*name, now_ms) {
            return Ok((known, 0, None));
        }
        let (known, bytes, problem) = match service.load_sized(&key).await {
            Ok(Some((updates, bytes))) => (Ok(Some(updates)), bytes, None),
            Ok(None) => (Ok(None), 0, None),
            Err(damage @ Problem::Internal(_)) => (Err(Damaged), 0, Some(damage)), // cached until it expires
            Err(problem) => return Err(problem),
        };
        Ok((self.updates.keep_sized(name, known, bytes, now_ms), bytes, problem))
    }
}
