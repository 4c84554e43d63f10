//! Demo data for the dashboard on a developer's machine: three months of two shops. It must not be written to a deployed
//! namespace.
//!
//! The service, its notifier and the operator's functions write the records, with a clock that shows a time in the
//! past.

use super::audit::Author;
use super::dues::{Due, totals};
use super::prices::Edit;
use super::transactions::{self, SearchKey, TransactionFilter, ViewOptions};
use super::units::ProfileMembers;
use super::usage::MonthUsage;
use super::{OperatorError, Result, prices, put_record, teams, units};
use crate::api::{JSON, PLEDGE_TRANSACTION_PATH, header};
use crate::charge::PriceList;
use crate::http::{Body, BodyError, Request, Reservation};
use crate::ledger::Direction;
use crate::notify::{
    Deliveries, MAX_HELD_BYTES, MailSettings, Mailer, NoMessenger, Notifier, OutgoingEmail,
    SendError, Timer,
};
use crate::pledge::NotificationService;
use crate::scope::{Mode, Scope};
use crate::service::{
    Caches, Clock, Entropy, Message, Outbox, PutFuture, RequestLog, Service, Settings, Variables,
};
use crate::settlement::{Month, PaidAt, SettledSum, Settlement};
use crate::store::{Key as _, OperatorStore, PriceListKey, SettlementKey};
use crate::time::{DAY_MS, TimeZones, date_time};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::ready;

const BY: &str = "operator@small-hours.example";
/// Age of the units, the teams and the first prices. They are older than all transactions.
const BEGUN_MS: u64 = 95 * DAY_MS;
const ORDERS: u64 = 60;
/// Time from one transaction to the next. The first transaction is 92 days old.
const APART_MS: u64 = 92 * DAY_MS / ORDERS;
/// The index of the first transaction with today's prices.
const RAISED: u64 = 35;
/// The index of the first transaction with an e-mail. It is so recent that its notification record has not expired.
const MAILED: u64 = 42;
/// The index of the transaction whose e-mail the mail service refuses.
const REFUSED: u64 = 58;
/// The index of the transaction whose personal data is erased.
const ERASED: u64 = 18;
/// Age of a transaction of the month that is paid. That month ended at least four weeks ago.
const PAID_MS: u64 = 60 * DAY_MS;
const MARKED_MS: u64 = 27 * DAY_MS;

#[derive(Deserialize)]
struct Demo {
    teams: BTreeMap<String, Vec<String>>,
    profiles: BTreeMap<String, ProfileMembers>,
    /// The first price list, and today's.
    prices: (PriceList, PriceList),
    /// The shops, recipients and pledges that the transactions use in turn.
    shops: Vec<Shop>,
    people: Vec<Box<RawValue>>,
    baskets: Baskets,
}

/// Pledges by the language of the shop.
type Baskets = BTreeMap<String, Vec<Box<RawValue>>>;

/// A shop that creates transactions.
#[derive(Deserialize)]
struct Shop {
    key: String,
    mode: Mode,
    unit: String,
    /// The prefix of the references of the shop's transactions.
    order: String,
    /// The language of the shop's texts.
    #[serde(default = "english")]
    language: String,
    /// What a buyer did.
    #[serde(default = "placed_an_order")]
    phrase: String,
}

fn english() -> String {
    "en".to_owned()
}

fn placed_an_order() -> String {
    "placed an order".to_owned()
}

/// Writes the demo data unless its first transaction exists. Returns whether the data was written. `origin` is the
/// service's origin.
///
/// # Errors
/// If the development data is missing, or the store fails.
pub async fn seed(
    store: &impl OperatorStore,
    now: &impl Clock,
    entropy: &impl Entropy,
    origin: &str,
) -> Result<bool> {
    let demo: Demo = serde_json::from_str(include_str!("demo.json"))?;
    if is_there(store, &demo).await? {
        return Ok(false);
    }
    let clock = PastClock { now_ms: now.now_ms(), ago_ms: Cell::new(BEGUN_MS) };
    let past = Past { store, clock: &clock, entropy, origin };
    past.begin(&demo).await?;
    let placed = past.place_orders(&demo).await?;
    past.mark_paid(&demo, &placed).await?;
    Ok(true)
}

async fn is_there(store: &impl OperatorStore, demo: &Demo) -> Result<bool> {
    let Some(shop) = demo.shops.first() else { return Ok(true) };
    let filter = TransactionFilter { unit: Some(shop.unit.clone()), mode: Some(shop.mode) };
    let of = (&filter, &SearchKey::Reference(shop.reference(0)));
    let found = transactions::find(store, None, of, &Direction::Newest, 1).await?;
    Ok(!found.transactions.is_empty())
}

impl Shop {
    fn reference(&self, number: u64) -> String {
        format!("{}-{}", self.order, 1001 + number)
    }
}

/// A clock that shows a time in the past.
struct PastClock {
    now_ms: u64,
    ago_ms: Cell<u64>,
}

impl Clock for PastClock {
    fn now_ms(&self) -> u64 {
        self.now_ms - self.ago_ms.get()
    }
}

/// The shops of the demo have no time zones.
impl TimeZones for PastClock {
    fn utc_offset(&self, _: &str, _: i64) -> Option<i32> {
        None
    }
}

/// Returns at once instead of waiting.
impl Timer for PastClock {
    async fn pause(&self, _: u32) {}
}

struct Past<'p, S, E> {
    store: &'p S,
    clock: &'p PastClock,
    entropy: &'p E,
    origin: &'p str,
}

impl<S: OperatorStore, E: Entropy> Past<'_, S, E> {
    fn author(&self) -> Result<Author<'_, PastClock, E>> {
        Author::new(BY, self.clock, self.entropy)
    }

    /// Adds teams and units, and sets the first prices.
    async fn begin(&self, demo: &Demo) -> Result<()> {
        for (team, units) in &demo.teams {
            teams::add(self.store, None, &self.author()?, team, units).await?;
        }
        for (unit, members) in &demo.profiles {
            units::set(self.store, None, &self.author()?, unit, members.clone()).await?;
        }
        self.set_prices(&demo.prices.0, &demo.prices.1).await
    }

    /// Sets the prices of each mode, unless the current ones differ from `before` because the developer has set them.
    async fn set_prices(&self, prices: &PriceList, before: &PriceList) -> Result<()> {
        for mode in [Mode::Test, Mode::Live] {
            let of = PriceListKey::of_mode(mode);
            let now = prices::get(self.store, of).await?.unwrap_or_default();
            if now.unit_prices == before.unit_prices {
                let edit = Edit::All(prices.clone());
                prices::set(self.store, None, &self.author()?, of, &edit, None).await?;
            }
        }
        Ok(())
    }

    /// Creates the transactions, erases one and delivers their e-mails. Returns the transactions' IDs.
    async fn place_orders(&self, demo: &Demo) -> Result<Vec<String>> {
        let mut placed = Vec::new();
        let orders = (0..ORDERS).zip(demo.shops.iter().cycle()).zip(demo.people.iter().cycle());
        for ((number, shop), recipient) in orders {
            let baskets = demo.baskets.get(&shop.language).into_iter().flatten();
            let Some(pledges) = baskets.cycle().nth(number as usize) else { continue };
            self.clock.ago_ms.set((ORDERS - number) * APART_MS - APART_MS / 2);
            if number == RAISED {
                self.set_prices(&demo.prices.1, &demo.prices.0).await?;
            }
            let wants_mail = number >= MAILED && shop.mode.is_live();
            let order = Order {
                reference: shop.reference(number),
                recipient,
                pledges,
                trigger: Trigger { date: date_time(self.clock.now_ms()), phrase: &shop.phrase },
                notifications: if wants_mail { &["Email"] } else { &[] },
                is_repeatable: number % 5 == 0,
            };
            let created = self.create(shop, &order).await?;
            placed.push(created.id.clone());
            match number {
                ERASED => self.erase(&created.id).await?,
                _ if wants_mail => self.mail(created, number == REFUSED).await,
                _ => {}
            }
        }
        Ok(placed)
    }

    async fn create(&self, shop: &Shop, order: &Order<'_>) -> Result<Created> {
        let variables = Variables { public_origin: self.origin, ..Variables::default() };
        let service = Service {
            store: self.store,
            clock: self.clock,
            entropy: self.entropy,
            caches: &Caches::default(),
            settings: &Settings::parse(variables),
            outbox: Some(&TakesAll),
            ledger: None,
            request_log: RequestLog::default(),
        };
        let url = [self.origin, PLEDGE_TRANSACTION_PATH].concat();
        let body = serde_json::to_vec(order)?;
        let idempotency_key = order.is_repeatable.then(|| order.reference.clone());
        let response = service.handle(&Create { url, shop, body, idempotency_key }).await;
        match (response.status, response.body) {
            (200, Body::Bytes(answer)) => Ok(serde_json::from_slice(&answer)?),
            (status, _) => Err(OperatorError::Invalid(format!(
                "the demo transaction {} was refused with status {status}: check that the development data exists",
                order.reference
            ))),
        }
    }

    async fn erase(&self, id: &str) -> Result<()> {
        self.clock.ago_ms.set(self.clock.ago_ms.get() - DAY_MS);
        let record = transactions::get(self.store, id).await?;
        transactions::erase(self.store, None, &self.author()?, &record).await?;
        Ok(())
    }

    /// Delivers the message of a create request. If that fails, the e-mail shows as waiting.
    async fn mail(&self, Created { id, created_at }: Created, is_refused: bool) {
        let settings = MailSettings { origin: Some(self.origin.to_owned()), test_to: None };
        let mailer = MailService { is_refused };
        let notifier = Notifier {
            store: self.store,
            mailer: &mailer,
            messenger: &NoMessenger,
            clock: self.clock,
            settings: &settings,
            deliveries: &Deliveries::new(MAX_HELD_BYTES),
        };
        let service = NotificationService::Email;
        notifier.deliver(&Message { id, created_at, round: 1, service }, 1, "demo").await;
    }

    /// Marks a month of the first shop as paid. The ledger has no rows yet, so the records' charges are summed.
    async fn mark_paid(&self, demo: &Demo, placed: &[String]) -> Result<()> {
        let order = date_time(self.clock.now_ms - PAID_MS);
        self.clock.ago_ms.set(MARKED_MS);
        let day = (self.clock.now_ms() - DAY_MS) / DAY_MS * DAY_MS; // people enter a day
        let paid_at = PaidAt::parse(&date_time(day));
        let (Some(shop), Some(month), Some(paid_at)) =
            (demo.shops.first(), Month::of(&order), paid_at)
        else {
            return Ok(());
        };
        let settlement = Settlement {
            paid_at,
            sums: self.sums(shop, month, placed).await?,
            invoice: "2026-014".to_owned(),
            by: BY.to_owned(),
            at: date_time(self.clock.now_ms()),
        };
        let key = SettlementKey { mode: shop.mode, unit: &shop.unit, month };
        self.author()?.record(self.store, "payments mark", [key.name()]).await?;
        put_record(self.store, &key, &settlement).await
    }

    /// Sums a shop's month, by currency.
    async fn sums(&self, shop: &Shop, month: Month, placed: &[String]) -> Result<Vec<SettledSum>> {
        let mut own = MonthUsage::new(Scope { mode: shop.mode, unit: shop.unit.clone() }, month);
        for id in placed {
            let order = transactions::get(self.store, id).await?.show(ViewOptions::default())?.row;
            if (&order.unit, order.mode) == (&shop.unit, shop.mode)
                && Month::of(&order.created_at) == Some(month)
            {
                let due = Due::new(order.currency_code, order.amount);
                own.sums.push(Due { transactions: 1, unpriced: order.unpriced, ..due });
            }
        }
        Ok(totals(&[own]).into_iter().map(Due::into_settled).collect())
    }
}

// ---- The service's ports -------------------------------------------------------------------------

/// The body of a create request (contract §4.1).
#[derive(Serialize)]
struct Order<'o> {
    reference: String,
    recipient: &'o RawValue,
    pledges: &'o RawValue,
    trigger: Trigger<'o>,
    notifications: &'static [&'static str],
    #[serde(skip)]
    is_repeatable: bool,
}

#[derive(Serialize)]
struct Trigger<'t> {
    date: String,
    phrase: &'t str,
}

/// The members that are read from the answer to a create request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    id: String,
    created_at: String,
}

struct Create<'c> {
    url: String,
    shop: &'c Shop,
    body: Vec<u8>,
    idempotency_key: Option<String>,
}

impl Request for Create<'_> {
    fn method(&self) -> Cow<'_, str> {
        Cow::Borrowed("POST")
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.url)
    }

    fn header(&self, name: &'static str) -> Option<String> {
        match name {
            header::AUTHORIZATION => Some(["Bearer ", &self.shop.key].concat()),
            header::CONTENT_TYPE => Some(JSON.to_owned()),
            header::UNIT_ID => Some(self.shop.unit.clone()),
            header::IDEMPOTENCY_KEY => self.idempotency_key.clone(),
            _ => None,
        }
    }

    fn id(&self) -> String {
        "demo".to_owned()
    }

    async fn body(&self, _: usize, _: &mut Reservation<'_>) -> Result<Vec<u8>, BodyError> {
        Ok(self.body.clone())
    }

    async fn is_over_limit(&self, _: &str) -> bool {
        false
    }

    async fn pause(&self, _: u32) {}
}

/// A queue that accepts all messages.
struct TakesAll;

impl Outbox for TakesAll {
    fn put<'m>(&'m self, _: &'m Message) -> PutFuture<'m> {
        Box::pin(ready(true))
    }
}

/// A mail service that accepts every e-mail, or refuses every one.
struct MailService {
    is_refused: bool,
}

impl Mailer for MailService {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        match self.is_refused {
            true => Err(SendError::Permanent { code: "E_RECIPIENT_SUPPRESSED".to_owned() }),
            false => Ok(format!("<{}@small-hours.example>", email.key.replace('/', "."))),
        }
    }
}
