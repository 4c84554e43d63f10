//! Fuzzes stored records, which may be written by an operator or by another release, or damaged.

use crate::page::check_page;
use crate::{ACCESS, EDIT_KEY, ID, RECORD, VALID, send, service, service_with, text};
use impact_pledge::buyer::updates::OfferingUpdates;
use impact_pledge::pledges::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::pledges::charge::PriceList;
use impact_pledge::pledges::idempotency::{IdempotencyKey, Replay, ReplayHash};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{
    CredentialKey, Key as _, ReplayKey, TransactionMetadata, UpdatesKey,
};
use impact_pledge::pledges::types::RetrievedPledgeTransaction;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use support::service::{PATH, SECRET, TestRequest, UNIT};

/// Runs the target. The first byte of the input selects the kind of record; the rest is the record.
pub fn run(input: &[u8]) {
    let Some((first, record)) = input.split_first() else { return };
    match first % 7 {
        0 => key(record),
        1 => price_list(record),
        2 => transaction(&text(record)),
        3 => access(record),
        4 => replay(record),
        5 => profile(record),
        _ => updates(record),
    }
}

/// Reads a record, writes it, and reads it again. Asserts that both reads give the same value.
fn read<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(record).ok()?;
    let written = serde_json::to_vec(&read).unwrap();
    assert_eq!(serde_json::from_slice::<T>(&written).unwrap(), read);
    Some(read)
}

fn get() -> TestRequest {
    TestRequest::new("GET", &format!("{PATH}/{ID}"), UNIT)
        .with_header("x-service-unit-id", "unit_dev")
}

fn timeline() -> TestRequest {
    TestRequest::new("GET", &format!("/timeline/{ID}?edit_key={EDIT_KEY}"), "")
}

fn create() -> TestRequest {
    TestRequest::new("POST", PATH, UNIT).with_body(VALID.as_bytes().to_vec())
}

fn ours() -> Scope {
    Scope { mode: Mode::Test, unit: "unit_dev".to_owned() }
}

fn key(record: &[u8]) {
    let service = service();
    service.store.keep(&CredentialKey(ApiKey::new(UNIT).hash()).name(), record, b"null");
    let status = match read::<KeyRecord>(record).map(|key| (key.mode, key.level)) {
        None => 500,
        Some((_, KeyLevel::Team(team))) if team != "team_dev" => 401,
        Some((Mode::Test, KeyLevel::Team(_))) => 200,
        Some((Mode::Test, KeyLevel::Unit(unit))) if unit == "unit_dev" => 200,
        Some(_) => 404,
    };
    assert_eq!(send(&service, &get()).0.status, status);
}

fn price_list(record: &[u8]) {
    let service = service();
    service.store.keep("catalogue:test", record, b"null");
    let (answer, added) = send(&service, &create());
    let is_read = read::<PriceList>(record).is_some();
    assert_eq!((answer.status, added), if is_read { (200, 1) } else { (503, 0) });
}

/// Asserts that a get returns the bytes of a record unchanged. Only the timeline page parses the record.
fn transaction(record: &str) {
    let service = service_with(record.as_bytes(), ACCESS.as_bytes());
    let (answer, _) = send(&service, &get());
    assert_eq!((answer.status, &*answer.text), (200, record));
    let read = serde_json::from_str::<RetrievedPledgeTransaction<'_>>(record);
    let (page, _) = send(&service, &timeline());
    assert_eq!(page.status, if read.is_ok() { 200 } else { 500 });
    check_page(&page.text);
    if let Some(created) = read.ok().and_then(|read| read.into_created(ID.into())) {
        assert_eq!(created.clone().into_retrieved().into_created(ID.into()), Some(created));
    }
}

fn access(record: &[u8]) {
    let service = service_with(RECORD.as_bytes(), record);
    let read = read::<TransactionMetadata>(record);
    let status = |is_open: fn(&TransactionMetadata) -> bool| match &read {
        None => 500,
        Some(access) if is_open(access) => 200,
        Some(_) => 404,
    };
    assert_eq!(send(&service, &get()).0.status, status(|access| access.scope == ours()));
    let opens = status(|access| access.opens_with(EDIT_KEY));
    assert_eq!(send(&service, &timeline()).0.status, opens);
}

/// Asserts that a repeated create request is answered from the stored replay record, and writes nothing.
fn replay(record: &[u8]) {
    let service = service();
    let idempotency_key = IdempotencyKey::parse("k").unwrap();
    let name = ReplayKey(ReplayHash::new(&SECRET, &ours(), &idempotency_key)).name();
    service.store.keep(&name, record, b"null");
    let (answer, added) = send(&service, &create().with_header("idempotency-key", "k"));
    assert_eq!(added, 0);
    match read::<Replay>(record) {
        None => assert_eq!(answer.status, 500),
        Some(replay) if answer.status == 200 => {
            let body = answer.json();
            assert_eq!(body["id"], replay.id);
            assert_eq!(body["createdAt"], replay.terms.created_at);
            assert_eq!(body["charge"]["amount"], replay.terms.amount);
        }
        Some(_) => assert!(matches!(answer.status, 413 | 422 | 503), "{}", answer.status),
    }
}

/// Asserts that a profile that cannot be read is ignored.
fn profile(record: &[u8]) {
    let service = service();
    service.store.keep("profile:unit_dev", record, b"null");
    let (page, _) = send(&service, &timeline());
    assert_eq!(page.status, 200);
    check_page(&page.text);
}

/// Asserts that updates that cannot be read are left out.
fn updates(record: &[u8]) {
    let service = service();
    let transaction: RetrievedPledgeTransaction<'_> = serde_json::from_str(RECORD).unwrap();
    let month = Month::of(&transaction.created_at).unwrap();
    for pledge in &transaction.pledges {
        let key = UpdatesKey::new(Mode::Test, &pledge.impact.offering_id, month);
        service.store.keep(&key.name(), record, b"null");
    }
    read::<OfferingUpdates>(record);
    let (page, _) = send(&service, &timeline());
    assert_eq!(page.status, 200);
    check_page(&page.text);
}
