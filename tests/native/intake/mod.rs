//! Tests what becomes of the orders that shop systems send: over the service, the queue's consumer and the cron, in memory. The
//! rows of `tests/fixtures/intake` are run on the Workers as well.

mod erase;
mod fetch;
mod limits;
mod pages;
mod races;
mod shop_api;

use crate::dashboard::{OPERATOR, TestDashboard, dashboard};
use crate::fixtures;
use base64ct::{Base64, Encoding as _};
use futures_executor::block_on;
use hmac::{Hmac, KeyInit as _, Mac as _};
use impact_pledge::office::connections::rows::received::{Fate, ReceivedRow};
use impact_pledge::office::connections::rule as connections;
use impact_pledge::office::connections::rule::{
    ApiAnswer, Intake, PledgeApi, ShopAnswer, ShopApi, ShopProblem, ShopRequest,
};
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::system::rows::receive::Verdict;
use impact_pledge::pledges::service::LedgerQueue;
use impact_pledge::pledges::store::{ReceivedKey, Recorded};
use impact_pledge::pledges::time::{DAY_MS, date_time};
use impact_pledge::pledges::types::RetrievedPledgeTransaction;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use shop_api::ShopApiStub;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::take;
use std::rc::Rc;
use support::ledger::Failing;
use support::memory::MemoryStore;
use support::service::{
    Answer, CountedEntropy, FixedClock, PATH, TestRequest, TestService, seeded,
};

/// The price list of both modes, as setting it writes it.
const PRICES: &str =
    r#"{"currencyCode":"USD","unitPrices":{"tree":"0.50"},"prices":"2026-01-01T00:00:00.000Z"}"#;

pub const SECRET: &str = "whsec_of_the_shop_1234";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "for readers")]
    about: String,
    /// The body of each row's first order.
    order: Value,
    system: String,
    settings: Value,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    /// How the sums follow from the order.
    #[serde(default)]
    #[expect(dead_code, reason = "for readers")]
    why: String,
    #[serde(default = "live")]
    mode: String,
    /// Changes of the file's settings, by JSON Pointer.
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    /// The token of the shop system's API.
    token: Option<String>,
    steps: Vec<Step>,
    shows: Shows,
}

fn live() -> String {
    "live".to_owned()
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    /// Changes of the order, by JSON Pointer, to send then.
    send: Option<BTreeMap<String, Value>>,
    /// Lines that replace those of the order.
    lines: Option<Lines>,
    /// Another body to send.
    body: Option<Value>,
    /// The body as text.
    text: Option<String>,
    /// How often it is sent.
    times: Option<usize>,
    /// How it is signed: `wrong`, `missing` or `stale`; otherwise right.
    sign: String,
    /// The answer; 200 unless stated.
    status: Option<u16>,
    /// The part that fails from then on: `kv`, `database`, `service` or `queue`; `none` lets all work again.
    down: Option<String>,
    /// Reads each message so many times; otherwise each is read once after its step.
    read: Option<usize>,
    /// Runs the cron after this many minutes.
    cron: Option<u64>,
    /// The orders that the shop system's API has from then on.
    shop: Option<Vec<ShopOrder>>,
    /// The status of the API's answers from then on.
    answers: Option<u16>,
    /// Asks for orders that were changed in the last days.
    since: Option<u64>,
    /// Fetches orders after this many minutes.
    fetch: Option<u64>,
}

/// An order in the shop.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShopOrder {
    /// When it was changed last, in seconds after the connection was made.
    at: i64,
    /// Changes of the file's order, by JSON Pointer.
    #[serde(default)]
    order: BTreeMap<String, Value>,
    /// Lines that replace those of the order.
    lines: Option<Lines>,
    /// Another order.
    body: Option<Value>,
}

impl ShopOrder {
    fn order(&self, of: &Value) -> Value {
        let mut order = self.body.clone().unwrap_or_else(|| changed(of, &self.order));
        if let Some(lines) = &self.lines {
            lines.put(&mut order);
        }
        order
    }
}

/// Lines of an order: copies of its first line, with IDs from 1.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    /// The JSON Pointer of the lines.
    at: String,
    times: usize,
    /// Members of the first line, of the second one and so on, over and over.
    cycle: Vec<BTreeMap<String, Value>>,
}

impl Lines {
    fn put(&self, order: &mut Value) {
        let first = order.pointer(&self.at).unwrap()[0].clone();
        let lines = (1..=self.times).zip(self.cycle.iter().cycle()).map(|(id, members)| {
            let mut line = first.clone();
            line["id"] = json!(id);
            members.iter().for_each(|(name, value)| line[name] = value.clone());
            line
        });
        let lines = Value::Array(lines.collect());
        fixtures::put(order, &self.at, Some(lines));
    }
}

/// What is there in the end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shows {
    /// The quantities of each transaction, by offering.
    #[serde(default)]
    pledged: Vec<BTreeMap<String, Value>>,
    /// The outcomes of deliveries, oldest first.
    outcomes: Vec<String>,
    /// Parts of the details of these deliveries.
    #[serde(default)]
    details: Vec<String>,
    /// The credits of the first transaction: the amount and the quantities.
    #[serde(default)]
    credits: Vec<String>,
    /// Whether the buyer is told that the order was cancelled.
    #[serde(default)]
    cancelled: bool,
    /// The number of deliveries whose bodies are still kept.
    #[serde(default)]
    kept: usize,
}

/// The queue of the ledger, of which only messages about orders are delivered.
#[derive(Default)]
struct Messages {
    ids: RefCell<Vec<String>>,
    is_down: Cell<bool>,
}

impl LedgerQueue for Messages {
    fn send(&self, _: Recorded) {}

    fn send_received(&self, received: &ReceivedKey) {
        if !self.is_down.get() {
            self.ids.borrow_mut().push(received.id());
        }
    }
}

/// The service as the consumer reaches it.
struct Api<'s> {
    service: &'s TestService<MemoryStore>,
    is_down: &'s Cell<bool>,
    shop: &'s ShopApiStub,
}

impl ShopApi for Api<'_> {
    async fn send(&self, request: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        self.shop.send(request)
    }
}

impl PledgeApi for Api<'_> {
    async fn create(&self, key: &str, idempotency_key: &str, body: &str) -> Option<ApiAnswer> {
        let request = TestRequest::new("POST", PATH, key)
            .with_body(body.as_bytes().to_vec())
            .with_header("idempotency-key", idempotency_key);
        let Answer { status, text, .. } = self.service.handle(&request).await;
        (!self.is_down.get()).then(|| ApiAnswer { status, body: text.into_bytes() })
    }
}

/// Connects a shop, which may have an API token, to the unit `unit_dev`, as an operator does.
fn connect(
    dashboard: &TestDashboard,
    mode: &str,
    (system, store, token): (&str, &str, &str),
    settings: &str,
) {
    let fields = [
        ("mode", mode),
        ("system", system),
        ("store", store),
        ("secret", SECRET),
        ("token", token),
        ("settings", settings),
    ];
    let page = dashboard.post_confirmed(OPERATOR, "/units/unit_dev/connections", &fields);
    assert_eq!(page.status, 200, "{}", page.text);
}

/// A shop system that is connected to a unit.
pub struct Shop {
    pub dashboard: TestDashboard,
    messages: Rc<Messages>,
    /// Whether answers of the service to the consumer are lost.
    is_service_down: Cell<bool>,
    system: String,
    pub connection: String,
    pub shop: ShopApiStub,
    /// When the connection was made, in seconds since 1970.
    made: u64,
}

impl Shop {
    pub fn new(system: &str, mode: &str, settings: &Value) -> Self {
        Self::with_token(system, mode, settings, None)
    }

    pub fn with_token(system: &str, mode: &str, settings: &Value, token: Option<&str>) -> Self {
        let mut service = seeded();
        let messages = Rc::new(Messages::default());
        service.ledger = Some(Rc::clone(&messages) as Rc<dyn LedgerQueue>);
        let dashboard = dashboard(service);
        for mode in ["test", "live"] {
            let list = PRICES.as_bytes();
            dashboard.store().keep(&format!("catalogue:{mode}"), list, b"null");
            let set = br#"{"created":"2026-01-01T00:00:00.000Z","by":"ada@example.org"}"#;
            dashboard.store().keep(&format!("prices:{mode}:2026-01-01T00:00:00.000Z"), list, set);
        }
        dashboard.reconcile();
        let settings = settings.to_string();
        let store = match (system, token) {
            ("bigcommerce", _) => "abcde",
            ("shopify", Some(_)) => "acme.myshopify.com",
            _ => "shop.example",
        };
        let token = token.unwrap_or_default();
        connect(&dashboard, mode, (system, store, token), &settings);
        let found = block_on(connections::list(&dashboard.ledger, Some("unit_dev"))).unwrap();
        let connection = found[0].id.to_string();
        let is_service_down = Cell::default();
        let (system, token) = (system.to_owned(), token.to_owned());
        let token =
            if system == "woocommerce" { Base64::encode_string(token.as_bytes()) } else { token };
        let shop = ShopApiStub { system: system.clone(), token, ..ShopApiStub::default() };
        let made = dashboard.clock.0.get() / 1_000;
        Shop { dashboard, messages, is_service_down, system, connection, shop, made }
    }

    pub fn send(&self, body: &[u8], sign: &str) -> u16 {
        let secret = if sign == "wrong" { "another_secret" } else { SECRET };
        self.send_signed(body, sign, secret)
    }

    /// Sends a body that is signed with this secret.
    pub fn send_signed(&self, body: &[u8], sign: &str, secret: &str) -> u16 {
        let request = self.delivery(&self.connection, body, sign, secret);
        self.dashboard.service.send(&request).status
    }

    /// Returns the request by which the shop system sends a body to a connection.
    fn delivery(&self, connection: &str, body: &[u8], sign: &str, secret: &str) -> TestRequest {
        let path = format!("/orders/{connection}");
        let mut request = TestRequest::new("POST", &path, "").with_body(body.to_vec());
        request.headers.remove("authorization");
        let signed = self.signature(body, sign, secret);
        signed.into_iter().fold(request, |it, (name, value)| it.with_header(name, &value))
    }

    /// Returns the headers with which the shop system signs.
    fn signature(&self, body: &[u8], sign: &str, secret: &str) -> Vec<(&'static str, String)> {
        let age = if sign == "stale" { 301 } else { 0 };
        let seconds = (self.dashboard.service.clock.0.get() / 1_000 - age).to_string();
        let mac = |parts: &[&[u8]]| {
            let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
            parts.iter().for_each(|part| mac.update(part));
            mac.finalize().into_bytes()
        };
        match (sign, &*self.system) {
            ("missing", _) => vec![],
            (_, "stripe") => {
                let hex = base16ct::lower::encode_string(&mac(&[seconds.as_bytes(), b".", body]));
                vec![("stripe-signature", format!("t={seconds},v1={hex}"))]
            }
            (_, "shopify") => {
                vec![("x-shopify-hmac-sha256", Base64::encode_string(&mac(&[body])))]
            }
            (_, "woocommerce") => {
                vec![("x-wc-webhook-signature", Base64::encode_string(&mac(&[body])))]
            }
            (_, "bigcommerce") => {
                let signature = mac(&[b"msg_1.", seconds.as_bytes(), b".", body]);
                vec![
                    ("webhook-id", "msg_1".to_owned()),
                    ("webhook-timestamp", seconds),
                    ("webhook-signature", format!("v1,{}", Base64::encode_string(&signature))),
                ]
            }
            (_, system) => panic!("{system}"),
        }
    }

    /// Reads the messages of the queue. Those that have to be delivered again stay in it.
    pub fn read(&self, times: usize) {
        let messages = take(&mut *self.messages.ids.borrow_mut());
        for id in messages {
            let api = self.api();
            let verdicts: Vec<_> =
                (0..times).map(|_| block_on(self.intake(&api).read(&id, 1))).collect();
            if verdicts.last() != Some(&Verdict::Done) {
                self.messages.ids.borrow_mut().push(id);
            }
        }
        let ids = self.messages.ids.borrow().len();
        assert!(ids < 100);
    }

    fn intake<'i, A: PledgeApi>(
        &'i self,
        api: &'i A,
    ) -> Intake<'i, MemoryStore, FixedClock, CountedEntropy, A> {
        let TestDashboard { ledger, clock, entropy, .. } = &self.dashboard;
        Intake { store: self.dashboard.store(), ledger, clock, entropy, api }
    }

    pub fn wait(&self, milliseconds: u64) {
        let now = self.dashboard.clock.0.get() + milliseconds;
        self.dashboard.clock.0.set(now);
        self.dashboard.service.clock.0.set(now);
    }

    pub fn cron(&self, minutes: u64) {
        self.wait(minutes * 60_000);
        drop(block_on(self.intake(&self.api()).catch_up(100)));
    }

    fn api(&self) -> Api<'_> {
        let is_down = &self.is_service_down;
        Api { service: &self.dashboard.service, is_down, shop: &self.shop }
    }

    /// Fetches orders after this many minutes.
    pub fn fetch(&self, minutes: u64) {
        self.wait(minutes * 60_000);
        drop(block_on(self.intake(&self.api()).fetch()));
        self.wait(1);
    }

    pub fn fetch_since(&self, days: u64) -> Answer {
        let since = date_time(self.dashboard.clock.0.get() - days * DAY_MS);
        let path = format!("/connections/{}/fetch", self.connection);
        self.dashboard.post_confirmed(OPERATOR, &path, &[("since", &since[..10])])
    }

    fn down(&self, part: &str) {
        let is = |own: &str| part == own;
        self.dashboard.store().set_broken(is("kv"));
        let failing = if is("database") { Failing::Before } else { Failing::Not };
        self.dashboard.ledger.set_failing(failing);
        self.is_service_down.set(is("service"));
        self.messages.is_down.set(is("queue"));
    }
}

// ---- What is there in the end ---------------------------------------------------------------------

impl Shop {
    pub fn transactions(&self) -> Vec<String> {
        let names = self.dashboard.store().names();
        let ids = names.iter().filter_map(|name| name.strip_prefix("transaction:"));
        ids.map(str::to_owned).collect()
    }

    /// Returns the sum of the quantities of each offering.
    fn quantities(&self, id: &str) -> BTreeMap<String, Value> {
        let text = self.dashboard.store().value(&format!("transaction:{id}")).unwrap();
        let record: RetrievedPledgeTransaction<'_> = serde_json::from_str(&text).unwrap();
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for pledge in &record.pledges {
            *sums.entry(pledge.impact.offering_id.to_string()).or_default() +=
                pledge.impact.amount.get();
        }
        sums.into_iter().map(|(offering, sum)| (offering, json!(sum))).collect()
    }

    fn credits(&self, id: &str) -> Vec<String> {
        let store = self.dashboard.store();
        let record = block_on(transactions::get(store, id)).unwrap();
        let credits = block_on(credits::of(store, &self.dashboard.ledger, &record)).unwrap();
        let words =
            |credit: &credits::Credit| [&*credit.amount, &credit.quantities_in_words()].join(", ");
        credits.credits.iter().map(words).collect()
    }

    #[track_caller]
    fn shows(&self, shows: &Shows, what: &str) {
        let ids = self.transactions();
        let pledged: Vec<_> = ids.iter().map(|id| self.quantities(id)).collect();
        assert_eq!(json!(pledged), json!(numbers(&shows.pledged)), "{what}: pledged");
        let mut rows = block_on(connections::deliveries(
            &self.dashboard.ledger,
            &self.connection,
            u64::MAX >> 12,
        ))
        .unwrap();
        let place = |row: &ReceivedRow| {
            let is_first = row.finding.outcome == Fate::Pledged; // of those of one fetch
            (row.at, !is_first, row.delivery.clone())
        };
        rows.sort_by_key(place);
        let outcomes: Vec<_> = rows.iter().map(|row| row.finding.outcome.name()).collect();
        let details: Vec<_> = rows.iter().map(|row| row.finding.detail.as_deref()).collect();
        assert_eq!(outcomes, shows.outcomes, "{what}: {details:?}");
        for (detail, part) in details.iter().zip(&shows.details) {
            let detail = detail.unwrap_or_default();
            assert!(detail.contains(&**part), "{what}: `{detail}` lacks `{part}`");
        }
        let credits = ids.first().map(|id| self.credits(id)).unwrap_or_default();
        assert_eq!(credits, shows.credits, "{what}: credits");
        let names = self.dashboard.store().names();
        let count = |prefix| names.iter().filter(|name| name.starts_with(prefix)).count();
        assert_eq!(count("cancelled:") > 0, shows.cancelled, "{what}: cancelled");
        assert_eq!(count("received:"), shows.kept, "{what}: kept");
    }
}

/// Returns quantities as floating-point numbers.
fn numbers(pledged: &[BTreeMap<String, Value>]) -> Vec<BTreeMap<String, Value>> {
    let number = |(offering, sum): (&String, &Value)| (offering.clone(), json!(sum.as_f64()));
    pledged.iter().map(|sums| sums.iter().map(number).collect()).collect()
}

/// Returns a value with changes by JSON Pointer.
fn changed(value: &Value, changes: &BTreeMap<String, Value>) -> Value {
    let mut value = value.clone();
    for (pointer, change) in changes {
        fixtures::put(&mut value, pointer, Some(change.clone()));
    }
    value
}

fn run(file: &File, row: &Row, what: &str) {
    let settings = changed(&file.settings, &row.settings);
    let shop = Shop::with_token(&file.system, &row.mode, &settings, row.token.as_deref());
    for step in &row.steps {
        if let Some(orders) = &step.shop {
            let order =
                |it: &ShopOrder| (shop.made.saturating_add_signed(it.at), it.order(&file.order));
            shop.shop.orders.replace(orders.iter().map(order).collect());
        }
        if let Some(status) = step.answers {
            shop.shop.status.set(Some(status).filter(|status| *status != 200));
        }
        if let Some(part) = &step.down {
            shop.down(part);
        }
        let mut sent = step.send.as_ref().map(|changes| changed(&file.order, changes));
        if let (Some(order), Some(lines)) = (&mut sent, &step.lines) {
            lines.put(order);
        }
        let sent = sent.or(step.body.clone()).map(|body| body.to_string());
        if let Some(body) = step.text.clone().or(sent) {
            for _ in 0..step.times.unwrap_or(1) {
                let status = shop.send(body.as_bytes(), &step.sign);
                shop.wait(1_000);
                assert_eq!(status, step.status.unwrap_or(200), "{what}: {body}");
            }
        }
        if let Some(minutes) = step.cron {
            shop.cron(minutes);
        }
        shop.read(step.read.unwrap_or(1));
        if let Some(days) = step.since {
            assert_eq!(shop.fetch_since(days).status, 200, "{what}");
        }
        if let Some(minutes) = step.fetch {
            shop.fetch(minutes);
        }
    }
    shop.shows(&row.shows, what);
}

#[test]
fn every_row_of_orders_has_its_pledges_credits_and_reasons() {
    let mut rows = 0;
    for (name, file) in fixtures::files::<File>("intake") {
        for row in &file.rows {
            run(&file, row, &format!("{name}: {}", row.name));
            rows += 1;
        }
    }
    assert!(rows > 60);
}
