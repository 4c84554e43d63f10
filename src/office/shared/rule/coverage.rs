//! How complete the ledger is: up to when it has every transaction, and which records its sums leave out.

use super::error::{OperatorError, Result};
use crate::office::shared::rows::port::Ledger;
use crate::office::system::rows::findings;
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::system::rows::state;
use crate::office::system::rows::state::State;
use crate::office::system::rule::epoch;
use crate::pledges::scope::Scope;
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize, Serializer};

/// Maximum number of findings that are searched. A finding is a record that the ledger cannot include.
const MAX_FINDINGS: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// The watermark: the ledger has every transaction that was created before this RFC 3339 date-time. `None` before the
    /// first complete reconciliation pass. Later transactions usually appear within seconds.
    pub complete_up_to: Option<String>,
    /// The ledger keeps no transactions that were created before this RFC 3339 date-time; `None` if it keeps all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_from: Option<String>,
    /// Damaged records. They have no row in the ledger, so its lists and sums leave them out. JSON has their number.
    #[serde(serialize_with = "as_count")]
    pub damaged: DamagedRecords,
}

/// Returns how complete an answer about these scopes is; `None` means all scopes. Ledger cost: 2 queries.
pub(crate) async fn coverage(ledger: &dyn Ledger, scopes: Option<&[Scope]>) -> Result<Coverage> {
    let (coverage, _) = coverage_of_quantities(ledger, scopes).await?;
    Ok(coverage)
}

/// Returns the [`coverage`] of an answer that depends on credits. Refuses a database that has lost them. Ledger cost: 2
/// queries. KV cost: 1 read.
pub(crate) async fn coverage_of_dues(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    scopes: Option<&[Scope]>,
) -> Result<Coverage> {
    let state = state::state(ledger).await?;
    epoch::check_own(store, state.epoch.as_deref()).await?;
    let (coverage, _) = of_state(ledger, &state, scopes).await?;
    Ok(coverage)
}

/// Returns the [`coverage`]. Also returns the transactions that have too many quantities, which sums of
/// quantities leave out.
pub(crate) async fn coverage_of_quantities(
    ledger: &dyn Ledger,
    scopes: Option<&[Scope]>,
) -> Result<(Coverage, DamagedRecords)> {
    of_state(ledger, &state::state(ledger).await?, scopes).await
}

async fn of_state(
    ledger: &dyn Ledger,
    state: &State,
    scopes: Option<&[Scope]>,
) -> Result<(Coverage, DamagedRecords)> {
    let (complete_up_to, complete_from) = (state.watermark().map(date_time), state.first_kept());
    let prefixes: Option<Vec<_>> =
        scopes.map(|scopes| scopes.iter().map(TransactionId::scope_prefix).collect());
    let is_wanted = |name: &str| {
        prefixes.as_ref().is_none_or(|own| own.iter().any(|prefix| name.contains(prefix)))
    };
    let (mut damaged, mut large) = (DamagedRecords::default(), DamagedRecords::default());
    let findings = findings::findings(ledger, MAX_FINDINGS).await?;
    for Finding { kind, name, .. } in findings.into_iter().filter(|it| is_wanted(&it.name)) {
        match kind {
            FindingKind::Copy | FindingKind::Gone | FindingKind::Update => {}
            FindingKind::Large => large.add(name),
            FindingKind::Damaged | FindingKind::Refused => damaged.add(name),
        }
    }
    Ok((Coverage { complete_up_to, complete_from, damaged }, large))
}

impl Coverage {
    pub(crate) fn has(&self, month: Month) -> bool {
        self.complete_from.as_deref().and_then(Month::of) <= Some(month)
    }

    /// Refuses a month that the ledger does not keep.
    pub(crate) fn check(&self, month: Month) -> Result<()> {
        if self.has(month) {
            return Ok(());
        }
        Err(OperatorError::invalid(format!(
            "{month} is not in the ledger, which keeps only transactions from {} on. The command \
             `ledger keep-from {month}` brings this month back",
            self.complete_from.as_deref().unwrap_or_default()
        )))
    }
}

/// Serializes damaged records as their number.
pub(crate) fn as_count<S: Serializer>(
    records: &DamagedRecords,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_u64(records.count)
}

/// Damaged records, which lists and sums leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedRecords {
    pub count: u64,
    /// The name of the first damaged record.
    pub first: Option<String>,
}

impl DamagedRecords {
    pub(crate) fn add(&mut self, name: String) {
        self.extend(DamagedRecords { count: 1, first: Some(name) });
    }

    pub(crate) fn extend(&mut self, DamagedRecords { count, first }: DamagedRecords) {
        self.count += count;
        self.first = self.first.take().or(first);
    }
}
