//! The arguments that select the transactions of a month.

use crate::office::orders::rule::TransactionFilter;
use crate::office::shared::operation::spec::{Argument, modes, unit};
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Deserialize;

pub(super) const UNIT: Argument = unit("only transactions of this unit");
pub(super) const OF_MODE: Argument = modes("live", "live transactions, test transactions, or both");

#[derive(Deserialize)]
pub struct OfMonth {
    pub(super) month: Month,
    unit: Option<String>,
    pub(super) mode: String,
}

impl OfMonth {
    pub(super) fn filter(&self) -> TransactionFilter {
        let mode = match &*self.mode {
            "test" => Some(Mode::Test),
            "live" => Some(Mode::Live),
            _ => None,
        };
        TransactionFilter { unit: self.unit.clone(), mode }
    }
}
