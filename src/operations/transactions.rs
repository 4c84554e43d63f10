//! Operations on transactions: list, find, show, erase.

use super::call::{Answer, Call, Failure, Host as _, Ports, Result, invalid};
use super::covered::{Covered, complete};
use super::spec::{Argument, Kind, Spec, mode, month, text, unit};
use super::table::{counted, facts, paragraphs, some, table, time};
use super::values::Values;
use crate::ledger::{Direction, Order};
use crate::operator::Done;
use crate::operator::delays::SHOWN_SECONDS;
use crate::operator::notifications::{self, State, Status};
use crate::operator::prices::PriceListVersion;
use crate::operator::roles::Permission;
use crate::operator::transactions::{
    self, Erased, Found, ListQuery, PersonStep, SearchKey, TransactionFilter, TransactionView,
    ViewOptions,
};
use crate::pledge::NotificationService;
use crate::scope::Mode;
use crate::settlement::Month;
use serde::{Deserialize, Serialize};

/// Largest number of transactions that a command lists.
const MOST: usize = 1_000;
const NONE: &str = "no matching transaction";

const ID: Argument = Argument::positional("id", text("id"), "the ID of the transaction");
pub const EMAIL: Argument =
    Argument::option("email", text("address"), "the recipient's complete e-mail address");
const MODE: Argument = mode("only test transactions, or only live ones");
const UNIT: Argument = unit("only transactions of this unit");
pub const MONTH: Argument =
    month("the month in which the transactions were created, in UTC, such as 2026-11");

const HEADS: [&str; 7] = ["ID", "CREATED", "UNIT", "MODE", "CHARGE", "UNPRICED", "ERASED"];

/// Formats transactions in a table.
pub fn listed(orders: &[Order]) -> String {
    match orders.is_empty() {
        true => NONE.to_owned(),
        false => table(HEADS, &orders.iter().map(cells).collect::<Vec<_>>()),
    }
}

fn cells(order: &Order) -> [String; 7] {
    [
        order.id.clone(),
        time(&order.created_at),
        order.unit.clone(),
        order.mode.name().to_owned(),
        format!("{} {}", order.amount, order.currency_code),
        some(order.unpriced),
        order.erased.as_deref().map(time).unwrap_or_default(),
    ]
}

#[derive(Serialize)]
struct Transactions {
    transactions: Vec<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<bool>,
    #[serde(flatten)]
    covered: Covered,
}

// ---- List and find -------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "transactions",
    "list",
    "list the newest transactions",
    &[
        UNIT,
        Argument::option("key", text("id"), "only transactions that the API key with this ID created"),
        MODE,
        MONTH,
        Argument::option(
            "unpriced",
            Kind::Flag,
            "only transactions with unpriced pledges: their offering had no price, so they cost nothing",
        ),
        Argument::option(
            "limit",
            Kind::Number { least: 1, most: MOST as u64 },
            "the largest number of rows to print, up to 1000",
        )
        .or("50"),
    ],
)
.permission(Permission::Look)
.answers("`transactions`: for each `id`, `mode`, `unit`, `createdAt`, `amount`, `currencyCode`, `unpriced` (number of unpriced pledges), `key` (the API key's ID) and `erased` (when its personal data was erased, or `null`); `completeUpTo`: the [ledger](ledger.md) has all transactions up to this time, or `null` if it was never complete; `completeFrom`: it has none from before this time, if it [does not keep all](ledger.md#remove-old-months); `damaged`: number of damaged records, which are left out");

#[derive(Deserialize)]
pub struct List {
    unit: Option<String>,
    key: Option<String>,
    mode: Option<Mode>,
    month: Option<Month>,
    #[serde(default)]
    unpriced: bool,
    limit: usize,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: List) -> Result<Answer> {
    let List { unit, key, mode, month, unpriced, limit } = asked;
    let filter = TransactionFilter { unit, mode };
    let query = ListQuery { filter, key, month, unpriced, ..ListQuery::default() };
    let found = transactions::list(call.ledger()?, &query, &Direction::Newest, limit).await?;
    let text = paragraphs([listed(&found.page.orders), complete(&found.coverage)]);
    let covered = Covered::from(&found.coverage);
    Answer::new(&Transactions { transactions: found.page.orders, more: None, covered }, text)
}

pub const FIND: Spec = Spec::reads(
    "transactions",
    "find",
    "find transactions by reference or e-mail address",
    &[
        UNIT,
        MODE,
        Argument::option(
            "reference",
            text("text"),
            "the complete reference, such as the number of the shop's order; case, blanks and leading # do not matter",
        ),
        EMAIL,
    ],
)
.permission(Permission::Support)
.answers(
    "`transactions`, `completeUpTo`, `completeFrom`, `damaged` as for `transactions list`, but `completeUpTo` is left out if the result is from Workers KV; `more`: whether there are further matches",
);

#[derive(Deserialize)]
pub struct Find {
    unit: Option<String>,
    mode: Option<Mode>,
    reference: Option<String>,
    email: Option<String>,
}

impl Find {
    fn by(&self) -> Result<SearchKey, String> {
        match (&self.reference, &self.email) {
            (Some(reference), None) => Ok(SearchKey::Reference(reference.clone())),
            (None, Some(email)) => Ok(SearchKey::Email(email.clone())),
            _ => Err("give either `--reference` or `--email`".to_owned()),
        }
    }
}

pub fn check_find(values: &Values) -> Result<(), String> {
    values.read::<Find>()?.by().map(drop)
}

pub async fn find<P: Ports>(call: &Call<'_, P>, asked: Find) -> Result<Answer> {
    let by = asked.by().map_err(Failure::Usage)?;
    let filter = TransactionFilter { unit: asked.unit, mode: asked.mode };
    let found = found(call, &filter, &by).await?;
    let more = match found.more {
        true => format!("These are the newest {MOST}. Use `--unit` or `--mode` to see others."),
        false => String::new(),
    };
    let text = paragraphs([listed(&found.transactions), more, complete_of(&found)]);
    let covered = covered_of(&found);
    let more = Some(found.more);
    Answer::new(&Transactions { transactions: found.transactions, more, covered }, text)
}

async fn found<P: Ports>(
    call: &Call<'_, P>,
    filter: &TransactionFilter,
    by: &SearchKey,
) -> Result<Found> {
    let newest = &Direction::Newest;
    Ok(transactions::find(call.store, call.ledger, (filter, by), newest, MOST).await?)
}

fn covered_of(found: &Found) -> Covered {
    found.coverage.as_ref().map(Covered::from).unwrap_or_default()
}

fn complete_of(found: &Found) -> String {
    found.coverage.as_ref().map(complete).unwrap_or_default()
}

// ---- Show ----------------------------------------------------------------------------------------

pub const SHOW: Spec = Spec::reads(
    "transactions",
    "show",
    "print a transaction; personal data is masked",
    &[
        ID,
        Argument::option(
            "reveal",
            Kind::Flag,
            "show personal data unmasked; this is recorded in the audit log",
        ),
        Argument::option(
            "timeline",
            Kind::Flag,
            "show the timeline's address, with which anyone can open it; this is recorded in the audit log, too",
        ),
    ],
)
.recorded()
.permission(Permission::Support)
.answers("`row`: the members that `transactions list` prints for it; `repeatable`: whether the shop can retry the create without a second transaction, because it had an `Idempotency-Key`; `key`: the API key's ID; `prices`: `time`, `by`, `currencyCode`, `unitPrices` of the price list of the charge, or `null`; `transaction`: the transaction as the API returns it, masked; `mail`: as for `emails show`; `messages`: the same for each messaging service that the create asked for");

#[derive(Deserialize)]
pub struct Show {
    id: String,
    #[serde(default)]
    reveal: bool,
    #[serde(default)]
    timeline: bool,
}

#[derive(Serialize)]
struct Whole<'r> {
    #[serde(flatten)]
    shown: TransactionView<'r>,
    prices: Option<PriceListVersion>,
    mail: Status,
    messages: Vec<Status>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, asked: Show) -> Result<Answer> {
    let Show { id, reveal, timeline } = asked;
    let view = ViewOptions { reveal, timeline };
    let record = transactions::get(call.store, &id).await?;
    let mut shown = match reveal || timeline {
        true => {
            let by = call.host.person().await?;
            transactions::reveal(call.store, &call.author(&by)?, &record, view).await?
        }
        false => record.show(view)?,
    };
    let paid_at = record.paid_at(call.store).await?;
    shown.transaction.charge.paid_at = paid_at.map(|paid_at| paid_at.as_str().to_owned().into());
    let prices = record.prices(call.store).await?;
    let email = NotificationService::Email;
    let mail = notifications::status(call.store, call.platform, &record, email).await?;
    let mut messages = notifications::statuses(call.store, call.platform, &record).await?;
    messages.retain(|status| !status.service.is_email());
    let whole = Whole { shown, prices, mail, messages };
    let text = paragraphs([whole.facts(), whole.pledges()]);
    Answer::new(&whole, text)
}

impl Whole<'_> {
    fn facts(&self) -> String {
        let TransactionView { row, repeatable, key, transaction } = &self.shown;
        let unpriced = match row.unpriced {
            0 => String::new(),
            count => format!(", {}", counted(count, "unpriced pledge")),
        };
        let recipient = transaction.pledges.first().map(|pledge| {
            let recipient = &pledge.recipient;
            let names = [recipient.first_name.as_deref(), recipient.name.as_deref()];
            joined(std::iter::once(Some(&*recipient.email)).chain(names))
        });
        let trigger = &transaction.trigger;
        let notifications = transaction.notifications.iter().flatten();
        let notifications: Vec<_> =
            notifications.map(|it| format!("{} {}", it.kind, it.status)).collect();
        let retry = repeatable.then_some("yes, it was created with an Idempotency-Key");
        let order = [
            ("ID", Some(row.id.clone())),
            ("Created", Some(time(&row.created_at))),
            ("Mode", Some(row.mode.name().to_owned())),
            ("Unit", Some(row.unit.clone())),
            ("Charge", Some(format!("{} {}{unpriced}", row.amount, row.currency_code))),
            ("Paid", transaction.charge.paid_at.as_deref().map(time)),
            ("Reference", Some(transaction.reference.to_string())),
            ("Recipient", recipient),
            (
                "Trigger",
                Some(joined([
                    trigger.date.as_deref(),
                    trigger.phrase.as_deref(),
                    trigger.external_url.as_deref(),
                ])),
            ),
            ("Notifications", Some(notifications.join(", "))),
            (
                "E-mail",
                (self.mail.state != State::NotAsked).then(|| notifications::in_words(&self.mail)),
            ),
        ];
        let charged = [
            (
                "Price list",
                self.prices.as_ref().map(|it| format!("set at {} by {}", time(&it.time), it.by)),
            ),
            ("API key", key.clone()),
            ("Erased", row.erased.as_deref().map(time)),
            ("Safe to retry", retry.map(str::to_owned)),
            ("Timeline", transaction.timeline_url.as_deref().map(str::to_owned)),
        ];
        let of = |status: &Status| (status.service.name(), Some(notifications::in_words(status)));
        let messages = self.messages.iter().map(of);
        facts(order.into_iter().chain(messages).chain(charged))
    }

    fn pledges(&self) -> String {
        let prices = self.prices.as_ref().map(|list| &list.price_list.unit_prices);
        let row = |pledge: &crate::pledge::RetrievedPledge<'_>| {
            let offering = pledge.impact.offering_id.to_string();
            let price = prices.and_then(|prices| prices.get(&offering));
            let details = pledge.details.iter().flat_map(|detail| {
                [
                    detail.name.as_deref(),
                    detail.description.as_deref(),
                    detail.noun_singular.as_deref(),
                    detail.noun_plural.as_deref(),
                    detail.image.as_deref(),
                    detail.external_id.as_deref(),
                    detail.external_url.as_deref(),
                ]
            });
            let amount = serde_json::to_string(&pledge.impact.amount).unwrap_or_default();
            let price = price.map(super::prices::text_of).unwrap_or_default();
            [offering, amount, price, joined(details)]
        };
        let rows: Vec<_> = self.shown.transaction.pledges.iter().map(row).collect();
        table(["OFFERING", "AMOUNT", "PRICE", "DETAIL"], &rows)
    }
}

fn joined<'t>(texts: impl IntoIterator<Item = Option<&'t str>>) -> String {
    let texts: Vec<_> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    texts.join(", ")
}

// ---- Erase ---------------------------------------------------------------------------------------

pub const ERASE: Spec = Spec::changes(
    "transactions",
    "erase",
    "permanently delete recipient and texts of a transaction, or of all transactions of an e-mail address",
    &[
        Argument::positional(
            "id",
            text("id"),
            "the ID of the transaction; leave it out to erase by `--email`",
        )
        .optional(),
        EMAIL,
        unit("with `--email`: only transactions of this unit; by default, of each unit in which the ledger finds the address"),
        MODE,
    ],
)
.confirmed()
.answers("`id`; `erased`: `true`; `before`: when it was first erased, or `null` if that was now. With `--email`: `by`; `transactions`: for each `id`, `unit`, `mode`, `erased` (when, or `null` with a `problem`); `checked`: number of records that were checked; `damaged`: number of records that could not be checked; `completeUpTo`. With `--email`, the exit code is 1 if a transaction is not erased");

#[derive(Deserialize)]
pub struct Erase {
    id: Option<String>,
    email: Option<String>,
    unit: Option<String>,
    mode: Option<Mode>,
}

enum Erasing {
    One(String),
    Person { email: String, filter: TransactionFilter },
}

impl Erase {
    fn what(self) -> Result<Erasing, String> {
        match self {
            Erase { id: Some(id), email: None, unit: None, mode: None } => Ok(Erasing::One(id)),
            Erase { id: None, email: Some(email), unit, mode } => {
                Ok(Erasing::Person { email, filter: TransactionFilter { unit, mode } })
            }
            Erase { id: Some(_), email: None, .. } => {
                Err("`--unit` and `--mode` need `--email`".to_owned())
            }
            _ => Err("give either the ID of a transaction, or `--email`".to_owned()),
        }
    }
}

pub fn check_erase(values: &Values) -> Result<(), String> {
    values.read::<Erase>()?.what().map(drop)
}

const NOTHING_ERASED: &str = "nothing was erased";

pub async fn erase<P: Ports>(call: &Call<'_, P>, asked: Erase) -> Result<Answer> {
    match asked.what().map_err(Failure::Usage)? {
        Erasing::One(id) => erase_one(call, &id).await,
        Erasing::Person { email, filter } => erase_person(call, &email, filter).await,
    }
}

#[derive(Serialize)]
struct ErasedOne<'e> {
    id: &'e str,
    erased: bool,
    before: Option<&'e str>,
}

async fn erase_one<P: Ports>(call: &Call<'_, P>, id: &str) -> Result<Answer> {
    if !call.was_done().await? {
        let record = transactions::get(call.store, id).await?;
        transactions::check_erasable(call.platform, &record)?;
        let question = format!("Erase {id} of {}? This cannot be undone.", call.place);
        call.host.confirm(&question, NOTHING_ERASED).await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let record = transactions::get(call.store, id).await?; // it may have changed during the confirmation
    let done = transactions::erase(call.store, call.ledger, &author, &record).await?;
    let before = done.outcome.before.as_deref();
    let again = before.map(|at| format!("; it was first erased at {}", time(at)));
    let text = format!("{id} is erased{}. {}", again.unwrap_or_default(), after());
    let answer = Answer::new(&ErasedOne { id, erased: true, before }, text)?;
    Ok(answer.since(done.before.as_deref()))
}

fn after() -> String {
    format!(
        "Amounts, offerings, times and charge are kept. The API and timelines show the change within about \
         {SHOWN_SECONDS} s. Backups and the shop's own systems still have the data."
    )
}

/// The result of erasing a person's transactions, without the address.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    by: String,
    transactions: Vec<Line>,
    checked: usize,
    damaged: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete_up_to: Option<Option<String>>,
}

#[derive(Serialize)]
struct Line {
    id: String,
    unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    erased: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Largest number of transactions that one step erases.
const STEP: usize = 100;

/// Erases all transactions of an address. Checks every record of each unit, because the ledger may lack some
/// transactions.
async fn erase_person<P: Ports>(
    call: &Call<'_, P>,
    email: &str,
    filter: TransactionFilter,
) -> Result<Answer> {
    let found = found(call, &filter, &SearchKey::Email(email.to_owned())).await?;
    let units = units_of(&found, &filter)?;
    if !units.is_empty() {
        let list = paragraphs([listed(&found.transactions), complete_of(&found)]);
        let question = format!(
            "{list}\n\nSearch all transactions of {} of {} for the address, and erase every match, including those \
             that are not listed here? This cannot be undone.",
            units.join(", "),
            call.place,
        );
        call.host.confirm(&question, NOTHING_ERASED).await?;
    }
    let mut receipt = Receipt {
        by: call.host.person().await?,
        transactions: Vec::new(),
        checked: 0,
        damaged: 0,
        complete_up_to: covered_of(&found).complete_up_to,
    };
    for unit in units {
        let filter = TransactionFilter { unit: Some(unit), mode: filter.mode };
        erase_in(call, &filter, email, &mut receipt).await?;
    }
    let others = match found.more {
        true => {
            format!(
                "The ledger has more than {MOST} transactions of the address: run the command again."
            )
        }
        false => String::new(),
    };
    let damaged = match receipt.damaged {
        0 => String::new(),
        count => {
            format!("Damaged records, which were not checked: {count}. They may have the address.")
        }
    };
    let text = paragraphs([receipt.in_words(), others, complete_of(&found), damaged]);
    let is_left = receipt.left() > 0 || found.more;
    Ok(Answer::new(&receipt, text)?.failing_if(is_left))
}

/// Returns the units in which every record must be checked.
fn units_of(found: &Found, filter: &TransactionFilter) -> Result<Vec<String>> {
    if let Some(unit) = &filter.unit {
        return Ok(vec![unit.clone()]);
    }
    let from = found.coverage.as_ref().and_then(|coverage| coverage.complete_from.as_deref());
    if let Some(from) = from {
        return Err(invalid(format!(
            "the ledger keeps only transactions from {} on, so it cannot find the units with older ones of this \
             address. Erase the address in each unit, with `--unit`",
            time(from)
        )));
    }
    let mut units: Vec<String> = Vec::new();
    for Order { unit, .. } in &found.transactions {
        if !units.contains(unit) {
            units.push(unit.clone());
        }
    }
    Ok(units)
}

/// Erases the transactions of an address in one unit. A transaction that cannot be erased, such as one that is too
/// young, does not stop the erasure of the others.
async fn erase_in<P: Ports>(
    call: &Call<'_, P>,
    filter: &TransactionFilter,
    email: &str,
    receipt: &mut Receipt,
) -> Result<()> {
    let by = receipt.by.clone();
    let author = call.author(&by)?;
    let mut next = None;
    loop {
        let records = (call.store, call.ledger()?);
        let step = transactions::erase_person_step(
            records,
            &author,
            (filter, email),
            next.as_ref(),
            STEP,
            usize::MAX,
        );
        match step.await.map_err(Failure::from) {
            Ok(Done { outcome: step, .. }) => {
                next = step.next.clone();
                receipt.add(filter, step);
            }
            Err(error) if error.is_thrown() => {
                let answer = Answer::new(receipt, receipt.in_words())?;
                return Err(Failure::Partial(Box::new(error), answer));
            }
            Err(error) => return Err(error),
        }
        if next.is_none() {
            return Ok(());
        }
    }
}

impl Receipt {
    fn add(&mut self, filter: &TransactionFilter, step: PersonStep) {
        self.checked += step.listed;
        self.damaged += step.damaged.count;
        let erased = step.erased.into_iter().map(|Erased { id, unit, mode, at, .. }| Line {
            id,
            unit,
            mode: Some(mode),
            erased: Some(at),
            problem: None,
        });
        let refused = step.refused.into_iter().map(|(id, problem)| Line {
            id,
            unit: filter.unit.clone().unwrap_or_default(),
            mode: filter.mode,
            erased: None,
            problem: Some(problem),
        });
        for line in erased.chain(refused) {
            if self.transactions.iter().all(|known| known.id != line.id) {
                self.transactions.push(line);
            }
        }
    }

    fn left(&self) -> usize {
        self.transactions.iter().filter(|line| line.erased.is_none()).count()
    }

    fn in_words(&self) -> String {
        let all = self.transactions.len();
        if all == 0 {
            return format!("{NONE}: {NOTHING_ERASED}");
        }
        let row = |line: &Line| {
            let erased = line.erased.as_deref().map(time);
            let mode = line.mode.map(Mode::name).unwrap_or_default().to_owned();
            let outcome = erased.or_else(|| line.problem.clone()).unwrap_or_default();
            [line.id.clone(), line.unit.clone(), mode, outcome]
        };
        let rows: Vec<_> = self.transactions.iter().map(row).collect();
        let again = match self.left() {
            0 => "",
            _ => " Run the command again for the others.",
        };
        format!(
            "{}\n\n{} of {all} transactions are erased, by {}. {}{again}",
            table(["ID", "UNIT", "MODE", "ERASED OR PROBLEM"], &rows),
            all - self.left(),
            self.by,
            after(),
        )
    }
}
