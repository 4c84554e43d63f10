//! Tests the format of IDs and edit keys, and which texts are refused.

use base32ct::{Base32Unpadded, Encoding as _};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::types::TransactionId;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const BASE32: &str = "abcdefghijklmnopqrstuvwxyz234567";

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
fn every_bit_counts() {
    let ids: BTreeSet<_> = (0..208)
        .map(|bit| {
            let mut bytes = [0; 26];
            bytes[bit / 8] = 1 << (bit % 8);
            TransactionId::from_bytes(bytes).to_string()
        })
        .collect();
    assert_eq!(ids.len(), 208);
    let [least, most] = [0, 255].map(|byte| TransactionId::from_bytes([byte; 26]).into_string());
    assert_eq!(least, format!("ptran_{}", "a".repeat(42)));
    assert_eq!(most, format!("ptran_{}4", "7".repeat(41)));
}

// ---- Shops and orders ----------------------------------------------------------------------------

static SECRET: LazyLock<NamespaceSecret> = LazyLock::new(|| NamespaceSecret::new([7; 32]));

fn scope(mode: Mode, unit: &str) -> Scope {
    Scope { mode, unit: unit.to_owned() }
}

#[test]
fn an_id_begins_with_its_shop_and_its_order() {
    for (seed, reference) in ["", "order-1", "заказ №7", &"r".repeat(10_000)].iter().enumerate()
    {
        let shop = scope(Mode::Live, "unit_1");
        let id = TransactionId::new(&SECRET, &shop, reference, bytes(seed)).into_string();
        let [of_shop, of_order] = [
            TransactionId::scope_prefix(&shop),
            TransactionId::order_prefix(&SECRET, &shop, reference),
        ];
        shaped(&of_shop, "ptran_", BASE32, 8);
        shaped(&of_order, "ptran_", BASE32, 16);
        assert!(id.starts_with(&of_order) && of_order.starts_with(&of_shop), "{id}");
        let last: [u8; 16] = bytes(seed);
        let end = Base32Unpadded::decode_vec(id.strip_prefix("ptran_").unwrap()).unwrap();
        assert_eq!(end[10..], last);
    }
}

/// Backups contain names with these prefixes, so the prefixes must never change.
#[test]
fn prefixes_of_shops_and_orders_never_change() {
    let shop = scope(Mode::Test, "unit_1");
    assert_eq!(TransactionId::scope_prefix(&shop), "ptran_pmet5tut");
    assert_eq!(TransactionId::order_prefix(&SECRET, &shop, "order-1"), "ptran_pmet5tutuddxov7d");
    let other = NamespaceSecret::new([8; 32]);
    let of_other = TransactionId::order_prefix(&other, &shop, "order-1");
    assert!(of_other.starts_with("ptran_pmet5tut") && of_other != "ptran_pmet5tutuddxov7d");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn ids_read_back(bytes in any::<[u8; 26]>()) {
        let id = TransactionId::from_bytes(bytes);
        prop_assert_eq!(TransactionId::parse(id.as_str()), Some(id));
    }

    #[test]
    fn nothing_else_is_an_id(text in ".{0,60}", tail in "[a-z2-7]{0,60}") {
        prop_assert!(TransactionId::parse(&text).is_none());
        let text = format!("ptran_{tail}");
        let is_one = tail.len() == 42 && tail.ends_with(['a', 'e', 'i', 'm', 'q', 'u', 'y', '4']);
        prop_assert_eq!(TransactionId::parse(&text).is_some(), is_one);
    }
}
