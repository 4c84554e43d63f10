use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::Recorded;
use serde::Deserialize;

/// Selects transactions by unit and mode.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct TransactionFilter {
    /// Only transactions of this unit.
    pub unit: Option<String>,
    /// Only transactions of this mode.
    pub mode: Option<Mode>,
}

impl TransactionFilter {
    /// Selects the transactions of one scope.
    pub fn of(scope: &Scope) -> Self {
        TransactionFilter { unit: Some(scope.unit.clone()), mode: Some(scope.mode) }
    }

    /// Checks the unit's ID.
    pub fn check(&self) -> Result<()> {
        let unit = self.unit.as_deref();
        unit.map_or(Ok(()), check_unit)
    }

    /// Returns whether the filter selects this record. Compares the unit and the mode in the metadata: the
    /// record's name has only a 40-bit hash of them, which two scopes can share.
    pub(super) fn has(&self, recorded: &Recorded) -> bool {
        let Scope { unit, mode } = &recorded.scope;
        self.unit.as_ref().is_none_or(|wanted| wanted == unit)
            && self.mode.is_none_or(|wanted| wanted == *mode)
    }

    pub(crate) fn units(&self) -> Option<Vec<String>> {
        self.unit.clone().map(|unit| vec![unit])
    }

    pub(crate) fn modes(&self) -> Vec<Mode> {
        self.mode.map_or(vec![Mode::Test, Mode::Live], |mode| vec![mode])
    }

    /// Returns the unit's scopes, one for each selected mode; `None` for all units.
    pub(crate) fn scopes(&self) -> Option<Vec<Scope>> {
        let unit = self.unit.as_ref()?;
        let scope = |mode| Scope { mode, unit: unit.clone() };
        Some(self.modes().into_iter().map(scope).collect())
    }
}
