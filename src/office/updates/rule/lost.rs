//! Finds updates that only timelines still show.

use super::compile::ids_of;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::{names, read_values};
use crate::office::system::rows::findings::{Finding, FindingKind};
use crate::office::updates::rows::records as update_records;
use crate::pledges::store::{Key as _, MAX_READS, OperatorStore, UpdatesKey};

/// Returns a finding for each record of updates in Workers KV with an update that the ledger lacks. KV cost: 1 list per 1,000
/// records, and 1 read per 100. Ledger cost: 1 query per 100 records.
///
/// # Errors
/// If the ledger or the store fails.
pub(crate) async fn lost(store: &impl OperatorStore, ledger: &dyn Ledger) -> Result<Vec<Finding>> {
    let names = names(store, UpdatesKey::PREFIX).await?;
    let keys: Vec<_> = names.iter().filter_map(|name| UpdatesKey::parse(name)).collect();
    let mut lost = Vec::new();
    for keys in keys.chunks(MAX_READS) {
        let values = read_values(store, keys).await?;
        let shown: Vec<_> =
            values.into_iter().map(|it| it.as_deref().map(ids_of).unwrap_or_default()).collect();
        let missing = update_records::missing(ledger, &shown.concat()).await?;
        let findings = keys.iter().zip(shown).filter_map(|(key, ids)| finding(key, ids, &missing));
        lost.extend(findings);
    }
    Ok(lost)
}

fn finding(key: &UpdatesKey, mut ids: Vec<String>, missing: &[String]) -> Option<Finding> {
    ids.retain(|id| missing.contains(id));
    let (name, detail) = (key.name(), ids.join(", "));
    (!ids.is_empty()).then_some(Finding { kind: FindingKind::Update, name, found: 0, detail })
}
