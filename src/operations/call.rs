//! A call of an operation: its ports, and what comes of it.

use super::table::time;
use crate::handle::{Clock, Entropy, Outbox};
use crate::ledger::{Ledger, LedgerError};
use crate::operator::audit::Author;
use crate::operator::{Done, OperationId, OperatorError, bound, was_done};
use crate::store::{OperatorStore, StoreError};
use crate::time::TimeZones;
use serde::Serialize;

pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The kinds of ports.
pub trait Ports {
    /// The records.
    type Store: OperatorStore;
    /// Time, randomness and time zones.
    type Platform: Clock + Entropy + TimeZones;
    /// The program that runs the operation.
    type Host: Host;
}

/// What an operation asks of the program that runs it, such as a command line. Each wait has a deadline but that for a person.
pub trait Host: Outbox {
    /// Says who acts.
    fn person(&self) -> impl Future<Output = Result<String, Stopped>>;
    /// Asks a person to confirm. Fails if they do not: `otherwise` says what was then left undone.
    fn confirm(&self, question: &str, otherwise: &str)
    -> impl Future<Output = Result<(), Stopped>>;
    /// Reads a file; `-` is standard input.
    fn read(&self, file: &str) -> impl Future<Output = Result<Vec<u8>, Stopped>>;
    /// Begins a new file, which is there once the operation has succeeded; without a name, standard output.
    fn create(&self, file: Option<&str>) -> impl Future<Output = Result<(), Stopped>>;
    /// Writes into the file that was begun.
    fn write(&self, text: &str) -> impl Future<Output = Result<(), Stopped>>;
    /// Tells the person something beside the answer.
    fn note(&self, text: &str);
    /// Makes sure that messages can be put into the queue of notifications.
    fn open_queue(&self) -> impl Future<Output = Result<(), Stopped>>;
}

/// The host failed, or the person did not confirm. The host has the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// A call of an operation.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Call<'c, P: Ports> {
    /// The records.
    pub store: &'c P::Store,
    /// Their ledger; `None` if no database is bound.
    pub ledger: Option<&'c dyn Ledger>,
    /// Time, randomness and time zones.
    pub platform: &'c P::Platform,
    /// The program that runs the operation.
    pub host: &'c P::Host,
    /// Where the records are, in words.
    pub place: &'c str,
    /// The ID of the change; `None` draws one.
    pub operation: Option<OperationId>,
}

impl<P: Ports> Call<'_, P> {
    /// The ledger.
    ///
    /// # Errors
    /// If no database is bound.
    pub fn ledger(&self) -> Result<&dyn Ledger> {
        Ok(bound(self.ledger)?)
    }

    /// The person who acts, by their name.
    ///
    /// # Errors
    /// If the name is out of bounds.
    pub fn author<'a>(&'a self, by: &'a str) -> Result<Author<'a, P::Platform, P::Platform>> {
        let author = Author::new(by, self.platform, self.platform);
        let author = author.map_err(|error| invalid(format!("{error}: give it by `--by`")))?;
        Ok(match &self.operation {
            Some(operation) => author.with_operation(operation.clone()),
            None => author,
        })
    }

    /// Whether the change was done before by the same operation ID: then it is neither checked nor confirmed again.
    ///
    /// # Errors
    /// If the host or the ledger fails.
    pub async fn was_done(&self) -> Result<bool> {
        if self.operation.is_none() {
            return Ok(false);
        }
        let by = self.host.person().await?;
        Ok(was_done(self.ledger, &self.author(&by)?).await?.is_some())
    }
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For programs: a JSON object.
    pub data: String,
    /// For people: lines of text.
    pub text: String,
    /// The exit code of a command: 1 where the answer is one that a script has to act on.
    pub exit_code: u8,
    /// Whether standard output has something else, so that the text goes to standard error.
    pub is_aside: bool,
}

impl Answer {
    /// An answer.
    ///
    /// # Errors
    /// If the data is no JSON.
    pub fn new(data: &impl Serialize, text: impl Into<String>) -> Result<Self> {
        let data = serde_json::to_string(data).map_err(OperatorError::from)?;
        Ok(Answer { data, text: text.into(), exit_code: 0, is_aside: false })
    }

    /// The answer of a change, which says when it was done before.
    ///
    /// # Errors
    /// If the data is no JSON object.
    pub fn done<T: Serialize>(done: &Done<T>, text: impl Into<String>) -> Result<Self> {
        Ok(Answer::new(&done.outcome, text)?.since(done.before.as_deref()))
    }

    /// The same answer, of a change that was done before.
    pub fn since(self, before: Option<&str>) -> Self {
        let Some(at) = before else { return self };
        let members = self.data.strip_prefix('{').unwrap_or_default();
        let comma = if members == "}" { "" } else { "," };
        let data = format!("{{\"alreadyDone\":\"{at}\"{comma}{members}");
        let text = format!("Already done at {}; nothing was done now.\n\n{}", time(at), self.text);
        Answer { data, text, ..self }
    }

    /// The same answer, with exit code 1 if this is so.
    pub fn failing_if(self, is_failing: bool) -> Self {
        Answer { exit_code: u8::from(is_failing), ..self }
    }
}

/// Why an operation did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An argument is wrong: nothing was done.
    Usage(String),
    /// The operator's function failed.
    Operator(OperatorError),
    /// The host failed, or the person did not confirm.
    Stopped,
    /// It failed for this reason after a part was done, which the answer shows.
    Partial(Box<Failure>, Answer),
}

impl Failure {
    /// Whether the host, the store or the ledger threw an error that says more.
    pub fn is_thrown(&self) -> bool {
        match self {
            Failure::Stopped => true,
            Failure::Operator(error) => matches!(
                error,
                OperatorError::Store(StoreError::Unavailable)
                    | OperatorError::Ledger(LedgerError::Unavailable)
            ),
            Failure::Partial(failure, _) => failure.is_thrown(),
            Failure::Usage(_) => false,
        }
    }

    /// The reason, in words.
    pub fn reason(&self) -> String {
        match self {
            Failure::Usage(problem) => problem.clone(),
            Failure::Operator(error) => error.to_string(),
            Failure::Stopped => "the program that runs the operation failed".to_owned(),
            Failure::Partial(failure, _) => failure.reason(),
        }
    }
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        Failure::Operator(error)
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        Failure::Operator(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Operator(error.into())
    }
}

impl From<Stopped> for Failure {
    fn from(Stopped: Stopped) -> Self {
        Failure::Stopped
    }
}

/// A refusal, in words.
pub(super) fn invalid(problem: impl Into<String>) -> Failure {
    Failure::Operator(OperatorError::Invalid(problem.into()))
}
