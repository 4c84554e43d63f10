//! Arguments and tables that several operations on transactions share.

use crate::office::orders::rows::order::Order;
use crate::office::shared::operation::spec::{Argument, mode, month, text, unit};
use crate::office::shared::rule::coverage::Coverage;
use serde::Serialize;

/// Largest number of transactions that a command lists.
pub(super) const MOST: usize = 1_000;
pub(super) const NONE: &str = "No matching transaction.";

pub const EMAIL: Argument =
    Argument::option("email", text("address"), "the recipient's complete e-mail address");
pub(super) const MODE: Argument = mode("only test transactions, or only live ones");
pub(super) const UNIT: Argument = unit("only transactions of this unit");
pub const MONTH: Argument =
    month("the month in which the transactions were created, in UTC, such as 2026-11");

#[derive(Serialize)]
pub(super) struct Transactions {
    pub transactions: Vec<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<bool>,
    #[serde(flatten)]
    pub covered: Covered,
}

/// How complete a list is. One from Workers KV, whose newest transactions may be missing, has no time.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Covered {
    Ledger(Coverage),
    Store { damaged: u64 },
}

impl From<Option<Coverage>> for Covered {
    fn from(coverage: Option<Coverage>) -> Self {
        coverage.map_or(Covered::Store { damaged: 0 }, Covered::Ledger)
    }
}
