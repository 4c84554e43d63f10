//! What a restore takes of a backup.

use super::{OperatorError, Result, secret};
use crate::secret::{NamespaceSecret, SecretRecord};
use crate::store::{
    BackupKey, CredentialKey, ErasedKey, FailedMailKey, Key as _, LedgerUnsentKey, MailedKey,
    MemberKey, NotificationKey, OperatorStore, QueuedMailKey, ReplayKey, SecretKey, TransactionKey,
    decode,
};
use serde::Deserialize;

/// What the operator asks for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wish {
    /// Also API keys and the units of teams, which may have been revoked or removed since.
    pub with_keys: bool,
    /// Only transactions, what became of their e-mails, their replay records and the marks of erasures.
    pub only_transactions: bool,
    /// Also in the place of records that differ, the namespace's secret among them.
    pub overwrite: bool,
}

/// The records of a backup on which others depend.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Backed {
    /// The record of the namespace's secret.
    pub secret: Option<String>,
    /// Whether there are replay records.
    pub replays: bool,
}

impl Backed {
    /// Takes note of a record.
    pub fn add(&mut self, name: &str, value: &str) {
        self.replays |= name.starts_with(ReplayKey::PREFIX);
        if name == SecretKey.name() {
            self.secret = Some(value.to_owned());
        }
    }
}

/// Which records of a backup a place takes.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    wish: Wish,
    /// Whether backup and place have the same secret.
    same_secret: bool,
    /// Whether the place's secret is replaced by another one: keys that only the place has keep theirs.
    pub secret_replaced: bool,
}

impl Restore {
    /// Compares the secrets of a place and a backup. The names of replay records, and what they lead to,
    /// are made with the secret: with another one, repeats do not find them and are recorded twice.
    ///
    /// # Errors
    /// If repeats would be recorded twice, the backup's secret is damaged, or the store fails.
    pub async fn new(store: &impl OperatorStore, wish: Wish, backed: Backed) -> Result<Self> {
        let own = secret::find(store).await?;
        let theirs = backed.secret.as_deref().map(read_secret).transpose()?;
        let same_secret = own.is_some() && own == theirs;
        let differs = own.is_some() && theirs.is_some() && !same_secret;
        let secret_replaced = differs && !wish.only_transactions;
        if theirs.is_none() && backed.replays && !wish.only_transactions {
            return Err(invalid(
                "this backup has replay records, and not the secret that they were made with: their \
                 creates would be recorded twice when they are repeated, and nothing was written; \
                 `--only transactions` leaves them out",
            ));
        }
        if secret_replaced && !wish.overwrite {
            return Err(invalid(
                "this namespace has another secret than the backup: repeats of creates would be \
                 recorded twice; nothing was written; take `--only transactions`, restore into an \
                 empty namespace, or give `--overwrite` to replace the secret",
            ));
        }
        Ok(Restore { wish, same_secret, secret_replaced })
    }

    /// Whether records of this name are restored.
    pub fn takes(&self, name: &str) -> bool {
        let is = |prefix| name.starts_with(prefix);
        if is(CredentialKey::PREFIX) || is(MemberKey::PREFIX) {
            return self.wish.with_keys;
        }
        if [MailedKey::PREFIX, QueuedMailKey::PREFIX, LedgerUnsentKey::PREFIX].into_iter().any(is) {
            return false; // they name a person by the secret, for two days, and messages of a queue
        }
        if is(BackupKey::PREFIX) {
            return false; // the place's last backups may be newer
        }
        let of_transactions = [
            TransactionKey::PREFIX,
            ErasedKey::PREFIX,
            NotificationKey::PREFIX,
            FailedMailKey::PREFIX,
        ];
        if !self.wish.only_transactions || of_transactions.into_iter().any(is) {
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
    OperatorError::Invalid(problem.to_owned())
}
