//! Writes the lines of a backup. `scripts/lib/backup.mjs` describes their format.
//!
//! The lines can be written by several processes one after the other: [`Written`] has what the next one needs.

use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::store::{RawRecord, StoreError};
use base64ct::{Base64, Encoding as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest as _, Sha256};

/// The version of the format.
const VERSION: u8 = 3;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    format: &'a str,
    version: u8,
    place: &'a Value,
    started_at: &'a str,
}

#[derive(Serialize)]
struct RecordLine<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    /// The value, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration: Option<u64>,
}

#[derive(Serialize)]
struct RowLine<'a, T> {
    table: T,
    row: &'a str,
}

#[derive(Serialize)]
struct Trailer<'a> {
    count: u64,
    rows: u64,
    sha256: &'a str,
}

/// What was written of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub records: u64,
    /// Number of rows of the ledger, and the line about its database.
    pub rows: u64,
    /// The state of the SHA-256 of all lines, in hexadecimal digits; empty before the first line.
    hash: String,
}

/// Collects lines of a backup, and hashes them.
pub(super) struct BackupLines {
    bytes: Vec<u8>,
    hash: Sha256,
    records: u64,
    rows: u64,
}

impl BackupLines {
    /// Continues a backup of which this was written.
    ///
    /// # Errors
    /// If the state of the hash is damaged.
    pub fn after(written: &Written) -> Result<Self> {
        let hash = if written.hash.is_empty() {
            Sha256::new()
        } else {
            hash_from(&written.hash).ok_or_else(damaged_hash)?
        };
        let Written { records, rows, .. } = *written;
        Ok(BackupLines { bytes: Vec::new(), hash, records, rows })
    }

    /// Adds the header. `place` is where the records are from.
    pub fn header(&mut self, place: &Value, started_at: &str) -> Result<()> {
        self.add(&Header { format: "impact-pledge-backup", version: VERSION, place, started_at })
    }

    /// Adds a record. `expiration` is in seconds since 1970.
    pub fn record(
        &mut self,
        name: &str,
        record: &RawRecord,
        expiration: Option<u64>,
    ) -> Result<()> {
        let value = str::from_utf8(&record.value).ok();
        let base64 = value.is_none().then(|| Base64::encode_string(&record.value));
        let metadata = record.metadata.as_deref();
        self.records += 1;
        self.add(&RecordLine { name, value, base64, metadata, expiration })
    }

    /// Adds a row of the ledger, a JSON text.
    pub fn row(&mut self, table: impl Serialize, row: &str) -> Result<()> {
        self.rows += 1;
        self.add(&RowLine { table, row })
    }

    /// Adds the trailer, and returns the SHA-256 of the lines before it.
    pub fn end(&mut self) -> Result<String> {
        let sha256 = self.sha256();
        self.add(&Trailer { count: self.records, rows: self.rows, sha256: &sha256 })?;
        Ok(sha256)
    }

    fn add(&mut self, line: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        self.hash.update(&line);
        self.bytes.extend(line);
        Ok(())
    }

    /// Returns the size of the collected lines in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Removes and returns the collected lines.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Returns the SHA-256 of all lines so far, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        base16ct::lower::encode_string(&self.hash.clone().finalize())
    }

    pub fn written(&self) -> Written {
        let hash = base16ct::lower::encode_string(&self.hash.serialize());
        Written { records: self.records, rows: self.rows, hash }
    }
}

fn hash_from(state: &str) -> Option<Sha256> {
    let bytes = base16ct::lower::decode_vec(state).ok()?;
    Sha256::deserialize(&bytes.as_slice().try_into().ok()?).ok()
}

fn damaged_hash() -> OperatorError {
    StoreError::Damaged("the index of the backups has a damaged hash".to_owned()).into()
}
