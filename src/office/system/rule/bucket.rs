//! The interface to object storage, which has backups and the pictures of updates.

use crate::pledges::store::StoreError;

/// A bucket of object storage. Each call fails if a deadline passes.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Bucket {
    /// Returns an object; `None` if there is none.
    async fn get(&self, name: &str) -> Result<Option<Object>, StoreError>;

    /// Writes an object, and returns its new version. Returns `None` if the condition is not met: then nothing was written.
    ///
    /// # Errors
    /// If the object may not have been written.
    async fn put(
        &self,
        name: &str,
        bytes: Vec<u8>,
        condition: PutIf<'_>,
    ) -> Result<Option<String>, StoreError>;

    /// Returns names of objects that begin with a prefix: all of them, or at least one and at most 1,000.
    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Returns the names of objects that begin with a prefix and were last written before a time, in milliseconds since 1970:
    /// those among the first 1,000 with the prefix.
    async fn list_before(&self, prefix: &str, before_ms: u64) -> Result<Vec<String>, StoreError>;

    /// Deletes at most 1,000 objects. Objects that are missing do no harm.
    async fn delete(&self, names: &[String]) -> Result<(), StoreError>;
}

/// An object of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub bytes: Vec<u8>,
    /// A text that changes with each write.
    pub version: String,
}

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutIf<'v> {
    Always,
    /// There is no object with this name.
    Missing,
    /// The object has this version.
    Version(&'v str),
}
