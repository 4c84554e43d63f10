//! Operations that print price lists and their history.

use super::arguments::{MODE, UNIT, Whose};
use super::listing;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::charged_keys;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::spec::Spec;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::charge::PriceList;
use crate::pledges::store::PriceListKey;
use serde::Serialize;
use std::collections::BTreeMap;

pub const SHOW: Spec = Spec::reads("prices", "show", "print the price lists", &[MODE, UNIT])
.answers("`unit`, if it was given; `catalogues`: the price list of each selected mode, as `test` and `live`, or `null` if none is set; without `--unit`, `units`: for each of these modes, the units that have a price list of their own. In a list, `prices` is the time when it was set, which is its ID");

#[derive(Serialize)]
struct PriceListsAnswer<'u> {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'u str>,
    catalogues: BTreeMap<&'static str, Option<PriceList>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<BTreeMap<&'static str, Vec<String>>>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, whose: Whose) -> Result<Answer> {
    let (mut catalogues, mut words) = (BTreeMap::new(), Vec::new());
    let mut units = whose.unit.is_none().then(BTreeMap::new);
    for of in whose.each() {
        let price_list = prices::get(call.store, of).await?;
        let head = format!("prices for {}\n", charged_keys(of));
        let mut list = head + &list_in_words(of, price_list.as_ref());
        if let Some(units) = &mut units {
            let (own, _) = prices::units(call.store, of.mode, usize::MAX).await?;
            list += &units_in_words(&own);
            units.insert(of.mode.name(), own);
        }
        words.push(list);
        catalogues.insert(of.mode.name(), price_list);
    }
    if catalogues.values().all(Option::is_none) {
        unit_must_be_registered(call, whose.unit.as_deref()).await?;
    }
    let answer = PriceListsAnswer { unit: whose.unit.as_deref(), catalogues, units };
    Answer::new(&answer, words.join("\n\n"))
}

fn list_in_words(of: PriceListKey<'_>, price_list: Option<&PriceList>) -> String {
    let Some(price_list) = price_list else {
        return match of.unit {
            Some(_) => {
                "the unit has no price list of its own: the prices of the mode (test or live) apply"
            }
            None => "no price list is set: every charge is 0.00 USD",
        }
        .to_owned();
    };
    listing::prices(price_list, usize::MAX).in_lines()
}

fn units_in_words(units: &[String]) -> String {
    match units.is_empty() {
        true => String::new(),
        false => format!("\nunits with a price list of their own: {}", units.join(", ")),
    }
}

pub const HISTORY: Spec = Spec::reads(
    "prices",
    "history",
    "list the changes of prices, oldest first: who changed what, and when",
    &[MODE, UNIT],
)
.answers("`history`: for each change of a price list: `mode`, `time`, `by`, and `change` with `prices`, `currency` and `risks` as for `prices set`; also `unit` if it is a unit's list, and `removed` if the unit's list was removed");

pub async fn history<P: Ports>(call: &Call<'_, P>, whose: Whose) -> Result<Answer> {
    let mut history = Vec::new();
    for of in whose.each() {
        history.extend(prices::history(call.store, of, usize::MAX, usize::MAX).await?);
    }
    if history.is_empty() {
        unit_must_be_registered(call, whose.unit.as_deref()).await?;
    }
    history.sort_by(|a, b| a.time.cmp(&b.time));
    Answer::list("history", &history, listing::history(&history, usize::MAX).in_lines())
}
