use super::Current;
use super::rules::charged_keys;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::charge::{PriceList, UnitPrice};
use crate::pledges::store::StoreError;
use crate::pledges::types::CurrencyCode;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Edit {
    All(PriceList),
    Set {
        offering: String,
        /// The offering's price, a decimal such as `0.50`.
        price: String,
    },
    /// Changes some of the prices in effect.
    Some(PriceEdits),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceEdits {
    /// The new currency; `None` keeps the currency.
    pub currency: Option<CurrencyCode>,
    /// The offerings and their prices, decimals such as `0.50`. An empty text removes the offering.
    pub prices: BTreeMap<String, String>,
}

impl Current<'_> {
    /// Returns these prices after an edit.
    ///
    /// # Errors
    /// Only an edit of a single price can fail: if the price is not valid, or if no readable price list is
    /// set yet.
    pub fn with(&self, edit: &Edit) -> Result<PriceList> {
        match edit {
            Edit::All(price_list) => Ok(price_list.clone()),
            Edit::Set { offering, price } => self.with_price(offering, price),
            Edit::Some(edits) => self.with_prices(edits),
        }
    }

    fn with_prices(&self, PriceEdits { currency, prices }: &PriceEdits) -> Result<PriceList> {
        let mut list = self.in_effect().cloned().unwrap_or_default();
        list.currency_code = currency.unwrap_or(list.currency_code);
        for (offering, price) in prices {
            match (&**price, list.unit_prices.contains_key(offering)) {
                ("", true) => drop(list.unit_prices.remove(offering)),
                _ => drop(list.unit_prices.insert(offering.clone(), parsed(offering, price)?)),
            }
        }
        Ok(list)
    }

    /// Returns these prices after setting the price of one offering.
    ///
    /// # Errors
    /// If the price is not valid. Also if no readable price list is set yet, because the currency is then
    /// unknown.
    fn with_price(&self, offering: &str, price: &str) -> Result<PriceList> {
        let price = parsed(offering, price)?;
        let mut price_list = self.readable()?;
        price_list.unit_prices.insert(offering.to_owned(), price);
        Ok(price_list)
    }

    fn readable(&self) -> Result<PriceList> {
        let own = if self.of.unit.is_some() { " of their own" } else { "" };
        match (&self.price_list, &self.problem) {
            (Some(price_list), _) => Ok(price_list.clone()),
            (None, Some(problem)) => Err(StoreError::Damaged(problem.clone()).into()),
            (None, None) => Err(OperatorError::invalid(format!(
                "{} have no prices{own} yet: set a whole price list with its currency first",
                charged_keys(self.of)
            ))),
        }
    }
}

fn parsed(offering: &str, price: &str) -> Result<UnitPrice> {
    UnitPrice::parse(price).ok_or_else(|| {
        let problem = format!("`{price}` is not a price: write a plain decimal such as `0.50`");
        OperatorError::at(("price", offering), RefusalCode::Invalid, problem)
    })
}
