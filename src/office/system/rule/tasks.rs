//! Tasks of the home page that have no end of their own, such as a charge that was checked and is right. A person can accept
//! them with a reason. A task whose facts change afterwards is open again.

use super::attention;
use super::attention::MAX_UNITS;
use crate::office::audit::rule::{Author, Subject};
use crate::office::connections::rows::troubles::Trouble;
use crate::office::connections::rule as connections;
use crate::office::fulfilment::rule as fulfilments;
use crate::office::fulfilment::rule::Balance;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::reason::check_reason;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rows::accepted as rows;
use crate::office::system::rows::accepted::{AcceptedTask, TaskKind};
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::Finding;
use crate::office::system::rows::unusual::UnusualCharge;
use crate::pledges::hash::first_bytes;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Maximum number of accepted tasks that are read.
pub const MAX_ACCEPTED: usize = 10_000;
/// Maximum number of tasks that are accepted at once.
pub const MAX_TASKS: usize = 100;
/// Maximum number of findings that are read.
const MAX_FINDINGS: usize = 1_000;

/// A task that a person can accept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    pub task: TaskKind,
    /// What the task is about, such as the ID of a transaction.
    pub subject: String,
    /// What is true now. An acceptance holds as long as this is the same.
    #[serde(skip)]
    pub facts: String,
    /// The task in words.
    pub about: String,
}

impl Task {
    pub fn unpriced((month, count): &(Month, u64)) -> Self {
        Task {
            task: TaskKind::Unpriced,
            subject: month.to_string(),
            facts: count.to_string(),
            about: format!("unpriced pledges in {month}: {count}"),
        }
    }

    /// A charge never changes, so the task has no facts.
    fn unusual(charge: &UnusualCharge) -> Self {
        let UnusualCharge { id, unit, currency_code, amount, .. } = charge;
        Task {
            task: TaskKind::Unusual,
            subject: id.clone(),
            facts: String::new(),
            about: format!("charge of {amount} {currency_code}, {unit}, {id}"),
        }
    }

    pub fn untold(Balance { month, offering, pledged, .. }: &Balance) -> Self {
        Task {
            task: TaskKind::Untold,
            subject: format!("{month}:{offering}"),
            facts: pledged.clone(),
            about: format!("no update about {offering} in {month}, pledged: {pledged}"),
        }
    }

    pub fn idle(unit: &str) -> Self {
        Task {
            task: TaskKind::Idle,
            subject: unit.to_owned(),
            facts: String::new(),
            about: format!("no live transaction of the unit {unit}"),
        }
    }

    pub fn finding(Finding { kind, name, found, detail }: &Finding) -> Self {
        let hash: [u8; 16] = first_bytes(Sha256::digest(detail));
        let kind = serde_json::to_value(kind).ok();
        let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
        Task {
            task: TaskKind::Finding,
            subject: format!("{kind}:{name}"),
            facts: format!("{found} {}", base16ct::lower::encode_string(&hash)),
            about: format!("finding of the ledger, {kind}: {name}"),
        }
    }

    pub fn connection(trouble: &Trouble) -> Self {
        let Trouble { connection, unit, waiting, problem, silent, .. } = trouble;
        let silent = silent.map(|at| at.to_string()).unwrap_or_default();
        let problem = problem.as_deref().unwrap_or_default();
        Task {
            task: TaskKind::Connection,
            subject: connection.clone(),
            facts: format!("{} {silent} {problem}", if *waiting > 0 { "waiting" } else { "" }),
            about: format!("problem of the connection {connection} of {unit}"),
        }
    }
}

/// The facts of accepted tasks, by task and subject.
#[derive(Clone, Debug, Default)]
pub struct Accepted(BTreeMap<(TaskKind, String), String>);

impl Accepted {
    pub fn of(tasks: &[AcceptedTask]) -> Self {
        let facts = |it: &AcceptedTask| ((it.task, it.subject.clone()), it.facts.clone());
        Accepted(tasks.iter().map(facts).collect())
    }

    /// Returns whether nobody accepted the task with these facts.
    pub fn leaves_open(&self, task: &Task) -> bool {
        let key = (task.task, task.subject.clone());
        self.0.get(&key).is_none_or(|facts| *facts != task.facts)
    }
}

/// Returns at most `most` accepted tasks, newest first. Ledger cost: 1 query.
pub async fn list(ledger: &dyn Ledger, most: usize) -> Result<Vec<AcceptedTask>> {
    Ok(rows::accepted(ledger, most).await?)
}

/// Returns the open findings of the ledger. Ledger cost: 1 query.
pub async fn open_findings(ledger: &dyn Ledger, accepted: &Accepted) -> Result<Vec<Task>> {
    let found = findings::findings(ledger, MAX_FINDINGS).await?;
    Ok(found.iter().map(Task::finding).filter(|task| accepted.leaves_open(task)).collect())
}

/// Returns the first 100 open tasks of a kind. `limit` is the charge above which a transaction is unusual, in hundredths.
pub async fn open(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    (kind, limit): (TaskKind, Option<u64>),
) -> Result<Vec<Task>> {
    let accepted = Accepted::of(&list(ledger, MAX_ACCEPTED).await?);
    let mut tasks: Vec<_> = match kind {
        TaskKind::Unpriced => {
            attention::unpriced(ledger, clock).await?.iter().map(Task::unpriced).collect()
        }
        TaskKind::Unusual => {
            let found = attention::unusual(ledger, clock, limit, MAX_TASKS).await?;
            found.newest.iter().map(Task::unusual).collect()
        }
        TaskKind::Untold => {
            fulfilments::untold(store, ledger, clock).await?.iter().map(Task::untold).collect()
        }
        TaskKind::Idle => {
            let idle = attention::idle_units(store, ledger).await?;
            idle.units.iter().take(MAX_UNITS).map(|unit| Task::idle(unit)).collect()
        }
        TaskKind::Finding => open_findings(ledger, &accepted).await?,
        TaskKind::Connection => {
            let found = connections::troubles(ledger, None, clock).await?;
            found.iter().map(Task::connection).collect()
        }
    };
    tasks.retain(|task| accepted.leaves_open(task));
    tasks.truncate(MAX_TASKS);
    Ok(tasks)
}

const ACCEPT: &str = "tasks accept";
const REOPEN: &str = "tasks reopen";

/// The outcome of an acceptance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedTasks {
    pub task: TaskKind,
    pub accepted: usize,
}

impl StoredAsIs for AcceptedTasks {}

/// Accepts these tasks of one kind. Ledger cost: 2 calls.
///
/// # Errors
/// If there is no task, the reason is not valid, or the ledger fails.
pub async fn accept(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (kind, reason): (TaskKind, &str),
    tasks: &[Task],
) -> Result<Done<AcceptedTasks>> {
    let reason = reason.trim();
    let work = async |at: &Commit<'_, _, _>| accept_now(at, (kind, reason), tasks).await;
    commit(ledger, author, (ACCEPT, &(kind, reason)), work).await
}

async fn accept_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (task, reason): (TaskKind, &str),
    tasks: &[Task],
) -> Result<AcceptedTasks> {
    check_reason(reason).map_err(OperatorError::Invalid)?;
    if tasks.is_empty() {
        let problem = "nothing was accepted: there is no open task of this kind";
        return Err(OperatorError::at("task", RefusalCode::NotFound, problem));
    }
    let author = &commit.author;
    let entry = author.entry(ACCEPT, |_| subject((task, reason), tasks)).await?;
    let at = entry.key.time_ms();
    let row = |Task { subject, facts, .. }: &Task| AcceptedTask {
        task,
        subject: subject.clone(),
        facts: facts.clone(),
        reason: reason.to_owned(),
        author: author.by().to_owned(),
        at,
    };
    let accepted: Vec<_> = tasks.iter().map(row).collect();
    let outcome = AcceptedTasks { task, accepted: accepted.len() };
    match commit.make(&entry, &outcome, [rows::accepting(&accepted)?]).await? {
        true => Ok(outcome),
        false => Err(OperatorError::try_again("nothing was accepted: try again")),
    }
}

/// Withdraws the acceptance of a task: if its facts still hold, the home page shows it again. Ledger cost: 3 calls.
///
/// # Errors
/// If nobody accepted the task, or the ledger fails.
pub async fn reopen(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (kind, of): (TaskKind, &str),
) -> Result<Done<()>> {
    let work = async |at: &Commit<'_, _, _>| reopen_now(at, (kind, of)).await;
    commit(ledger, author, (REOPEN, &(kind, of)), work).await
}

async fn reopen_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (kind, of): (TaskKind, &str),
) -> Result<()> {
    let accepted = list(commit.ledger, MAX_ACCEPTED).await?;
    if !accepted.iter().any(|it| it.task == kind && it.subject == of) {
        let problem = "nothing was changed: nobody has accepted this task";
        return Err(OperatorError::at("subject", RefusalCode::NotFound, problem));
    }
    let on = || vec![kind.name().to_owned(), of.to_owned()];
    let entry = commit.author.entry(REOPEN, |_| on()).await?;
    match commit.make(&entry, &(), [rows::reopening(kind, of)?]).await? {
        true => Ok(()),
        false => Err(OperatorError::try_again("nothing was changed: try again")),
    }
}

/// Returns what the audit log records about an acceptance: the kind and the subjects of the tasks, and the reason.
fn subject((kind, reason): (TaskKind, &str), tasks: &[Task]) -> Subject {
    let subjects = tasks.iter().map(|task| task.subject.as_str());
    let on = [kind.name()].into_iter().chain(subjects).map(str::to_owned).collect();
    Subject::with_reason(on, reason)
}
