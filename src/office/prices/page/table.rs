//! The table in which a person edits prices. Its rows come from a price list, or from the form that the person has
//! sent.

use super::fields::identity;
use super::wanted::{MAX_ROWS, Wanted, as_text};
use crate::office::prices::rule::Current;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::view;
use crate::pledges::charge::{PriceList, UnitPrice};
use crate::pledges::store::PriceListKey;
use crate::pledges::types::CurrencyCode;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use strum::VariantArray as _;

/// The name of the field with a whole price list as JSON.
pub(super) const JSON: &str = "list";

/// Number of empty rows below the prices.
const EMPTY_ROWS: usize = 5;

#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    currency: CurrencyCode,
    rows: Vec<Row>,
    /// Whether offerings that are not in the table keep their prices. This is so if the table has no room for
    /// all prices.
    keeps_others: bool,
    /// The revision of the price list that the table was made from.
    pub seen: String,
    /// The JSON that the person has entered instead of the table.
    pub json: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    offering: String,
    price: String,
    /// Whether the offering had a price when the table was made. If so, the person cannot change the
    /// offering's ID.
    is_listed: bool,
    /// What is wrong with the price or the offering.
    problem: &'static str,
    /// What has happened to the price since the person opened the page.
    note: String,
}

impl Draft {
    /// Returns the prices in effect as a table. If the prices do not fit into it, the table has only empty
    /// rows.
    pub fn of(now: &Current<'_>) -> Self {
        let seen = now.revision().to_owned();
        let Some(list) = now.in_effect() else {
            return Draft { seen, ..Draft::default() }.with_empty_rows();
        };
        let currency = list.currency_code;
        let keeps_others = !fits(list);
        let rows = if keeps_others { Vec::new() } else { rows(list) };
        Draft { currency, rows, keeps_others, seen, json: None }.with_empty_rows()
    }

    /// Returns the current prices with a person's edits. The edits are the differences between `wanted` and `base`, the
    /// price list that the person has seen. Without `base`, every price in `wanted` is an edit.
    pub fn rebased(now: &Current<'_>, base: Option<&PriceList>, wanted: &Wanted) -> Self {
        let Wanted::List(wanted) = wanted else { return Draft::of(now) };
        let (none, seen) = (PriceList::default(), now.revision().to_owned());
        let (now, base) = (now.price_list.as_ref().unwrap_or(&none), base.unwrap_or(&none));
        let is_same_currency = wanted.currency_code == base.currency_code;
        let currency = if is_same_currency { now.currency_code } else { wanted.currency_code };
        let offerings: BTreeSet<_> =
            [now, base, wanted].iter().flat_map(|list| list.unit_prices.keys()).collect();
        let row = |offering: &String| rebased_row(offering, now, base, wanted);
        let rows: Vec<_> = offerings.into_iter().filter_map(row).collect();
        let draft = Draft { currency, rows, seen, ..Draft::default() };
        let merged = draft.list();
        match fits(&merged) && draft.rows.len() <= MAX_ROWS {
            true => draft.with_empty_rows(),
            false => Draft { rows: Vec::new(), keeps_others: true, ..draft }
                .with_empty_rows()
                .with_json(as_text(&merged)),
        }
    }

    /// Returns a price list with the rows that contain a valid price.
    fn list(&self) -> PriceList {
        let price = |row: &Row| Some((row.offering.clone(), UnitPrice::parse(&row.price)?));
        let unit_prices = self.rows.iter().filter_map(price).collect();
        PriceList { currency_code: self.currency, unit_prices, prices: None }
    }

    /// Sets the JSON of the draft: a text that the person has entered, or prices that do not fit into the table.
    pub fn with_json(self, json: String) -> Self {
        Draft { json: Some(json), ..self }
    }

    /// Adds `EMPTY_ROWS` empty rows, or fewer if the table would have more than `MAX_ROWS` rows.
    pub fn with_empty_rows(mut self) -> Self {
        let filled = self.rows.len();
        let length = filled.saturating_add(EMPTY_ROWS).min(MAX_ROWS.max(filled));
        self.rows.resize_with(length, Row::default);
        self
    }

    /// Returns the name of the field that an error is about. If the person has entered JSON, this is the JSON
    /// field. Otherwise, it is a field of the first invalid row of the table.
    pub fn wrong_field(&self) -> Option<String> {
        if self.json.is_some() {
            return Some(JSON.to_owned());
        }
        let (number, row) =
            self.rows.iter().enumerate().find(|(_, row)| !row.problem.is_empty())?;
        Some(format!("{}-{number}", if row.offering.is_empty() { "offering" } else { "price" }))
    }

    /// Returns the price list that the table describes. If the table has room for only some of the current
    /// offerings, the remaining offerings keep their prices.
    ///
    /// # Errors
    /// If a row is not valid. The error contains a message, and the table with a problem at each invalid row.
    pub fn into_list(mut self, now: &Current<'_>) -> Result<PriceList, (Self, String)> {
        let others = now.in_effect().filter(|_| self.keeps_others);
        let mut list = others.cloned().unwrap_or_default();
        list.currency_code = self.currency;
        let mut seen = BTreeSet::new();
        for row in &mut self.rows {
            let price = UnitPrice::parse(&row.price);
            row.problem = match (&*row.offering, &*row.price, &price) {
                ("", "", _) => "",
                ("", ..) => "Enter the ID of the offering.",
                _ if !seen.insert(row.offering.clone()) => "This offering is listed twice.",
                (_, "", _) => "",
                (_, _, None) => "Write a plain decimal such as 0.50.",
                _ => "",
            };
            match price {
                Some(price) => list.unit_prices.insert(row.offering.clone(), price),
                None => list.unit_prices.remove(&row.offering),
            };
        }
        match self.rows.iter().filter(|row| !row.problem.is_empty()).count() {
            0 => Ok(list),
            count => {
                let rows =
                    if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
                Err((self.with_empty_rows(), format!("{rows} not valid: nothing was changed")))
            }
        }
    }
}

/// Returns the row of an offering. If the person has edited the price, the row contains the person's price,
/// otherwise the current price. Returns `None` if there is no current price, and the person has not entered
/// one.
fn rebased_row(
    offering: &String,
    now: &PriceList,
    base: &PriceList,
    wanted: &PriceList,
) -> Option<Row> {
    let of = |list: &PriceList| list.unit_prices.get(offering).cloned();
    let (now, base, wanted) = (of(now), of(base), of(wanted));
    let is_edited = wanted != base;
    let price = if is_edited { wanted } else { now.clone() };
    let note = match &now {
        _ if !is_edited || now == base || now == price => String::new(),
        Some(now) => format!("The price was set to {} in the meantime.", now.as_str()),
        None => "Removed meanwhile.".to_owned(),
    };
    if price.is_none() && now.is_none() {
        return None;
    }
    let price = price.map(|price| price.as_str().to_owned()).unwrap_or_default();
    let is_listed = now.is_some();
    Some(Row { offering: offering.clone(), price, is_listed, note, ..Row::default() })
}

/// Returns whether a price list can be edited as a table: it has at most [`MAX_ROWS`] prices, and a text field can contain
/// the ID of each offering.
pub(super) fn fits(list: &PriceList) -> bool {
    list.unit_prices.len() <= MAX_ROWS && list.unit_prices.keys().all(|id| is_plain(id))
}

/// Returns whether a text field contains this ID unchanged.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.trim() == id && !id.contains(char::is_control)
}

fn rows(list: &PriceList) -> Vec<Row> {
    let row = |(offering, price): (&String, &UnitPrice)| Row {
        offering: offering.clone(),
        price: price.as_str().to_owned(),
        is_listed: true,
        ..Row::default()
    };
    list.unit_prices.iter().map(row).collect()
}

/// Reads the table from a form, without its empty rows.
pub(super) fn typed(form: &Form, now: &Current<'_>) -> Draft {
    let listed = now.in_effect().map(|list| &list.unit_prices);
    let row = |(offering, price): (&str, &str)| Row {
        offering: offering.to_owned(),
        price: price.to_owned(),
        is_listed: listed.is_some_and(|listed| listed.contains_key(offering)),
        ..Row::default()
    };
    let fields: BTreeMap<_, _> = form.fields().collect();
    let field = |name: &str, number: usize| {
        fields.get(&*format!("{name}-{number}")).copied().unwrap_or_default().trim()
    };
    let typed = (0..MAX_ROWS + EMPTY_ROWS)
        .map(|number| (field("offering", number), field("price", number)));
    let rows = typed.filter(|texts| *texts != ("", "")).map(row).collect();
    let currency = CurrencyCode::from_code(form.text("currency")).unwrap_or_default();
    let seen = form.text("seen").to_owned();
    Draft { currency, rows, keeps_others: keeps_others(form), seen, json: None }
}

/// The name of a hidden field. A form contains it if offerings that are not in the form's table keep their prices.
const OTHERS: &str = "others";

pub(super) fn keeps_others(form: &Form) -> bool {
    form.given(OTHERS).is_some()
}

// ---- The fields ----------------------------------------------------------------------------------

pub(super) fn form(of: PriceListKey<'_>, draft: &Draft) -> Markup {
    let codes: Vec<_> =
        CurrencyCode::VARIANTS.iter().map(|code| (code.code(), code.code())).collect();
    view::form(
        "/prices",
        &html! {
            (identity(of, &draft.seen))
            (view::hidden("change", "table"))
            @if draft.keeps_others { (view::hidden(OTHERS, "keep")) }
            (view::select("currency", "Currency", &codes, draft.currency.code()))
            div.table tabindex="0" role="group" aria-label="Prices" {
                table {
                    thead { tr { th scope="col" { "Offering" } th scope="col" { "Unit price" } } }
                    tbody {
                        @for (number, row) in draft.rows.iter().enumerate() {
                            tr { (cells(number, row)) }
                        }
                    }
                }
            }
            div.row {
                button { "Preview changes …" }
                @if draft.rows.len() < MAX_ROWS {
                    button.quiet name="step" value="rows" { "Add rows" }
                }
            }
        },
    )
}

fn cells(number: usize, row: &Row) -> Markup {
    let id = format!("row-{number}");
    let has_hint = !row.problem.is_empty() || !row.note.is_empty();
    let described = has_hint.then_some(&*id);
    let invalid = (!row.problem.is_empty()).then_some("true");
    let (offering, price) = (format!("offering-{number}"), format!("price-{number}"));
    let of = if row.is_listed { row.offering.clone() } else { format!("row {}", number + 1) };
    html! {
        th scope="row" data-label="Offering" {
            @if row.is_listed {
                (view::untrusted_text(&row.offering))
                (view::hidden(&offering, &row.offering))
            } @else {
                input id=(offering) name=(offering) value=(row.offering) aria-label={ "Offering of row " (number + 1) }
                    spellcheck="false" aria-invalid=[invalid] aria-describedby=[described];
            }
        }
        td data-label="Unit price" {
            input id=(price) name=(price) value=(row.price) inputmode="decimal" aria-label={ "Unit price of " (of) }
                aria-invalid=[invalid] aria-describedby=[described];
            @if has_hint {
                small.problem[!row.problem.is_empty()] id=(id) { (row.problem) (row.note) }
            }
        }
    }
}
