//! One transaction, with no more of its texts than is needed.

use super::Outcome;
use super::transactions::{Record, Row};
use crate::pledge::RetrievedPledgeTransaction;
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    record: Record,
    /// Whole texts, rather than their first characters.
    reveal: bool,
    /// The timeline's address, which holds the edit key.
    timeline: bool,
}

/// `{record, reveal, timeline}` → what is known of a transaction.
pub(super) fn show(input: &str) -> Outcome {
    let View { record, reveal, timeline } = serde_json::from_str(input)?;
    let metadata = record.metadata()?;
    let mut transaction = record.transaction()?.ok_or("its value is missing")?;
    let row = Row::new(&record, &metadata, metadata.completed(Some(&transaction)));
    if !timeline {
        transaction.timeline_url = None;
    }
    if !reveal {
        mask(&mut transaction);
    }
    Ok(json!({
        "row": row,
        "version": metadata.version,
        "findable": metadata.summary.lookup.is_some(),
        "repeatable": metadata.summary.replay.is_some(),
        "transaction": transaction,
    }))
}

/// Leaves of the recipient and of texts as much as tells a caller's from another's. The reference
/// stays: it is what the shop calls the order.
fn mask(transaction: &mut RetrievedPledgeTransaction<'_>) {
    let trigger = &mut transaction.trigger;
    [&mut trigger.phrase, &mut trigger.external_url].into_iter().for_each(shorten);
    for pledge in &mut transaction.pledges {
        let recipient = &mut pledge.recipient;
        let (local, domain) = recipient.email.rsplit_once('@').unwrap_or((&recipient.email, ""));
        recipient.email = Cow::Owned(format!("{}@{}", beginning(local), beginning(domain)));
        [&mut recipient.first_name, &mut recipient.name].into_iter().for_each(shorten);
        for detail in &mut pledge.details {
            [
                &mut detail.name,
                &mut detail.description,
                &mut detail.noun_singular,
                &mut detail.noun_plural,
                &mut detail.image,
                &mut detail.external_id,
                &mut detail.external_url,
            ]
            .into_iter()
            .for_each(shorten);
        }
    }
}

fn shorten(text: &mut Option<Cow<'_, str>>) {
    if let Some(text) = text {
        *text = Cow::Owned(beginning(text));
    }
}

/// `A…` of `Ada`.
fn beginning(text: &str) -> String {
    text.chars().take(1).chain(['…']).collect()
}
