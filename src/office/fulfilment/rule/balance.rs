//! What was pledged, credited and done for each offering and month, what is still to be done, and what buyers were told.

use crate::office::credits::rows as credits;
use crate::office::fulfilment::rows::fulfilments;
use crate::office::fulfilment::rows::fulfilments::NewFulfilment;
use crate::office::fulfilment::rows::quantities;
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::coverage::{
    Coverage, DamagedRecords, as_count, coverage_of_quantities,
};
use crate::office::shared::rule::error::Result;
use crate::office::system::rule::epoch;
use crate::office::updates::rows::told;
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of a month's offerings that are searched to find one offering.
const MAX_SEARCHED: usize = 10_000;

/// What was pledged and done for an offering in a month, as exact decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Balance {
    pub month: Month,
    /// Test or live.
    pub mode: Mode,
    pub offering: String,
    /// Number of transactions with a pledge for the offering.
    pub transactions: u64,
    pub pledged: String,
    pub credited: String,
    pub done: String,
    /// `pledged` − `credited` − `done`: what is still to be done; 0 if that is negative.
    pub open: String,
    /// `credited` + `done` − `pledged`: what was done in excess; 0 if that is negative.
    pub surplus: String,
    /// Number of published updates.
    pub updates: u64,
    /// The sum of their quantities, of those with the stage `done`: what buyers were told is done.
    pub told: String,
}

impl Balance {
    /// Whether buyers were told nothing of what was pledged and not credited.
    pub fn is_untold(&self) -> bool {
        let decimal = |text| Decimal::parse(text).unwrap_or_default();
        let left = decimal(&self.pledged).minus(&decimal(&self.credited));
        self.updates == 0 && left.is_some_and(|left| left != Decimal::default())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Balances {
    /// The balances: newest month first, then by mode and offering.
    pub balances: Vec<Balance>,
    pub more: bool,
    /// Transactions that the sums leave out, because they have too many quantities.
    #[serde(serialize_with = "as_count")]
    pub left_out: DamagedRecords,
    #[serde(flatten)]
    pub coverage: Coverage,
}

/// Returns at most `most` balances: what was pledged, credited, done and told for each offering and month. Leaves
/// out months that the ledger does not keep. Ledger cost: 7 or 8 queries. KV cost: 1 read.
///
/// # Errors
/// If the ledger keeps none of the months, has lost credits or fulfilments, or fails.
pub async fn balances(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Balances> {
    epoch::check(store, ledger).await?;
    let (coverage, left_out) = coverage_of_quantities(ledger, None).await?;
    let kept: Vec<_> = months.iter().copied().filter(|month| coverage.has(*month)).collect();
    if let (true, Some(month)) = (kept.is_empty(), months.first()) {
        coverage.check(*month)?;
    }
    let limit = most.saturating_add(1); // one more shows whether there are more
    let pledged = quantities::quantities(ledger, mode, None, &kept, limit).await?;
    let credited = credits::credited_quantities(ledger, mode, None, &kept).await?;
    let done = fulfilments::sums(ledger, mode, &kept, limit).await?;
    let told = told::told(ledger, mode, &kept, limit).await?;
    let more = pledged.len().max(done.len()) > most;
    let mut sums = Sums::default();
    sums.add(pledged, true, |parts| &mut parts.pledged);
    // A sum that the limit cut off would seem to have no pledges.
    sums.add(credited, !more, |parts| &mut parts.credited);
    sums.add(done, !more, |parts| &mut parts.done);
    sums.add(told, false, |parts| &mut parts.told);
    let mut balances = sums.balances();
    balances.truncate(most);
    Ok(Balances { balances, more, left_out, coverage })
}

/// Returns a warning if a fulfilment exceeds what is still to be done, and `None` otherwise. The warning is a
/// text such as `Only 12 of tree is still to be done for the pledges of 2026-10, but 20 would be recorded`.
/// Ledger cost: 7 or 8 queries. KV cost: 1 read.
///
/// # Errors
/// If the ledger does not keep the month, or fails.
pub async fn beyond(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    new: &NewFulfilment,
) -> Result<Option<String>> {
    let NewFulfilment { mode, month, offering, quantity, .. } = new;
    let found = balances(store, ledger, Some(*mode), &[*month], MAX_SEARCHED).await?;
    let own = found.balances.iter().find(|balance| balance.offering == *offering);
    let open = own.map_or("0", |balance| &balance.open);
    let decimal = |text| Decimal::parse_bounded(text).unwrap_or_default();
    let fits = decimal(open).minus(&decimal(quantity)).is_some();
    Ok((!fits).then(|| {
        format!(
            "Only {open} of {offering} is left to do for the pledges of {month}, but this would record \
             {quantity}"
        )
    }))
}

#[derive(Default)]
struct Sums(BTreeMap<(Reverse<Month>, Mode, String), Parts>);

#[derive(Default)]
struct Parts {
    pledged: Part,
    credited: Part,
    done: Part,
    told: Part,
}

/// A sum, and the number of things that it is of.
#[derive(Default)]
struct Part {
    number: u64,
    sum: Decimal,
}

impl Sums {
    /// Sets one of the quantities of each offering. If `is_new` is false, skips offerings that have no quantity yet.
    fn add(
        &mut self,
        sums: Vec<OfferingSum>,
        is_new: bool,
        part: impl Fn(&mut Parts) -> &mut Part,
    ) {
        for OfferingSum { month, mode, offering, transactions: number, quantity } in sums {
            let group = (Reverse(month), mode, offering);
            if is_new || self.0.contains_key(&group) {
                let sum = Decimal::parse(&quantity).unwrap_or_default();
                *part(self.0.entry(group).or_default()) = Part { number, sum };
            }
        }
    }

    fn balances(self) -> Vec<Balance> {
        let balance = |((Reverse(month), mode, offering), parts)| {
            let Parts { pledged, credited, done, told } = parts;
            let (transactions, updates) = (pledged.number, told.number);
            let [pledged, credited, done, told] = [pledged, credited, done, told].map(|it| it.sum);
            let taken = Decimal::sum([credited.clone(), done.clone()].into_iter());
            let open = pledged.minus(&taken).unwrap_or_default();
            let surplus = taken.minus(&pledged).unwrap_or_default();
            let [pledged, credited, done, open, surplus, told] =
                [pledged, credited, done, open, surplus, told].map(|sum| sum.to_exact());
            Balance {
                month,
                mode,
                offering,
                transactions,
                pledged,
                credited,
                done,
                open,
                surplus,
                updates,
                told,
            }
        };
        self.0.into_iter().map(balance).collect()
    }
}
