//! The interface to the key-value store, and the typed keys of its records.
//!
//! A transaction is one record, written once. Its value is the body of the get operation's answer. Its
//! metadata says who may see it.

mod account_keys;
mod cancelled;
mod copy;
mod decode;
mod error;
mod key;
mod metadata;
mod namespace_keys;
mod news_keys;
mod notification_keys;
mod operator;
mod order_keys;
mod port;
mod price_key;
mod recorded;
mod total_key;
mod transaction_keys;
mod updates_key;

pub use account_keys::{CredentialKey, MemberKey, ProfileKey, SettlementKey, TeamKey, UnitKey};
pub use cancelled::{Cancelled, CancelledKey};
pub use copy::{CopyMetadata, Tombstone, present};
pub use decode::decode;
pub use error::StoreError;
pub use key::{Key, LEAST_CACHE_SECONDS, USUAL_CACHE_SECONDS};
pub use metadata::{MailState, NoMetadata, Registered, Summary, TransactionMetadata};
pub use namespace_keys::{AuditKey, BackupKey, EpochKey, SecretKey};
pub use news_keys::{NewsKey, NewsMetadata, NewsSentKey, offering_hash};
pub use notification_keys::{
    FAILED_MAIL_DAYS, FailedMailKey, MAILED_DAYS, MailedKey, NOTIFICATION_DAYS, NotificationKey,
    QueuedMailKey,
};
pub use operator::{
    BackupStore, KeyInfo, ListPage, ListingStore, MAX_READS, OperatorStore, RawRecord, RawRecords,
};
pub use order_keys::{ConnectionKey, RECEIVED_DAYS, ReceivedKey};
pub use port::{Store, Stored, StoredValue};
pub use price_key::{MAX_PRICES_BYTES, MAX_UNIT_PRICES_BYTES, PriceListKey, PriceListVersionKey};
pub use recorded::Recorded;
pub use total_key::TotalKey;
pub use transaction_keys::{ErasedKey, LedgerUnsentKey, ReplayKey, TransactionKey};
pub use updates_key::{MAX_UPDATES_BYTES, UpdatesKey};
