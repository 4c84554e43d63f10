//! Describes a month of a scope in words, for error messages and the audit log.

use super::LastChange;
use super::words::{CHANGED, changed_in_words, in_words};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode};
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::{Key as _, SettlementKey};
use std::fmt::Display;

impl ScopeMonth {
    /// Returns words such as ``2026-10 of the unit `shop` (live)``.
    pub(super) fn in_words(&self) -> String {
        let ScopeMonth { scope, month } = self;
        format!("{month} of the unit `{}` ({})", scope.unit, scope.mode.name())
    }

    pub(super) fn refused(&self, problem: impl Display) -> OperatorError {
        OperatorError::invalid(self.not_marked(problem))
    }

    pub(super) fn refused_at(
        &self,
        argument: impl Into<ArgumentName>,
        code: RefusalCode,
        problem: impl Display,
    ) -> OperatorError {
        OperatorError::at(argument, code, self.not_marked(problem))
    }

    fn not_marked(&self, problem: impl Display) -> String {
        format!("nothing was marked: {} {problem}", self.in_words())
    }

    pub(super) fn refused_as_marked(&self, settlement: &Settlement) -> OperatorError {
        self.refused(format_args!("is already marked as paid: {}", in_words(settlement)))
    }

    /// Returns what the audit log records when a month is marked as paid, or unmarked: the whole payment.
    pub(super) fn changed(&self, settlement: &Settlement) -> Vec<String> {
        vec![SettlementKey(self).name(), in_words(settlement)]
    }

    /// Returns the error of a person who marks the month as paid at the same moment as another person changes it.
    pub(super) fn refused_by(&self, last: Option<&LastChange>) -> OperatorError {
        match last {
            Some(last) if last.settlement.is_some() => {
                self.refused(format_args!("is already marked as paid: {}", changed_in_words(last)))
            }
            _ => self.refused(CHANGED),
        }
    }

    pub(super) fn not_undone(&self, problem: impl Display) -> OperatorError {
        OperatorError::invalid(format!("nothing was undone: {} {problem}", self.in_words()))
    }
}
