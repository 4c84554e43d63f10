//! The health of the ledger: `GET /healthz` for monitors, and a section of the page System.

use crate::office::orders::rows::removal::Removed;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::health;
use crate::office::system::rows::health::{Health, Pass};
use crate::office::system::rule::epoch;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;
use maud::{Markup, html};
use serde::Serialize;

/// Maximum number of findings on the page.
const MAX_FINDINGS: usize = 100;

/// The response of `GET /healthz`.
#[derive(Serialize)]
struct Answer<'a> {
    version: &'a str,
    ledger: Option<Health>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Serves `GET /healthz` to a monitor: 503 if the ledger has a problem. KV cost: 1 read. Ledger cost: 1 call.
pub(crate) async fn health(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    version: &str,
    now_ms: u64,
) -> Page {
    let (ledger, problem) = match epoch::health(store, ledger, now_ms).await {
        Ok(mut health) => {
            let problem = health.problem.take();
            (Some(health), problem)
        }
        Err(error) => (None, Some(error.to_string())),
    };
    let status = if problem.is_some() { 503 } else { 200 };
    Page::json(status, &Answer { version, ledger, problem })
}

/// Serves `GET /healthz` to a person.
pub(crate) async fn health_page<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Result {
    Ok(health(context.store, context.ledger, &context.settings.version, context.clock.now_ms())
        .await)
}

/// Renders the section of the page System about the health of the ledger. KV cost: 1 read. Ledger cost: 2 calls.
pub(crate) async fn section<S: OperatorStore, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
) -> Markup {
    let content = match look(context.store, context.ledger, context.clock.now_ms()).await {
        Ok((health, findings)) => state(&health, &findings),
        Err(error) => view::problem(&error.to_string()),
    };
    html! { section { h2 { "Ledger" } (content) } }
}

async fn look(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now_ms: u64,
) -> Result<(Health, Vec<Finding>), OperatorError> {
    let findings = findings::findings(ledger, MAX_FINDINGS).await?;
    Ok((epoch::health(store, ledger, now_ms).await?, findings))
}

fn state(health: &Health, findings: &[Finding]) -> Markup {
    let never = || html! { span.soft { "not yet" } };
    let all = || html! { "all" };
    let since = |from| html! { "since " (view::time(from)) };
    let time = |time: &Option<String>| time.as_deref().map_or_else(never, view::time);
    html! {
        @if let Some(problem) = &health.problem { (view::problem(problem)) }
        (view::facts(&[
            ("Complete up to", time(&health.complete_up_to)),
            ("Transactions kept", health.kept_from.as_deref().map_or_else(all, since)),
            ("Last message", html! {
                (time(&health.received))
                @if let Some(lag) = health.lag_ms { ", " (lag / 1_000) " s after its transaction" }
            }),
            ("Last reconciliation", health.last_pass.as_ref().map_or_else(never, pass)),
            ("Size", size(health.bytes)),
        ]))
        @if let Some(current) = &health.current_pass {
            p { "A reconciliation is in progress. It began on " (pass(current)) "." }
        }
        @if !findings.is_empty() {
            h3 { "Findings" }
            (view::table(&["Finding", "Record", "Found on", "What to do"], &rows(findings), ""))
        }
        @if health.findings > findings.len() {
            p { "Only the first " (findings.len()) " of " (health.findings) " findings are shown." }
        }
    }
}

fn pass(pass: &Pass) -> Markup {
    html! {
        (view::time(pass.ended.as_ref().unwrap_or(&pass.began)))
        ": " (pass.listed) " records compared, " (pass.mended) " rows corrected"
    }
}

fn size(bytes: Option<u64>) -> Markup {
    const MB: u64 = 1_000_000;
    const GB: u64 = 1_000 * MB;
    let of_all = || html! { " of " (health::MAX_BYTES / GB) " GB" };
    match bytes {
        None => html! { span.soft { "not known" } },
        Some(bytes) if bytes < GB => html! { (bytes.div_ceil(MB)) " MB" (of_all()) },
        Some(bytes) => html! { (bytes / GB) "." (bytes % GB / (100 * MB)) " GB" (of_all()) },
    }
}

// ---- Findings ------------------------------------------------------------------------------------

fn rows(findings: &[Finding]) -> Vec<Vec<Markup>> {
    let row = |finding: &Finding| {
        let (what, remedy) = words(finding.kind);
        vec![
            html! { (what) },
            html! { (view::untrusted_text(&finding.name)) (detail(finding)) },
            view::time(&date_time(finding.found)),
            html! { (remedy) },
        ]
    };
    findings.iter().map(row).collect()
}

/// Returns what a finding means, and what to do.
fn words(kind: FindingKind) -> (&'static str, &'static str) {
    match kind {
        FindingKind::Copy => (
            "After a loss of the database, this was taken from its copy in Workers KV. Its entry in the audit log is lost.",
            "Check that it is right. If not, change it.",
        ),
        FindingKind::Damaged => (
            "A record cannot be read. Its transaction is missing from all lists and sums.",
            "Somebody changed the record by hand. Restore it from a backup.",
        ),
        FindingKind::Gone => (
            "The record of a transaction is missing, so its row was removed.",
            "Somebody deleted the record by hand. Restore it, or keep this finding to explain why a sum changed.",
        ),
        FindingKind::Large => (
            "The quantities of a transaction take more than 1.4 MB, so the Quantities page leaves them \
             out. The charge of the transaction is still counted.",
            "Open the transaction, and ask the shop whether the quantities are a mistake.",
        ),
        FindingKind::Refused => (
            "The database rejected the row of a transaction. The transaction is missing from all lists and sums.",
            "This is a bug. Report it with the name of the record.",
        ),
        FindingKind::Update => (
            "After a loss of the database, timelines still show updates that it lacks.",
            "Restore a backup that has them, or delete the record in Workers KV and publish them again.",
        ),
    }
}

/// Renders the details of a finding. For a removed row, these are the time and charge of its transaction.
fn detail(finding: &Finding) -> Markup {
    let removed = serde_json::from_str(&finding.detail).ok();
    html! {
        @match removed {
            Some(Removed { created, currency, cents: Some(cents), .. }) => {
                br; (view::time(&date_time(created)))
                ", " (cents / 100) "." (format!("{:02}", cents % 100)) " " (view::untrusted_text(&currency))
            }
            _ if finding.detail.is_empty() => {}
            _ => { br; (view::untrusted_text(&finding.detail)) }
        }
    }
}
