//! The health of the ledger: `GET /healthz` for monitors, and a section of the page System.

use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::facts;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use crate::office::system::operation::ledger as operation;
use crate::office::system::operation::ledger::health_facts;
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::Finding;
use crate::office::system::rows::health::Health;
use crate::office::system::rule::epoch;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
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
    html! {
        @if let Some(problem) = &health.problem { (view::problem(problem)) }
        (facts::list(&health_facts(health)))
        @if !findings.is_empty() {
            h3 { "Findings" }
            (table(&operation::findings(findings).without(&["Finding"])))
        }
        @if health.findings > findings.len() {
            p { "Only the first " (findings.len()) " of " (health.findings) " findings are shown." }
        }
    }
}
