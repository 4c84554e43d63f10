//! Safe repeats: what is derived from the header, and the answers that are remembered.

use impact_pledge::handle::Caches;
use impact_pledge::idempotency::{
    Derivation, Fingerprint, IdempotencyKey, Replay, ReplayHash, Terms,
};
use impact_pledge::scope::{Mode, Scope};
use impact_pledge::secret::NamespaceSecret;
use impact_pledge::version::Version;
use std::collections::BTreeSet;

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

/// Each differs from [`INPUT`] in one thing, some by moving text from one part to the next.
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

/// Ids that callers hold must outlive a change of the code.
#[test]
fn what_is_derived_stays_what_it_is() {
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
    // The payload takes no part: three of the nine are one.
    assert_eq!(names.len(), inputs().len() - 2);
    assert!(names.iter().all(|name| name.len() == 64));
}

// ---- Recent answers ------------------------------------------------------------------------------

fn hash(number: usize) -> ReplayHash {
    let key = IdempotencyKey::new(format!("order-{number}")).unwrap();
    let scope = Scope { unit: "unit".to_owned(), mode: Mode::Test };
    ReplayHash::new(&NamespaceSecret::new([7; 32]), &scope, &key)
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
fn an_answer_is_remembered_for_two_minutes() {
    let answers = Caches::default().recent_answers;
    answers.keep(hash(1), replay("a"), b"first".to_vec(), 1_000);
    answers.keep(hash(1), replay("b"), b"second".to_vec(), 2_000);
    assert_eq!(answers.body("a", 120_999).unwrap(), b"first");
    assert_eq!(answers.body("a", 121_000), None);
    assert_eq!(answers.body("c", 2_000), None);
    assert_eq!(answers.replay(hash(1), 121_999).unwrap(), replay("b"), "the last");
    assert_eq!(answers.replay(hash(1), 122_000), None);
    assert_eq!(answers.replay(hash(2), 2_000), None);
}

#[test]
fn no_more_than_512_answers_are_remembered() {
    let answers = Caches::default().recent_answers;
    for number in 0..513 {
        answers.keep(hash(number), replay(&number.to_string()), vec![b'x'], 0);
        assert_eq!(
            (answers.count(), answers.bytes()),
            ((number + 1).min(512), (number + 1).min(512))
        );
    }
    assert_eq!((answers.body("0", 0), answers.body("1", 0)), (None, Some(vec![b'x'])));
}

#[test]
fn no_more_than_4_mib_of_answers_are_remembered() {
    let answers = Caches::default().recent_answers;
    for number in 0..5_usize {
        answers.keep(hash(number), replay(&number.to_string()), vec![b'x'; 1024 * 1024], 0);
        assert_eq!(answers.bytes(), (number + 1).min(4) * 1024 * 1024);
    }
    answers.keep(hash(5), replay("5"), vec![b'x'], 0);
    assert_eq!((answers.count(), answers.bytes()), (4, 3 * 1024 * 1024 + 1));
}
