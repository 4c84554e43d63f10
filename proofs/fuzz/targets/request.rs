//! Whole requests: a created transaction can be retrieved by its unit and by no other.

use super::service::{Answer, FuzzService, LIVE, ORIGIN, OTHER, PATH, Sent, TEAM, UNIT};
use impact_pledge::api::Operation;
use impact_pledge::api::answer;
use impact_pledge::pledge::PledgeTransaction;
use impact_pledge::validate::number::to_double;

const KEYS: [&str; 4] = [UNIT, LIVE, OTHER, TEAM];

/// The first byte is the API key and whether the create has an idempotency key; the rest is its body.
pub fn run(input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let key = KEYS[usize::from(first & 3)];
    let mut create = Sent::create(key, body).with("x-service-unit-id", "unit");
    let is_repeatable = first & 4 != 0;
    if is_repeatable {
        create = create.with("idempotency-key", "k");
    }
    let mut service = FuzzService::seeded();
    let answer = service.send(&create);
    assert!(answer.status < 500, "{}", answer.status);
    if answer.status == 200 {
        assert_eq!(service.records.writes.get(), 1 + usize::from(is_repeatable));
        assert_client_reads(&answer);
        assert_retrievable(&service, key, &answer);
        if is_repeatable {
            assert_replayed(&mut service, &create, &answer);
        }
    } else {
        assert_eq!(service.records.writes.get(), 0);
        assert!(answer::read(Operation::Create, answer.status, &answer.body, to_double).is_err());
    }
}

fn assert_client_reads(answer: &Answer) {
    let amount = answer::read(Operation::Create, 200, &answer.body, to_double).unwrap();
    assert_eq!(answer.json()["charge"]["amount"], amount);
}

fn assert_retrievable(service: &FuzzService, key: &str, answer: &Answer) {
    let created: PledgeTransaction<'_> = serde_json::from_slice(&answer.body).unwrap();
    let (id, url) = (created.id.clone().into_owned(), created.timeline_url.clone().into_owned());
    let get = |key: &str| {
        service
            .send(&Sent::new("GET", &format!("{PATH}/{id}"), key).with("x-service-unit-id", "unit"))
    };
    let retrieved = serde_json::to_value(created.into_retrieved()).unwrap();
    assert_eq!(get(key).json(), retrieved);
    let strangers = [(UNIT, false), (LIVE, true), (OTHER, false), (TEAM, true)];
    for (stranger, is_live) in strangers {
        let is_own =
            (stranger == OTHER) == (key == OTHER) && is_live == (answer.json()["isLive"] == true);
        assert_eq!(get(stranger).status, if is_own { 200 } else { 404 }, "{stranger} of {key}");
    }
    let path = url.strip_prefix(ORIGIN).unwrap();
    assert_eq!(service.send(&Sent::new("GET", path, "")).status, 200);
    let (path, _) = path.split_once('?').unwrap();
    assert_eq!(service.send(&Sent::new("GET", path, "")).status, 404);
}

/// Repeats a create at the isolate that remembers it and at a new one.
fn assert_replayed(service: &mut FuzzService, create: &Sent, first: &Answer) {
    for _ in 0..2 {
        let again = service.send(create);
        assert!(again.status == 200 && again.headers.contains_key("idempotent-replayed"));
        assert_eq!(again.json(), first.json());
        service.forget();
    }
    let other = super::service::VALID.replace("\"r\"", "\"another\"");
    let other = Sent { body: other.into_bytes(), ..create.clone() };
    let is_another = other.body != create.body;
    assert!(!is_another || matches!(service.send(&other).status, 200 | 422));
    assert_eq!(service.records.writes.get(), 2);
}
