//! Makes changes of prices: shows them, asks whether they are meant, and sets one price list after the other.

use super::arguments::Whose;
use super::listing;
use crate::office::audit::rule::Author;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::{Change, ChangeCounts, Edit, charged_keys};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::table::{paragraphs, sentence};
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::pledges::charge::PriceList;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::PriceListKey;
use serde::Serialize;
use std::collections::BTreeMap;

pub(super) async fn edit<P: Ports>(
    call: &Call<'_, P>,
    whose: &Whose,
    edit: &Edit,
) -> Result<Answer> {
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

pub(super) struct Step<'s> {
    pub of: PriceListKey<'s>,
    /// The prices that apply after the change.
    pub list: PriceList,
    /// The edit to make; `None` removes the price list.
    pub edit: Option<&'s Edit>,
    /// The revision of the price list that was read. If the price list has another revision by now, nothing
    /// is changed.
    pub seen: String,
    /// Whether other prices were in effect before.
    pub replaces: bool,
    pub change: Change,
}

impl Step<'_> {
    fn head(&self) -> String {
        let (keys, currency) = (charged_keys(self.of), self.list.currency_code.code());
        let again = match self.edit {
            Some(_) => "",
            None => ", now again those of the mode's price list",
        };
        format!("prices for {keys}, in {currency}{again}")
    }

    fn in_words(&self) -> String {
        let changes = listing::changes(&self.change.prices).in_lines();
        [self.head(), changes, self.counts()].join("\n")
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
    ) -> Result<Done<String>, OperatorError> {
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
    changes: BTreeMap<&'static str, Change>,
}

/// Returns the warning for a command that replaces the prices of both modes: it may have been meant for one.
fn of_both_modes(steps: &[Step<'_>]) -> Option<String> {
    let replaced = steps.iter().filter(|step| step.replaces && !step.change.is_none()).count();
    let words = "the prices of test and of live keys change: `--mode` selects one of them";
    (replaced > 1).then(|| words.to_owned())
}

/// Makes the changes, and shows them. If a change looks like a mistake, asks for confirmation first.
pub(super) async fn run<P: Ports>(
    call: &Call<'_, P>,
    whose: &Whose,
    steps: Vec<Step<'_>>,
) -> Result<Answer> {
    if !call.was_done().await? {
        confirm(call, &steps).await?;
    }
    let words: Vec<_> = steps.iter().map(Step::in_words).collect();
    let (rows, heads) = (rows(&steps), steps.iter().map(Step::head).collect::<Vec<_>>());
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut before = None;
    let mut replaced = Replaced {
        unit: whose.unit.as_deref(),
        catalogues: BTreeMap::new(),
        changes: BTreeMap::new(),
    };
    let is_single = steps.len() == 1;
    for step in steps {
        let mode = step.of.mode.name();
        let done = step.make(call, &author.of_step(if is_single { "" } else { mode })).await;
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
    let said = format!("Saved: {}. {after}", heads.join("; "));
    let change = Changed { before: before.clone(), ..Changed::new(said, Facts::new()) };
    let answer = Answer::new(&replaced, paragraphs([words.join("\n\n"), after]))?;
    Ok(Answer { change: change.with_rows(rows), ..answer.since(before.as_deref()) })
}

/// Asks for confirmation if a change looks like a mistake. A page always shows the change first.
async fn confirm<P: Ports>(call: &Call<'_, P>, steps: &[Step<'_>]) -> Result<()> {
    let risks = steps.iter().flat_map(Step::risks).chain(of_both_modes(steps));
    let risks = risks.collect::<Vec<_>>().join("; ");
    let warning = if risks.is_empty() { String::new() } else { sentence(&risks) };
    let question = Question::new("Set these prices?", "no price was changed").button("Save prices");
    if call.host.is_page() {
        if steps.iter().all(|step| step.edit.is_some() && step.change.is_none()) {
            return Err(invalid("these prices are already set, so nothing would change"));
        }
        let heads =
            steps.iter().map(|step| sentence(&format!("{}: {}", step.head(), step.counts())));
        let effect = paragraphs([heads.collect::<Vec<_>>().join("\n\n"), warning]);
        return call.confirm(question.with_rows(rows(steps)).effect(effect)).await;
    }
    if risks.is_empty() {
        return Ok(());
    }
    let words = steps.iter().map(Step::in_words).collect::<Vec<_>>().join("\n\n");
    call.confirm(question.effect(format!("{words}\n\n{risks}."))).await
}

/// Returns the prices that differ, as a table.
fn rows(steps: &[Step<'_>]) -> Listing {
    listing::changes(steps.iter().flat_map(|step| &step.change.prices))
}
