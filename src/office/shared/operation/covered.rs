//! Describes in words how complete an answer from the ledger is.

use super::table::time;
use crate::office::shared::rule::coverage::{Coverage, DamagedRecords};

/// Describes how complete an answer is: up to when, from when on, and what is missing. Each is empty if there is nothing to
/// say.
pub(crate) fn in_sentences(coverage: &Coverage) -> [String; 3] {
    let until = match &coverage.complete_up_to {
        Some(at) => {
            let at = time(at);
            format!("Complete up to {at}. Later transactions usually appear within seconds.")
        }
        None => {
            "Transactions may be missing: the ledger has not been compared with all records yet."
                .to_owned()
        }
    };
    let from = coverage.complete_from.as_deref().map(|at| {
        let at = time(at);
        format!("Transactions before {at} are not in the ledger. Of their months, only paid ones are shown.")
    });
    let damaged = coverage.damaged.first.as_ref().map(|first| {
        let count = coverage.damaged.count;
        format!(
            "Damaged records, missing from all lists and sums: {count}. The first is `{first}`."
        )
    });
    [until, from.unwrap_or_default(), damaged.unwrap_or_default()]
}

/// Describes how complete the answer of a command is, with the commands that help.
pub fn complete(coverage: &Coverage) -> String {
    let [mut until, from, mut damaged] = in_sentences(coverage);
    if coverage.complete_up_to.is_none() {
        until += " To compare them now, run `ledger check`.";
    }
    if coverage.damaged.count > 0 {
        damaged += " `ledger status` lists them.";
    }
    let parts = [until, from, damaged].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

/// Returns a sentence about the transactions that are missing from the sums of offerings, if there are any.
pub fn left_out_in_words(DamagedRecords { count, first }: &DamagedRecords) -> String {
    let first = first.as_deref().unwrap_or_default();
    match count {
        0 => String::new(),
        count => format!(
            "These sums leave out transactions with too many quantities. Number of such transactions, in all months: \
             {count}. The first is `{first}`."
        ),
    }
}
