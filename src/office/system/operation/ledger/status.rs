//! Prints the state of the ledger.

use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::operation::table::{facts, paragraphs, table, time, time_of};
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::health::{Health, Pass};
use crate::office::system::rule::epoch;
use crate::pledges::service::Clock as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of findings that a command lists. A finding is a problem with a record.
pub(super) const MOST_FINDINGS: usize = 1_000;

#[derive(Deserialize)]
pub struct NoArguments {}

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

pub(super) async fn health<P: Ports>(call: &Call<'_, P>) -> Result<Health> {
    Ok(epoch::health(call.store, call.ledger, call.platform.now_ms()).await?)
}

pub(super) async fn findings<P: Ports>(call: &Call<'_, P>) -> Result<Vec<Finding>> {
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

pub(super) fn pass_in_words(Pass { began, ended, listed, mended }: &Pass) -> String {
    let ended = ended.as_deref().map(|at| format!(" to {}", time(at))).unwrap_or_default();
    format!("{}{ended}: {listed} records compared, {mended} rows written or removed", time(began))
}

pub(super) fn findings_in_words(findings: &[Finding]) -> String {
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
