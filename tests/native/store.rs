//! Tests the store in memory, and the keys and access rules of any store.

use futures_executor::block_on;
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::secret::NamespaceSecret;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{
    AuditKey, BackupKey, CredentialKey, Key, LedgerUnsentKey, MemberKey, PriceListKey,
    PriceListVersionKey, ProfileKey, SecretKey, SettlementKey, TeamKey, TransactionKey,
    TransactionMetadata, UnitKey,
};
use impact_pledge::pledges::types::TransactionId;
use support::memory::MemoryStore;
use support::stores::{conforms, edit_key, id, replay_key, scope};

const TIME: &str = "2026-01-31T12:00:00.123Z";

// ---- Memory ------------------------------------------------------------------------------------

#[test]
fn memory_conforms() {
    block_on(conforms(&MemoryStore::default()));
}

// ---- Keys --------------------------------------------------------------------------------------

#[test]
fn a_key_owns_its_prefix_and_fits() {
    let longest = "t".repeat(128);
    let month = Month::parse("2026-01").unwrap();
    let names = [
        (TransactionKey(&id(1)).name(), "transaction:ptran_"),
        (
            CredentialKey(ApiKey::new("k").hash()).name(),
            "key:8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a",
        ),
        (
            SettlementKey(&ScopeMonth { scope: scope(&longest, Mode::Live), month }).name(),
            "settlement:live:ttt",
        ),
        (PriceListKey::of_mode(Mode::Test).name(), "catalogue:test"),
        (PriceListKey::of_mode(Mode::Live).name(), "catalogue:live"),
        (PriceListKey::of_unit(Mode::Live, &longest).name(), "catalogue:live:ttt"),
        (
            PriceListVersionKey { of: PriceListKey::of_unit(Mode::Live, &longest), time: TIME }
                .name(),
            "prices:unit:live:ttt",
        ),
        (replay_key("k").name(), "idempotency:"),
        (ProfileKey("unit").name(), "profile:unit"),
        (SecretKey.name(), "secret"),
        (MemberKey { team: &longest, unit: &longest }.name(), "member:ttt"),
        (UnitKey(&longest).name(), "unit:ttt"),
        (TeamKey(&longest).name(), "team:ttt"),
        (
            PriceListVersionKey { of: PriceListKey::of_mode(Mode::Live), time: TIME }.name(),
            "prices:live:2026-01-31T12:00:00.123Z",
        ),
        (BackupKey::Full.name(), "backup"),
        (BackupKey::Increment.name(), "backup:increment"),
        (BackupKey::Ledger.name(), "backup:ledger"),
        (LedgerUnsentKey(&id(1)).name(), "ledger-unsent:ptran_"),
        (AuditKey::new(1_769_860_800_123, [255; 8]).name(), "audit:8230139199876:ffffffffffffffff"),
        (AuditKey::new(u64::MAX, [0; 8]).name(), "audit:0000000000000:0000000000000000"),
    ];
    for (name, prefix) in names {
        assert!(name.starts_with(prefix) && name.len() <= 512, "`{name}`");
    }
}

#[test]
fn only_the_key_of_its_kind_parses_a_listed_name() {
    let credential = CredentialKey(ApiKey::new("k").hash());
    let month = Month::parse("2026-01").unwrap();
    let names = [
        TransactionKey(&id(1)).name(),
        credential.name(),
        replay_key("k").name(),
        ProfileKey("unit").name(),
        PriceListKey::of_mode(Mode::Test).name(),
        SecretKey.name(),
        MemberKey { team: "t", unit: "u:v" }.name(),
        PriceListVersionKey { of: PriceListKey::of_mode(Mode::Test), time: TIME }.name(),
        AuditKey::new(1, [2; 8]).name(),
        SettlementKey(&ScopeMonth { scope: scope("u:v", Mode::Live), month }).name(),
        LedgerUnsentKey(&id(1)).name(),
        PriceListKey::of_unit(Mode::Test, "u:v").name(),
        PriceListVersionKey { of: PriceListKey::of_unit(Mode::Test, "u:v"), time: TIME }.name(),
    ];
    let read = |read: fn(&str) -> bool| names.iter().map(|name| read(name)).collect::<Vec<_>>();
    let only = |index| (0..names.len()).map(|other| other == index).collect::<Vec<_>>();
    assert_eq!(read(|name| TransactionKey::parse(name) == Some(id(1))), only(0));
    assert_eq!(read(|name| CredentialKey::parse(name).is_some()), only(1));
    assert_eq!(read(|name| ProfileKey::parse(name) == Some(ProfileKey("unit"))), only(3));
    let member = MemberKey { team: "t", unit: "u:v" };
    assert_eq!(read(|name| MemberKey::parse(name).is_some()), only(6));
    assert_eq!(MemberKey::parse(&member.name()), Some(member), "a team ends at the first colon");
    let prices = PriceListVersionKey { of: PriceListKey::of_mode(Mode::Test), time: TIME };
    fn is_version(name: &str, unit: Option<&str>) -> bool {
        PriceListVersionKey::parse(name).is_some_and(|version| version.of.unit == unit)
    }
    fn is_current(name: &str, unit: Option<&str>) -> bool {
        PriceListKey::parse(name).is_some_and(|list| list.unit == unit)
    }
    let units = PriceListVersionKey { of: PriceListKey::of_unit(Mode::Test, "u:v"), time: TIME };
    assert_eq!(read(|name| is_version(name, None)), only(7));
    assert_eq!(read(|name| is_version(name, Some("u:v"))), only(12));
    assert_eq!(PriceListVersionKey::parse(&units.name()), Some(units));
    assert_eq!(read(|name| is_current(name, None)), only(4));
    assert_eq!(read(|name| is_current(name, Some("u:v"))), only(11));
    for wrong in [
        "catalogue:",
        "catalogue:dead",
        "catalogue:test:",
        "catalogue:dead:u",
        "catalogue:test:a b",
    ] {
        assert_eq!(PriceListKey::parse(wrong), None, "`{wrong}`");
    }
    for wrong in [
        "prices:unit:test:u",
        "prices:unit:test::2026-01-31T12:00:00.123Z",
        "prices:unit:u:2026-01-31T12:00:00.123Z",
    ] {
        assert_eq!(PriceListVersionKey::parse(wrong), None, "`{wrong}`");
    }
    assert_eq!(PriceListVersionKey::parse(&prices.name()), Some(prices));
    assert_eq!(read(|name| AuditKey::parse(name) == Some(AuditKey::new(1, [2; 8]))), only(8));
    let settled = ScopeMonth { scope: scope("u:v", Mode::Live), month };
    assert_eq!(read(|name| SettlementKey::parse(name).is_some()), only(9));
    let name = SettlementKey(&settled).name();
    assert_eq!(SettlementKey::parse(&name), Some(settled), "a month begins at the last colon");
    assert_eq!(read(|name| LedgerUnsentKey::parse(name) == Some(id(1))), only(10));
    for wrong in ["transaction:ptran_", "key:", "key:abc", "idempotency:ABC", "transaction:"] {
        assert!(TransactionKey::parse(wrong).is_none(), "`{wrong}`");
        assert!(CredentialKey::parse(wrong).is_none());
    }
    assert_eq!(CredentialKey::parse(&credential.name()), Some(credential));
}

#[test]
fn one_shop_and_one_order_are_prefixes_of_their_transactions_alone() {
    let secret = NamespaceSecret::new([7; 32]);
    let shops = [scope("u", Mode::Test), scope("u", Mode::Live), scope("v", Mode::Test)];
    let references = ["order-1", "order-2"];
    let mut listed = 0;
    for (shop, reference) in shops.iter().flat_map(|shop| references.map(|text| (shop, text))) {
        let id = TransactionId::new(&secret, shop, reference, [9; 16]);
        let name = TransactionKey(&id).name();
        for (other, text) in shops.iter().flat_map(|shop| references.map(|text| (shop, text))) {
            let of_shop = name.starts_with(&TransactionKey::scope_prefix(other));
            let of_order = name.starts_with(&TransactionKey::order_prefix(&secret, other, text));
            assert_eq!(of_shop, other == shop);
            assert_eq!(of_order, other == shop && text == reference);
            listed += usize::from(of_order);
        }
    }
    assert_eq!(listed, shops.len() * references.len());
    let (hex, all) = (ApiKey::new("k").hash().id(), CredentialKey::PREFIX);
    assert_eq!(CredentialKey::hash_prefix(&hex), format!("{all}{hex}"));
}

fn cache_seconds<K: Key>(_: &K) -> Option<u32> {
    K::CACHE_SECONDS
}

/// Workers KV caches an API key's record, or a unit's membership of a team, for 30 s. An isolate caches it
/// for 10 s more. So a revoked key, or a unit that was removed from its team, is accepted for at most 40 s.
#[test]
fn only_a_key_and_its_team_are_cached_for_less_than_usual() {
    assert_eq!(cache_seconds(&TransactionKey(&id(1))), None);
    assert_eq!(cache_seconds(&CredentialKey(ApiKey::new("k").hash())), Some(30));
    assert_eq!(cache_seconds(&MemberKey { team: "t", unit: "u" }), Some(30));
    assert_eq!(cache_seconds(&PriceListKey::of_mode(Mode::Test)), None);
    assert_eq!(cache_seconds(&replay_key("k")), None);
}

// ---- TransactionMetadata ------------------------------------------------------------------------------------

#[test]
fn an_edit_key_opens_one_record() {
    let access = TransactionMetadata::new(scope("unit", Mode::Live), &edit_key(0xAB));
    let right = edit_key(0xAB).to_string();
    assert!(access.opens_with(&right));
    let (_, shorter) = right.split_at(1);
    for wrong in ["", shorter, &right.to_uppercase(), &format!("{right}a"), edit_key(2).as_str()] {
        assert!(!access.opens_with(wrong), "`{wrong}`");
    }
    let kept = serde_json::to_string(&access).unwrap();
    assert!(!kept.contains(&right), "only its hash is kept");
}
