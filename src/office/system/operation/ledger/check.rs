//! Compares the ledger with the records, rebuilds it, and accepts what was lost.

use super::status::{NoArguments, findings_in_words, found, health};
use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::table::{paragraphs, time};
use crate::office::shared::rows::published;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::system::rows::check;
use crate::office::system::rows::check::CheckReport;
use crate::office::system::rows::findings::Finding;
use crate::office::system::rows::health::Health;
use crate::office::system::rows::reconcile::Counts;
use crate::office::system::rows::upkeep;
use crate::office::system::rule::{epoch, kept};
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

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
