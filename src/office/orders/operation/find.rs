//! Finds transactions by reference or e-mail address.

use super::listing::listed;
use super::parts::{EMAIL, MODE, MOST, Transactions, UNIT};
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{Found, SearchKey, TransactionFilter};
use crate::office::shared::operation::call::{Answer, Call, Failure, Ports, Result};
use crate::office::shared::operation::covered::complete;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::validate::format::is_email;
use serde::Deserialize;

pub const FIND: Spec = Spec::reads(
    "transactions",
    "find",
    "find transactions by reference or e-mail address",
    &[
        UNIT,
        MODE,
        Argument::option(
            "reference",
            text("text"),
            "the complete reference, such as the number of the shop's order; case, blanks and leading # do not matter",
        ),
        EMAIL,
    ],
)
.permission(Permission::Support)
.answers(
    "`transactions`, `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`, but `completeUpTo` is left out if the result is from Workers KV; `more`: whether there are further matches",
);

#[derive(Deserialize)]
pub struct Find {
    unit: Option<String>,
    mode: Option<Mode>,
    reference: Option<String>,
    email: Option<String>,
}

impl Find {
    fn by(&self) -> Result<SearchKey, Refused> {
        match (&self.reference, &self.email) {
            (Some(reference), None) => Ok(SearchKey::Reference(reference.clone())),
            (None, Some(email)) => Ok(SearchKey::Email(email.clone())),
            _ => Err("give either `--reference` or `--email`".into()),
        }
    }
}

pub fn check_find(values: &Values) -> Result<(), Refused> {
    values.read::<Find>()?.by().map(drop)
}

pub async fn find<P: Ports>(call: &Call<'_, P>, asked: Find) -> Result<Answer> {
    let by = asked.by().map_err(Failure::Usage)?;
    let filter = TransactionFilter { unit: asked.unit, mode: asked.mode };
    let found = found(call, &filter, &by).await?;
    let more = match found.more {
        true => format!(
            "These are the newest {MOST} transactions. Use `--unit` or `--mode` to see others."
        ),
        false => String::new(),
    };
    let text = paragraphs([listed(&found.transactions), more, complete_of(&found)]);
    let Found { transactions, more, coverage } = found;
    let (more, covered) = (Some(more), coverage.into());
    Answer::new(&Transactions { transactions, more, covered }, text)
}

/// Finds transactions. Fails if the text is not an e-mail address, or if nothing is found and the
/// unit is not registered.
pub(super) async fn found<P: Ports>(
    call: &Call<'_, P>,
    filter: &TransactionFilter,
    by: &SearchKey,
) -> Result<Found> {
    let newest = &Direction::Newest;
    if let SearchKey::Email(address) = by
        && !is_email(address.trim().as_bytes())
    {
        let problem = format!("`{address}` is not an e-mail address");
        return Err(OperatorError::at("email", RefusalCode::Invalid, problem).into());
    }
    let mut found = transactions::find(call.store, call.ledger, (filter, by), newest, MOST).await?;
    if found.transactions.is_empty() {
        unit_must_be_registered(call, filter.unit.as_deref()).await?;
    }
    transactions::mark_cancelled(call.store, &mut found.transactions).await?;
    Ok(found)
}

pub(super) fn complete_of(found: &Found) -> String {
    found.coverage.as_ref().map(complete).unwrap_or_default()
}
