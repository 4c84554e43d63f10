//! Operations on prices.

use super::call::{Answer, Call, Failure, Host as _, Ports, Result, invalid};
use super::spec::{Argument, Kind, Spec, modes, text};
use super::table::{paragraphs, table, time};
use crate::charge::{PriceList, UnitPrice};
use crate::operator::delays::APPLIED_SECONDS;
use crate::operator::prices::{self, Change as Changed, Edit, PriceListEntry};
use crate::scope::Mode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const FILE: &str = r#"A price list is JSON, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing."#;

/// The modes of the selected price lists.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Modes {
    Test,
    Live,
    Both,
}

impl Modes {
    const fn each(self) -> &'static [Mode] {
        match self {
            Modes::Test => &[Mode::Test],
            Modes::Live => &[Mode::Live],
            Modes::Both => &[Mode::Test, Mode::Live],
        }
    }
}

const WHOSE: Argument = modes("both", "the price list of test keys, of live keys, or both");

// ---- Change --------------------------------------------------------------------------------------

pub const SET: Spec = Spec::changes(
    "prices",
    "set",
    "replace a whole price list",
    &[Argument::positional("file", Kind::Input, "the price list; `-` is standard input"), WHOSE],
)
.confirmed_if(
    "the currency changes, an offering loses its price, or the current list cannot be read",
)
.noted(FILE)
.answers("`catalogues`: the new price list of each selected mode, as for `prices show`; `changes`: for each mode, `prices` (each with `offering`, `from`, `to`), `currency` (the one before and the one after, or `null` if it did not change) and `risks` (the warnings of the confirmation)");

#[derive(Deserialize)]
pub struct Set {
    file: String,
    mode: Modes,
}

pub async fn set<P: Ports>(call: &Call<'_, P>, Set { file, mode }: Set) -> Result<Answer> {
    let bytes = call.host.read(&file).await?;
    let name = if file == "-" { "the price list" } else { &file };
    let price_list = prices::parse(&bytes).map_err(|error| invalid(format!("{name}: {error}")))?;
    edit(call, mode, &Edit::All(price_list)).await
}

pub const CHANGE: Spec = Spec::changes(
    "prices",
    "change",
    "set the price of one offering",
    &[
        Argument::positional("offering", text("offering"), "the ID of the offering"),
        Argument::positional("price", text("price"), "a plain decimal such as 0.55"),
        WHOSE,
    ],
)
.answers("`catalogues`, `changes` as for `prices set`");

#[derive(Deserialize)]
pub struct Change {
    offering: String,
    price: String,
    mode: Modes,
}

pub async fn change<P: Ports>(call: &Call<'_, P>, asked: Change) -> Result<Answer> {
    let Change { offering, price, mode } = asked;
    edit(call, mode, &Edit::Set { offering, price }).await
}

async fn edit<P: Ports>(call: &Call<'_, P>, mode: Modes, edit: &Edit) -> Result<Answer> {
    let mut lists = Vec::new();
    for mode in mode.each() {
        let now = prices::current(call.store, *mode).await?;
        let price_list = PriceList { prices: None, ..now.with(edit)? };
        lists.push(NewList::new(&now, price_list));
    }
    replace(call, edit, lists).await
}

/// A price list that will replace another one.
struct NewList {
    mode: Mode,
    price_list: PriceList,
    /// The revision of the price list that it replaces.
    seen: String,
    change: Changed,
}

impl NewList {
    fn new(now: &prices::Current, price_list: PriceList) -> Self {
        let (seen, change) = (now.revision().to_owned(), now.compare(&price_list));
        NewList { mode: now.mode, price_list, seen, change }
    }

    fn in_words(&self) -> String {
        let (mode, currency) = (self.mode.name(), self.price_list.currency_code.code());
        let head = format!("prices of {mode} keys, in {currency}");
        let changes = &self.change.prices;
        let rows: Vec<_> = changes
            .iter()
            .map(|it| [it.offering.clone(), price(it.from.as_ref()), price(it.to.as_ref())])
            .collect();
        let kept = changes.iter().filter(|change| change.to.is_some()).count();
        let same = format!("{} unchanged", self.price_list.unit_prices.len().saturating_sub(kept));
        match rows.is_empty() {
            true => format!("{head}\n{same}"),
            false => format!("{head}\n{}\n{same}", table(["OFFERING", "BEFORE", "NOW"], &rows)),
        }
    }
}

/// Returns the text of a price, or a dash if there is none.
fn price(price: Option<&UnitPrice>) -> String {
    price.map_or_else(|| "–".to_owned(), text_of)
}

/// Returns the text of a price, formatted as in JSON.
pub(super) fn text_of(price: &UnitPrice) -> String {
    serde_json::to_value(price)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

#[derive(Serialize)]
struct Replaced {
    catalogues: BTreeMap<&'static str, PriceList>,
    changes: BTreeMap<&'static str, Changed>,
}

/// Shows the changes, asks for confirmation if one looks like a mistake, and sets the prices.
async fn replace<P: Ports>(call: &Call<'_, P>, edit: &Edit, lists: Vec<NewList>) -> Result<Answer> {
    let words: Vec<_> = lists.iter().map(NewList::in_words).collect();
    let words = words.join("\n\n");
    let risks: Vec<_> = lists
        .iter()
        .flat_map(|list| {
            list.change.risks.iter().map(|it| format!("{} keys: {it}", list.mode.name()))
        })
        .collect();
    if !risks.is_empty() {
        let question = format!("{words}\n\n{}. Set these prices?", risks.join("; "));
        call.host.confirm(&question, "no price was changed").await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut before = None;
    let mut replaced = Replaced { catalogues: BTreeMap::new(), changes: BTreeMap::new() };
    for NewList { mode, price_list, seen, change } in lists {
        let author = author.of_step(mode.name());
        let set = prices::set(call.store, call.ledger, &author, mode, edit, Some(&seen)).await;
        let done = set.map_err(|error| match replaced.catalogues.keys().next() {
            Some(done) if !Failure::from(error.clone()).is_thrown() => invalid(format!(
                "the prices of {done} keys were set, but those of {} keys were not: {error}",
                mode.name()
            )),
            _ => error.into(),
        })?;
        before = done.before;
        replaced.catalogues.insert(mode.name(), price_list);
        replaced.changes.insert(mode.name(), change);
    }
    let after = format!("New prices take effect everywhere within about {APPLIED_SECONDS} s.");
    Ok(Answer::new(&replaced, paragraphs([words, after]))?.since(before.as_deref()))
}

// ---- Look ----------------------------------------------------------------------------------------

pub const SHOW: Spec = Spec::reads("prices", "show", "print the price lists", &[WHOSE])
.answers("`catalogues`: the price list of each selected mode, as `test` and `live`, or `null` if none is set. In a list, `prices` is the time when it was set, which is its ID");

#[derive(Deserialize)]
pub struct Show {
    mode: Modes,
}

#[derive(Serialize)]
struct PriceListsAnswer {
    catalogues: BTreeMap<&'static str, Option<PriceList>>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, Show { mode }: Show) -> Result<Answer> {
    let (mut catalogues, mut words) = (BTreeMap::new(), Vec::new());
    for mode in mode.each() {
        let price_list = prices::get(call.store, *mode).await?;
        words.push(format!(
            "prices of {} keys\n{}",
            mode.name(),
            list_in_words(price_list.as_ref())
        ));
        catalogues.insert(mode.name(), price_list);
    }
    Answer::new(&PriceListsAnswer { catalogues }, words.join("\n\n"))
}

fn list_in_words(price_list: Option<&PriceList>) -> String {
    let Some(price_list) = price_list else {
        return "no price list is set: every charge is 0.00 USD".to_owned();
    };
    let currency = price_list.currency_code.code();
    let row = |(offering, price): (&String, &UnitPrice)| [offering.clone(), text_of(price)];
    let rows: Vec<_> = price_list.unit_prices.iter().map(row).collect();
    match rows.is_empty() {
        true => format!("no offering has a price: every charge is 0.00 {currency}"),
        false => table(["OFFERING", currency], &rows),
    }
}

pub const HISTORY: Spec = Spec::reads(
    "prices",
    "history",
    "list the changes of prices, oldest first: who changed what, and when",
    &[WHOSE],
)
.answers("`history`: for each price list `mode`, `time`, `by`, and `change` with `prices`, `currency` and `risks` as for `prices set`");

#[derive(Serialize)]
struct History {
    history: Vec<PriceListEntry>,
}

pub async fn history<P: Ports>(call: &Call<'_, P>, Show { mode }: Show) -> Result<Answer> {
    let mut history = Vec::new();
    for mode in mode.each() {
        history.extend(prices::history(call.store, *mode, usize::MAX, usize::MAX).await?);
    }
    history.sort_by(|a, b| a.time.cmp(&b.time));
    let rows: Vec<_> = history.iter().flat_map(rows_of).collect();
    let text = match rows.is_empty() {
        true => "no prices were set".to_owned(),
        false => table(["TIME", "BY", "MODE", "OFFERING", "BEFORE", "AFTER"], &rows),
    };
    Answer::new(&History { history }, text)
}

fn rows_of(PriceListEntry { mode, time: at, by, change }: &PriceListEntry) -> Vec<[String; 6]> {
    let row = |offering: &str, from: String, to: String| {
        let by = by.clone().unwrap_or_else(|| "?".to_owned());
        [time(at), by, mode.name().to_owned(), offering.to_owned(), from, to]
    };
    let currency = change
        .currency
        .map(|(from, to)| row("(currency)", from.code().to_owned(), to.code().to_owned()));
    let prices = change
        .prices
        .iter()
        .map(|it| row(&it.offering, price(it.from.as_ref()), price(it.to.as_ref())));
    let mut rows: Vec<_> = currency.into_iter().chain(prices).collect();
    if rows.is_empty() {
        rows.push(row("(none)", String::new(), String::new()));
    }
    rows
}
