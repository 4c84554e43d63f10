//! A call of an operation: the interfaces that it uses, its answer and its failure.

use super::facts::{Facts, in_lines};
use super::listing::Listing;
use super::question::Question;
use super::table::{paragraphs, time};
use crate::office::audit::rule::Author;
use crate::office::mails::rule::QueuedRounds;
use crate::office::people::rows::people::Membership;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::{Done, was_done};
use crate::office::shared::rule::operation_id::OperationId;
use crate::office::shared::rule::refused::Refused;
use crate::pledges::service::{Clock, Entropy, Outbox};
use crate::pledges::store::{OperatorStore, StoreError};
use crate::pledges::time::TimeZones;
use serde::Serialize;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The types of the interfaces that operations use.
pub trait Ports {
    type Store: OperatorStore;
    type Platform: Clock + Entropy + TimeZones;
    type Host: Host;
}

/// The program that runs an operation, such as a command line. All waits have a deadline, except waits for
/// the person's input.
pub trait Host: Outbox {
    fn person(&self) -> impl Future<Output = Result<String, Aborted>>;
    /// Asks the person to confirm. Fails if the person does not.
    fn confirm(&self, question: &Question) -> impl Future<Output = Result<(), Aborted>>;
    /// Reads a file; `-` is standard input.
    fn read(&self, file: &str) -> impl Future<Output = Result<Vec<u8>, Aborted>>;
    /// Begins a new file. The file appears only once the operation has succeeded. If no name is given, the
    /// output goes to standard output.
    fn create(&self, file: Option<&str>) -> impl Future<Output = Result<(), Aborted>>;
    /// Writes to the file that [`create`](Self::create) began.
    fn write(&self, text: &str) -> impl Future<Output = Result<(), Aborted>>;
    /// Shows the person a text that is not part of the answer.
    fn note(&self, text: &str);
    /// Makes sure that the notification queue accepts messages.
    fn open_queue(&self) -> impl Future<Output = Result<(), Aborted>>;
    /// Returns whether pages show the change. A page always shows what would change before it is changed, and makes a change
    /// in steps one step at a time.
    fn is_page(&self) -> bool {
        false
    }
    /// Returns the value that a page showed of an argument before the person changed it; `None` if it is unknown.
    fn initial(&self, _argument: &str) -> Option<&str> {
        None
    }
}

/// The host failed, or the person did not confirm. This value does not say why; the host knows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

#[expect(missing_debug_implementations, reason = "ports")]
pub struct Call<'c, P: Ports> {
    pub store: &'c P::Store,
    /// The ledger, a database beside the records.
    pub ledger: &'c dyn Ledger,
    pub platform: &'c P::Platform,
    pub host: &'c P::Host,
    /// The units and teams of a person of a shop; `None` for an operator.
    pub memberships: Option<&'c [Membership]>,
    /// The ID of the change, by which a repeated request is recognised; `None` generates one.
    pub operation: Option<OperationId>,
    /// The notifications that this instance has recently put into the queue again.
    pub rounds: &'c QueuedRounds,
    /// The [steps](super::steps::Steps) of the change so far; empty for a change that begins.
    pub rest: &'c str,
}

impl<P: Ports> Call<'_, P> {
    /// Creates the author of the change from the person's name.
    ///
    /// # Errors
    /// If the name is not one line of 1 to 254 bytes.
    pub fn author<'a>(&'a self, by: &'a str) -> Result<Author<'a, P::Platform, P::Platform>> {
        let author = Author::new(by, self.platform, self.platform);
        let author =
            author.map_err(|error| invalid(format!("{error}: set the name with `--by`")))?;
        let author = match self.memberships {
            Some(memberships) => author.with_rights(self.ledger, memberships),
            None => author,
        };
        Ok(match &self.operation {
            Some(operation) => author.with_operation(operation.clone()),
            None => author,
        })
    }

    /// Asks the person to confirm a change.
    ///
    /// # Errors
    /// If the person does not confirm.
    pub async fn confirm(&self, question: Question) -> Result<()> {
        Ok(self.host.confirm(&question).await?)
    }

    /// Returns whether an earlier request with this operation ID has already made the change. Such a change
    /// is not checked or confirmed again.
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

/// What a change did, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// What was changed: one or more sentences.
    pub said: String,
    pub facts: Facts,
    /// What was changed, as a table.
    pub rows: Listing,
    /// When an earlier request with the same operation ID made the change; `None` if this request made it.
    pub before: Option<String>,
}

impl Changed {
    pub fn new(said: impl Into<String>, facts: Facts) -> Self {
        Changed { said: said.into(), facts, ..Changed::default() }
    }

    #[must_use]
    pub fn with_rows(self, rows: Listing) -> Self {
        Changed { rows, ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The JSON object for programs.
    pub data: String,
    /// The lines of text for people.
    pub text: String,
    /// What the dashboard shows of a change.
    pub change: Changed,
    /// The exit code of the command: 1 if a script has to act on the answer, otherwise 0.
    pub exit_code: u8,
    /// Whether the text goes to standard error, because standard output contains a file that the operation
    /// wrote.
    pub is_aside: bool,
    /// What is left of a change in [steps](super::steps::Steps); `None` if it is complete.
    pub rest: Option<String>,
}

impl Answer {
    /// Creates an answer with exit code 0.
    ///
    /// # Errors
    /// If the data cannot be encoded as JSON.
    pub fn new(data: &impl Serialize, text: impl Into<String>) -> Result<Self> {
        let data = serde_json::to_string(data).map_err(OperatorError::from)?;
        let change = Changed::default();
        Ok(Answer { data, text: text.into(), change, exit_code: 0, is_aside: false, rest: None })
    }

    /// Creates the answer of a list, whose JSON object has the entries under this name.
    ///
    /// # Errors
    /// If the entries cannot be encoded as JSON.
    pub fn list(name: &str, entries: &impl Serialize, text: impl Into<String>) -> Result<Self> {
        let entries = serde_json::to_string(entries).map_err(OperatorError::from)?;
        let data = format!("{{\"{name}\":{entries}}}");
        Ok(Answer { data, ..Answer::new(&(), text)? })
    }

    /// Creates the answer for a change from what was changed. If an earlier request had already made the change, the
    /// answer says when.
    ///
    /// # Errors
    /// If the data cannot be encoded as JSON.
    pub fn changed<T: Serialize>(done: &Done<T>, change: Changed) -> Result<Self> {
        let text =
            paragraphs([change.said.clone(), in_lines(&change.facts), change.rows.in_lines()]);
        let answer = Answer::new(&done.outcome, text)?;
        let change = Changed { before: done.before.clone(), ..change };
        Ok(Answer { change, ..answer.since(done.before.as_deref()) })
    }

    /// Creates the answer for a change that an earlier request cannot have made as a whole, because it has steps.
    ///
    /// # Errors
    /// If the data cannot be encoded as JSON.
    pub fn of(outcome: &impl Serialize, change: Changed) -> Result<Self> {
        Answer::changed(&Done { outcome, before: None }, change)
    }

    /// Adds a note that the change was already made at the time `before`. If `before` is `None`, leaves the
    /// answer unchanged.
    pub fn since(self, before: Option<&str>) -> Self {
        let Some(at) = before else { return self };
        let members = self.data.strip_prefix('{').unwrap_or_default();
        let comma = if members == "}" { "" } else { "," };
        let data = format!("{{\"alreadyDone\":\"{at}\"{comma}{members}");
        let text =
            format!("Already done at {}; nothing was changed now.\n\n{}", time(at), self.text);
        Answer { data, text, ..self }
    }

    /// Sets exit code 1 if `is_failing`.
    pub fn failing_if(self, is_failing: bool) -> Self {
        Answer { exit_code: u8::from(is_failing), ..self }
    }
}

/// Why an operation did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An argument is invalid. Nothing was done.
    Usage(Refused),
    /// A rule refused the operation, or the store or the ledger failed.
    Operator(OperatorError),
    /// The host failed, or the person did not confirm.
    Aborted,
    /// The operation stopped after a part of it was done. Contains the reason, and an answer that shows what
    /// was done.
    Partial(Box<Failure>, Box<Answer>),
}

impl Failure {
    /// Returns whether the host, the store or the ledger threw an error. That error has the details.
    pub fn is_thrown(&self) -> bool {
        match self {
            Failure::Aborted => true,
            Failure::Operator(error) => matches!(
                error,
                OperatorError::Store(StoreError::Unavailable)
                    | OperatorError::Ledger(LedgerError::Unavailable)
            ),
            Failure::Partial(failure, _) => failure.is_thrown(),
            Failure::Usage(_) => false,
        }
    }

    pub fn reason(&self) -> String {
        match self {
            Failure::Usage(refused) => refused.text.clone(),
            Failure::Operator(error) => error.to_string(),
            Failure::Aborted => "the program that runs the operation failed".to_owned(),
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

impl From<Aborted> for Failure {
    fn from(Aborted: Aborted) -> Self {
        Failure::Aborted
    }
}

pub(crate) fn invalid(problem: impl Into<String>) -> Failure {
    Failure::Operator(OperatorError::invalid(problem.into()))
}
