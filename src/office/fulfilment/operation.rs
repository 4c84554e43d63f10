//! Operations on fulfilments: what was done for pledges.

use super::rows::fulfilments::{Fulfilment, NewFulfilment};
use super::rule as fulfilments;
use super::rule::quantities;
use super::rule::quantities::UnitQuantities;
use super::rule::{Balance, Balances};
use crate::office::shared::operation::call::{Answer, Call, Changed, Host as _, Ports, Result};
use crate::office::shared::operation::covered::{complete, left_out_in_words};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, month, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::operation::unit_names::UnitNames;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::service::Clock as _;
use crate::pledges::settlement::Month;
use serde::Deserialize;
use serde_json::Value;

const MONTH: Argument = month("the month of the pledges, in UTC, such as 2026-10");
const MODE: Argument = mode("whether the fulfilment is for live or for test pledges").or("live");
/// Describes the JSON of a fulfilment.
const FULFILMENT: &str = "`id`, `mode`, `month`, `offering`; `quantity`: an exact decimal; `doneOn`: the day on which it was done; `partner`, `location` (`--place`), `report`: each `null` if not given; `by` and `at`: who recorded it, and when";
/// Number of months that are shown if no month is given: the current month and those before it.
const MONTHS: usize = 12;
/// Largest number of rows that are printed.
const MOST: usize = 10_000;

// ---- Add and remove ------------------------------------------------------------------------------

pub const ADD: Spec = Spec::changes(
    "fulfilments",
    "add",
    "record what was done for the pledges of a month, such as trees that were planted",
    &[
        Argument::positional(
            "month",
            Kind::Month,
            "the month of the pledges, in UTC, such as 2026-10",
        ),
        Argument::positional("offering", text("offering"), "the offering's ID, such as tree")
            .field("Offering", ""),
        Argument::positional(
            "quantity",
            text("quantity"),
            "the quantity that was done, such as 1200 or 12.5",
        )
        .field("Quantity", "For example 1200."),
        MODE,
        Argument::option("done-on", Kind::Day, "the day on which it was done, such as 2026-11-20")
            .required()
            .field("Done on", ""),
        Argument::option("partner", text("name"), "the organisation that did it; not a person")
            .field("Partner", "The organisation that did it; not a person."),
        Argument::option("place", text("place"), "where it was done").field("Place", ""),
        Argument::option("report", text("url"), "the address of a report, with https://")
            .field("Report", "A web address, with https://."),
    ],
)
.confirmed_if("the quantity done would exceed the quantity pledged")
.button("Record")
.answers(FULFILMENT);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Add {
    month: Month,
    offering: String,
    quantity: String,
    mode: Mode,
    done_on: String,
    partner: Option<String>,
    place: Option<String>,
    report: Option<String>,
}

impl From<Add> for NewFulfilment {
    fn from(add: Add) -> Self {
        let Add { month, offering, quantity, mode, done_on, partner, place, report } = add;
        NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report }
    }
}

pub async fn add<P: Ports>(call: &Call<'_, P>, add: Add) -> Result<Answer> {
    let new = NewFulfilment::from(add);
    if !call.was_done().await? {
        fulfilments::check(&new, call.platform)?;
        if let Some(beyond) = fulfilments::beyond(call.store, call.ledger, &new).await? {
            let ask = format!("Record {} {} as done?", new.quantity, new.offering);
            let question = Question::new(ask, "nothing was recorded").button("Record");
            call.confirm(question.effect(format!("{beyond}."))).await?;
        }
    }
    let by = call.host.person().await?;
    let added = fulfilments::add(call.store, call.ledger, &call.author(&by)?, &new).await?;
    let NewFulfilment { quantity, offering, .. } = &added.outcome.done;
    let said = format!("{quantity} {offering} was recorded as done.");
    let change = Changed::new(said, facts(&added.outcome));
    Answer::changed(&done(&added)?, change)
}

fn facts(Fulfilment { id, done, by, at, .. }: &Fulfilment) -> Facts {
    let NewFulfilment { mode, month, offering, quantity, done_on, partner, place, report } = done;
    vec![
        ("Offering", Fact::Text(offering.clone())),
        ("Quantity", Fact::Words(quantity.clone())),
        ("Pledged in", Fact::Month(*month)),
        ("Mode", Fact::Words(mode.name().to_owned())),
        ("Done on", Fact::Day(done_on.clone())),
        ("Partner", Fact::text(partner.as_deref())),
        ("Place", Fact::text(place.as_deref())),
        ("Report", Fact::Link(report.clone().unwrap_or_default())),
        ("Recorded by", Fact::Text(by.clone())),
        ("Recorded at", Fact::Time(at.clone())),
        ("ID", Fact::Id(id.clone())),
    ]
}

/// Returns a fulfilment as JSON. The place where it was done is called `location` there, because `place` in an answer
/// already says where the command ran.
fn printed(fulfilment: &Fulfilment) -> Result<Value, OperatorError> {
    let mut value = serde_json::to_value(fulfilment)?;
    if let Some(members) = value.as_object_mut() {
        let place = members.remove("place").unwrap_or_default();
        members.insert("location".to_owned(), place);
    }
    Ok(value)
}

/// Returns the outcome of a change as JSON.
fn done(Done { outcome, before }: &Done<Fulfilment>) -> Result<Done<Value>, OperatorError> {
    Ok(Done { outcome: printed(outcome)?, before: before.clone() })
}

pub const REMOVE: Spec = Spec::changes(
    "fulfilments",
    "remove",
    "remove a fulfilment that was recorded by mistake; it stays in the database and the audit log",
    &[Argument::positional("fulfilment", text("id"), "the fulfilment's ID, such as ful_…")],
)
.confirmed()
.answers("the members of `fulfilments add`; `removed`: `by` and `at`");

#[derive(Deserialize)]
pub struct Remove {
    fulfilment: String,
}

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    Remove { fulfilment: id }: Remove,
) -> Result<Answer> {
    if !call.was_done().await? {
        let found = fulfilments::get(call.ledger, &id).await?;
        fulfilments::check_removable(&found)?;
        let question = Question::new("Remove this fulfilment?", "nothing was removed");
        call.confirm(question.about(facts(&found)).button("Remove")).await?;
    }
    let by = call.host.person().await?;
    let removed = fulfilments::remove(call.store, call.ledger, &call.author(&by)?, &id).await?;
    let NewFulfilment { quantity, offering, .. } = &removed.outcome.done;
    let said = format!(
        "{quantity} {offering} was removed, and no longer counts in any sum. It stays in the audit log."
    );
    Answer::changed(&done(&removed)?, Changed::new(said, Facts::new()))
}

// ---- List ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "fulfilments",
    "list",
    "list what was recorded as done, for the pledges of a month or of the last 12 months",
    &[MONTH, mode("only fulfilments for live pledges, or only those for test pledges")],
)
.permission(Permission::Account)
.answers("`fulfilments`: each with the same members as the answer of `fulfilments add`");

#[derive(Deserialize)]
pub struct OfMonths {
    month: Option<Month>,
    mode: Option<Mode>,
}

impl OfMonths {
    fn months<P: Ports>(&self, call: &Call<'_, P>) -> Vec<Month> {
        match self.month {
            Some(month) => vec![month],
            None => Month::last(call.platform.now_ms(), MONTHS),
        }
    }
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: OfMonths) -> Result<Answer> {
    let months = asked.months(call);
    let fulfilments = fulfilments::list(call.ledger, asked.mode, &months, MOST).await?;
    let members = fulfilments.iter().map(printed).collect::<Result<Vec<_>, _>>()?;
    Answer::list("fulfilments", &members, recorded(&fulfilments).in_lines())
}

/// Returns the list of what was recorded as done.
pub(crate) fn recorded(fulfilments: &[Fulfilment]) -> Listing {
    Listing::new(
        fulfilments,
        "Nothing is recorded as done for this month yet.",
        &[
            ("Month", &|it| Fact::Month(it.done.month)),
            ("Offering", &|Fulfilment { done, .. }| {
                let address = of_shops(done.mode, done.month, &done.offering);
                Fact::Text(done.offering.clone()).at(address)
            }),
            ("Quantity", &|it| Fact::number(&it.done.quantity)),
            ("Done on", &|it| Fact::Day(it.done.done_on.clone())),
            ("Partner", &|it| Fact::text(it.done.partner.as_deref())),
            ("Place", &|it| Fact::text(it.done.place.as_deref())),
            ("Report", &|it| Fact::Link(it.done.report.clone().unwrap_or_default())),
            ("Mode", &|it| Fact::Mode(it.done.mode)),
            ("Recorded by", &|it| Fact::Text(it.by.clone())),
            ("Recorded", &|it| Fact::time(&*it.at)),
            ("ID", &|it| Fact::id(&it.id)),
        ],
    )
}

// ---- Balance -------------------------------------------------------------------------------------

pub const BALANCE: Spec = Spec::reads(
    "fulfilments",
    "balance",
    "print what was pledged, credited and done for each offering, what is still to be done, and what published updates say is done",
    &[
        MONTH,
        mode("whether the fulfilment is for live or for test pledges").or("live"),
        Argument::option("open", Kind::Flag, "only what is still to be done"),
    ],
)
.permission(Permission::Account)
.noted("Without `--month`: the current month and the 11 before it.")
.answers("`balances`: for each month and offering `month`, `mode`, `offering`, `transactions` (their number), `pledged`, `credited`, `done`, `open` (pledged − credited − done, not below 0), `surplus` (what was done beyond that), each an exact decimal, `updates` (number of published ones) and `told` (the quantities of those with the stage `done`); `more`: whether there are over 10,000; `leftOut`: number of transactions with [too many quantities](ledger.md#findings) to be summed; `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`");

#[derive(Deserialize)]
pub struct BalanceOf {
    #[serde(flatten)]
    of: OfMonths,
    #[serde(default)]
    open: bool,
}

pub async fn balance<P: Ports>(call: &Call<'_, P>, asked: BalanceOf) -> Result<Answer> {
    let months = asked.of.months(call);
    let mut found =
        fulfilments::balances(call.store, call.ledger, asked.of.mode, &months, MOST).await?;
    if asked.open {
        found.balances.retain(|balance| balance.open != "0");
    }
    let none = if asked.open { "Everything is done." } else { "Nothing was pledged." };
    let sums = balances(&found).without(&["Complete up to"]).or(none).in_lines();
    let others = match found.more {
        true => format!(
            "There are more than {MOST} sums, so only the first are shown. Use `--month` to see others."
        ),
        false => String::new(),
    };
    let without = left_out_in_words(&found.left_out);
    let text = paragraphs([sums, others, complete(&found.coverage), without]);
    Answer::new(&found, text)
}

/// Returns the list of what was pledged, credited and done, and what buyers were told.
pub(crate) fn balances(Balances { balances, coverage, .. }: &Balances) -> Listing {
    Listing::new(
        balances,
        "Nothing was pledged in this month.",
        &[
            ("Month", &|it| Fact::Month(it.month).at(of_month("/fulfilment", it))),
            ("Mode", &|it| Fact::Mode(it.mode)),
            ("Offering", &|it| Fact::Text(it.offering.clone())),
            ("Orders", &|it| orders(it)),
            ("Pledged", &|it| Fact::number(&it.pledged)),
            ("Credited", &|it| Fact::some(&it.credited)),
            ("Done", &|it| Fact::some(&it.done)),
            ("To be done", &|it| open(it)),
            ("Surplus", &|it| Fact::some(&it.surplus)),
            ("Updates", &|it| Fact::number(it.updates).at(of_month("/updates", it))),
            ("Told", &|it| told(it)),
            ("Complete up to", &|_| Fact::time(coverage.complete_up_to.as_deref())),
        ],
    )
}

/// Returns the number of orders, with a link to the shops that they are of.
fn orders(Balance { mode, month, offering, transactions, .. }: &Balance) -> Fact {
    match transactions {
        0 => Fact::number(0),
        count => Fact::number(count).at(of_shops(*mode, *month, offering)),
    }
}

fn open(Balance { open, .. }: &Balance) -> Fact {
    let number = Fact::number(open);
    if open == "0" { number } else { number.strong() }
}

/// Returns the quantity that buyers were told is done. Pages mark one that was not recorded as done.
fn told(Balance { told, done, .. }: &Balance) -> Fact {
    let number = Fact::some(told);
    if told == done { number } else { number.strong() }
}

fn of_month(path: &str, Balance { mode, month, .. }: &Balance) -> String {
    link::with(path, &[("mode", mode.name()), ("month", &month.to_string())])
}

/// Returns the address of the page about the shops of an offering.
fn of_shops(mode: Mode, month: Month, offering: &str) -> String {
    let month = month.to_string();
    let of = [("mode", mode.name()), ("month", &month), ("offering", offering)];
    link::with("/fulfilment/shops", &of)
}

// ---- Shops ---------------------------------------------------------------------------------------

pub const SHOPS: Spec = Spec::reads(
    "fulfilments",
    "shops",
    "print how much of an offering each shop pledged in a month: whom a fulfilment is for",
    &[
        Argument::positional(
            "month",
            Kind::Month,
            "the month of the pledges, in UTC, such as 2026-10",
        ),
        Argument::positional("offering", text("offering"), "the offering's ID, such as tree"),
        mode("live or test pledges").or("live"),
    ],
)
.permission(Permission::Account)
.answers("`units`: each with `unit`, `transactions` (their number) and `quantity`, an exact decimal, the largest first; `more`: whether there are over 10,000; `leftOut`, `completeUpTo`, `completeFrom`, `damaged` as for `fulfilments balance`");

#[derive(Deserialize)]
pub struct ShopsOf {
    pub month: Month,
    pub offering: String,
    pub mode: Mode,
}

pub async fn shops<P: Ports>(call: &Call<'_, P>, asked: ShopsOf) -> Result<Answer> {
    let found =
        quantities::by_unit(call.ledger, (asked.mode, asked.month), &asked.offering, MOST).await?;
    let names = UnitNames::read(call.ledger, found.units.iter().map(|sum| &*sum.unit)).await;
    let sums = shares(&asked, &found, &names).without(&ONLY_IN_FILES).in_lines();
    let others = match found.more {
        true => format!("There are more than {MOST} units, so only the first are shown."),
        false => String::new(),
    };
    let without = left_out_in_words(&found.left_out);
    let text = paragraphs([sums, others, complete(&found.coverage), without]);
    Answer::new(&found, text)
}

/// The columns of [`shares`] that are the same in all rows.
pub(crate) const ONLY_IN_FILES: [&str; 4] = ["Month", "Mode", "Offering", "Complete up to"];

/// Returns the list of how much each shop pledged.
pub(crate) fn shares(
    ShopsOf { month, offering, mode }: &ShopsOf,
    UnitQuantities { units, coverage, .. }: &UnitQuantities,
    names: &UnitNames,
) -> Listing {
    Listing::new(
        units,
        "Nobody pledged this offering in this month.",
        &[
            ("Month", &|_| Fact::Month(*month)),
            ("Mode", &|_| Fact::Mode(*mode)),
            ("Offering", &|_| Fact::Text(offering.clone())),
            ("Unit", &|it| names.unit(&it.unit)),
            ("Name", &|it| Fact::text(names.name(&it.unit))),
            ("Orders", &|it| Fact::number(it.transactions)),
            ("Pledged", &|it| Fact::number(&it.quantity)),
            ("Complete up to", &|_| Fact::time(coverage.complete_up_to.as_deref())),
        ],
    )
}
