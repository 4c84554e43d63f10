//! Offerings of recorded transactions that cost nothing because no catalogue lists them.

use super::Outcome;
use super::transactions::{Metadata, Record, Rest, Wanted, each};
use crate::charge::Catalogue;
use crate::scope::Mode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// Prices of each mode, if they are set.
#[derive(Deserialize)]
pub(super) struct Catalogues {
    test: Option<Catalogue>,
    live: Option<Catalogue>,
}

impl Catalogues {
    pub fn of(&self, mode: Mode) -> Option<&Catalogue> {
        match mode {
            Mode::Test => self.test.as_ref(),
            Mode::Live => self.live.as_ref(),
        }
    }
}

#[derive(Deserialize)]
struct Check {
    #[serde(flatten)]
    wanted: Wanted,
    catalogues: Catalogues,
    records: Vec<Record>,
}

/// Most characters that are shown of an offering.
const MAX_SHOWN: usize = 100;

/// An offering that transactions have, and the catalogue of their mode has not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Unpriced {
    mode: Mode,
    offering_id: String,
    pledges: usize,
    first: String,
    last: String,
}

/// By whether they are live, and by offering.
type Offerings = BTreeMap<(bool, String), Unpriced>;

/// `{mode?, catalogues, records}` → `{offerings, priced, unread, damaged}`; `priced` counts the
/// transactions whose offerings all have a price by now.
pub(super) fn unpriced(input: &str) -> Outcome {
    let Check { wanted, catalogues, records } = serde_json::from_str(input)?;
    let mut offerings = Offerings::new();
    let mut priced = 0;
    let is_meant = |metadata: &Metadata| {
        let may_be_unpriced = metadata.version == 0 || metadata.summary.unpriced.is_some();
        may_be_unpriced && wanted.has(metadata) && catalogues.of(metadata.mode).is_some()
    };
    let rest = each(
        &records,
        is_meant,
        |_| true,
        |_, metadata, transaction| {
            let (Some(transaction), Some(catalogue)) = (transaction, catalogues.of(metadata.mode))
            else {
                return;
            };
            let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
            let missing = impacts.filter(|impact| catalogue.unpriced([*impact].into_iter()) > 0);
            let mut missing = missing.peekable();
            priced += usize::from(missing.peek().is_none() && metadata.summary.unpriced.is_some());
            let time = &*transaction.created_at;
            missing
                .for_each(|impact| count(&mut offerings, metadata.mode, &impact.offering_id, time));
        },
    );
    let offerings: Vec<_> = offerings.into_values().collect();
    let Rest { unread, damaged } = rest;
    Ok(json!({ "offerings": offerings, "priced": priced, "unread": unread, "damaged": damaged }))
}

fn count(offerings: &mut Offerings, mode: Mode, offering: &str, time: &str) {
    let key = (mode.is_live(), offering.to_owned());
    let found = offerings.entry(key).or_insert_with(|| Unpriced {
        mode,
        offering_id: shown(offering),
        pledges: 0,
        first: time.to_owned(),
        last: time.to_owned(),
    });
    found.pledges += 1;
    found.first = time.min(&*found.first).to_owned();
    found.last = time.max(&*found.last).to_owned();
}

fn shown(offering: &str) -> String {
    let mut chars = offering.chars();
    let mut text: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}
