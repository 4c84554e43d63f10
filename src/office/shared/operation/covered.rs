//! Describes how complete an answer from the ledger is, as JSON for programs and in words for people.

use super::table::time;
use crate::office::shared::rule::coverage::{Coverage, DamagedRecords};
use serde::Serialize;

/// Which transactions an answer includes, and which records could not be read, as JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    /// The time up to which the answer includes all transactions. The inner `None` (`null` in JSON) means
    /// that the time is not known. The outer `None` leaves the member out of the JSON: the answer is from
    /// Workers KV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_up_to: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_from: Option<String>,
    /// Number of damaged records that the answer leaves out.
    pub damaged: u64,
}

impl From<&Coverage> for Covered {
    fn from(coverage: &Coverage) -> Self {
        Covered {
            complete_up_to: Some(coverage.complete_up_to.clone()),
            complete_from: coverage.complete_from.clone(),
            damaged: coverage.damaged.count,
        }
    }
}

/// Describes in words how complete an answer is.
pub fn complete(Coverage { complete_up_to, complete_from, damaged }: &Coverage) -> String {
    let until = match complete_up_to {
        Some(at) => {
            format!(
                "Complete up to {}. Later transactions usually appear within seconds.",
                time(at)
            )
        }
        None => {
            "Transactions may be missing: the ledger has not been compared with all records yet. To \
             compare them now, run `ledger check`."
                .to_owned()
        }
    };
    let from = complete_from.as_deref().map(|at| {
        format!(
            "\nTransactions before {} are not in the ledger. Of their months, only paid ones are shown.",
            time(at)
        )
    });
    format!("{until}{}{}", from.unwrap_or_default(), damaged_in_words(damaged))
}

/// Returns a sentence about the transactions that are missing from the sums of offerings, if there are any.
pub fn left_out_in_words(count: u64) -> String {
    match count {
        0 => String::new(),
        count => format!(
            "Not in these sums: {count} transactions (of all months), because each has too many quantities."
        ),
    }
}

fn damaged_in_words(DamagedRecords { count, first }: &DamagedRecords) -> String {
    match count {
        0 => String::new(),
        count => format!(
            "\n\nDamaged records, left out: {count}. The first is `{}`. `ledger status` lists them.",
            first.as_deref().unwrap_or_default()
        ),
    }
}
