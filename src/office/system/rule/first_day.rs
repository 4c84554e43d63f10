//! What is left to do until a new service can be used.

use crate::office::prices::rule as prices;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::system::rows::first_day;
use crate::office::system::rows::first_day::Seen;
use crate::pledges::scope::Mode;
use crate::pledges::store::{CredentialKey, Key as _, OperatorStore, PriceListKey};
use futures_util::future::try_join3;

/// Which parts of a new service are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstDay {
    /// Whether the first reconciliation of the ledger is complete.
    pub has_passed: bool,
    /// Whether test keys or live keys have a price list.
    pub has_prices: bool,
    /// Whether a unit has a name.
    pub has_unit: bool,
    pub has_key: bool,
    /// Whether there is a transaction of a test key.
    pub has_transaction: bool,
    /// Whether a bucket for backups is bound.
    pub has_bucket: bool,
}

impl FirstDay {
    /// Whether all is there that a service needs.
    fn is_over(self) -> bool {
        let FirstDay { has_passed, has_prices, has_unit, has_key, has_transaction, .. } = self;
        has_passed && has_prices && has_unit && has_key && has_transaction
    }
}

/// Returns which parts of a new service are there; `None` if it has a live transaction, or all parts that it needs. A key
/// that was created in the last minute may be missing. Ledger cost: 1 query, and 2 more without a live transaction. KV cost
/// without a live transaction: 1 list and at most 2 reads.
pub(crate) async fn first_day(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
) -> Result<Option<FirstDay>> {
    let Seen { live, test, passed, named, bucket } = first_day::seen(ledger).await?;
    if live != 0 {
        return Ok(None);
    }
    let (test_prices, live_prices, has_key) = try_join3(
        prices::current(store, ledger, PriceListKey::of_mode(Mode::Test)),
        prices::current(store, ledger, PriceListKey::of_mode(Mode::Live)),
        has_key(store),
    )
    .await?;
    let day = FirstDay {
        has_passed: passed != 0,
        has_prices: test_prices.is_set() || live_prices.is_set(),
        has_unit: named != 0,
        has_key,
        has_transaction: test != 0,
        has_bucket: bucket != 0,
    };
    Ok((!day.is_over()).then_some(day))
}

async fn has_key(store: &impl OperatorStore) -> Result<bool> {
    Ok(!store.list(CredentialKey::PREFIX, None).await?.records.is_empty())
}
