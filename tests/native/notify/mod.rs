//! Tests notifications: what happens to a message, depending on the records and the mail service's answers.

mod create;
mod delivery;
mod messaging;
mod messaging_operators;
mod news;
mod operators;

use crate::timeline::full;
use futures_executor::block_on;
use impact_pledge::buyer::adapters::AdapterName;
use impact_pledge::buyer::delivery::{
    AdapterState, Deliveries, Headers, MAX_HELD_BYTES, MailSettings, Mailer, Marker, Messenger,
    Notifier, Outcome, OutgoingEmail, OutgoingMessage, SendError, wait_seconds,
};
use impact_pledge::pledges::retry::RetryAfter;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::store::{
    CancelledKey, FailedMailKey, Key as _, MailedKey, NotificationKey, ProfileKey, SecretKey,
    TransactionKey, TransactionMetadata,
};
use impact_pledge::pledges::types::{EditKey, NotificationService, TransactionId};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, ORIGIN, yield_now};

pub const TODAY: &str = "2026-01-31";
const CREATED: &str = "2026-11-21T01:02:03Z"; // of the record

/// An e-mail's recipient, subject, reply-to address, and idempotency key.
type Posted = (String, String, Option<String>, String);

/// A mail service that returns prepared answers.
#[derive(Default)]
pub struct Post {
    letters: RefCell<Vec<Posted>>,
    /// The texts of the e-mails.
    texts: RefCell<Vec<String>>,
    headers: RefCell<Vec<Headers>>,
    refusal: RefCell<Option<SendError>>,
    /// The maximum number of e-mails that were being sent at once.
    pub most: Cell<usize>,
    /// The transactions of the e-mails that are being sent now.
    pub sending: RefCell<Vec<TransactionId>>,
    /// Whether the mail service never answers.
    pub hangs: Cell<bool>,
}

impl Post {
    pub fn refuse_nothing(&self) {
        self.refusal.take();
    }

    /// Waits as if sending the e-mail took some time. All other futures run in the meantime.
    async fn take_time(&self, id: &TransactionId) {
        self.sending.borrow_mut().push(id.clone());
        self.most.set(self.most.get().max(self.sending.borrow().len()));
        while self.hangs.get() {
            yield_now().await;
        }
        yield_now().await;
        self.sending.borrow_mut().retain(|other| other != id);
    }
}

impl Mailer for Post {
    async fn send(&self, email: &OutgoingEmail<'_>) -> Result<String, SendError> {
        assert!(!self.sending.borrow().contains(email.id), "two letters of one transaction");
        self.take_time(email.id).await;
        if let Some(refusal) = self.refusal.borrow().clone() {
            return Err(refusal);
        }
        self.texts.borrow_mut().push(email.mail.text.clone());
        self.headers.borrow_mut().push(email.headers());
        self.letters.borrow_mut().push((
            email.to.to_owned(),
            email.mail.subject.clone(),
            email.reply_to.map(str::to_owned),
            email.key.clone(),
        ));
        Ok("mail-1".to_owned())
    }
}

/// Stand-ins for the adapters of messaging services, which return a prepared answer.
#[derive(Default)]
pub struct Adapters {
    pub attached: RefCell<Vec<AdapterName>>,
    /// The names of adapters whose settings are invalid.
    pub invalid: RefCell<Vec<AdapterName>>,
    /// The messages that the adapters received: the adapter's name, the message's ID, and its body.
    pub got: RefCell<Vec<(AdapterName, String, Value)>>,
    pub refusal: RefCell<Option<SendError>>,
}

impl Messenger for Adapters {
    fn adapter(&self, address: AdapterName) -> AdapterState {
        match (self.attached.borrow().contains(&address), self.invalid.borrow().contains(&address))
        {
            (true, _) => AdapterState::Attached,
            (_, true) => AdapterState::Invalid,
            _ => AdapterState::Absent,
        }
    }

    async fn send_message(&self, message: &OutgoingMessage<'_>) -> Result<(), SendError> {
        let body = serde_json::from_slice(message.body).unwrap();
        self.got.borrow_mut().push((message.address, message.webhook_id.clone(), body));
        self.refusal.borrow().clone().map_or(Ok(()), Err)
    }
}

pub struct Fixture {
    pub store: MemoryStore,
    pub post: Post,
    pub adapters: Adapters,
    pub clock: FixedClock,
    pub settings: MailSettings,
    deliveries: Cell<u32>,
}

pub fn id() -> TransactionId {
    TransactionId::from_bytes([7; 26])
}

pub fn secret() -> NamespaceSecret {
    NamespaceSecret::new([9; 32])
}

/// Returns how many seconds a service waits that received this `Retry-After` header. The service's clock is an
/// hour behind.
pub fn wait(retry_after: Option<&str>) -> Option<u32> {
    let date = Some("Sat, 31 Jan 2026 12:00:00 GMT");
    let retry_after = retry_after.map(|text| RetryAfter { text, date });
    wait_seconds(retry_after, NOW_MS + 3_600_000)
}

pub fn message() -> Message {
    Message {
        id: id().into_string(),
        created_at: CREATED.to_owned(),
        round: 1,
        service: NotificationService::Email,
        updates: vec![],
    }
}

fn shop() -> Value {
    json!({"name": "Small Hours Coffee", "mail": true, "replyTo": "hello@coffee.example"})
}

impl Fixture {
    /// Creates a fixture with the records that most tests need: a live transaction, and the profile of its
    /// unit. The profile has e-mails switched on.
    pub fn new() -> Self {
        let store = MemoryStore::default();
        store.keep(&SecretKey.name(), json!({"secret": secret()}).to_string().as_bytes(), b"null");
        let fixture = Fixture {
            store,
            post: Post::default(),
            adapters: Adapters::default(),
            clock: FixedClock(Cell::new(NOW_MS)),
            settings: MailSettings { origin: Some(ORIGIN.to_owned()), test_to: None },
            deliveries: Cell::default(),
        };
        fixture.keep_record(&full());
        fixture.keep_profile(&shop());
        fixture
    }

    fn keep_record(&self, record: &Value) {
        self.keep_record_of(&id(), record, record.to_string().len());
    }

    /// Stores a live transaction whose metadata states this number of bytes.
    pub fn keep_record_of(&self, id: &TransactionId, record: &Value, bytes: usize) {
        let scope = Scope { mode: Mode::Live, unit: "unit".to_owned() };
        let mut metadata = TransactionMetadata::new(scope, &EditKey::from_bytes([1; 20]));
        metadata.bytes = bytes;
        let metadata = serde_json::to_vec(&metadata).unwrap();
        let name = TransactionKey(id).name();
        self.store.keep(&name, record.to_string().as_bytes(), &metadata);
    }

    /// Stores the mark of a cancelled transaction.
    pub fn cancel(&self) {
        let value = json!({"at": CREATED}).to_string();
        self.store.keep(&CancelledKey(&id()).name(), value.as_bytes(), b"null");
    }

    fn keep_profile(&self, profile: &Value) {
        let name = ProfileKey("unit").name();
        self.store.keep(&name, profile.to_string().as_bytes(), b"null");
    }

    /// Stores records as if `count` e-mails about other transactions were sent to an address today.
    fn keep_mailed(&self, email: &str, count: u8) {
        let address = secret().address(email);
        for other in 0..count {
            let id = TransactionId::from_bytes([100 + other; 26]);
            let key = MailedKey {
                day: TODAY,
                address: &address,
                id: &id,
                service: NotificationService::Email,
                is_news: false,
            };
            self.store.keep(&key.name(), b"{}", b"null");
        }
    }

    /// Delivers a message in a new instance.
    pub fn deliver(&self, message: &Message, attempt: u32) -> Outcome {
        block_on(self.deliver_in(&self.instance(), message, attempt))
    }

    pub async fn deliver_in(
        &self,
        instance: &Deliveries,
        message: &Message,
        attempt: u32,
    ) -> Outcome {
        self.deliveries.set(self.deliveries.get() + 1);
        let token = self.deliveries.get().to_string();
        self.notifier(instance).deliver(message, attempt, &token).await
    }

    fn dead_letter(&self) -> Outcome {
        block_on(self.notifier(&self.instance()).dead_letter(&message(), 1))
    }

    pub fn instance(&self) -> Deliveries {
        Deliveries::new(MAX_HELD_BYTES)
    }

    pub fn notifier<'n>(
        &'n self,
        deliveries: &'n Deliveries,
    ) -> Notifier<'n, MemoryStore, Post, Adapters, FixedClock> {
        let Fixture { store, post: mailer, adapters: messenger, clock, settings, .. } = self;
        Notifier { store, mailer, messenger, clock, settings, deliveries }
    }

    pub fn marker(&self) -> Option<Marker> {
        let value = self.store.value(&NotificationKey(&id(), NotificationService::Email).name())?;
        Some(serde_json::from_str(&value).unwrap())
    }

    pub fn refuse(&self, refusal: SendError) {
        self.post.refusal.replace(Some(refusal));
    }

    pub fn sent(&self) -> usize {
        self.post.letters.borrow().len()
    }

    fn lists_a_failure(&self) -> bool {
        self.lists_a_failure_of(TODAY)
    }

    pub fn lists_a_failure_of(&self, day: &str) -> bool {
        self.store
            .value(&FailedMailKey { day, id: &id(), service: NotificationService::Email }.name())
            .is_some()
    }
}

pub fn done(why: &str) -> Outcome {
    Outcome::Done(why.to_owned())
}

pub fn later(seconds: u32, cause: &str) -> Outcome {
    Outcome::Later { seconds, cause: cause.to_owned() }
}
