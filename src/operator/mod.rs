//! What an operator does to the service: makes keys, sets prices and profiles, finds, sums and erases
//! transactions. Typed functions over [`OperatorStore`], which hold a page of records at most.
//!
//! Whoever calls them says how they are asked for and shown: a command line, a page.

mod error;
pub mod keys;
pub mod prices;
mod secret;
pub mod seed;
pub mod transactions;
pub mod units;

pub use error::{Event, OperatorError};

use crate::store::{Key, Listed, NoMetadata, OperatorStore, decode};
use crate::version::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;

type Result<T, E = OperatorError> = std::result::Result<T, E>;

/// Goes through a list page by page.
struct Pages<'s, S> {
    store: &'s S,
    prefix: String,
    cursor: Option<String>,
    is_last: bool,
}

impl<'s, S: OperatorStore> Pages<'s, S> {
    fn new(store: &'s S, prefix: impl Into<String>) -> Self {
        Pages { store, prefix: prefix.into(), cursor: None, is_last: false }
    }

    /// The next page; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Vec<Listed>>> {
        if self.is_last {
            return Ok(None);
        }
        let page = self.store.list(&self.prefix, self.cursor.as_deref()).await?;
        self.is_last = page.cursor.is_none();
        self.cursor = page.cursor;
        Ok(Some(page.records))
    }
}

/// Reads the value of a record; `None` if there is no such record.
async fn read_value<K: Key>(store: &impl OperatorStore, key: K) -> Result<Option<Vec<u8>>> {
    Ok(store.get_values(&[key]).await?.into_iter().flatten().next())
}

/// Reads and decodes a record; `None` if there is no such record.
async fn load<K: Key, T: DeserializeOwned>(
    store: &impl OperatorStore,
    key: K,
) -> Result<Option<T>> {
    let value = read_value(store, key).await?;
    Ok(value.map(|value| decode(K::KIND, &value)).transpose()?)
}

/// Writes a record that has no metadata, with the version of its format.
async fn put_record<K: Key<Metadata = NoMetadata>>(
    store: &impl OperatorStore,
    key: &K,
    record: &impl Serialize,
) -> Result<()> {
    Ok(store.put(key, encode(record)?, &NoMetadata).await?)
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Versioned<'r, R> {
        #[serde(flatten)]
        record: &'r R,
        version: Version,
    }
    Ok(serde_json::to_vec(&Versioned { record, version: Version })?)
}

/// What is wrong with a record. It is one line that a program wrote: the position helps nobody.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem).to_owned()
}
