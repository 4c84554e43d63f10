//! Operations on the tasks of the home page that a person can accept.

use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::reason::check_reason;
use crate::office::system::rows::accepted::{AcceptedTask, TaskKind};
use crate::office::system::rule::tasks;
use crate::office::system::rule::tasks::{AcceptedTasks, Task};
use serde::{Deserialize, Serialize};
use strum::{IntoEnumIterator as _, VariantNames as _};

/// Maximum number of accepted tasks that are listed.
const MAX_LISTED: usize = 1_000;

const KINDS: Kind = Kind::Choice { choices: TaskKind::VARIANTS };
const LIMIT: Argument = Argument::option(
    "unusual-charge",
    Kind::Number { least: 0, most: 9_007_199_254_740_991 },
    "charges above this many hundredths are unusual, too: the dashboard's `UNUSUAL_CHARGE`",
);

// ---- Accept --------------------------------------------------------------------------------------

pub const ACCEPT: Spec = Spec::changes(
    "tasks",
    "accept",
    "accept the open tasks of one kind, so that the home page does not show them any more",
    &[
        Argument::positional(
            "task",
            KINDS,
            "the kind of task: `unpriced`, unpriced pledges of a month; `unusual`, a transaction with an unusual charge; `untold`, pledges without an update; `idle`, a unit without a live transaction; `finding`, a finding of the ledger; `connection`, a shop system with a problem",
        ),
        LIMIT,
        Argument::option("reason", text("text"), "why the tasks need no further work")
            .required()
            .field("Reason", "One line, without personal data. It stays in the audit log."),
    ],
)
.confirmed()
.button("Accept")
.answers("`task`; `accepted`: the number of tasks")
.noted("At most 100 tasks are accepted at once. A task comes back if its facts change, for example if a month gets another unpriced pledge.");

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Accept {
    task: TaskKind,
    unusual_charge: Option<u64>,
    reason: String,
}

pub async fn accept<P: Ports>(call: &Call<'_, P>, asked: Accept) -> Result<Answer> {
    let Accept { task, unusual_charge, reason } = asked;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let of = (task, unusual_charge);
    let open = tasks::open(call.store, call.ledger, call.platform, of).await?;
    if !open.is_empty() && !call.was_done().await? {
        check_reason(reason.trim()).map_err(Failure::Usage)?;
        call.confirm(question(task, &open)).await?;
    }
    let done = tasks::accept(call.ledger, &author, (task, &reason), &open).await?;
    let AcceptedTasks { accepted, .. } = done.outcome;
    let said = format!("Accepted tasks of the kind `{}`: {accepted}.", task.name());
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

fn question(task: TaskKind, open: &[Task]) -> Question {
    let about = open.iter().map(|task| Fact::Text(task.about.clone())).collect();
    let ask = format!("Accept these tasks of the kind `{}`?", task.name());
    Question::new(ask, "nothing was accepted")
        .about(vec![("Tasks", Fact::List(about))])
        .effect("The home page does not show them any more. A task comes back if its facts change.")
        .button("Accept")
}

// ---- Reopen --------------------------------------------------------------------------------------

pub const REOPEN: Spec = Spec::changes(
    "tasks",
    "reopen",
    "withdraw the acceptance of a task, so that the home page shows it again",
    &[
        Argument::positional("task", KINDS, "the kind of task"),
        Argument::positional(
            "subject",
            text("subject"),
            "what the task is about, as `tasks list` prints it",
        ),
    ],
)
.button("Reopen")
.answers("`task`; `subject`");

#[derive(Serialize, Deserialize)]
pub struct Reopen {
    task: TaskKind,
    subject: String,
}

pub async fn reopen<P: Ports>(call: &Call<'_, P>, asked: Reopen) -> Result<Answer> {
    let by = call.host.person().await?;
    let of = (asked.task, &*asked.subject);
    let done = tasks::reopen(call.ledger, &call.author(&by)?, of).await?;
    let said = format!("The task of the kind `{}` is open again: {}.", of.0.name(), of.1);
    Answer::changed(&done.map(|()| &asked), Changed::new(said, Facts::new()))
}

// ---- List ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "tasks",
    "list",
    "list the open tasks that can be accepted, and those that were accepted",
    &[LIMIT],
)
.answers("`open`: for each task `task`, `subject` and `about`; `accepted`: for each task `task`, `subject`, `facts`, `reason`, `author` and `at` (in milliseconds since 1970)");

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct List {
    unusual_charge: Option<u64>,
}

#[derive(Serialize)]
struct Tasks {
    open: Vec<Task>,
    accepted: Vec<AcceptedTask>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, List { unusual_charge }: List) -> Result<Answer> {
    let mut open = Vec::new();
    for kind in TaskKind::iter() {
        let of = (kind, unusual_charge);
        open.extend(tasks::open(call.store, call.ledger, call.platform, of).await?);
    }
    let accepted = tasks::list(call.ledger, MAX_LISTED).await?;
    let text = paragraphs([open_tasks(&open).in_lines(), accepted_tasks(&accepted).in_lines()]);
    Answer::new(&Tasks { open, accepted }, text)
}

fn open_tasks(open: &[Task]) -> Listing {
    Listing::new(
        open,
        "No open tasks.",
        &[
            ("Task", &|it| Fact::words(it.task.name())),
            ("About", &|it| Fact::Text(it.about.clone())),
        ],
    )
}

fn accepted_tasks(accepted: &[AcceptedTask]) -> Listing {
    Listing::new(
        accepted,
        "",
        &[
            ("Accepted", &|it| Fact::time_of(it.at)),
            ("Task", &|it| Fact::words(it.task.name())),
            ("About", &|it| Fact::Text(it.subject.clone())),
            ("By", &|it| Fact::Text(it.author.clone())),
            ("Reason", &|it| Fact::Text(it.reason.clone())),
        ],
    )
}
