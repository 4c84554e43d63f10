//! A store and a queue in which every call takes [`CALL_MS`]. Calls that run at the same time take it once.
//! So the time that a request takes says how many calls it waits for in turn.

use crate::memory::MemoryStore;
use crate::service::{FixedClock, MemoryQueue, yield_now};
use impact_pledge::pledges::service::{Clock as _, Message, Outbox, PutFuture};
use impact_pledge::pledges::store::{Key, ListPage, ListingStore, Store, StoreError, Stored};

/// How long a call takes, in milliseconds.
pub const CALL_MS: u64 = 5;

/// A store whose calls move the clock ahead.
pub struct SlowStore<'s> {
    pub store: &'s MemoryStore,
    pub clock: &'s FixedClock,
}

/// A queue whose calls move the clock ahead.
pub struct SlowQueue<'s> {
    pub queue: &'s MemoryQueue,
    pub clock: &'s FixedClock,
}

/// Lets all other futures begin their calls, and then moves the clock to the end of this call.
async fn wait(clock: &FixedClock) {
    let until_ms = clock.now_ms() + CALL_MS;
    yield_now().await;
    clock.0.set(clock.now_ms().max(until_ms));
}

impl Store for SlowStore<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        wait(self.clock).await;
        self.store.get(key).await
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        wait(self.clock).await;
        self.store.put(key, value, metadata).await
    }
}

impl ListingStore for SlowStore<'_> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, StoreError> {
        wait(self.clock).await;
        self.store.list(prefix, cursor).await
    }
}

impl Outbox for SlowQueue<'_> {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        Box::pin(async {
            wait(self.clock).await;
            self.queue.put(message).await
        })
    }
}
