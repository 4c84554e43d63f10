//! Operations that set price lists, and that remove the price list of a unit.

use super::arguments::{MODE, Modes, UNIT, Whose};
use super::steps::{Step, edit, run};
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Edit, PriceEdits};
use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::operation::register::confirm_new;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::types::CurrencyCode;
use serde::Deserialize;
use std::collections::BTreeMap;

const FILE: &str = r#"A price list is JSON, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing. The price list of a unit replaces the mode's price list for that unit,
with its currency and all its prices."#;

const CURRENCIES: &[&str] = &["USD", "GBP", "EUR"];

pub const SET: Spec = Spec::changes(
    "prices",
    "set",
    "replace a whole price list, change some of its prices, or give a unit its own price list",
    &[
        Argument::positional("file", Kind::Input, "the price list; `-` is standard input; leave it out to change some prices")
            .optional()
            .field("All prices as JSON", "Offerings that you leave out lose their price. Put prices in quotes."),
        Argument::option("currency", Kind::Choice { choices: CURRENCIES }, "the new currency")
            .menu("Currency", CURRENCIES),
        Argument::option(
            "price",
            text("offering=price"),
            "the new price of an offering, such as `tree=0.55`; `tree=` removes its price",
        )
        .repeatable()
        .field("Prices", "To remove an offering, clear its price. Unlisted offerings are charged 0.00."),
        MODE,
        UNIT,
    ],
)
.button("Preview changes …")
.edited()
.confirmed_if("prices of both modes are replaced, a price becomes ten times as high or as low, the currency changes, an offering loses its price, the current list cannot be read, or the unit is not registered")
.noted(FILE)
.answers("`unit`, if it was given; `catalogues`: the new price list of each selected mode, as for `prices show`; `changes`: for each mode, `prices` (each with `offering`, `from`, `to`), `currency` (the one before and the one after, or `null` if it did not change) and `risks` (the warnings of the confirmation)");

#[derive(Deserialize)]
pub struct Set {
    file: Option<String>,
    currency: Option<CurrencyCode>,
    #[serde(default)]
    price: Vec<String>,
    #[serde(flatten)]
    whose: Whose,
}

impl Set {
    /// Returns the prices to change; `None` if a file has them all.
    fn edits(&self) -> Result<Option<PriceEdits>, Refused> {
        let Set { file, currency, price, .. } = self;
        let is_some = currency.is_some() || !price.is_empty();
        match (file, is_some) {
            (Some(_), false) => Ok(None),
            (None, true) => Ok(Some(PriceEdits { currency: *currency, prices: edited(price)? })),
            (Some(_), true) => Err("give either a file, or `--price` and `--currency`".into()),
            (None, false) => Err("nothing was changed: no price is different".into()),
        }
    }
}

/// Reads prices such as `tree=0.55`.
fn edited(prices: &[String]) -> Result<BTreeMap<String, String>, Refused> {
    let mut all = BTreeMap::new();
    for text in prices {
        let (offering, price) = text.rsplit_once('=').unwrap_or((text, ""));
        let offering = offering.trim();
        let at = |problem: &str| Refused::at(("price", offering), RefusalCode::Invalid, problem);
        if offering.is_empty() {
            return Err(at("nothing was changed: enter the ID of the offering"));
        }
        if all.insert(offering.to_owned(), price.trim().to_owned()).is_some() {
            return Err(at(&format!(
                "nothing was changed: the offering `{offering}` has two prices"
            )));
        }
    }
    Ok(all)
}

pub fn check_set(values: &Values) -> Result<(), Refused> {
    values.read::<Set>()?.edits().map(drop)
}

pub async fn set<P: Ports>(call: &Call<'_, P>, asked: Set) -> Result<Answer> {
    let edits = asked.edits().map_err(Failure::Usage)?;
    let Set { file, whose, .. } = asked;
    let change = match (edits, file) {
        (Some(edits), _) => Edit::Some(edits),
        (None, file) => Edit::All(read_list(call, &file.unwrap_or_default()).await?),
    };
    if let Some(unit) = &whose.unit
        && !call.was_done().await?
    {
        let level = KeyLevel::Unit(unit.clone());
        confirm_new(call, &[level], "no price was changed").await?;
    }
    edit(call, &whose, &change).await
}

async fn read_list<P: Ports>(call: &Call<'_, P>, file: &str) -> Result<PriceList> {
    let bytes = call.host.read(file).await?;
    let name = if file == "-" || call.host.is_page() { "the price list" } else { file };
    prices::parse(&bytes).map_err(|error| {
        OperatorError::at("file", RefusalCode::Invalid, format!("{name}: {error}")).into()
    })
}

pub const CHANGE: Spec = Spec::changes(
    "prices",
    "change",
    "set the price of one offering",
    &[
        Argument::positional("offering", text("offering"), "the ID of the offering"),
        Argument::positional("price", text("price"), "a plain decimal such as 0.55"),
        MODE,
        UNIT,
    ],
)
.confirmed_if("prices of both modes are replaced, or the price becomes ten times as high or as low")
.answers("`unit`, if it was given; `catalogues`, `changes` as for `prices set`");

#[derive(Deserialize)]
pub struct Change {
    offering: String,
    price: String,
    #[serde(flatten)]
    whose: Whose,
}

pub async fn change<P: Ports>(call: &Call<'_, P>, asked: Change) -> Result<Answer> {
    let Change { offering, price, whose } = asked;
    edit(call, &whose, &Edit::Set { offering, price }).await
}

pub const REMOVE: Spec = Spec::changes(
    "prices",
    "remove",
    "remove the price list of a unit, so that the mode's prices apply to the unit again",
    &[Argument::positional("unit", text("unit"), "the ID of the unit"), MODE],
)
.confirmed_if(
    "prices of both modes are replaced, a price becomes ten times as high or as low, the currency changes, an offering \
     loses its price, or the current list cannot be read",
)
.button("Remove the unit's price list …")
.answers("`unit`; `catalogues`: the price lists that apply now; `changes` as for `prices set`");

#[derive(Deserialize)]
pub struct Remove {
    unit: String,
    mode: Modes,
}

pub async fn remove<P: Ports>(call: &Call<'_, P>, Remove { unit, mode }: Remove) -> Result<Answer> {
    let whose = Whose { mode, unit: Some(unit) };
    let was_done = call.was_done().await?;
    let mut steps = Vec::new();
    for of in whose.each() {
        let now = prices::current(call.store, call.ledger, of).await?;
        if now.is_set() || was_done {
            let change = now.compare_removal();
            let list = now.of_mode.clone().unwrap_or_default();
            let (seen, replaces) = (now.revision().to_owned(), true);
            steps.push(Step { of, list, edit: None, seen, replaces, change });
        }
    }
    match steps.is_empty() {
        true => Err(invalid(format!(
            "the unit `{}` has no price list of its own",
            whose.unit.unwrap_or_default()
        ))),
        false => run(call, &whose, steps).await,
    }
}
