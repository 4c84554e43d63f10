//! The port to the key-value store, and the typed keys of its records.
//!
//! A transaction is one record, written once. Its value is the body of the get operation's answer. Its metadata says
//! who may see it.

mod cancelled;
mod decode;
mod error;
mod key;
mod metadata;
mod operator;
mod person;
mod port;
mod price_key;
mod recorded;
mod updates_key;

pub use cancelled::{Cancelled, CancelledKey};
pub use decode::decode;
pub use error::StoreError;
pub use key::{
    AuditKey, BackupKey, CredentialKey, ErasedKey, FAILED_MAIL_DAYS, FailedMailKey, Key,
    LEAST_CACHE_SECONDS, LedgerUnsentKey, MAILED_DAYS, MailedKey, MemberKey, NOTIFICATION_DAYS,
    NotificationKey, ProfileKey, QueuedMailKey, ReplayKey, SecretKey, SettlementKey, TeamKey,
    TransactionKey, USUAL_CACHE_SECONDS, UnitKey,
};
pub use metadata::{ChangeNote, MailState, NoMetadata, Registered, Summary, TransactionMetadata};
pub use operator::{KeyInfo, ListingStore, MAX_READS, OperatorStore, Page, SETTLE_MS};
pub use person::{PersonKey, PersonNote, PersonRole};
pub use port::{Store, Stored, StoredValue};
pub use price_key::{MAX_PRICES_BYTES, MAX_UNIT_PRICES_BYTES, PriceListKey, PriceListVersionKey};
pub use recorded::Recorded;
pub use updates_key::{MAX_UPDATES_BYTES, UpdatesKey};
