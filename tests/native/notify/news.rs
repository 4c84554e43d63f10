//! Tests the e-mails with news: how buyers ask for them and end them, whom the cron finds, and what is sent.

use super::{Adapters, Post, done, later};
use futures_executor::block_on;
use impact_pledge::buyer::delivery::{
    Deliveries, MAX_HELD_BYTES, MailSettings, Notifier, Outcome, SendError,
};
use impact_pledge::office::orders::rule as orders;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::updates::rows::updates::Pledges;
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::{NewUpdate, NewsQueued};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{Message, Settings, Variables};
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{CancelledKey, Key as _, ProfileKey, SecretKey};
use impact_pledge::pledges::types::{ERASED_EMAIL, TransactionId};
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{
    Answer, CountedEntropy, LIVE_UNIT, MemoryQueue, ORIGIN, SECRET, TestOperator, TestRequest,
    TestService, UNIT, minimal, seeded, test_operator,
};

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
/// The month of the clock, in which the tests begin, and the next one.
const JANUARY: u32 = 202_601;
const FEBRUARY: u32 = 202_602;

struct Bench {
    service: TestService<MemoryStore>,
    ledger: SqliteLedger,
    operator: TestOperator<CountedEntropy>,
    post: Post,
    deliveries: Cell<u32>,
}

/// A transaction, with the path and the query of its timeline.
struct Order {
    id: TransactionId,
    timeline: String,
}

fn with_mail() -> Settings {
    Settings::parse(Variables {
        public_origin: ORIGIN,
        mail_from: "pledges@shop.example",
        has_queue: true,
        has_mail_service: true,
        ..Variables::default()
    })
}

fn bench() -> Bench {
    let service =
        TestService { settings: with_mail(), queue: Some(MemoryQueue::default()), ..seeded() };
    let secret = json!({ "secret": *SECRET }).to_string();
    service.store.keep(&SecretKey.name(), secret.as_bytes(), b"null");
    let bench = Bench {
        service,
        ledger: SqliteLedger::default(),
        operator: test_operator(),
        post: Post::default(),
        deliveries: Cell::default(),
    };
    bench.keep_profile(&json!({ "name": "Small Hours Coffee", "mail": true }));
    bench
}

impl Bench {
    fn store(&self) -> &MemoryStore {
        &self.service.store
    }

    fn queue(&self) -> &MemoryQueue {
        self.service.queue.as_ref().unwrap()
    }

    fn keep_profile(&self, profile: &Value) {
        let name = ProfileKey("unit_dev").name();
        self.store().keep(&name, profile.to_string().as_bytes(), b"null");
    }

    /// Lets time pass, for the service and the operator.
    fn pass(&self, ms: u64) {
        let now_ms = self.service.clock.0.get() + ms;
        self.service.clock.0.set(now_ms);
        self.operator.clock.0.set(now_ms);
    }

    fn order(&self, key: &str, offerings: &[&str]) -> Order {
        let pledge = |offering| json!({ "impact": { "amount": 3, "offeringId": offering } });
        let mut body = minimal();
        body["pledges"] = offerings.iter().map(pledge).collect();
        body["recipient"]["email"] = json!(format!("{}@buyer.example", self.store().names().len()));
        let created = self.service.create(key, &body).json();
        let url = created["timelineUrl"].as_str().unwrap().strip_prefix(ORIGIN).unwrap();
        let id = TransactionId::parse(created["id"].as_str().unwrap()).unwrap();
        Order { id, timeline: url.to_owned() }
    }

    /// Creates a live transaction whose buyer asks for e-mails with news.
    fn asking(&self, offerings: &[&str]) -> Order {
        let order = self.order(LIVE_UNIT, offerings);
        assert!(self.post_form(&order, "on").text.contains("news=off"));
        order
    }

    fn request(&self, method: &str, path: &str) -> Answer {
        self.service.send(&TestRequest::new(method, path, ""))
    }

    fn visit(&self, order: &Order) -> Answer {
        self.request("GET", &order.timeline)
    }

    /// Sends the form of a timeline.
    fn post_form(&self, order: &Order, to: &str) -> Answer {
        self.request("POST", &format!("{}&news={to}", order.timeline))
    }

    /// Returns the records about news by the beginning of their names, with their values.
    fn kept(&self, prefix: &str) -> Vec<(String, String)> {
        let names = self.store().names().into_iter().filter(|name| name.starts_with(prefix));
        names.map(|name| (name.clone(), self.store().value(&name).unwrap())).collect()
    }

    /// Publishes an update, and returns its ID. The change is then a few minutes old.
    fn publish(&self, offering: &str, changed: &Value) -> String {
        let id = self.publish_now(offering, changed);
        self.pass(3 * MINUTE_MS);
        id
    }

    fn publish_now(&self, offering: &str, changed: &Value) -> String {
        let mut update = json!({
            "stage": "done", "date": "2026-01-20", "place": "Kitui", "texts": [["en", "We planted."]],
        });
        for (name, value) in changed.as_object().unwrap() {
            update[name] = value.clone();
        }
        let new: NewUpdate = serde_json::from_value(update).unwrap();
        let month = Month::parse("2026-01").unwrap();
        let of = Pledges { mode: Mode::Live, month, offering: offering.to_owned() };
        let TestOperator { clock, entropy } = &self.operator;
        let author = || self.operator.author().with_operation(OperationId::new(clock, entropy));
        let (store, ledger) = (self.store(), &self.ledger);
        let added = block_on(updates::add(store, ledger, &author(), (&of, None), &new)).unwrap();
        let id = added.outcome.row.id;
        block_on(updates::publish(store, ledger, &author(), (&id, 1))).unwrap();
        id
    }

    fn withdraw(&self, id: &str) {
        let TestOperator { clock, entropy } = &self.operator;
        let author = self.operator.author().with_operation(OperationId::new(clock, entropy));
        block_on(updates::withdraw(self.store(), &self.ledger, &author, (id, 2))).unwrap();
    }

    fn try_to_queue(&self) -> Result<NewsQueued, String> {
        let work =
            updates::queue_news(self.store(), &self.ledger, &self.operator.clock, self.queue());
        block_on(work).map_err(|error| error.to_string())
    }

    /// Runs the cron until nothing is due, and returns how many messages it queued.
    fn queue_all(&self) -> usize {
        let mut queued = 0;
        for _ in 0..20 {
            match self.try_to_queue().unwrap() {
                NewsQueued { listed: 0, .. } => break,
                done => queued += done.queued,
            }
        }
        queued
    }

    fn deliver(&self, message: &Message, attempt: u32) -> Outcome {
        self.deliveries.set(self.deliveries.get() + 1);
        let notifier = Notifier {
            store: self.store(),
            mailer: &self.post,
            messenger: &Adapters::default(),
            clock: &self.service.clock,
            settings: &MailSettings { origin: Some(ORIGIN.to_owned()), test_to: None },
            deliveries: &Deliveries::new(MAX_HELD_BYTES),
        };
        block_on(notifier.deliver(message, attempt, &self.deliveries.get().to_string()))
    }

    /// Takes all messages out of the queue, and delivers them.
    fn deliver_all(&self) -> Vec<Outcome> {
        let messages = self.queue().messages.take();
        messages.iter().map(|message| self.deliver(message, 1)).collect()
    }

    fn letters(&self) -> usize {
        self.post.letters.borrow().len()
    }
}

// ---- The form ------------------------------------------------------------------------------------

#[test]
fn a_buyer_asks_on_the_timeline_and_ends_it_again() {
    let bench = bench();
    let order = bench.order(LIVE_UNIT, &["tree", "coral", "tree"]);
    let before = bench.visit(&order);
    assert!(before.text.contains("news=on") && !before.text.contains("news=off"));
    assert!(before.headers["content-security-policy"].contains("form-action 'self'"));
    assert!(bench.kept("news").is_empty(), "a visit keeps nothing");
    let asked = bench.post_form(&order, "on");
    assert_eq!((asked.status, asked.log), (200, None));
    assert!(asked.text.contains("news=off") && asked.text == bench.visit(&order).text);
    let [(name, value)] = &*bench.kept("news") else { panic!("one record") };
    assert_eq!(*name, format!("news:2026-01:{}", order.id));
    let expected = json!({ "on": true, "language": "en", "seen": [], "version": 1 });
    assert_eq!(serde_json::from_str::<Value>(value).unwrap(), expected);
    let [metadata] = &*bench.store().metadata("news:") else { panic!("one record") };
    assert_eq!(metadata["offerings"].as_array().unwrap().len(), 2);
    assert!(bench.post_form(&order, "off").text.contains("news=on"));
    assert_eq!(bench.store().metadata("news:")[0]["offerings"], json!([]));
    assert_eq!(bench.post_form(&order, "maybe").text, bench.visit(&order).text);
    assert!(bench.visit(&order).text.contains("news=on"));
}

/// The language is that of the page on which the buyer asked.
#[test]
fn the_email_is_in_the_language_of_the_page() {
    let bench = bench();
    let order = bench.order(LIVE_UNIT, &["tree"]);
    let form = TestRequest::new("POST", &format!("{}&news=on", order.timeline), "");
    bench.service.send(&form.with_header("accept-language", "de-AT"));
    bench.publish("tree", &json!({}));
    assert_eq!((bench.queue_all(), bench.deliver_all()), (1, vec![done("sent")]));
    assert!(bench.post.texts.borrow()[0].contains("Diese E-Mails abbestellen\nhttps://"));
}

#[test]
fn there_is_no_form_where_no_email_could_be_sent() {
    type Prepare = fn(&mut Bench, &Order);
    let rows: [(&str, &str, Prepare); 7] = [
        ("a test key", UNIT, |_, _| {}),
        ("e-mails are off", LIVE_UNIT, |bench, _| bench.keep_profile(&json!({ "name": "Shop" }))),
        ("no profile", LIVE_UNIT, |bench, _| bench.store().remove("profile:unit_dev")),
        ("no queue", LIVE_UNIT, |bench, _| bench.service.queue = None),
        ("no mail service", LIVE_UNIT, |bench, _| bench.service.settings = Settings::default()),
        ("cancelled", LIVE_UNIT, |bench, order| {
            let mark = br#"{"at":"2026-01-31T12:00:00Z"}"#;
            bench.store().keep(&CancelledKey(&order.id).name(), mark, b"null");
        }),
        ("erased", LIVE_UNIT, |bench, order| {
            let erased = |record: &str| {
                let email = record.find("@buyer.example").unwrap();
                let (before, after) = record.split_at(email);
                let digits = before.trim_end_matches(|it: char| it.is_ascii_digit());
                [digits, ERASED_EMAIL, &after["@buyer.example".len()..]].concat()
            };
            bench.store().edit(&format!("transaction:{}", order.id), erased);
        }),
    ];
    for (name, key, prepare) in rows {
        let mut bench = bench();
        let order = bench.order(key, &["tree"]);
        prepare(&mut bench, &order);
        let pages = [bench.visit(&order), bench.post_form(&order, "on"), bench.visit(&order)];
        for page in pages {
            assert_eq!(page.status, 200, "{name}");
            assert!(!page.text.contains("<form"), "{name}");
            assert!(page.headers["content-security-policy"].contains("form-action 'none'"));
        }
        assert!(bench.kept("news").is_empty(), "{name}");
    }
}

#[test]
fn a_form_needs_the_edit_key_and_a_store_that_answers() {
    let bench = bench();
    let order = bench.order(LIVE_UNIT, &["tree"]);
    let (path, _) = order.timeline.split_once('?').unwrap();
    let unknown = bench.request("GET", "/timeline/unknown");
    for query in ["news=on", "edit_key=&news=on", "edit_key=0a1b&news=on", "token=0a1b&news=on"] {
        let answer = bench.request("POST", &format!("{path}?{query}"));
        assert_eq!((answer.status, answer.text), (404, unknown.text.clone()), "{query}");
    }
    for failing in ["news:", "cancelled:"] {
        bench.store().set_failing(Some(failing));
        assert_eq!(bench.post_form(&order, "on").status, 503, "{failing}");
        let page = bench.visit(&order);
        assert!(page.status == 200 && page.log.is_some() && !page.text.contains("<form"));
    }
    bench.store().set_failing(None);
    bench.store().set_unconfirmed(Some("news:"));
    assert_eq!(bench.post_form(&order, "on").status, 503);
    assert_eq!(bench.request("PUT", &order.timeline).status, 405);
}

// ---- The link in the e-mail ----------------------------------------------------------------------

#[test]
fn one_click_ends_the_emails_and_a_visit_does_not() {
    let bench = bench();
    let order = bench.asking(&["tree"]);
    bench.publish("tree", &json!({}));
    assert_eq!((bench.queue_all(), bench.deliver_all()), (1, vec![done("sent")]));
    let header = bench.post.headers.borrow()[0].clone();
    assert_eq!(header.list_unsubscribe_post, Some("List-Unsubscribe=One-Click"));
    let url = header.list_unsubscribe.unwrap();
    let path = url.trim_start_matches(&*["<", ORIGIN].concat()).trim_end_matches('>').to_owned();
    assert!(bench.post.texts.borrow()[0].contains(&path));
    let (_, key) = order.timeline.split_once("edit_key=").unwrap();
    assert!(!path.contains(key), "the link does not open the timeline");
    let before = bench.kept("news:");
    for method in ["GET", "HEAD", "OPTIONS", "PUT"] {
        bench.request(method, &path);
        assert_eq!(bench.kept("news:"), before, "{method}");
    }
    let page = bench.request("GET", &path);
    assert!(page.status == 200 && page.text.contains("<form class=\"news\" method=\"post\">"));
    assert!(page.headers["content-security-policy"].contains("form-action 'self'"));
    let body = b"List-Unsubscribe=One-Click".to_vec();
    let ended = bench.service.send(&TestRequest::new("POST", &path, "").with_body(body));
    assert!(ended.status == 200 && !ended.text.contains("<form"));
    assert!(bench.kept("news:")[0].1.contains(r#""on":false"#));
    assert!(bench.visit(&order).text.contains("news=on"));
    bench.store().set_failing(Some("news:"));
    assert_eq!(bench.request("POST", &path).status, 503);
    assert_eq!(
        bench.request("GET", "/unsubscribe/x").text,
        bench.request("GET", "/timeline/x").text
    );
}

#[test]
fn a_forged_link_changes_nothing() {
    let bench = bench();
    let [order, other] = [bench.asking(&["tree"]), bench.asking(&["tree"])];
    let token = SECRET.unsubscribe_token(order.id.as_str());
    let unknown = bench.request("GET", "/timeline/unknown").text;
    let (before, never) = (bench.kept("news"), TransactionId::from_bytes([1; 26]));
    let never_token = SECRET.unsubscribe_token(never.as_str());
    let (_, edit_key) = order.timeline.split_once("edit_key=").unwrap();
    for (id, token) in [
        (order.id.as_str(), ""),
        (order.id.as_str(), "0a1b"),
        (order.id.as_str(), edit_key),
        (order.id.as_str(), &*token.to_uppercase()),
        (order.id.as_str(), &*format!("{token}0")),
        (order.id.as_str(), &*SECRET.address(order.id.as_str())),
        (other.id.as_str(), &*token),
        (never.as_str(), &*never_token),
        ("", &*token),
    ] {
        for method in ["GET", "POST"] {
            let answer = bench.request(method, &format!("/unsubscribe/{id}?token={token}"));
            assert_eq!((answer.status, &answer.text), (404, &unknown), "{method} {id} {token}");
            assert_eq!(bench.kept("news"), before);
        }
    }
    bench.store().remove("secret");
    let path = format!("/unsubscribe/{}?token={token}", order.id);
    assert_eq!(bench.request("POST", &path).status, 404, "a namespace without its secret");
}

// ---- Whom the cron finds -------------------------------------------------------------------------

#[test]
fn only_news_of_the_offering_and_month_is_told_once() {
    let bench = bench();
    let [tree, _coral] = [bench.asking(&["tree", "reef"]), bench.asking(&["coral"])];
    bench.order(LIVE_UNIT, &["tree"]); // has not asked
    for stage in ["funded", "under-way"] {
        bench.publish("tree", &json!({ "stage": stage }));
        assert_eq!(bench.try_to_queue(), Ok(NewsQueued::default()), "{stage}");
    }
    let id = bench.publish_now("tree", &json!({}));
    assert_eq!(bench.try_to_queue(), Ok(NewsQueued::default()), "KV may not show it yet");
    bench.pass(3 * MINUTE_MS);
    assert_eq!(bench.try_to_queue(), Ok(NewsQueued { listed: 2, queued: 1 }));
    let message = bench.queue().messages.borrow()[0].clone();
    assert_eq!((&*message.id, message.round), (tree.id.as_str(), JANUARY));
    assert_eq!(message.updates, [&*id]);
    assert_eq!(bench.deliver(&message, 1), done("sent"));
    let text = bench.post.texts.borrow()[0].clone();
    for expected in ["Done · tree · 20 January 2026\nWe planted.\nPlace: Kitui\n", &tree.timeline]
    {
        assert!(text.contains(expected), "{text}");
    }
    let (_, subject, _, key) = bench.post.letters.borrow()[0].clone();
    assert_eq!(subject, "News about what Small Hours Coffee pledged for you");
    assert_eq!(key, format!("news/{}/{JANUARY}", tree.id));
    assert_eq!(bench.deliver(&message, 1), done("sent or skipped before"), "the queue, twice");
    let later = Message { round: FEBRUARY, ..message };
    assert_eq!(bench.deliver(&later, 1), done("told before"), "in the next month");
    assert_eq!(bench.letters(), 1);
    assert!(bench.kept("notification:").is_empty() && bench.kept("mail-failed:").is_empty());
}

/// A buyer who asks later knows what the page showed.
#[test]
fn what_the_page_showed_is_no_news() {
    let bench = bench();
    let first = bench.publish("tree", &json!({}));
    let order = bench.asking(&["tree"]);
    assert_eq!(bench.queue_all(), 1);
    assert_eq!(bench.deliver_all(), [done("told before")]);
    let second = bench.publish("tree", &json!({ "stage": "verified" }));
    bench.queue_all();
    assert_eq!(bench.deliver_all(), [done("sent")]);
    let [(name, marker)] = &*bench.kept("news-sent:") else { panic!("one record") };
    assert_eq!(*name, format!("news-sent:{}", order.id));
    let marker: Value = serde_json::from_str(marker).unwrap();
    assert_eq!((&marker["told"], &marker["round"]), (&json!([second]), &json!(JANUARY)));
    assert!(!bench.post.texts.borrow()[0].contains("Done ·"), "{first}");
}

#[test]
fn a_buyer_gets_one_email_a_month_and_the_rest_in_the_next() {
    let bench = bench();
    bench.asking(&["tree", "coral"]);
    bench.publish("tree", &json!({}));
    assert_eq!((bench.queue_all(), bench.deliver_all()), (1, vec![done("sent")]));
    bench.publish("coral", &json!({}));
    bench.publish("tree", &json!({ "stage": "verified" }));
    let before = vec![done("sent or skipped before"); 2];
    assert_eq!((bench.queue_all(), bench.deliver_all()), (2, before));
    bench.pass(12 * HOUR_MS); // 1 February
    let outcomes = [done("sent"), done("sent or skipped before")];
    assert_eq!((bench.queue_all(), bench.deliver_all()), (2, outcomes.to_vec()));
    let text = bench.post.texts.borrow()[1].clone();
    assert!(text.contains("Done · coral") && text.contains("Verified · tree"), "{text}");
    assert!(!text.contains("Done · tree"), "told in January: {text}");
    bench.pass(28 * 24 * HOUR_MS); // 1 March
    assert_eq!((bench.queue_all(), bench.letters()), (0, 2));
}

/// A message that waited until the next month ends that month as well.
#[test]
fn a_late_email_counts_for_the_month_in_which_it_is_sent() {
    let bench = bench();
    bench.asking(&["tree"]);
    bench.publish("tree", &json!({}));
    bench.queue_all();
    let message = bench.queue().messages.take().remove(0);
    bench.pass(24 * HOUR_MS);
    assert_eq!(bench.deliver(&message, 2), done("sent"));
    bench.publish("tree", &json!({ "stage": "verified" }));
    assert_eq!(bench.queue_all(), 1);
    assert_eq!(bench.deliver_all(), [done("sent or skipped before")]);
}

#[test]
fn withdrawn_news_is_not_told() {
    let bench = bench();
    bench.asking(&["tree"]);
    let id = bench.publish("tree", &json!({}));
    bench.withdraw(&id);
    assert_eq!(bench.queue_all(), 0);
    let id = bench.publish("tree", &json!({}));
    assert_eq!(bench.queue_all(), 1);
    bench.withdraw(&id);
    let message = bench.queue().messages.take().remove(0);
    let absent = [later(120, "no such record yet"), later(600, "no such record yet")];
    assert_eq!([1, 2].map(|attempt| bench.deliver(&message, attempt)), absent);
    bench.pass(HOUR_MS);
    assert_eq!(bench.deliver(&message, 3), done("no such record"));
    assert_eq!(bench.letters(), 0);
}

// ---- Failures ------------------------------------------------------------------------------------

/// The walk fails at each of its calls in turn. The next run repeats the step, and each buyer gets one e-mail.
#[test]
fn a_walk_that_breaks_off_tells_each_buyer_once() {
    for calls in 0..8 {
        for failing in [Failing::Before, Failing::After] {
            let bench = bench();
            bench.store().set_page_length(2);
            let orders: Vec<_> = (0..5).map(|_| bench.asking(&["tree"])).collect();
            bench.publish("tree", &json!({}));
            bench.ledger.set_failing_after(calls, failing);
            let _ = bench.try_to_queue();
            bench.ledger.set_failing(Failing::Not);
            told_once(&bench, &orders, &format!("{calls} {failing:?}"));
        }
    }
}

#[test]
fn a_list_or_a_queue_that_fails_is_asked_again() {
    for failure in ["list", "cursor", "queue"] {
        let bench = bench();
        bench.store().set_page_length(2);
        let orders: Vec<_> = (0..5).map(|_| bench.asking(&["tree"])).collect();
        bench.publish("tree", &json!({}));
        match failure {
            "queue" => bench.queue().is_broken.set(true),
            "list" => bench.store().set_failing(Some("news:")),
            _ => {
                bench.ledger.set_failing_after(2, Failing::Before); // after the first page
                assert!(bench.try_to_queue().is_err());
                bench.ledger.set_failing(Failing::Not);
                bench.store().set_failing(Some("news:"));
            }
        }
        assert!(bench.try_to_queue().is_err(), "{failure}");
        bench.queue().is_broken.set(false);
        bench.store().set_failing(None);
        // After a cursor that KV refused, the walk passes over the first page.
        assert_eq!(bench.queue_all(), if failure == "cursor" { 3 } else { 5 }, "{failure}");
        told_once(&bench, &orders, failure);
    }
}

#[track_caller]
fn told_once(bench: &Bench, orders: &[Order], what: &str) {
    bench.queue_all();
    bench.deliver_all();
    bench.pass(24 * HOUR_MS);
    bench.queue_all(); // once more in the next month
    bench.deliver_all();
    let letters = bench.post.letters.borrow();
    let mut told: Vec<_> = letters.iter().map(|(_, _, _, key)| key.clone()).collect();
    told.sort();
    let mut expected: Vec<_> =
        orders.iter().map(|order| format!("news/{}/{JANUARY}", order.id)).collect();
    expected.sort();
    assert_eq!(told, expected, "{what}");
    assert_eq!(bench.try_to_queue(), Ok(NewsQueued::default()), "{what}");
}

#[test]
fn an_email_waits_until_kv_shows_the_update() {
    let bench = bench();
    bench.asking(&["tree"]);
    bench.publish("tree", &json!({}));
    bench.queue_all();
    let message = bench.queue().messages.take().remove(0);
    bench.store().set_hidden(Some("updates:"));
    assert_eq!(bench.deliver(&message, 1), later(120, "no such record yet"));
    bench.store().set_hidden(None);
    for prefix in ["updates:", "news:", "news-sent:", "transaction:", "cancelled:", "mailed:"] {
        bench.store().set_failing(Some(prefix));
        let outcome = bench.deliver(&message, 2);
        assert!(matches!(outcome, Outcome::Later { .. }), "{prefix}: {outcome:?}");
        bench.pass(2 * MINUTE_MS);
    }
    bench.store().set_failing(None);
    bench.store().set_hidden(Some("news-sent:")); // as if the marker were not visible yet
    assert_eq!(bench.deliver(&message, 2), done("sent"));
    bench.store().set_hidden(None);
    assert_eq!(bench.deliver(&message, 3), done("sent or skipped before"));
    assert_eq!(bench.letters(), 1);
}

/// What happens between the queue and the delivery counts.
#[test]
fn nobody_is_told_who_was_erased_or_cancelled_or_has_unsubscribed() {
    type Change = fn(&Bench, &Order);
    let rows: [(&str, &str, Change); 4] = [
        ("not asked for", "off", |bench, order| drop(bench.post_form(order, "off"))),
        ("not asked for", "removed", |bench, _| {
            bench.store().remove(&bench.kept("news:")[0].0);
        }),
        ("cancelled", "cancelled", |bench, order| {
            let mark = br#"{"at":"2026-01-31T12:00:00Z"}"#;
            bench.store().keep(&CancelledKey(&order.id).name(), mark, b"null");
        }),
        ("mail-off", "mail off", |bench, _| bench.keep_profile(&json!({ "name": "Shop" }))),
    ];
    for (expected, name, change) in rows {
        let bench = bench();
        let order = bench.asking(&["tree"]);
        bench.publish("tree", &json!({}));
        bench.queue_all();
        change(&bench, &order);
        assert_eq!(bench.deliver_all(), [done(expected)], "{name}");
        assert_eq!((bench.letters(), bench.kept("news-sent:").len()), (0, 0), "{name}");
    }
}

#[test]
fn an_erasure_ends_the_emails_and_removes_their_records() {
    let bench = bench();
    let order = bench.asking(&["tree"]);
    bench.publish("tree", &json!({}));
    bench.queue_all();
    let message = bench.queue().messages.take().remove(0);
    assert_eq!(bench.deliver(&message, 1), done("sent"));
    let subscription = bench.kept("news:").remove(0);
    let metadata = bench.store().metadata("news:").remove(0).to_string();
    assert_eq!((bench.kept("news-sent:").len(), bench.kept("mailed:").len()), (1, 1));
    bench.pass(HOUR_MS);
    let (store, author) = (bench.store(), bench.operator.author());
    let record = block_on(orders::get(store, order.id.as_str())).unwrap();
    block_on(orders::erase(store, &bench.ledger, &author, &record)).unwrap();
    for prefix in ["news:", "news-sent:", "mailed:"] {
        assert!(bench.kept(prefix).is_empty(), "{prefix}");
    }
    // Even if KV still shows the subscription.
    bench.store().keep(&subscription.0, subscription.1.as_bytes(), metadata.as_bytes());
    assert_eq!(bench.deliver(&message, 1), done("erased"));
    assert_eq!(bench.letters(), 1);
    assert!(!bench.visit(&order).text.contains("<form"));
}

#[test]
fn refused_and_limited_emails_leave_no_failure_to_resend() {
    let bench = bench();
    bench.asking(&["tree"]);
    bench.publish("tree", &json!({}));
    bench.queue_all();
    let message = bench.queue().messages.take().remove(0);
    let refuse = |refusal| drop(bench.post.refusal.replace(refusal));
    let code = || "no".to_owned();
    refuse(Some(SendError::Quota { code: code(), after: None }));
    assert!(matches!(bench.deliver(&message, 1), Outcome::Later { seconds: 3_600.., .. }));
    bench.pass(2 * MINUTE_MS);
    refuse(Some(SendError::Temporary { code: code(), after: None }));
    assert_eq!(bench.deliver(&message, 1), later(60, "no"));
    bench.pass(2 * MINUTE_MS);
    assert_eq!(bench.deliver(&message, 6), done("no"), "the last attempt");
    bench.pass(2 * MINUTE_MS);
    refuse(Some(SendError::Permanent { code: code() }));
    assert_eq!(bench.deliver(&message, 1), done("no"));
    for prefix in ["mail-failed:", "mail-queued:", "notification:", "news-sent:"] {
        assert!(bench.kept(prefix).is_empty(), "{prefix}");
    }
    bench.pass(2 * MINUTE_MS);
    refuse(None);
    let name = bench.kept("mailed:").remove(0).0;
    let (address, _) = name.split_once(":ptran_").unwrap();
    for other in 0..5 {
        let id = TransactionId::from_bytes([100 + other; 26]);
        bench.store().keep(&format!("{address}:{id}"), b"{}", b"null");
    }
    assert!(matches!(bench.deliver(&message, 1), Outcome::Later { seconds: 3_600.., .. }));
    assert_eq!(bench.letters(), 0);
}
