//! The operator's operations on the ledger: its state, a check, a rebuild, and which months it keeps.

use crate::office::orders::rows::removal::Removed;
use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::{Fact, Facts, in_lines};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::table::{paragraphs, time};
use crate::office::shared::rows::published;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::system::rows::check;
use crate::office::system::rows::check::CheckReport;
use crate::office::system::rows::findings as rows;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::health::{Health, MAX_BYTES, Pass};
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
    let (health, findings) = (health(call).await?, found(call).await?);
    let problem = health.problem.as_deref();
    let text = paragraphs([in_lines(&health_facts(&health)), findings_in_words(&findings)]);
    let mut members = serde_json::to_value(&health).map_err(OperatorError::from)?;
    members.as_object_mut().map(|members| members.remove("findings"));
    let data = Status { health: members, problem, findings: &findings };
    Ok(Answer::new(&data, text)?.failing_if(problem.is_some()))
}

async fn health<P: Ports>(call: &Call<'_, P>) -> Result<Health> {
    Ok(epoch::health(call.store, call.ledger, call.platform.now_ms()).await?)
}

async fn found<P: Ports>(call: &Call<'_, P>) -> Result<Vec<Finding>> {
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
fn findings_in_words(found: &[Finding]) -> String {
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
    let findings = found(call).await?;
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
    let counted = [
        ("missing in the ledger", missing, "added"),
        ("different from their records", wrong, "corrected"),
        ("without a record", gone, "removed"),
        ("damaged records", damaged, "missing from all lists and sums"),
        ("with too many quantities", large, "not in the sums of any offering"),
        ("refused by the database", refused, "missing from all lists and sums"),
    ];
    let listing = Listing::new(
        counted,
        "",
        &[
            ("Found", &|(what, _, _)| Fact::words(what)),
            ("Transactions", &|(_, count, _)| Fact::number(count)),
            ("Now", &|(_, _, now)| Fact::words(now)),
        ],
    );
    listing.in_lines()
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
    let (findings, health) = (found(call).await?, health(call).await?);
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
