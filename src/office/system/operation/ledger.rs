//! The operator's operations on the ledger: its state, a check, a rebuild, and which months it keeps.

use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::table::{facts, paragraphs, table, time, time_of};
use crate::office::shared::rows::published;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::system::rows::check;
use crate::office::system::rows::check::CheckReport;
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::health::{Health, Pass};
use crate::office::system::rows::reconcile::Counts;
use crate::office::system::rows::upkeep;
use crate::office::system::rule::{epoch, kept};
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of findings that a command lists. A finding is a problem with a record.
const MOST_FINDINGS: usize = 1_000;

#[derive(Deserialize)]
pub struct NoArguments {}

// ---- Status --------------------------------------------------------------------------------------

pub const STATUS: Spec = Spec::reads(
    "ledger",
    "status",
    "print how complete the ledger is, and what needs attention; the exit code is 1 if there is a problem",
    &[],
)
.answers("`completeUpTo`: it has all transactions up to this time, or `null`; `keptFrom`: it keeps none from before this time, or `null`; `received`: when messages last arrived; `lagMs`: how long after its transaction the oldest of these arrived, in milliseconds; `lastPass` and `currentPass`: the last complete and the running reconciliation pass, each with `began`, `ended`, `listed` (number of records compared) and `mended` (number of rows that the pass corrected: written or removed); `bytes`: the size of the database; `problem`, or `null`; `findings`: for each `kind`, `name` (of the record, or the ID of the transaction), `found` (when, in milliseconds since 1970) and `detail`");

#[derive(Serialize)]
struct Status<'s> {
    /// The health, without the number of findings.
    #[serde(flatten)]
    health: Value,
    problem: Option<&'s str>,
    findings: &'s [Finding],
}

pub async fn status<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let (health, findings) = (health(call).await?, findings(call).await?);
    let problem = health.problem.as_deref();
    let text = paragraphs([health_in_words(&health), findings_in_words(&findings)]);
    let mut members = serde_json::to_value(&health).map_err(OperatorError::from)?;
    members.as_object_mut().map(|members| members.remove("findings"));
    let data = Status { health: members, problem, findings: &findings };
    Ok(Answer::new(&data, text)?.failing_if(problem.is_some()))
}

async fn health<P: Ports>(call: &Call<'_, P>) -> Result<Health> {
    Ok(epoch::health(call.store, call.ledger, call.platform.now_ms()).await?)
}

async fn findings<P: Ports>(call: &Call<'_, P>) -> Result<Vec<Finding>> {
    Ok(findings::findings(call.ledger, MOST_FINDINGS).await?)
}

fn health_in_words(health: &Health) -> String {
    let not_yet = || "not yet".to_owned();
    let lag = health.lag_ms.map(|ms| format!(", {} s after its transaction", ms.div_ceil(1_000)));
    let received =
        health.received.as_deref().map(|at| [time(at), lag.unwrap_or_default()].concat());
    let size = health.bytes.map(|bytes| format!("{} MB", bytes.div_ceil(1_000_000)));
    facts([
        ("Complete up to", Some(health.complete_up_to.as_deref().map_or_else(not_yet, time))),
        ("Kept", health.kept_from.as_deref().map(|from| format!("from {} on", time(from)))),
        ("Last message", Some(received.unwrap_or_else(not_yet))),
        (
            "Last reconciliation pass",
            Some(health.last_pass.as_ref().map_or_else(not_yet, pass_in_words)),
        ),
        ("Running reconciliation pass", health.current_pass.as_ref().map(pass_in_words)),
        ("Size", size),
        ("Problem", Some(health.problem.clone().unwrap_or_else(|| "none".to_owned()))),
    ])
}

fn pass_in_words(Pass { began, ended, listed, mended }: &Pass) -> String {
    let ended = ended.as_deref().map(|at| format!(" to {}", time(at))).unwrap_or_default();
    format!("{}{ended}: {listed} records compared, {mended} rows written or removed", time(began))
}

fn findings_in_words(findings: &[Finding]) -> String {
    let row = |Finding { kind, name, found, detail }: &Finding| {
        [kind_in_words(*kind).to_owned(), time_of(*found), name.clone(), detail.clone()]
    };
    match findings.is_empty() {
        true => String::new(),
        false => {
            let rows: Vec<_> = findings.iter().map(row).collect();
            let mut kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
            kinds.dedup(); // findings are sorted by kind
            let advice =
                kinds.into_iter().map(|kind| [kind_in_words(kind), ": ", advice(kind)].concat());
            let advice: Vec<_> = advice.collect();
            let found = table(["FINDING", "FOUND", "RECORD", "DETAIL"], &rows);
            paragraphs([found, advice.join("\n")])
        }
    }
}

/// Returns what a kind of finding means, and what to do.
const fn advice(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Copy => {
            "after a loss of the database, this was taken from its copy in Workers KV, and its entry in the audit log is \
             lost. Check that it is right, and change it otherwise."
        }
        FindingKind::Damaged => {
            "the record cannot be read, so its transaction is missing from all lists and sums. Delete \
             the record, and restore a backup with `--only transactions`."
        }
        FindingKind::Gone => {
            "the record was deleted, so its row was removed. Restore a backup with `--only transactions`, or keep the finding: it explains why the sum changed."
        }
        FindingKind::Large => {
            "the quantities are too many to be summed by offering; the charge is counted. Ask the shop whether \
             the transaction is a mistake."
        }
        FindingKind::Refused => {
            "the database refused the row, so the transaction is missing from all lists and sums. This \
             is a bug: report it with the name of the record."
        }
        FindingKind::Update => {
            "after a loss of the database, timelines still show updates that it lacks. Restore a backup that has them, \
             or delete the record and publish the updates again."
        }
    }
}

const fn kind_in_words(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Copy => "copy",
        FindingKind::Damaged => "damaged",
        FindingKind::Gone => "gone",
        FindingKind::Large => "large",
        FindingKind::Refused => "refused",
        FindingKind::Update => "update",
    }
}

// ---- Check ---------------------------------------------------------------------------------------

pub const CHECK: Spec = Spec::reads(
    "ledger",
    "check",
    "run a reconciliation pass now: compare the ledger with all records, and correct it; afterwards the cron compares all \
     copies in Workers KV. This is not recorded in the audit log",
    &[],
)
.corrects()
.answers("numbers of transactions that were corrected: `missing` in the ledger, `wrong` there (different from their records), `gone` from Workers KV; and of transactions that are left out: `damaged` (the record cannot be read), `large` (too many quantities, so they are in no sum of offerings), `refused` (by the database); `findings` as for `ledger status`");

#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    counts: Counts,
    findings: Vec<Finding>,
}

pub async fn check<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let counts = pass(call).await?;
    published::compare_again(call.ledger).await?; // the cron notices that the database was set back
    let findings = findings(call).await?;
    let text = paragraphs([counts_in_words(&counts), findings_in_words(&findings)]);
    Answer::new(&Found { counts, findings }, text)
}

/// Runs a complete reconciliation pass, which compares the ledger with all records. Returns the numbers of
/// differences that it found.
async fn pass<P: Ports>(call: &Call<'_, P>) -> Result<Counts> {
    let holder = upkeep::holder(call.platform);
    let checked = check::check(call.ledger, call.store, call.platform, &holder).await?;
    let CheckReport { counts, .. } = checked.ok_or_else(|| {
        invalid(format!(
            "another reconciliation pass has been running for {} minutes. Check `ledger status`, and try again later",
            check::MAX_BUSY_MS / 60_000
        ))
    })?;
    Ok(counts)
}

fn counts_in_words(counts: &Counts) -> String {
    let Counts { missing, wrong, gone, damaged, large, refused } = counts;
    let row =
        |what: &str, count: &usize, now: &str| [what.to_owned(), count.to_string(), now.to_owned()];
    table(
        ["FOUND", "TRANSACTIONS", "NOW"],
        &[
            row("missing in the ledger", missing, "added"),
            row("different from their records", wrong, "corrected"),
            row("without a record", gone, "removed"),
            row("damaged records", damaged, "missing from all lists and sums"),
            row("with too many quantities", large, "not in the sums of any offering"),
            row("refused by the database", refused, "missing from all lists and sums"),
        ],
    )
}

// ---- Rebuild -------------------------------------------------------------------------------------

pub const REBUILD: Spec =
    Spec::changes("ledger", "rebuild", "empty the ledger, and rebuild it from all records", &[])
        .confirmed()
        .answers("`listed`: number of records; `damaged`, `large`, `refused`, `findings` as for `ledger check`; `completeUpTo` as for `ledger status`");

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rebuilt {
    listed: u64,
    damaged: usize,
    large: usize,
    refused: usize,
    complete_up_to: Option<String>,
    findings: Vec<Finding>,
}

pub async fn rebuild<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    if !call.was_done().await? {
        let ask = "Empty the ledger, and rebuild it from the records?";
        let effect = "Until the rebuild ends, lists and sums lack transactions, and no month can be marked as paid.";
        call.confirm(Question::new(ask, "nothing was emptied").effect(effect)).await?;
    }
    let by = call.host.person().await?;
    let done = kept::rebuild(call.store, call.ledger, &call.author(&by)?).await?;
    let Counts { damaged, large, refused, .. } = pass(call).await?;
    let (findings, health) = (findings(call).await?, health(call).await?);
    let listed = health.last_pass.map_or(0, |pass| pass.listed);
    let complete_up_to = health.complete_up_to;
    let made = format!(
        "The ledger was rebuilt from {listed} records. {}",
        complete_in_words(complete_up_to.as_deref())
    );
    let text = paragraphs([made, findings_in_words(&findings)]);
    let rebuilt = Rebuilt { listed, damaged, large, refused, complete_up_to, findings };
    Ok(Answer::new(&rebuilt, text)?.since(done.before.as_deref()))
}

fn complete_in_words(up_to: Option<&str>) -> String {
    up_to.map_or_else(
        || "The ledger is not complete yet.".to_owned(),
        |at| format!("The ledger is complete up to {}.", time(at)),
    )
}

// ---- Keep from -----------------------------------------------------------------------------------

pub const KEEP_FROM: Spec = Spec::changes(
    "ledger",
    "keep-from",
    "set the first month that the ledger keeps; Workers KV keeps the transactions of all months",
    &[Argument::positional(
        "month",
        text("month"),
        "the first month to keep, such as 2025-01, or `all` to keep every month",
    )],
)
.confirmed()
.answers("`missing`, `wrong`, `gone`, `damaged`, `large`, `refused` as for `ledger check`; `keptFrom`, `completeUpTo` as for `ledger status`");

#[derive(Deserialize)]
pub struct KeepFrom {
    month: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    #[serde(flatten)]
    counts: Counts,
    kept_from: Option<String>,
    complete_up_to: Option<String>,
}

pub async fn keep_from<P: Ports>(call: &Call<'_, P>, asked: KeepFrom) -> Result<Answer> {
    let month = match &*asked.month {
        "all" => None,
        text => Some(Month::parse(text).ok_or_else(|| {
            Failure::Usage(Refused::at(
                "month",
                RefusalCode::Invalid,
                "`<month>` must be a year and a month, such as 2025-01, or `all`",
            ))
        })?),
    };
    if !call.was_done().await? {
        call.confirm(keep_question(month)).await?;
    }
    let by = call.host.person().await?;
    let done = kept::keep_from(call.store, call.ledger, &call.author(&by)?, month).await?;
    let counts = pass(call).await?;
    let Health { kept_from, complete_up_to, .. } = health(call).await?;
    let which = month.map_or_else(
        || "all transactions".to_owned(),
        |month| format!("only transactions from {month} on"),
    );
    let complete = complete_in_words(complete_up_to.as_deref());
    let text = format!("The ledger keeps {which}. {complete}");
    let answer = Answer::new(&Kept { counts, kept_from, complete_up_to }, text)?;
    Ok(answer.since(done.before.as_deref()))
}

fn keep_question(month: Option<Month>) -> Question {
    let (ask, effect) = match month {
        Some(month) => (
            format!("Remove the transactions of all months before {month} from the ledger?"),
            "Workers KV keeps these transactions. The earlier months can then no longer be summed, exported or \
             marked as paid. Their transactions can be found only by ID, or by reference within a unit.",
        ),
        None => (
            "Bring all transactions back into the ledger?".to_owned(),
            "Until this ends, lists and sums lack transactions, and no month can be marked as paid.",
        ),
    };
    Question::new(ask, "nothing was changed").effect(effect)
}

// ---- Accept loss ---------------------------------------------------------------------------------

pub const ACCEPT_LOSS: Spec = Spec::changes(
    "ledger",
    "accept-loss",
    "use the database although rows of people, credits, fulfilments or updates are lost. Only if no backup has these rows",
    &[],
)
.confirmed()
.answers("`completeUpTo` as for `ledger status`");

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Accepted {
    complete_up_to: Option<String>,
}

pub async fn accept_loss<P: Ports>(
    call: &Call<'_, P>,
    NoArguments {}: NoArguments,
) -> Result<Answer> {
    if !call.was_done().await? {
        let question = Question::new("Go on with the ledger as it is?", "nothing was changed");
        let effect = "Months are billed without the credits that it lacks.";
        call.confirm(question.effect(effect)).await?;
    }
    let by = call.host.person().await?;
    let done = epoch::accept(call.store, call.ledger, &call.author(&by)?).await?;
    let Health { complete_up_to, .. } = health(call).await?;
    let text = "The ledger counts as complete, with the people, credits, fulfilments and updates that it has.";
    Ok(Answer::new(&Accepted { complete_up_to }, text)?.since(done.before.as_deref()))
}
