//! Up to when an answer of the ledger is complete, for programs and for people.

use super::table::time;
use crate::operator::{Coverage, Damaged};
use serde::Serialize;

/// What programs get.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    /// Left out where Workers KV was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_up_to: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_from: Option<String>,
    /// Number of damaged records, which are left out.
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

/// The same in words.
pub fn complete(Coverage { complete_up_to, complete_from, damaged }: &Coverage) -> String {
    let until = match complete_up_to {
        Some(at) => {
            format!("Complete up to {}. Later orders usually appear within seconds.", time(at))
        }
        None => "Orders may be missing: the ledger has not been compared with all records yet."
            .to_owned(),
    };
    let from = complete_from.as_deref().map(|at| {
        format!(
            "\nOrders before {} are not in the ledger: their months are shown only if they are paid.",
            time(at)
        )
    });
    format!("{until}{}{}", from.unwrap_or_default(), damaged_in_words(damaged))
}

fn damaged_in_words(Damaged { count, first }: &Damaged) -> String {
    match count {
        0 => String::new(),
        count => format!(
            "\n\n{count} records are damaged and left out, `{}` first.",
            first.as_deref().unwrap_or_default()
        ),
    }
}
