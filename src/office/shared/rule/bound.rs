//! Checks that a database is bound, for functions that need the ledger.

use super::error::{OperatorError, Result};
use crate::office::shared::rows::port::Ledger;

/// Fails if no database is bound. The error says what to do.
pub fn bound(ledger: Option<&dyn Ledger>) -> Result<&dyn Ledger> {
    ledger.ok_or_else(|| {
        OperatorError::invalid(
            "this needs the ledger, but no database is bound as `LEDGER_DB`. Deploy the dashboard with \
             its database (see docs/ledger.md)"
                .to_owned(),
        )
    })
}
