//! Writes what happened in the past: units, prices, transactions, an erasure, e-mails and a payment.

use super::clock::PastClock;
use super::data::{Demo, Shop};
use super::order::{Create, Created, Order, Trigger};
use super::ports::{MailService, TakesAll};
use crate::buyer::delivery::{Deliveries, MAX_HELD_BYTES, MailSettings, NoMessenger, Notifier};
use crate::buyer::timeline::Timelines;
use crate::office::audit::rule::{Author, Written};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::ViewOptions;
use crate::office::payments::rule::dues::{Due, totals};
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::prices::rule as prices;
use crate::office::prices::rule::Edit;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::shared::rule::records::encode;
use crate::office::shops::rule::{teams, units};
use crate::office::system::rule::publish::publish_all;
use crate::pledges::api::PLEDGE_TRANSACTION_PATH;
use crate::pledges::charge::PriceList;
use crate::pledges::http::Body;
use crate::pledges::scope::Mode;
use crate::pledges::service::{
    Caches, Clock as _, Entropy, Message, RequestLog, Service, Settings, Variables,
};
use crate::pledges::settlement::{Month, PaidAt, ScopeMonth, SettledSum, Settlement};
use crate::pledges::store::{Key as _, OperatorStore, PriceListKey, SettlementKey};
use crate::pledges::time::{DAY_MS, date_time};
use crate::pledges::types::NotificationService;

const BY: &str = "operator@small-hours.example";
const ORDERS: u64 = 60;
/// Time from one transaction to the next, in milliseconds. The first transaction is 92 days old.
const APART_MS: u64 = 92 * DAY_MS / ORDERS;
/// The index of the first transaction with today's prices.
const RAISED: u64 = 35;
/// The index of the first transaction with an e-mail. It is so recent that its notification record has not expired.
const MAILED: u64 = 42;
/// The index of the transaction whose e-mail the mail service refuses.
const REFUSED: u64 = 58;
/// The index of the transaction whose personal data is erased.
const ERASED: u64 = 18;
/// The age in milliseconds of the transaction whose month is marked as paid. That month ended at least four
/// weeks ago.
const PAID_MS: u64 = 60 * DAY_MS;
const MARKED_MS: u64 = 27 * DAY_MS;

/// Writes the demo's records. Its clock shows times in the past, so the records look as if they had been
/// written then.
pub(super) struct Past<'p, S, E> {
    pub(super) store: &'p S,
    pub(super) ledger: &'p dyn Ledger,
    pub(super) clock: &'p PastClock,
    pub(super) entropy: &'p E,
    pub(super) origin: &'p str,
}

impl<S: OperatorStore, E: Entropy> Past<'_, S, E> {
    fn author(&self) -> Result<Author<'_, PastClock, E>> {
        Author::new(BY, self.clock, self.entropy)
    }

    /// Adds teams and units, and sets the first prices.
    pub(super) async fn begin(&self, demo: &Demo) -> Result<()> {
        for (team, units) in &demo.teams {
            teams::add(self.store, self.ledger, &self.author()?, team, units).await?;
        }
        for (unit, members) in &demo.profiles {
            units::set(self.store, self.ledger, &self.author()?, unit, members.clone()).await?;
        }
        self.set_prices(&demo.prices.0, &demo.prices.1).await
    }

    /// Sets the prices of each mode. If a mode's current prices differ from `before`, the developer has set
    /// them, so they are kept.
    async fn set_prices(&self, prices: &PriceList, before: &PriceList) -> Result<()> {
        for mode in [Mode::Test, Mode::Live] {
            let of = PriceListKey::of_mode(mode);
            let now = prices::get(self.store, of).await?.unwrap_or_default();
            if now.unit_prices == before.unit_prices {
                let edit = Edit::All(prices.clone());
                prices::set(self.store, self.ledger, &self.author()?, of, &edit, None).await?;
            }
        }
        Ok(())
    }

    /// Creates the transactions and delivers their e-mails. Also erases one of the transactions. Returns the
    /// transactions' IDs.
    pub(super) async fn place_orders(&self, demo: &Demo) -> Result<Vec<String>> {
        let mut placed = Vec::new();
        let orders = (0..ORDERS).zip(demo.shops.iter().cycle()).zip(demo.people.iter().cycle());
        for ((number, shop), recipient) in orders {
            let baskets = demo.baskets.get(&shop.language).into_iter().flatten();
            let Some(pledges) = baskets.cycle().nth(number as usize) else { continue };
            self.clock.ago_ms.set((ORDERS - number) * APART_MS - APART_MS / 2);
            if number == RAISED {
                self.set_prices(&demo.prices.1, &demo.prices.0).await?;
            }
            let wants_mail = number >= MAILED && shop.scope.mode.is_live();
            let order = Order {
                reference: shop.reference(number),
                recipient,
                pledges,
                trigger: Trigger {
                    date: Some(date_time(self.clock.now_ms())),
                    phrase: &shop.phrase,
                },
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

    /// Creates an order in the middle of the previous month. Its payload and its idempotency key are the same
    /// on every machine. So its timeline also has the same path everywhere.
    pub(super) async fn place_earlier(&self, order: Order<'_>, shop: &Shop) -> Result<()> {
        let month = Month::at(self.clock.now_ms).and_then(Month::previous);
        let Some((begins_ms, ends_ms)) = month.and_then(Month::span_ms) else { return Ok(()) };
        self.clock.ago_ms.set(self.clock.now_ms - begins_ms.midpoint(ends_ms));
        self.create(shop, &order).await?;
        Ok(())
    }

    async fn create(&self, shop: &Shop, order: &Order<'_>) -> Result<Created> {
        let variables = Variables { public_origin: self.origin, ..Variables::default() };
        let service = Service {
            store: self.store,
            clock: self.clock,
            entropy: self.entropy,
            recipients: &Timelines::default(),
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
            (status, _) => Err(OperatorError::invalid(format!(
                "the demo transaction {} was refused with status {status}: check that the development data exists",
                order.reference
            ))),
        }
    }

    async fn erase(&self, id: &str) -> Result<()> {
        self.clock.ago_ms.set(self.clock.ago_ms.get() - DAY_MS);
        let record = transactions::get(self.store, id).await?;
        transactions::erase(self.store, self.ledger, &self.author()?, &record).await?;
        Ok(())
    }

    /// Delivers the e-mail about a new transaction. If the delivery fails, the dashboard shows the e-mail as
    /// waiting.
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
        let message = Message { id, created_at, round: 1, service, updates: Vec::new() };
        notifier.deliver(&message, 1, "demo").await;
    }

    /// Marks a month of the first shop as paid. Sums the charges from the records, because the ledger has no
    /// rows yet.
    pub(super) async fn mark_paid(&self, demo: &Demo, placed: &[String]) -> Result<()> {
        let order = date_time(self.clock.now_ms - PAID_MS);
        self.clock.ago_ms.set(MARKED_MS);
        let day = (self.clock.now_ms() - DAY_MS) / DAY_MS * DAY_MS; // people enter a day
        let paid_at = PaidAt::parse(&date_time(day));
        let (Some(shop), Some(month), Some(paid_at)) =
            (demo.shops.first(), Month::of(&order), paid_at)
        else {
            return Ok(());
        };
        let of = ScopeMonth { scope: shop.scope.clone(), month };
        let settlement = Settlement {
            paid_at,
            sums: self.sums(&of, placed).await?,
            invoice: "2026-014".to_owned(),
            by: BY.to_owned(),
            at: date_time(self.clock.now_ms()),
        };
        let work = async |at: &Commit<'_, _, _>| {
            let name = SettlementKey(&of).name();
            let entry = at.author.entry("payments mark", |_| vec![name.clone()]).await?;
            let record = Some(encode(&Written::new(&settlement, &entry))?);
            let mark = Replacement { name, seen: RecordVersion::default(), record };
            published::replace(at, &entry, &(), "the payment", vec![mark]).await
        };
        commit(self.ledger, &self.author()?, ("payments mark", &of), work).await?;
        publish_all(self.store, self.ledger, self.clock, &[SettlementKey(&of).name()]).await
    }

    async fn sums(&self, of: &ScopeMonth, placed: &[String]) -> Result<Vec<SettledSum>> {
        let mut own = MonthUsage::new(of.clone());
        for id in placed {
            let order = transactions::get(self.store, id).await?.show(ViewOptions::default())?.row;
            if order.scope == of.scope && Month::of(&order.created_at) == Some(of.month) {
                let due = Due::new(order.currency_code, order.amount);
                own.sums.push(Due { transactions: 1, unpriced: order.unpriced, ..due });
            }
        }
        Ok(totals(&[own]).into_iter().map(Due::into_settled).collect())
    }
}
