//! Tests the list of API keys, and how one key is found by its ID.

use super::rotation::rotate;
use super::{FixedEntropy, make, name_of, names, refused, shown};
use futures_executor::block_on;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::keys::rule::KeyRow;
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::scope::Mode;
use serde_json::{Value, json};
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, changes, test_operator, unit};

// ---- The list ---------------------------------------------------------------------------------

pub fn name(first: &str) -> String {
    format!("key:{first:0<64}")
}

#[track_caller]
pub fn list(store: &MemoryStore) -> Vec<KeyRow> {
    block_on(keys::list(store, None, usize::MAX)).unwrap().0
}

#[test]
fn the_list_shows_what_each_key_may_do() {
    let unit = json!({ "mode": "test", "unit": "u", "created": "c", "by": "b", "later": 1 });
    let team =
        json!({ "mode": "live", "team": "t", "label": "both shops", "created": "c", "by": "b" });
    let store = MemoryStore::default();
    assert_eq!(shown(&list(&store)), json!([]));
    for (name, metadata) in [
        (name("aa"), &unit),
        (name("bb"), &team),
        (name("cc"), &Value::Null),
        ("key:short".to_owned(), &unit),
        ("transaction:1".to_owned(), &unit),
        (format!("key:{}", "A".repeat(64)), &unit),
    ] {
        store.keep(&name, b"{}", metadata.to_string().as_bytes());
    }
    let rows = [
        json!({ "id": "aa0000000000", "name": name("aa"), "mode": "test", "unit": "u", "created": "c", "by": "b" }),
        json!({ "id": "bb0000000000", "name": name("bb"), "mode": "live", "team": "t", "label": "both shops",
          "created": "c", "by": "b" }),
        json!({ "id": "cc0000000000", "name": name("cc"), "problem":
          "unreadable metadata: invalid type: null, expected struct KeyMetadata" }),
    ];
    assert_eq!(shown(&list(&store)), json!(rows));
}

#[test]
fn a_thousand_keys_cost_a_list_call_for_each_page_and_no_read() {
    let store = MemoryStore::default();
    store.set_page_length(150);
    for number in 0..1_000 {
        let note =
            json!({ "mode": "test", "unit": format!("u{number}"), "created": "c", "by": "b" });
        store.keep(&name(&format!("{number:03}")), b"{}", note.to_string().as_bytes());
    }
    let rows = list(&store);
    assert_eq!(rows.len(), 1_000);
    assert!(rows.windows(2).all(|pair| pair[0].name.name < pair[1].name.name));
    let pages: Vec<_> = store.take_lists().iter().map(|list| list.names).collect();
    assert_eq!(pages, [vec![150; 6], vec![100]].concat());
    assert_eq!(store.take_reads(), ["secret"]);
}

/// A key record's metadata must fit into the 1,024 bytes that Workers KV allows. The test uses the longest
/// texts, made of characters that need escaping or four bytes.
#[test]
fn the_note_of_a_key_fits_beside_its_record() {
    let (store, clock) = (MemoryStore::default(), FixedClock(Cell::new(NOW_MS)));
    let (by, first) = ("\"".repeat(254), FixedEntropy([1; 32]));
    let author = Author::new(&by, &clock, &first).unwrap();
    let level = unit(&"u".repeat(128));
    let record =
        KeyRecord { label: "🌳".repeat(100), ..KeyRecord::new(Mode::Live, level.clone()) };
    let old =
        block_on(keys::create(&store, &SqliteLedger::default(), &author, record)).unwrap().outcome;
    let second = FixedEntropy([2; 32]);
    let author = Author::new(&by, &clock, &second).unwrap();
    let new = block_on(keys::rotate(
        &store,
        &SqliteLedger::default(),
        &author,
        old.secret().unwrap(),
        60,
    ));
    let new = new.unwrap().outcome.made;
    let third = FixedEntropy([3; 32]);
    let author = Author::new(&by, &clock, &third).unwrap();
    block_on(keys::rotate(&store, &SqliteLedger::default(), &author, new.secret().unwrap(), 60))
        .unwrap();
    let longest = store.metadata("key:").iter().map(|note| note.to_string().len()).max();
    assert!((1_000..=1_024).contains(&longest.unwrap()), "{longest:?} bytes");
    let row = list(&store).into_iter().find_map(|row| row.note).unwrap();
    assert!(row.by.ends_with("\"…") && row.label == "🌳".repeat(100), "{row:?}");
    let audited = changes(&store, &SqliteLedger::default());
    assert!(audited.iter().all(|change| change.by == by));
    let (by, next) = ("a".repeat(254), FixedEntropy([4; 32]));
    let author = Author::new(&by, &clock, &next).unwrap();
    let made = block_on(keys::create(
        &store,
        &SqliteLedger::default(),
        &author,
        KeyRecord::new(Mode::Live, level),
    ))
    .unwrap();
    assert_eq!(made.outcome.row.note.unwrap().by, by, "whole where it fits");
}

/// If two operators create the first two API keys at the same time, each may create a secret. The list then
/// reports each key that was made with a secret other than the current one.
#[test]
fn a_key_with_another_secret_is_pointed_out() {
    let store = MemoryStore::default();
    let made = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    for (first, members) in [("aa", json!({ "secret": "00000000" })), ("bb", json!({}))] {
        let mut note = json!({ "mode": "test", "unit": "u", "created": "c", "by": "b" });
        note.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        store.keep(&name(first), b"{}", note.to_string().as_bytes());
    }
    let problems: Vec<_> =
        list(&store).into_iter().map(|row| (row.name.name, row.problem.is_some())).collect();
    let mut expected =
        vec![(name("aa"), true), (name("bb"), true), (name_of(made.secret().unwrap()), false)];
    expected.sort();
    assert_eq!(problems, expected);
}

// ---- One key ----------------------------------------------------------------------------------

const KEY: &str = "service_sk_test_dev_unit";
const KEY_HASH: &str = "d4f722b49dea368c4dceef633b3f37542d192a3d0841798b01658e590581cb2e";

/// Returns a store with three keys. Two of the keys have IDs that begin almost alike.
fn three_keys() -> MemoryStore {
    let store = MemoryStore::default();
    for name in [name("aa"), format!("key:{KEY_HASH}"), name("d4f722b49dea0")] {
        store.keep(&name, b"{}", b"null");
    }
    store
}

#[test]
fn a_key_and_its_whole_hash_are_found_without_a_list() {
    let name = format!("key:{KEY_HASH}");
    for wanted in [KEY, " service_sk_test_dev_unit\n", KEY_HASH, &name] {
        let store = three_keys();
        assert!(block_on(keys::get(&store, wanted)).unwrap().is_some());
        let revoked = block_on(keys::revoke(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            wanted,
        ))
        .unwrap();
        assert_eq!(shown(&revoked.outcome), json!({ "id": &KEY_HASH[..12], "name": name }));
        assert_eq!((store.take_lists(), store.value(&name)), (vec![], None));
        assert!(block_on(keys::get(&store, wanted)).unwrap().is_none());
        let once_more = block_on(keys::revoke(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            wanted,
        ));
        refused(once_more, "nothing was revoked: there is no such key in this environment");
        assert_eq!(names(&store).len(), 2);
    }
}

#[test]
fn an_id_is_looked_for_among_the_names_that_begin_so() {
    let store = three_keys();
    let revoked = block_on(keys::revoke(
        &store,
        &SqliteLedger::default(),
        &test_operator().author(),
        &KEY_HASH[..13],
    ))
    .unwrap();
    assert_eq!(revoked.outcome.name, format!("key:{KEY_HASH}"));
    assert_eq!(names(&store), [name("aa"), name("d4f722b49dea0")]);
    let prefix = format!("key:{}", &KEY_HASH[..13]);
    assert_eq!(store.take_lists(), [support::memory::Listing { prefix, names: 1 }]);
}

#[test]
fn an_id_of_no_key_or_of_several_is_refused() {
    let store = three_keys();
    let no_id = "this is neither a key nor an ID: take the ID from the key list";
    for (wanted, message) in [
        (
            "d4f722b49dea",
            "2 keys have IDs that begin with `d4f722b49dea`: give more digits of the key's hash, or \
             the key itself",
        ),
        (
            "bb0000000000",
            "no key in the list has the ID `bb0000000000`. The list may lack keys that were created in the last \
             60 s. To find such a key, give the key itself or its whole hash",
        ),
        ("aa", no_id),
        ("AA0000000000", no_id),
        (&KEY_HASH.to_uppercase(), no_id),
        ("", no_id),
        ("key:aa0000000000", no_id),
        (&"a".repeat(65), no_id),
        ("sk_live_of_another_service", no_id),
    ] {
        refused(
            block_on(keys::revoke(
                &store,
                &SqliteLedger::default(),
                &test_operator().author(),
                wanted,
            )),
            message,
        );
        refused(rotate(&store, wanted, 0), message);
    }
    assert_eq!(names(&store).len(), 3);
}
