//! A request as it is shown.

use crate::office::credit_requests::rows::requests as rows;
use crate::office::credit_requests::rows::requests::{RequestFilter, RequestRow, RequestState};
use crate::office::credits::rule::CreditRequest;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::StoredAsIs;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::scope::Scope;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub request: String,
    pub transaction: String,
    /// The transaction's scope.
    #[serde(flatten)]
    pub scope: Scope,
    pub currency_code: String,
    /// The requested amount, a decimal with two places.
    pub amount: String,
    /// The requested credit.
    pub credit: CreditRequest,
    pub by: String,
    /// When the request was made, an RFC 3339 date-time.
    pub at: String,
    pub state: RequestState,
    pub decided_by: Option<String>,
    /// When it was decided, an RFC 3339 date-time.
    pub decided_at: Option<String>,
    /// Why it was refused.
    pub answer: Option<String>,
}

impl StoredAsIs for Request {}

impl TryFrom<RequestRow> for Request {
    type Error = OperatorError;

    fn try_from(row: RequestRow) -> Result<Self> {
        let (amount, at) = (row.amount(), date_time(row.at));
        let RequestRow {
            request,
            id,
            scope,
            content,
            currency,
            author,
            state,
            decision,
            answer,
            ..
        } = row;
        let decided = decision.map(|it| (it.decider, date_time(it.decided)));
        let (decided_by, decided_at) = decided.unzip();
        Ok(Request {
            request,
            transaction: id,
            scope,
            currency_code: currency,
            amount,
            credit: serde_json::from_value(content)?,
            by: author,
            at,
            state,
            decided_by,
            decided_at,
            answer,
        })
    }
}

/// Returns the last request of a transaction. If one is open, this is the last one. Ledger cost: 1 query.
///
/// # Errors
/// If the transaction has no request, or the ledger fails.
pub async fn last(ledger: &dyn Ledger, id: &str) -> Result<RequestRow> {
    let found = rows::of(ledger, id).await?.pop();
    found.ok_or_else(|| {
        let problem = "nothing was changed: nobody has requested a credit of this transaction";
        OperatorError::at("id", RefusalCode::NotFound, problem)
    })
}

/// Returns requests: open ones first, then the newest first. Ledger cost: 1 query.
pub async fn list(ledger: &dyn Ledger, filter: &RequestFilter<'_>) -> Result<Vec<Request>> {
    rows::list(ledger, filter).await?.into_iter().map(Request::try_from).collect()
}
