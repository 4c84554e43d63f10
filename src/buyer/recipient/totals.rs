//! Adds up the quantities of a transaction's pledges.

use super::language::Language;
use super::quantity::WordedQuantity;
use super::text::shown;
use crate::pledges::decimal::Decimal;
use crate::pledges::types::{Amount, PledgeDetail, RetrievedPledge};

/// Maximum number of sums on a page. If there are more kinds of pledges, the page shows no sums.
const MAX_TOTALS: usize = 8;

static NO_DETAIL: PledgeDetail<'static> = PledgeDetail {
    name: None,
    description: None,
    noun_singular: None,
    noun_plural: None,
    image: None,
    external_id: None,
    external_url: None,
};

pub(super) fn detail_of<'p, 'a>(pledge: &'p RetrievedPledge<'a>) -> &'p PledgeDetail<'a> {
    pledge.details.first().unwrap_or(&NO_DETAIL)
}

/// Which pledges are added up together: all pledges with the same noun. Pledges without a noun are added up
/// by offering.
#[derive(PartialEq, Eq)]
enum TotalKind<'p> {
    Noun(&'p str),
    Offering(&'p str),
}

impl<'p> TotalKind<'p> {
    fn of(pledge: &'p RetrievedPledge<'_>) -> Self {
        let detail = detail_of(pledge);
        let noun = shown(&detail.noun_plural).or_else(|| shown(&detail.noun_singular));
        noun.map_or(TotalKind::Offering(&pledge.impact.offering_id), TotalKind::Noun)
    }
}

/// Returns the exact sum of each kind of pledge, in the order in which the kinds first appear. Returns an
/// empty list if there are more than 8 kinds, or if a sum is beyond the largest double.
pub(super) fn totals<'p>(
    language: Language,
    pledges: &'p [RetrievedPledge<'_>],
) -> Vec<WordedQuantity<'p>> {
    let mut kinds: Vec<(TotalKind<'_>, &RetrievedPledge<'_>)> = Vec::new();
    for pledge in pledges {
        let kind = TotalKind::of(pledge);
        if kinds.iter().all(|(known, _)| *known != kind) {
            if kinds.len() == MAX_TOTALS {
                return Vec::new();
            }
            kinds.push((kind, pledge));
        }
    }
    let total = |(kind, first): (TotalKind<'_>, &'p RetrievedPledge<'_>)| {
        let own = pledges.iter().filter(|pledge| TotalKind::of(pledge) == kind);
        let amount = sum(own.map(|pledge| pledge.impact.amount))?;
        let offering_id = &first.impact.offering_id;
        Some(WordedQuantity::of_offering(language, amount, offering_id, detail_of(first)))
    };
    kinds.into_iter().map(total).collect::<Option<_>>().unwrap_or_default()
}

/// Returns the sum of amounts; `None` if it is beyond the largest double. Each amount counts as its shortest decimal, as it
/// does in charges.
pub(super) fn sum(amounts: impl Iterator<Item = Amount>) -> Option<Amount> {
    let amounts = amounts.filter_map(|amount| Decimal::shortest(amount.get()));
    Amount::parse(&Decimal::sum(amounts).to_scientific())
}
