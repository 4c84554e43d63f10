//! Operations that set price lists, and that remove the price list of a unit.

use super::arguments::{MODE, Modes, UNIT, Whose};
use super::listing;
use crate::office::audit::rule::Author;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Change as Changed, ChangeCounts, Edit, charged_keys};
use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::once::Done;
use crate::office::shops::operation::register::confirm_new;
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::PriceListKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const FILE: &str = r#"A price list is JSON, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing. The price list of a unit replaces the mode's price list for that unit,
with its currency and all its prices."#;

pub const SET: Spec = Spec::changes(
    "prices",
    "set",
    "replace a whole price list, or give a unit its own price list",
    &[
        Argument::positional("file", Kind::Input, "the price list; `-` is standard input"),
        MODE,
        UNIT,
    ],
)
.confirmed_if("prices of both modes are replaced, a price becomes ten times as high or as low, the currency changes, an offering loses its price, the current list cannot be read, or the unit is not registered")
.noted(FILE)
.answers("`unit`, if it was given; `catalogues`: the new price list of each selected mode, as for `prices show`; `changes`: for each mode, `prices` (each with `offering`, `from`, `to`), `currency` (the one before and the one after, or `null` if it did not change) and `risks` (the warnings of the confirmation)");

#[derive(Deserialize)]
pub struct Set {
    file: String,
    #[serde(flatten)]
    whose: Whose,
}

pub async fn set<P: Ports>(call: &Call<'_, P>, Set { file, whose }: Set) -> Result<Answer> {
    let bytes = call.host.read(&file).await?;
    let name = if file == "-" { "the price list" } else { &file };
    let price_list = prices::parse(&bytes).map_err(|error| invalid(format!("{name}: {error}")))?;
    if let Some(unit) = &whose.unit
        && !call.was_done().await?
    {
        let level = KeyLevel::Unit(unit.clone());
        confirm_new(call, &[level], "no price was changed").await?;
    }
    edit(call, &whose, &Edit::All(price_list)).await
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
.answers("`unit`; `catalogues`: the price lists that apply now; `changes` as for `prices set`");

#[derive(Deserialize)]
pub struct Remove {
    unit: String,
    mode: Modes,
}

pub async fn remove<P: Ports>(call: &Call<'_, P>, Remove { unit, mode }: Remove) -> Result<Answer> {
    let whose = Whose { mode, unit: Some(unit) };
    let mut steps = Vec::new();
    for of in whose.each() {
        let now = prices::current(call.store, call.ledger, of).await?;
        if now.is_set() {
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

async fn edit<P: Ports>(call: &Call<'_, P>, whose: &Whose, edit: &Edit) -> Result<Answer> {
    let mut steps = Vec::new();
    for of in whose.each() {
        let now = prices::current(call.store, call.ledger, of).await?;
        let list = PriceList { prices: None, ..now.with(edit)? };
        let (seen, change) = (now.revision().to_owned(), now.compare(&list));
        let replaces = now.in_effect().is_some();
        steps.push(Step { of, list, edit: Some(edit), seen, replaces, change });
    }
    run(call, whose, steps).await
}

struct Step<'s> {
    of: PriceListKey<'s>,
    /// The prices that apply after the change.
    list: PriceList,
    /// The edit to make; `None` removes the price list.
    edit: Option<&'s Edit>,
    /// The revision of the price list that was read. If the price list has another revision by now, nothing
    /// is changed.
    seen: String,
    /// Whether other prices were in effect before.
    replaces: bool,
    change: Changed,
}

impl Step<'_> {
    fn in_words(&self) -> String {
        let (keys, currency) = (charged_keys(self.of), self.list.currency_code.code());
        let head = match self.edit {
            Some(_) => format!("prices for {keys}, in {currency}"),
            None => {
                format!(
                    "prices for {keys}, in {currency}, now again those of the mode's price list"
                )
            }
        };
        let prices = match self.change.prices.is_empty() {
            true => String::new(),
            false => listing::changes(&self.change.prices).in_lines() + "\n",
        };
        format!("{head}\n{prices}{}", self.counts())
    }

    /// Counts the prices, such as `1 changed, 2 added, 7 unchanged`.
    fn counts(&self) -> String {
        let ChangeCounts { changed, added, removed } = self.change.counts();
        let same = self.list.unit_prices.len().saturating_sub(changed + added);
        let counted = [(changed, "changed"), (added, "added"), (removed, "removed")];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counted
            .chain([(same, "unchanged")])
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        counts.join(", ")
    }

    fn risks(&self) -> impl Iterator<Item = String> {
        let keys = charged_keys(self.of);
        self.change.risks.iter().map(move |risk| format!("{keys}: {risk}"))
    }

    async fn make<P: Ports>(
        &self,
        call: &Call<'_, P>,
        author: &Author<'_, impl Clock, impl Entropy>,
    ) -> Result<Done<String>, crate::office::shared::rule::error::OperatorError> {
        let (store, ledger, seen) = (call.store, call.ledger, Some(&*self.seen));
        match (self.edit, self.of.unit) {
            (Some(edit), _) => prices::set(store, ledger, author, self.of, edit, seen).await,
            (None, unit) => {
                let of = (self.of.mode, unit.unwrap_or_default());
                prices::remove(store, ledger, author, of, seen).await
            }
        }
    }
}

#[derive(Serialize)]
struct Replaced<'u> {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'u str>,
    catalogues: BTreeMap<&'static str, PriceList>,
    changes: BTreeMap<&'static str, Changed>,
}

/// Returns the warning for a command that replaces the prices of both modes: it may have been meant for one.
fn of_both_modes(steps: &[Step<'_>]) -> Option<String> {
    let replaced = steps.iter().filter(|step| step.replaces && !step.change.is_none()).count();
    let words = "the prices of test and of live keys change: `--mode` selects one of them";
    (replaced > 1).then(|| words.to_owned())
}

/// Makes the changes, and shows them. If a change looks like a mistake, asks for confirmation first.
async fn run<P: Ports>(call: &Call<'_, P>, whose: &Whose, steps: Vec<Step<'_>>) -> Result<Answer> {
    let words: Vec<_> = steps.iter().map(Step::in_words).collect();
    let words = words.join("\n\n");
    let risks = steps.iter().flat_map(Step::risks).chain(of_both_modes(&steps));
    let risks: Vec<_> = risks.collect();
    if !risks.is_empty() {
        let effect = format!("{words}\n\n{}.", risks.join("; "));
        let question = Question::new("Set these prices?", "no price was changed");
        call.confirm(question.effect(effect)).await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut before = None;
    let mut replaced = Replaced {
        unit: whose.unit.as_deref(),
        catalogues: BTreeMap::new(),
        changes: BTreeMap::new(),
    };
    for step in steps {
        let mode = step.of.mode.name();
        let done = step.make(call, &author.of_step(mode)).await;
        let done = done.map_err(|error| match replaced.catalogues.keys().next() {
            Some(done) if !Failure::from(error.clone()).is_thrown() => invalid(format!(
                "the prices were set for {done} keys, but not for {mode} keys: {error}"
            )),
            _ => error.into(),
        })?;
        before = done.before;
        replaced.catalogues.insert(mode, step.list);
        replaced.changes.insert(mode, step.change);
    }
    let after = format!("New prices take effect everywhere within about {APPLIED_SECONDS} s.");
    Ok(Answer::new(&replaced, paragraphs([words, after]))?.since(before.as_deref()))
}
