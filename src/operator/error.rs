//! The errors of the operator's functions.

use crate::store::StoreError;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Why a function failed. Its text is for the operator, and quotes no key and no personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorError {
    /// The store does not answer, or a record in it is damaged.
    Store(StoreError),
    /// The input breaks a rule of the service: text such as `` `a b` is not an ID ``.
    Invalid(String),
    /// Neither an API key, nor the hash or the ID of one.
    NotAKey,
    /// No key in the list has this ID.
    UnknownKeyId(String),
    /// Several keys have IDs that begin with this text.
    AmbiguousKeyId {
        /// The beginning of an ID.
        id: String,
        /// The number of these keys.
        count: usize,
    },
    /// There is no record of the key with this ID.
    NoKey(String),
    /// The record of the key cannot be read.
    DamagedKey {
        /// The key's ID.
        id: String,
        /// The problem.
        problem: String,
    },
    /// The record of the key with this ID has no copy of the namespace's secret.
    KeyWithoutSecret(String),
    /// Neither a record nor an API key has the namespace's secret.
    NoSecret,
    /// Not the ID of a transaction.
    NotATransactionId,
    /// There is no transaction with this ID.
    NoTransaction(String),
    /// The record of the transaction cannot be read.
    DamagedTransaction {
        /// The transaction's ID.
        id: String,
        /// The problem, without a quote from the record.
        problem: String,
    },
    /// A repeat of the create could still bring back what would be erased.
    TooYoung {
        /// The event less than five minutes ago.
        event: Event,
        /// Seconds until it can be erased.
        seconds: u64,
    },
    /// The transaction lacked its replay record, which was written now, and has to be visible
    /// everywhere before anything is erased.
    ReplayAdded(String),
}

/// An event after which an erasure has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The transaction was created.
    Created,
    /// Its missing replay record was written.
    ReplayAdded,
}

impl Display for OperatorError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            OperatorError::Store(StoreError::Unavailable) => {
                out.write_str("the store does not answer, or refuses")
            }
            OperatorError::Store(StoreError::Damaged(problem)) => out.write_str(problem),
            OperatorError::Invalid(problem) => out.write_str(problem),
            OperatorError::NotAKey => {
                out.write_str("this is neither a key nor an ID: take the ID from the key list")
            }
            OperatorError::UnknownKeyId(id) => write!(
                out,
                "no key has the ID `{id}` in the list, which may lack keys of the last minute: \
                 give the key itself or its whole hash, and no list is needed"
            ),
            OperatorError::AmbiguousKeyId { id, count } => write!(
                out,
                "{count} keys have IDs that begin with `{id}`: give more of the hash, or the key \
                 itself"
            ),
            OperatorError::NoKey(id) => write!(out, "there is no key {id}: nothing was done"),
            OperatorError::DamagedKey { id, problem } => {
                write!(out, "the record of the key {id} cannot be read: {problem}")
            }
            OperatorError::KeyWithoutSecret(id) => write!(
                out,
                "the record of the key {id} lacks the namespace's secret, without which a key \
                 cannot create: make a new key, and revoke this one"
            ),
            OperatorError::NoSecret => out.write_str(
                "this namespace has no secret, which references and addresses are found by: it is \
                 made with the first API key",
            ),
            OperatorError::NotATransactionId => out.write_str(
                "this is not the ID of a transaction, which begins with `ptran_`: take it from a \
                 list or an answer",
            ),
            OperatorError::NoTransaction(id) => {
                write!(out, "there is no transaction {id} here: is it one of this place?")
            }
            OperatorError::DamagedTransaction { id, problem } => write!(out, "{id}: {problem}"),
            OperatorError::TooYoung { event, seconds } => {
                let event = match event {
                    Event::Created => "was created",
                    Event::ReplayAdded => "got its missing replay record",
                };
                write!(
                    out,
                    "it {event} less than 5 minutes ago, and a repeat of the create could bring \
                     it back: nothing was erased, try again in {seconds} s"
                )
            }
            OperatorError::ReplayAdded(id) => write!(
                out,
                "the create of {id} was broken off before its replay record was written, which is \
                 there now: nothing is erased yet, try again in 5 minutes"
            ),
        }
    }
}

impl Error for OperatorError {}

impl From<StoreError> for OperatorError {
    fn from(error: StoreError) -> Self {
        OperatorError::Store(error)
    }
}

/// A record could not be encoded, or input breaks a rule of its type.
impl From<serde_json::Error> for OperatorError {
    fn from(error: serde_json::Error) -> Self {
        OperatorError::Invalid(super::without_position(&error))
    }
}
