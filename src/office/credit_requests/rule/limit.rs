//! The limit up to which the requests of a unit are credited at once.

use crate::office::audit::rule::{Author, Subject};
use crate::office::credit_requests::rows::limits as rows;
use crate::office::credit_requests::rows::limits::Limit;
use crate::office::payments::rule::due::money;
use crate::office::payments::rule::stated_money;
use crate::office::prices::rule as prices;
use crate::office::shared::rows::money::money as in_words;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::ids::check_level;
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{OperatorStore, PriceListKey};
use serde::{Deserialize, Serialize};

const LIMIT: &str = "credits limit";

/// The limit of a unit; `None` if each request of the unit needs a confirmation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitLimit {
    pub unit: String,
    pub limit: Option<CreditLimit>,
}

impl StoredAsIs for UnitLimit {}

/// Sums with two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditLimit {
    pub currency_code: String,
    /// The sum for one transaction.
    pub per_order: String,
    /// The sum for one month.
    pub per_month: String,
}

impl From<Limit> for CreditLimit {
    fn from(Limit { currency, per_order, per_month, .. }: Limit) -> Self {
        let [per_order, per_month] =
            [per_order, per_month].map(|cents| in_words(Some(cents), None));
        CreditLimit { currency_code: currency, per_order, per_month }
    }
}

/// Returns the limit of a unit; `None` if it has none. Ledger cost: 1 query.
pub async fn limit(ledger: &dyn Ledger, unit: &str) -> Result<Option<CreditLimit>> {
    Ok(rows::limit(ledger, unit).await?.map(CreditLimit::from))
}

/// Sets the limit of a unit, in the currency of its live price list; `None` removes it. Ledger cost: 3 calls. KV cost: at most
/// 2 reads.
///
/// # Errors
/// - If an amount is not valid or not above 0, or the sum for a transaction exceeds the sum for a month.
/// - If the unit has no live price list.
pub async fn set_limit(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    unit: &str,
    sums: Option<(&str, &str)>,
) -> Result<Done<UnitLimit>> {
    let of = KeyLevel::Unit(unit.to_owned());
    check_level(&of)?;
    let cents = sums.map(checked).transpose()?;
    let work = async |at: &Commit<'_, _, _>| {
        let limit = match cents {
            Some(cents) => Some(in_currency(store, at.ledger, unit, cents).await?),
            None => None,
        };
        set_now(at, &of, limit).await
    };
    commit(ledger, author, (LIMIT, &(unit, cents)), work).await
}

fn checked((per_order, per_month): (&str, &str)) -> Result<(u64, u64)> {
    let cents = |name: &'static str, text: &str| {
        let cents = stated_money(text).and_then(|text| money(&text).units(2));
        cents.filter(|cents| *cents > 0).ok_or_else(|| {
            refused(name, format!("write the amount as `20.00`, above 0, not `{text}`"))
        })
    };
    let (per_order, per_month) = (cents("per-order", per_order)?, cents("per-month", per_month)?);
    match per_order <= per_month {
        true => Ok((per_order, per_month)),
        false => Err(refused(
            "per-month",
            "the sum for a month is below that for a transaction".to_owned(),
        )),
    }
}

fn refused(argument: &'static str, problem: String) -> OperatorError {
    let problem = ["nothing was changed: ", &problem].concat();
    OperatorError::at(argument, RefusalCode::Invalid, problem)
}

async fn in_currency(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    unit: &str,
    (per_order, per_month): (u64, u64),
) -> Result<Limit> {
    let prices = prices::current(store, ledger, PriceListKey::of_unit(Mode::Live, unit)).await?;
    let list = prices.in_effect().ok_or_else(|| {
        refused(
            "unit",
            "set the live prices of the unit first, because they have the currency".to_owned(),
        )
    })?;
    let currency = list.currency_code.code().to_owned();
    Ok(Limit { unit: unit.to_owned(), currency, per_order, per_month })
}

async fn set_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    of: &KeyLevel,
    limit: Option<Limit>,
) -> Result<UnitLimit> {
    let author = &commit.author;
    let shown = UnitLimit { unit: of.id().to_owned(), limit: limit.clone().map(CreditLimit::from) };
    let words = shown.limit.as_ref().map_or("none".to_owned(), CreditLimit::in_words);
    let entry = author.entry(LIMIT, |_| Subject::of(of.clone(), [words])).await?;
    let change = (author.by(), entry.key.time_ms());
    let setting = rows::setting(of.id(), limit.as_ref(), change)?;
    match commit.make(&entry, &shown, [setting]).await? {
        true => Ok(shown),
        false => Err(OperatorError::try_again("nothing was changed: try again")),
    }
}

impl CreditLimit {
    /// Returns words such as `20.00 EUR per transaction, 200.00 EUR per month`.
    pub fn in_words(&self) -> String {
        let CreditLimit { currency_code: code, per_order, per_month, .. } = self;
        format!("{per_order} {code} per transaction, {per_month} {code} per month")
    }
}
