//! Tests idempotency keys: what is derived from them, and the replay records that an isolate remembers.

use impact_pledge::pledges::idempotency::{
    Derivation, Fingerprint, IdempotencyKey, Replay, ReplayHash, Terms,
};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::service::Caches;
use impact_pledge::pledges::version::Version;
use std::collections::BTreeSet;
use support::service::{NOW_MS, SECRET, minimal, repeatable, seeded};

// ---- What is derived ---------------------------------------------------------------------------

#[derive(Clone, Copy)]
struct Input {
    secret: u8,
    mode: Mode,
    unit: &'static str,
    key: &'static str,
    payload: &'static [u8],
}

const INPUT: Input =
    Input { secret: 1, mode: Mode::Test, unit: "unit_1", key: "order-1", payload: b"{}" };

/// Returns [`INPUT`] and variants of it. Most variants differ from it in one part. Two variants divide the
/// same text differently between the unit and the key.
fn inputs() -> [Input; 9] {
    [
        INPUT,
        Input { secret: 2, ..INPUT },
        Input { mode: Mode::Live, ..INPUT },
        Input { unit: "unit_2", ..INPUT },
        Input { unit: "unit_1order", key: "-1", ..INPUT },
        Input { unit: "", key: "unit_1order-1", ..INPUT },
        Input { key: "order-2", ..INPUT },
        Input { payload: b"{ }", ..INPUT },
        Input { payload: b"", ..INPUT },
    ]
}

impl Input {
    fn scope(self) -> Scope {
        Scope { unit: self.unit.to_owned(), mode: self.mode }
    }

    fn idempotency_key(self) -> IdempotencyKey {
        IdempotencyKey::parse(self.key).unwrap()
    }

    fn derivation(self) -> Derivation {
        let payload = Fingerprint::new(self.payload);
        Derivation::new(&self.secret(), &self.scope(), &self.idempotency_key(), payload)
    }

    fn replay_hash(self) -> ReplayHash {
        ReplayHash::new(&self.secret(), &self.scope(), &self.idempotency_key())
    }

    fn secret(self) -> NamespaceSecret {
        NamespaceSecret::new([self.secret; 32])
    }
}

#[test]
fn every_part_of_the_input_matters() {
    let derived: BTreeSet<[u8; 32]> =
        inputs().iter().map(|input| input.derivation().bytes("transaction", 0)).collect();
    assert_eq!(derived.len(), inputs().len());
}

#[test]
fn every_purpose_and_index_gives_other_bytes() {
    let derivation = INPUT.derivation();
    let derived: BTreeSet<[u8; 15]> = ["transaction", "pledge", "edit_key"]
        .iter()
        .flat_map(|purpose| (0..1_000).map(|index| derivation.bytes(purpose, index)))
        .collect();
    assert_eq!(derived.len(), 3_000);
}

/// Callers already have IDs that were derived in this way, so the derivation must never change.
#[test]
fn derived_ids_never_change() {
    // HMAC-SHA-256 over length-prefixed "repeat", mode, unit, key and payload hash, then purpose and
    // index.
    let bytes: [u8; 32] = INPUT.derivation().bytes("transaction", 0);
    assert_eq!(
        base16ct::lower::encode_string(&bytes),
        "937eae844a5befef81fed3a9d3b5a8930f22f5f5f26c0a1db2f4985dbf183e82"
    );
    assert_eq!(
        INPUT.replay_hash().to_hex(),
        "57f7cc8f199ac942d34ffa87fa6ddbd6c48cda2f0288358a065db7aebf99def6"
    );
}

#[test]
fn a_replay_is_named_by_secret_mode_unit_and_key_alone() {
    let names: BTreeSet<_> = inputs().iter().map(|input| input.replay_hash().to_hex()).collect();
    // The payload is not part of the hash: three of the nine inputs give the same one.
    assert_eq!(names.len(), inputs().len() - 2);
    assert!(names.iter().all(|name| name.len() == 64));
}

// ---- Recent replays ------------------------------------------------------------------------------

const MIB: usize = 1024 * 1024;

fn unit(name: &str) -> Scope {
    Scope { unit: name.to_owned(), mode: Mode::Live }
}

fn hash(number: usize) -> ReplayHash {
    let key = IdempotencyKey::new(format!("order-{number}")).unwrap();
    ReplayHash::new(&NamespaceSecret::new([7; 32]), &unit("a"), &key)
}

fn replay(id: &str) -> Replay {
    let terms = Terms {
        created_at: String::new(),
        amount: String::new(),
        currency_code: "USD".to_owned(),
        origin: String::new(),
    };
    Replay { id: id.to_owned(), terms, version: Version }
}

#[test]
fn a_replay_is_remembered_for_two_minutes() {
    let (replays, unit) = (Caches::default().recent_replays, &unit("a"));
    replays.keep(unit, hash(1), replay("a"), 1_000);
    replays.keep(unit, hash(1), replay("b"), 2_000);
    assert_eq!(replays.of(unit, "a", 120_999), Some(replay("a")));
    assert_eq!(replays.of(unit, "a", 121_000), None);
    assert_eq!(replays.of(unit, "c", 2_000), None);
    assert_eq!(replays.last(unit, hash(1), 121_999), Some(replay("b")));
    assert_eq!(replays.last(unit, hash(1), 122_000), None);
    assert_eq!(replays.last(unit, hash(2), 2_000), None);
    let bytes = replays.bytes();
    replays.keep(unit, hash(1), replay("c"), 122_000);
    assert!(replays.bytes() < bytes, "what is over takes no room");
}

/// If more than 2 MiB are remembered in total, the unit with the most bytes loses its oldest record. The other units
/// lose nothing.
#[test]
fn a_unit_with_many_replays_forgets_only_its_own() {
    let replays = Caches::default().recent_replays;
    let live = unit("a");
    replays.keep(&live, hash(0), replay("mine"), 0);
    let large = |number: usize| Replay { id: format!("{number:01000}"), ..replay("") };
    for number in 0..5_000 {
        replays.keep(&unit("b"), hash(number), large(number), 0);
        assert!(replays.bytes() <= 2 * MIB);
    }
    assert!(replays.bytes() > 2 * MIB - 2_000);
    assert_eq!(replays.of(&live, "mine", 0), Some(replay("mine")));
    assert_eq!(replays.last(&unit("b"), hash(0), 0), None);
    assert_eq!(replays.last(&unit("b"), hash(4_999), 0), Some(large(4_999)));
}

/// Two create requests with the same idempotency key and different payloads ran at the same time, and both
/// recorded a transaction. This isolate also has the later replay record. A repeat of the first create request
/// still gets its own answer, even while the store does not show its transaction.
#[test]
fn a_repeat_gets_its_own_answer_though_another_payload_has_used_the_key_later() {
    let service = seeded();
    let created = service.send(&repeatable(&minimal()));
    let scope = Scope { unit: "unit_dev".to_owned(), mode: Mode::Test };
    let key = IdempotencyKey::parse("order-1").unwrap();
    let mut other = replay(&format!("ptran_{}", "a".repeat(42)));
    other.terms.created_at = "2026-01-31T12:00:01.000Z".to_owned();
    let hash = ReplayHash::new(&SECRET, &scope, &key);
    service.caches.recent_replays.keep(&scope, hash, other, NOW_MS);
    service.store.set_hidden(Some("transaction:"));
    let repeat = service.send(&repeatable(&minimal()));
    assert_eq!((repeat.status, repeat.text), (200, created.text));
    assert_eq!(repeat.headers["idempotent-replayed"], "true");
}
