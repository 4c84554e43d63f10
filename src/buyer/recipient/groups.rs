//! Groups the pledges of a transaction, so that a page says once what several pledges have in common.

use super::language::Language;
use super::rounded::Rounded;
use super::totals::{detail_of, sum};
use crate::pledges::types::{Amount, PledgeDetail, RetrievedPledge};
use std::collections::BTreeMap;

/// Maximum number of different amounts that a group lists.
const MAX_AMOUNTS: usize = 8;

/// Pledges of one offering with the same words, picture and link.
pub(super) struct Group<'p, 'a> {
    pub first: &'p RetrievedPledge<'a>,
    /// The sum of the amounts.
    pub amount: Amount,
    /// The amounts, in the order of the pledges.
    pub amounts: Vec<Amount>,
}

/// Groups pledges. Offerings, and the groups of an offering, are in the order in which they first appear. Pledges whose sum
/// is beyond the largest double are groups of their own.
pub(super) fn groups<'p, 'a>(pledges: &'p [RetrievedPledge<'a>]) -> Vec<Group<'p, 'a>> {
    let (mut offerings, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    let place = |(index, pledge): (usize, &'p RetrievedPledge<'a>)| {
        let offering = *offerings.entry(&pledge.impact.offering_id).or_insert(index);
        let kind = (offering, said_of(detail_of(pledge)));
        (offering, *kinds.entry(kind).or_insert(index), pledge)
    };
    let mut placed: Vec<_> = pledges.iter().enumerate().map(place).collect();
    placed.sort_by_key(|(offering, kind, _)| (*offering, *kind)); // stable
    let mut groups = Vec::new();
    for same in placed.chunk_by(|(_, one, _), (_, other, _)| one == other) {
        let pledges = same.iter().map(|(_, _, pledge)| *pledge);
        match Group::of(pledges.clone()) {
            Some(group) => groups.push(group),
            None => groups.extend(pledges.filter_map(|pledge| Group::of([pledge].into_iter()))),
        }
    }
    groups
}

/// Returns what a page says of a pledge, besides its amount and offering.
fn said_of<'p>(detail: &'p PledgeDetail<'_>) -> [Option<&'p str>; 6] {
    let PledgeDetail {
        name,
        description,
        noun_singular,
        noun_plural,
        image,
        external_url,
        external_id: _,
    } = detail;
    [name, description, noun_singular, noun_plural, image, external_url].map(Option::as_deref)
}

impl<'p, 'a: 'p> Group<'p, 'a> {
    fn of(pledges: impl Iterator<Item = &'p RetrievedPledge<'a>> + Clone) -> Option<Self> {
        let amounts: Vec<_> = pledges.clone().map(|pledge| pledge.impact.amount).collect();
        let first = pledges.clone().next()?;
        let amount = match amounts.as_slice() {
            [only] => *only,
            _ => sum(amounts.iter().copied())?,
        };
        Some(Group { first, amount, amounts })
    }

    pub fn offering_id(&self) -> &'p str {
        &self.first.impact.offering_id
    }

    /// Writes how the sum comes about, such as `2 × 12 + 5`. Returns `None` for a single pledge, for more than 8 different
    /// amounts, and for one that is written with a power of ten.
    pub fn parts(&self, language: Language) -> Option<String> {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for amount in &self.amounts {
            let amount = Rounded::new(*amount).write(language);
            match parts.iter_mut().find(|(known, _)| *known == amount) {
                Some((_, count)) => *count += 1,
                None => parts.push((amount, 1)),
            }
            let has_power = parts.last().is_some_and(|(last, _)| last.contains('×'));
            if has_power || parts.len() > MAX_AMOUNTS {
                return None;
            }
        }
        let written = |(amount, count): (String, usize)| match count {
            1 => amount,
            _ => [&language.decimal(&count.to_string()), " × ", &amount].concat(),
        };
        (self.amounts.len() > 1)
            .then(|| parts.into_iter().map(written).collect::<Vec<_>>().join(" + "))
    }
}
