//! Ids and edit keys: their shape, and what cannot be one.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

use impact_pledge::pledge::{EditKey, PledgeId, TransactionId};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

const BASE32: &str = "abcdefghijklmnopqrstuvwxyz234567";
const HEX: &str = "0123456789abcdef";

fn bytes<const N: usize>(seed: usize) -> [u8; N] {
    *Sha256::digest(seed.to_be_bytes()).first_chunk().unwrap()
}

#[track_caller]
fn shaped(text: &str, prefix: &str, alphabet: &str, length: usize) {
    let opaque = text.strip_prefix(prefix).unwrap();
    assert_eq!(opaque.len(), length, "`{text}`");
    assert!(opaque.chars().all(|char| alphabet.contains(char)), "`{text}`");
}

#[test]
fn ten_thousand_are_shaped_and_distinct() {
    let mut transactions = BTreeSet::new();
    let mut pledges = BTreeSet::new();
    let mut edit_keys = BTreeSet::new();
    for seed in 0..10_000 {
        let transaction = TransactionId::from_bytes(bytes(seed)).to_string();
        let pledge = PledgeId::from_bytes(bytes(seed)).to_string();
        let edit_key = EditKey::from_bytes(bytes(seed)).to_string();
        shaped(&transaction, "ptran_", BASE32, 24);
        shaped(&pledge, "p_", BASE32, 24);
        shaped(&edit_key, "", HEX, 40);
        assert_eq!(TransactionId::parse(&transaction).unwrap().as_str(), transaction);
        transactions.insert(transaction);
        pledges.insert(pledge);
        edit_keys.insert(edit_key);
    }
    assert_eq!([transactions.len(), pledges.len(), edit_keys.len()], [10_000; 3]);
}

#[test]
fn every_bit_counts() {
    let ids: BTreeSet<_> = (0..120)
        .map(|bit| {
            let mut bytes = [0; 15];
            bytes[bit / 8] = 1 << (bit % 8);
            TransactionId::from_bytes(bytes).to_string()
        })
        .collect();
    assert_eq!(ids.len(), 120);
    assert_eq!(TransactionId::from_bytes([0; 15]).as_str(), "ptran_aaaaaaaaaaaaaaaaaaaaaaaa");
    assert_eq!(TransactionId::from_bytes([255; 15]).as_str(), "ptran_777777777777777777777777");
}

#[test]
fn what_cannot_be_an_id_is_refused() {
    let good = "ptran_abcdefghijklmnopqrst2345";
    assert!(TransactionId::parse(good).is_some());
    let long = format!("ptran_{}", "a".repeat(594));
    let hash = format!("key:{}", "a".repeat(64));
    for text in [
        "",
        "ptran",
        "ptran_",
        "ptran_abcdefghijklmnopqrst234",
        "ptran_abcdefghijklmnopqrst23456",
        "ptran_abcdefghijklmnopqrst2341",
        "ptran_abcdefghijklmnopqrst2348",
        "ptran_abcdefghijklmnopqrst234A",
        "ptran_abcdefghijklmnopqrst234=",
        "ptran_abcdefghijklmnopqrst2%00",
        "ptran_abcdefghijklmnopqrst234\0",
        "ptran_abcdefghijklmnopqrst234\n",
        "ptran_abcdefghijklmnopqrst23..",
        "ptran_abcdefghijklmnopqrs/2345",
        "ptran_abcdefghijklmnopqrst23\u{e9}",
        "ptran_ bcdefghijklmnopqrst2345",
        " ptran_abcdefghijklmnopqrst2345",
        "ptran_abcdefghijklmnopqrst2345 ",
        "PTRAN_abcdefghijklmnopqrst2345",
        "p_abcdefghijklmnopqrst2345",
        "transaction:ptran_abcdefghijklmnopqrst2345",
        "key:",
        hash.as_str(),
        "catalogue",
        "idempotency:0123456789abcdef",
        "%00",
        "\0",
        "../catalogue",
        "%2e%2e%2fcatalogue",
        long.as_str(),
    ] {
        assert!(TransactionId::parse(text).is_none(), "`{text}`");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn ids_read_back(bytes in any::<[u8; 15]>()) {
        let id = TransactionId::from_bytes(bytes);
        prop_assert_eq!(TransactionId::parse(id.as_str()), Some(id));
    }

    #[test]
    fn nothing_else_is_an_id(text in ".{0,40}", tail in "[a-z2-7]{0,40}") {
        prop_assert!(TransactionId::parse(&text).is_none());
        let text = format!("ptran_{tail}");
        prop_assert_eq!(TransactionId::parse(&text).is_some(), tail.len() == 24);
    }
}
