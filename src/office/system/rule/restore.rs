//! Decides which of a backup's records are restored.

use super::secret;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::system::rows::own_rows::OwnTable;
use crate::pledges::secret::{NamespaceSecret, SecretRecord};
use crate::pledges::store::{
    BackupKey, CancelledKey, ConnectionKey, CredentialKey, EpochKey, ErasedKey, FailedMailKey,
    Key as _, LedgerUnsentKey, MailedKey, MemberKey, NewsKey, NewsSentKey, NotificationKey,
    OperatorStore, QueuedMailKey, ReceivedKey, ReplayKey, SecretKey, TotalKey, TransactionKey,
    decode,
};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreOptions {
    /// Also restores API keys, memberships of teams and people of shops. Some of them may have been revoked
    /// or removed since the backup.
    pub with_keys: bool,
    /// Restores only transactions, the delivery state of their e-mails, and the records which say that a
    /// transaction was cancelled or erased. Replay records are included only if the namespace has the
    /// backup's secret.
    pub only_transactions: bool,
    /// Restores no records, only the rows of the ledger.
    pub only_ledger: bool,
    /// Also overwrites existing records that differ from the backup, including the namespace's secret.
    pub overwrite: bool,
}

impl RestoreOptions {
    /// Returns whether the rows of a table are restored.
    pub fn takes_rows(&self, table: OwnTable) -> bool {
        table != OwnTable::People || self.with_keys
    }
}

/// The facts about a backup on which a restore depends: its secret, and whether it has replay records.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct BackupSummary {
    /// The record of the namespace's secret.
    pub secret: Option<String>,
    pub replays: bool,
}

impl BackupSummary {
    pub fn add(&mut self, name: &str, value: &str) {
        self.replays |= name.starts_with(ReplayKey::PREFIX);
        if name == SecretKey.name() {
            self.secret = Some(value.to_owned());
        }
    }
}

/// Decides which records of a backup are restored to a namespace.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    options: RestoreOptions,
    same_secret: bool,
    /// Whether the restore replaces the namespace's secret. If so, API keys that are missing from the backup
    /// still contain the old secret.
    pub secret_replaced: bool,
}

impl Restore {
    /// Compares the secrets of the namespace and the backup. Refuses a restore after which repeated create
    /// requests would be recorded twice.
    ///
    /// A repeated create request is detected by its replay record, whose name is derived from the secret.
    /// With another secret, the replay record is not found, and a second transaction is recorded.
    ///
    /// # Errors
    /// If repeated create requests would be recorded twice, the backup's secret is damaged, or the store
    /// fails.
    pub async fn new(
        store: &impl OperatorStore,
        options: RestoreOptions,
        backup: BackupSummary,
    ) -> Result<Self> {
        if options.only_ledger {
            return Ok(Restore { options, same_secret: false, secret_replaced: false });
        }
        let own = secret::find(store).await?;
        let theirs = backup.secret.as_deref().map(read_secret).transpose()?;
        let same_secret = own.is_some() && own == theirs;
        let differs = own.is_some() && theirs.is_some() && !same_secret;
        let secret_replaced = differs && !options.only_transactions;
        if theirs.is_none() && backup.replays && !options.only_transactions {
            return Err(invalid(
                "this backup has replay records, but not the secret that they were made with. After a \
                 restore, repeated create requests would be recorded twice. Nothing was written. To \
                 leave out the replay records, use `--only transactions`",
            ));
        }
        if secret_replaced && !options.overwrite {
            return Err(invalid(
                "this namespace and the backup have different secrets. After a restore, repeated \
                 create requests would be recorded twice. Nothing was written. Use `--only \
                 transactions`, restore into an empty namespace, or use `--overwrite` to replace the \
                 secret",
            ));
        }
        Ok(Restore { options, same_secret, secret_replaced })
    }

    pub fn takes(&self, name: &str) -> bool {
        let is = |prefix| name.starts_with(prefix);
        if self.options.only_ledger {
            return false;
        }
        if [CredentialKey::PREFIX, MemberKey::PREFIX, ConnectionKey::PREFIX].into_iter().any(is) {
            return self.options.with_keys;
        }
        if [MailedKey::PREFIX, QueuedMailKey::PREFIX, LedgerUnsentKey::PREFIX].into_iter().any(is) {
            return false; // counts of e-mails by a person's hash, kept for two days, and the state of a queue's messages
        }
        if [NewsKey::PREFIX, NewsSentKey::PREFIX].into_iter().any(is) {
            return false; // a buyer who has unsubscribed since, or was erased, must get no e-mail
        }
        if is(ReceivedKey::PREFIX) {
            return false; // the orders of people who may have been erased since
        }
        if is(BackupKey::PREFIX) {
            return false; // the namespace's own last backups may be newer
        }
        if is(TotalKey::PREFIX) {
            return false; // the cron writes it from the ledger
        }
        if is(EpochKey::PREFIX) {
            return false; // it names the database of the rows, which are restored after the records
        }
        let of_transactions = [
            TransactionKey::PREFIX,
            CancelledKey::PREFIX,
            ErasedKey::PREFIX,
            NotificationKey::PREFIX,
            FailedMailKey::PREFIX,
        ];
        if !self.options.only_transactions || of_transactions.into_iter().any(is) {
            return true;
        }
        is(ReplayKey::PREFIX) && self.same_secret
    }
}

fn read_secret(record: &str) -> Result<NamespaceSecret> {
    let SecretRecord { secret } = decode(SecretKey::KIND, record.as_bytes())?;
    Ok(secret)
}

fn invalid(problem: &str) -> OperatorError {
    OperatorError::invalid(problem)
}
