//! Checks the IDs of units and teams that a request names.

use super::error::{OperatorError, Result};
use super::refused::RefusalCode;
use crate::pledges::auth::{KeyLevel, check_id};

/// Fails at the argument `unit` if the ID is not valid.
pub(crate) fn check_unit(id: &str) -> Result<()> {
    check_id(id).map_err(|problem| OperatorError::at("unit", RefusalCode::Invalid, problem))
}

/// Fails at the argument `unit` or `team` if the ID is not valid.
pub(crate) fn check_level(level: &KeyLevel) -> Result<()> {
    let wrong = |problem| OperatorError::at(level.kind(), RefusalCode::Invalid, problem);
    level.check().map_err(wrong)
}
