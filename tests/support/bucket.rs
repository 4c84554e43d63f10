//! A bucket of object storage in memory.

use crate::ledger::Failing;
use impact_pledge::office::system::rule::bucket::{Bucket, Object, PutIf};
use impact_pledge::pledges::store::StoreError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A bucket that keeps objects in memory. Tests can make it fail.
#[derive(Debug)]
pub struct MemoryBucket {
    objects: RefCell<BTreeMap<String, Object>>,
    writes: Cell<u64>,
    /// The time at which objects are written, in milliseconds since 1970.
    pub now_ms: Cell<u64>,
    written: RefCell<BTreeMap<String, u64>>,
    /// The number of calls.
    pub calls: Cell<usize>,
    failing: Cell<(usize, Failing)>,
}

impl Default for MemoryBucket {
    fn default() -> Self {
        MemoryBucket {
            objects: RefCell::default(),
            writes: Cell::default(),
            now_ms: Cell::default(),
            written: RefCell::default(),
            calls: Cell::default(),
            failing: Cell::new((0, Failing::Not)),
        }
    }
}

impl MemoryBucket {
    /// Lets this number of calls succeed, and then makes calls fail in this way.
    pub fn set_failing_after(&self, calls: usize, failing: Failing) {
        self.failing.set((self.calls.get() + calls, failing));
    }

    /// Stores an object.
    pub fn keep(&self, name: &str, bytes: &[u8]) {
        self.writes.set(self.writes.get() + 1);
        let object = Object { bytes: bytes.to_vec(), version: self.writes.get().to_string() };
        self.objects.borrow_mut().insert(name.to_owned(), object);
        self.written.borrow_mut().insert(name.to_owned(), self.now_ms.get());
    }

    /// Returns the bytes of an object.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.objects.borrow().get(name).map(|object| object.bytes.clone())
    }

    /// Returns the names of all objects, in order.
    pub fn names(&self) -> Vec<String> {
        self.objects.borrow().keys().cloned().collect()
    }

    /// Makes a call, unless it fails.
    fn call<T>(&self, call: impl FnOnce() -> T) -> Result<T, StoreError> {
        let (until, failing) = self.failing.get();
        let has_failed = self.calls.replace(self.calls.get() + 1) >= until;
        match failing {
            Failing::Not => Ok(call()),
            _ if !has_failed => Ok(call()),
            Failing::After => {
                call();
                Err(StoreError::Unavailable)
            }
            Failing::Before | Failing::Unbound => Err(StoreError::Unavailable),
        }
    }

    fn put_if(&self, name: &str, bytes: &[u8], condition: PutIf<'_>) -> Option<String> {
        let version = self.objects.borrow().get(name).map(|object| object.version.clone());
        let is_met = match condition {
            PutIf::Always => true,
            PutIf::Missing => version.is_none(),
            PutIf::Version(expected) => version.as_deref() == Some(expected),
        };
        if !is_met {
            return None;
        }
        self.keep(name, bytes);
        Some(self.writes.get().to_string())
    }
}

impl Bucket for MemoryBucket {
    async fn get(&self, name: &str) -> Result<Option<Object>, StoreError> {
        self.call(|| self.objects.borrow().get(name).cloned())
    }

    async fn put(
        &self,
        name: &str,
        bytes: Vec<u8>,
        condition: PutIf<'_>,
    ) -> Result<Option<String>, StoreError> {
        self.call(|| self.put_if(name, &bytes, condition))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let found = |name: &String| name.starts_with(prefix);
        self.call(|| self.names().into_iter().filter(found).take(1_000).collect())
    }

    async fn list_before(&self, prefix: &str, before_ms: u64) -> Result<Vec<String>, StoreError> {
        let mut names = self.list(prefix).await?;
        names.retain(|name| self.written.borrow().get(name).is_some_and(|at| *at < before_ms));
        Ok(names)
    }

    async fn delete(&self, names: &[String]) -> Result<(), StoreError> {
        self.call(|| self.objects.borrow_mut().retain(|name, _| !names.contains(name)))
    }
}

/// A bucket that runs a function before each call. Its argument is the number of calls so far.
pub struct Watched<'b, H: AsyncFn(usize)> {
    bucket: &'b MemoryBucket,
    calls: Cell<usize>,
    happens: H,
}

impl<'b, H: AsyncFn(usize)> Watched<'b, H> {
    pub fn new(bucket: &'b MemoryBucket, happens: H) -> Self {
        Watched { bucket, calls: Cell::default(), happens }
    }

    async fn before(&self) {
        (self.happens)(self.calls.replace(self.calls.get() + 1)).await;
    }
}

impl<H: AsyncFn(usize)> Bucket for Watched<'_, H> {
    async fn get(&self, name: &str) -> Result<Option<Object>, StoreError> {
        self.before().await;
        self.bucket.get(name).await
    }

    async fn put(
        &self,
        name: &str,
        bytes: Vec<u8>,
        condition: PutIf<'_>,
    ) -> Result<Option<String>, StoreError> {
        self.before().await;
        self.bucket.put(name, bytes, condition).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.before().await;
        self.bucket.list(prefix).await
    }

    async fn list_before(&self, prefix: &str, before_ms: u64) -> Result<Vec<String>, StoreError> {
        self.before().await;
        self.bucket.list_before(prefix, before_ms).await
    }

    async fn delete(&self, names: &[String]) -> Result<(), StoreError> {
        self.before().await;
        self.bucket.delete(names).await
    }
}
