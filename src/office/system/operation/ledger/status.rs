//! Prints the state of the ledger.

use crate::office::orders::rows::removal::Removed;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts, in_lines};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::findings as rows;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::health::{Health, MAX_BYTES, Pass};
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
    let (health, findings) = (health(call).await?, found(call).await?);
    let problem = health.problem.as_deref();
    let text = paragraphs([in_lines(&health_facts(&health)), findings_in_words(&findings)]);
    let mut members = serde_json::to_value(&health).map_err(OperatorError::from)?;
    members.as_object_mut().map(|members| members.remove("findings"));
    let data = Status { health: members, problem, findings: &findings };
    Ok(Answer::new(&data, text)?.failing_if(problem.is_some()))
}

pub(super) async fn health<P: Ports>(call: &Call<'_, P>) -> Result<Health> {
    Ok(epoch::health(call.store, call.ledger, call.platform.now_ms()).await?)
}

pub(super) async fn found<P: Ports>(call: &Call<'_, P>) -> Result<Vec<Finding>> {
    Ok(rows::findings(call.ledger, MOST_FINDINGS).await?)
}

/// Describes the health of the ledger.
pub(crate) fn health_facts(health: &Health) -> Facts {
    let never = || Fact::words("not yet");
    let or_never = |time: &Option<String>| time.as_deref().map_or_else(never, Fact::time);
    let pass = |pass: &Option<Pass>, none: Fact| pass.as_ref().map_or(none, pass_fact);
    let lag = health.lag_ms.map(|ms| format!("{} s after its transaction", ms.div_ceil(1_000)));
    let received = [or_never(&health.received), Fact::Words(lag.unwrap_or_default())];
    let kept = match health.kept_from.as_deref() {
        Some(from) => Fact::Row(vec![Fact::words("since"), Fact::time(from)]),
        None => Fact::words("all"),
    };
    vec![
        ("Complete up to", or_never(&health.complete_up_to)),
        ("Transactions kept", kept),
        ("Last message", Fact::List(received.into())),
        ("Last reconciliation pass", pass(&health.last_pass, never())),
        ("Running reconciliation pass", pass(&health.current_pass, Fact::none())),
        ("Size", Fact::Words(size_in_words(health.bytes))),
        ("Problem", Fact::words(health.problem.as_deref().unwrap_or("none"))),
    ]
}

fn pass_fact(Pass { began, ended, listed, mended }: &Pass) -> Fact {
    let counts = format!("{listed} records compared, {mended} rows written or removed");
    let mut times = vec![Fact::time(&**began)];
    times.extend(ended.as_deref().into_iter().flat_map(|at| [Fact::words("to"), Fact::time(at)]));
    Fact::List(vec![Fact::Row(times), Fact::Words(counts)])
}

fn size_in_words(bytes: Option<u64>) -> String {
    const MB: u64 = 1_000_000;
    const GB: u64 = 1_000 * MB;
    let most = MAX_BYTES / GB;
    match bytes {
        None => "not known".to_owned(),
        Some(bytes) if bytes < GB => format!("{} MB of {most} GB", bytes.div_ceil(MB)),
        Some(bytes) => format!("{}.{} GB of {most} GB", bytes / GB, bytes % GB / (100 * MB)),
    }
}

/// Formats findings as a table, and explains each kind below it.
pub(super) fn findings_in_words(found: &[Finding]) -> String {
    let mut kinds: Vec<_> = found.iter().map(|finding| finding.kind).collect();
    kinds.dedup(); // findings are sorted by kind
    let advice = kinds.into_iter().map(|kind| {
        let (what, remedy) = words(kind);
        format!("{}: {what} {remedy}", kind.name())
    });
    let advice = advice.collect::<Vec<_>>().join("\n");
    paragraphs([findings(found).without(&["What", "What to do"]).in_lines(), advice])
}

/// Returns the list of findings.
pub(crate) fn findings(found: &[Finding]) -> Listing {
    Listing::new(
        found,
        "",
        &[
            ("Finding", &|it| Fact::words(it.kind.name())),
            ("What", &|it| Fact::words(words(it.kind).0)),
            ("Record", &|it| Fact::Text(it.name.clone())),
            ("Detail", &|it| detail(it)),
            ("Found", &|it| Fact::time_of(it.found)),
            ("What to do", &|it| Fact::Message(words(it.kind).1.to_owned())),
        ],
    )
}

/// Returns the details of a finding. For a removed row, these are the time and charge of its transaction.
fn detail(finding: &Finding) -> Fact {
    match serde_json::from_str(&finding.detail) {
        Ok(Removed { created, currency, cents: Some(cents), .. }) => {
            let amount = format!("{}.{:02}", cents / 100, cents % 100);
            Fact::List(vec![Fact::time_of(created), Fact::money(&amount, &currency)])
        }
        _ => Fact::Text(finding.detail.clone()),
    }
}

/// Returns what a kind of finding means, and what to do.
const fn words(kind: FindingKind) -> (&'static str, &'static str) {
    match kind {
        FindingKind::Copy => (
            "After a loss of the database, this was taken from its copy in Workers KV. Its entry in the audit log is lost.",
            "Check that it is right. If not, change it.",
        ),
        FindingKind::Damaged => (
            "A record cannot be read. Its transaction is missing from all lists and sums.",
            "Delete the record, and restore a backup with `--only transactions`.",
        ),
        FindingKind::Gone => (
            "The record of a transaction was deleted, so its row was removed.",
            "Restore a backup with `--only transactions`, or keep this finding: it explains why a sum changed.",
        ),
        FindingKind::Large => (
            "The quantities of a transaction are too many to be summed by offering. Its charge is counted.",
            "Open the transaction, and ask the shop whether the quantities are a mistake.",
        ),
        FindingKind::Refused => (
            "The database rejected the row of a transaction. It is missing from all lists and sums.",
            "This is a bug. Report it with the name of the record.",
        ),
        FindingKind::Update => (
            "After a loss of the database, timelines still show updates that it lacks.",
            "Restore a backup that has them, or delete the record in Workers KV and publish them again.",
        ),
    }
}
