//! The exact quantities of a transaction by offering, as JSON `[["tree",3000000],["plastic-kg","1e-7"]]`.

use super::decimal::{Decimal, MAX_UNITS};
use super::types::{Amount, Impact};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::{self, Formatter};

/// Maximum size of the quantities in a message, in bytes of JSON. The ledger's queue accepts messages of 128
/// KB.
pub const MAX_MESSAGE_BYTES: usize = 100_000;
/// Maximum number of offerings that are read. A record has fewer pledges.
const MAX_OFFERINGS: usize = 20_000;
/// Decimal places of a [`Quantity`] that is stored as an integer.
const PLACES: i32 = 6;

/// The sums of a transaction's amounts, one for each offering, sorted by the offering's ID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quantities(Vec<(String, Quantity)>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A whole number of millionths, at most [`MAX_UNITS`]. In JSON it is an integer.
    Millionths(u64),
    /// Any other sum, [trimmed](Decimal::trimmed). In JSON it is a text of digits and a power of ten.
    Exact(Decimal),
}

impl Quantities {
    /// Sums the amounts of pledges by offering. Returns `None` if the JSON would exceed this number of bytes.
    pub fn of<'i, 'a: 'i>(
        impacts: impl Iterator<Item = &'i Impact<'a>>,
        max_bytes: usize,
    ) -> Option<Self> {
        // Sorted with a heap: `sort_unstable` would add 9 KB to the service's wasm.
        let impacts = impacts.map(|impact| (&*impact.offering_id, impact.amount));
        let sorted = impacts.collect::<BinaryHeap<_>>().into_sorted_vec();
        Quantities::of_sorted(&sorted, max_bytes)
    }

    fn of_sorted(amounts: &[(&str, Amount)], max_bytes: usize) -> Option<Self> {
        let (mut quantities, mut bytes) = (Quantities(Vec::new()), 1);
        for amounts in amounts.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((offering_id, _)) = amounts.first() else { continue };
            let entry = ((*offering_id).to_owned(), Quantity::sum(amounts));
            bytes += serde_json::to_vec(&entry).map_or(0, |json| json.len() + 1);
            if bytes > max_bytes {
                return None; // before the next sum is computed: hostile sums have hundreds of digits
            }
            quantities.0.push(entry);
        }
        Some(quantities)
    }

    /// Makes quantities from a sum for each offering. Sums of 0 are left out. If an offering occurs twice, its sums are
    /// added.
    pub fn of_sums(sums: impl Iterator<Item = (String, Decimal)>) -> Self {
        let mut by_offering: BTreeMap<String, Vec<Decimal>> = BTreeMap::new();
        for (offering_id, sum) in sums.filter(|(_, sum)| !sum.is_zero()) {
            by_offering.entry(offering_id).or_default().push(sum);
        }
        let quantity = |sums: Vec<Decimal>| Quantity::new(&Decimal::sum(sums.into_iter()));
        Quantities(by_offering.into_iter().map(|(id, sums)| (id, quantity(sums))).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, offering_id: &str) -> Option<&Quantity> {
        let place = self.0.binary_search_by(|(own, _)| own.as_str().cmp(offering_id)).ok()?;
        self.0.get(place).map(|(_, quantity)| quantity)
    }

    /// Returns the same quantities with other names for the offerings.
    pub fn renamed(self, name: impl Fn(String) -> String) -> Self {
        let rename = |(offering_id, quantity)| (name(offering_id), quantity);
        Quantities(self.0.into_iter().map(rename).collect())
    }

    /// Returns the offerings' IDs with their sums, sorted by ID.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(offering_id, quantity)| (&**offering_id, quantity))
    }
}

impl Quantity {
    /// Makes the quantity from a sum, in the shortest form.
    pub fn new(sum: &Decimal) -> Self {
        sum.units(PLACES).map_or_else(|| Quantity::Exact(sum.trimmed()), Quantity::Millionths)
    }

    /// Returns the sum as a decimal, which can be added to others.
    pub fn decimal(&self) -> Decimal {
        match self {
            Quantity::Millionths(millionths) => Decimal::from_units(*millionths, PLACES),
            Quantity::Exact(decimal) => decimal.clone(),
        }
    }

    /// Sums amounts exactly. Each amount counts as the shortest decimal that converts to its double. Charges
    /// are computed by the same rule.
    fn sum(amounts: &[(&str, Amount)]) -> Self {
        let add = |sum: u64, (_, amount): &(&str, Amount)| sum.checked_add(millionths(*amount)?);
        if let Some(sum) = amounts.iter().try_fold(0, add).filter(|sum| *sum <= MAX_UNITS) {
            return Quantity::Millionths(sum);
        }
        let exact = amounts.iter().filter_map(|(_, amount)| Decimal::shortest(amount.get()));
        Quantity::new(&Decimal::sum(exact))
    }
}

/// Returns an amount as a whole number of millionths, below 10^15. Returns `None` if the amount's shortest
/// decimal is not such a number.
///
/// An amount is a double. If a decimal of at most 15 digits converts to this double, it is the double's
/// shortest decimal: two different decimals of this length never convert to the same double.
fn millionths(amount: Amount) -> Option<u64> {
    let millionths = (amount.get() * 1e6).round_ties_even();
    let is_exact = millionths < 1e15 && millionths / 1e6 == amount.get();
    is_exact.then_some(millionths as u64)
}

// ---- JSON ----------------------------------------------------------------------------------------

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Quantity::Millionths(millionths) => serializer.serialize_u64(*millionths),
            Quantity::Exact(decimal) => serializer.serialize_str(&decimal.to_scientific()),
        }
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a whole number of millionths up to 2^53 - 1, or a decimal in quotes")
    }

    fn visit_u64<E: Error>(self, millionths: u64) -> Result<Quantity, E> {
        let is_exact = millionths <= MAX_UNITS;
        is_exact.then_some(Quantity::Millionths(millionths)).ok_or_else(|| invalid(&self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Quantity, E> {
        let sum = Decimal::parse_bounded(text).ok_or_else(|| invalid(&self))?;
        Ok(Quantity::new(&sum))
    }
}

/// Makes an error that does not quote the text that was read.
fn invalid<E: Error>(visitor: &QuantityVisitor) -> E {
    E::custom(format_args!("expected {}", visitor as &dyn serde::de::Expected))
}

impl<'de> Deserialize<'de> for Quantities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(QuantitiesVisitor)
    }
}

struct QuantitiesVisitor;

impl<'de> Visitor<'de> for QuantitiesVisitor {
    type Value = Quantities;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a list of pairs of an offering's ID and a quantity, each offering once")
    }

    /// Reads the pairs and sorts them, because another program may have written them in another order.
    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Quantities, A::Error> {
        let mut entries: Vec<(String, Quantity)> = Vec::new();
        while let Some(entry) = pairs.next_element()? {
            if entries.len() == MAX_OFFERINGS {
                return Err(A::Error::custom("too many offerings"));
            }
            entries.push(entry);
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let is_once = entries.windows(2).all(|pair| !matches!(pair, [(a, _), (b, _)] if a == b));
        is_once
            .then_some(Quantities(entries))
            .ok_or_else(|| A::Error::custom("an offering is listed twice"))
    }
}
