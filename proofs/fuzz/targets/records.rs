//! Stored records: written by an operator or by another release, or damaged.

use super::service::{ACCESS, EDIT_KEY, FuzzService, ID, PATH, RECORD, Sent, UNIT, VALID};
use super::timeline::check_page;
use impact_pledge::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::charge::Catalogue;
use impact_pledge::idempotency::{IdempotencyKey, Replay, ReplayHash};
use impact_pledge::pledge::RetrievedPledgeTransaction;
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::store::{CredentialKey, Key as _, ReplayKey, TransactionMetadata};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The first byte is the kind of record.
pub fn run(input: &[u8]) {
    let Some((first, record)) = input.split_first() else { return };
    match first % 5 {
        0 => key(record),
        1 => catalogue(record),
        2 => transaction(record),
        3 => access(record),
        _ => replay(record),
    }
}

/// Reads a record; what is read, written and read again is the same.
fn read<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(record).ok()?;
    let written = serde_json::to_vec(&read).unwrap();
    assert_eq!(serde_json::from_slice::<T>(&written).unwrap(), read);
    Some(read)
}

fn get() -> Sent {
    Sent::new("GET", &format!("{PATH}/{ID}"), UNIT).with("x-service-unit-id", "unit")
}

fn ours() -> Scope {
    Scope { mode: Mode::Test, unit: "unit".to_owned() }
}

fn key(record: &[u8]) {
    let service = FuzzService::with_record(RECORD.as_bytes(), ACCESS.as_bytes());
    service.records.keep(&CredentialKey(ApiKey::new(UNIT).hash()).name(), record, b"null");
    let read = read::<KeyRecord>(record);
    read.iter().for_each(is_bounded);
    let status = match read.map(|key| key.scope(Some("unit"))) {
        None => 500,
        Some(None) => 401,
        Some(Some(scope)) if scope == ours() => 200,
        Some(Some(_)) => 404,
    };
    assert_eq!(service.send(&get()).status, status);
}

/// An ID has to fit a header and the metadata of a record.
fn is_bounded(key: &KeyRecord) {
    let ids = match &key.level {
        KeyLevel::Unit { unit_id } => vec![unit_id],
        KeyLevel::Team { team_id, unit_ids } => unit_ids.iter().chain([team_id]).collect(),
    };
    let plain = |byte: u8| matches!(byte, b'!'..=b'~') && byte != b',';
    assert!(ids.iter().all(|id| (1..=128).contains(&id.len()) && id.bytes().all(plain)));
    assert!(ids.len() <= 1_001 && key.label.chars().count() <= 100);
}

fn catalogue(record: &[u8]) {
    let service = FuzzService::seeded();
    service.records.keep("catalogue:test", record, b"null");
    let status = if read::<Catalogue>(record).is_some() { 200 } else { 500 };
    let answer = service.send(&Sent::create(UNIT, VALID.as_bytes()));
    assert_eq!(answer.status, status);
    assert_eq!(service.records.writes.get(), usize::from(status == 200));
    if status == 200 {
        let amount = answer.json()["charge"]["amount"].as_str().unwrap().to_owned();
        assert_eq!(amount.find('.'), amount.len().checked_sub(3), "{amount}");
    }
}

/// A get passes on the very bytes; only the page reads them.
fn transaction(record: &[u8]) {
    let service = FuzzService::with_record(record, ACCESS.as_bytes());
    let answer = service.send(&get());
    assert_eq!((answer.status, &*answer.body), (200, record));
    let read = serde_json::from_slice::<RetrievedPledgeTransaction<'_>>(record);
    let page = service.send(&timeline());
    assert_eq!(page.status, if read.is_ok() { 200 } else { 500 });
    check_page(str::from_utf8(&page.body).unwrap());
    if let Some(created) = read.ok().and_then(|read| read.into_created(ID.into())) {
        assert_eq!(created.clone().into_retrieved().into_created(ID.into()), Some(created));
    }
}

fn timeline() -> Sent {
    Sent::new("GET", &format!("/timeline/{ID}?edit_key={EDIT_KEY}"), "")
}

fn access(record: &[u8]) {
    let service = FuzzService::with_record(RECORD.as_bytes(), record);
    let read = read::<TransactionMetadata>(record);
    let status = |is_open: fn(&TransactionMetadata) -> bool| match &read {
        None => 500,
        Some(access) if is_open(access) => 200,
        Some(_) => 404,
    };
    assert_eq!(service.send(&get()).status, status(|access| access.allows(&ours())));
    assert_eq!(service.send(&timeline()).status, status(|access| access.opens_with(EDIT_KEY)));
}

/// A repeat: what is stored of the first create decides, and nothing is written.
fn replay(record: &[u8]) {
    let service = FuzzService::seeded();
    let idempotency_key = IdempotencyKey::parse("k").unwrap();
    let name =
        ReplayKey(ReplayHash::new(&NamespaceSecret::new([7; 32]), &ours(), &idempotency_key))
            .name();
    service.records.keep(&name, record, b"null");
    let answer = service.send(&Sent::create(UNIT, VALID.as_bytes()).with("idempotency-key", "k"));
    assert_eq!(service.records.writes.get(), 0);
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
