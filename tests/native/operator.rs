//! Tests the operators' functions for keys, prices and profiles.

use futures_executor::block_on;
use impact_pledge::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::charge::PriceList;
use impact_pledge::operator::audit::{self, Author};
use impact_pledge::operator::keys::{self, KeyRow, MadeKey, Rotated};
use impact_pledge::operator::prices::{Edit, parse};
use impact_pledge::operator::units::{self, Member, ProfileMembers};
use impact_pledge::operator::{
    MAX_PAGES, OperationId, OperatorError, backups, demo, prices, register, seed, teams,
};
use impact_pledge::scope::Mode;
use impact_pledge::service::Entropy;
use impact_pledge::store::{
    BackupKey, Key, ListingStore, OperatorStore, Page, Store, StoreError, Stored,
};
use impact_pledge::version::VERSION;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt::Debug;
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS, TestOperator, team, test_operator, unit};

#[track_caller]
fn refused(outcome: Result<impl Debug, OperatorError>, message: &str) {
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

fn shown(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Returns a record as it is stored.
#[track_caller]
fn stored(store: &MemoryStore, name: &str) -> Value {
    serde_json::from_str(&store.value(name).unwrap_or_else(|| panic!("no `{name}`"))).unwrap()
}

/// Returns the record without the name of the change that wrote it, which must be an entry of the audit log.
#[track_caller]
fn changed(store: &MemoryStore, name: &str) -> Value {
    let mut record = stored(store, name);
    let change = record.as_object_mut().unwrap().remove("change").unwrap();
    assert!(store.value(change.as_str().unwrap()).is_some(), "{change}");
    record
}

/// Returns the names of all records, except the audit log.
fn names(store: &MemoryStore) -> Vec<String> {
    store.names().into_iter().filter(|name| !name.starts_with("audit:")).collect()
}

// ---- The audit log ---------------------------------------------------------------------

#[test]
fn a_change_is_recorded_first_and_otherwise_not_made() {
    let store = MemoryStore::default();
    let test_operator = test_operator();
    let ada = test_operator.author();
    let named = |name: &str| serde_json::from_value(json!({ "name": name })).unwrap();
    let unset = [Member::Accent];
    let (u, v) = (["u".to_owned()], ["v".to_owned()]);
    let record = KeyRecord::new(Mode::Live, unit("u"));
    let key = block_on(keys::create(&store, None, &ada, record.clone())).unwrap().outcome.row.name;
    let next =
        block_on(keys::rotate(&store, None, &ada, &key.name, 60)).unwrap().outcome.made.row.name;
    let prices = Edit::All(PriceList::default());
    let set = |mode| block_on(prices::set(&store, None, &ada, mode, &prices, None));
    let time = set(Mode::Live).unwrap().outcome;
    block_on(units::set(&store, None, &ada, "u", named("N"))).unwrap();
    block_on(units::unset(&store, None, &ada, "u", &unset)).unwrap();
    block_on(register::add(&store, None, &ada, &v)).unwrap();
    test_operator.clock.0.set(NOW_MS + 1);
    block_on(keys::revoke(&store, None, &ada, &key.name)).unwrap();
    block_on(teams::add(&store, None, &ada, "t", &u)).unwrap();
    block_on(teams::remove(&store, None, &ada, "t", &u)).unwrap();
    block_on(teams::add(&store, None, &ada, "t", &u)).unwrap();
    block_on(units::remove(&store, None, &ada, "v")).unwrap();
    let expected = [
        json!({ "command": "keys create", "on": [&key.id, "u"] }),
        json!({ "command": "keys rotate", "on": [&key.id, &next.id] }),
        json!({ "command": "prices set", "on": [format!("prices:live:{time}")] }),
        json!({ "command": "units set", "on": ["u"] }),
        json!({ "command": "units unset", "on": ["u"] }),
        json!({ "command": "units add", "on": ["v"] }),
        json!({ "command": "keys revoke", "on": [&key.id] }),
        json!({ "command": "teams add", "on": ["t", "u"] }),
        json!({ "command": "teams remove", "on": ["t", "u"] }),
        json!({ "command": "teams add", "on": ["t", "u"] }),
        json!({ "command": "units remove", "on": ["v"] }),
    ];
    let expected = |from: usize| {
        let mut changes: Vec<_> = expected[from..].to_vec();
        for (index, change) in (from..).zip(&mut changes) {
            change["by"] = json!("ada@example.org");
            change["at"] = json!(format!("2026-01-31T12:00:00.12{}Z", 3 + index / 6));
        }
        changes.sort_by_key(Value::to_string);
        changes
    };
    let since = |time_ms| {
        let changes = shown(&block_on(audit::since(&store, time_ms)).unwrap());
        assert_eq!(changes[0]["at"], "2026-01-31T12:00:00.124Z", "the newest first");
        let mut changes = changes.as_array().unwrap().clone();
        let operation =
            |change: &mut Value| change.as_object_mut().unwrap().remove("operation").unwrap();
        let mut operations: Vec<_> =
            changes.iter_mut().map(|it| operation(it).to_string()).collect();
        operations.sort();
        operations.dedup();
        assert_eq!(operations.len(), changes.len(), "each is an operation of its own");
        assert!(operations.iter().all(|hash| hash.len() == 2 + 32), "{operations:?}");
        changes.sort_by_key(Value::to_string);
        changes
    };
    assert_eq!((since(0), since(NOW_MS + 1)), (expected(0), expected(6)));

    store.set_failing(Some("audit:"));
    let before = names(&store);
    let failed = |outcome: Option<OperatorError>| {
        assert_eq!(outcome, Some(OperatorError::Store(StoreError::Unavailable)));
        assert_eq!(names(&store), before);
    };
    failed(block_on(keys::create(&store, None, &ada, record)).err());
    failed(block_on(keys::rotate(&store, None, &ada, &next.name, 0)).err());
    failed(block_on(keys::revoke(&store, None, &ada, &next.name)).err());
    failed(set(Mode::Test).err());
    failed(block_on(units::set(&store, None, &ada, "w", named("N"))).err());
    failed(block_on(units::unset(&store, None, &ada, "u", &unset)).err());
    failed(block_on(units::remove(&store, None, &ada, "u")).err());
    failed(block_on(register::add(&store, None, &ada, &v)).err());
    failed(block_on(teams::add(&store, None, &ada, "t", &v)).err());
    failed(block_on(teams::remove(&store, None, &ada, "t", &u)).err());
    for wrong in ["", "a\u{1b}b", &"é".repeat(128)] {
        let problem = "the author's name must be one line of 1 to 254 bytes";
        refused(
            Author::new(wrong, &test_operator.clock, &test_operator.entropy).map(drop),
            problem,
        );
    }
}

#[test]
fn changes_are_read_page_by_page_while_others_are_added_or_damaged() {
    let (store, test_operator) = (MemoryStore::default(), test_operator());
    store.set_page_length(4);
    let change = |number: u64| {
        test_operator.clock.0.set(NOW_MS + number);
        block_on(test_operator.author().record(&store, "units add", [number.to_string()])).unwrap();
    };
    (0..10).for_each(change);
    let audits: Vec<_> =
        store.names().into_iter().filter(|name| name.starts_with("audit:")).collect();
    store.edit(&audits[4], |_| "canary".to_owned());
    store.keep("audit:0000000000000:x", b"canary", b"null");
    let (mut shown, mut damaged, mut next) = (Vec::new(), 0, None);
    for pages in 1.. {
        store.take_lists();
        let page = block_on(audit::page(&store, next.as_deref(), 3)).unwrap();
        assert!(page.changes.len() + page.damaged <= 3 && store.take_lists().len() == 1);
        shown.extend(page.changes.into_iter().map(|change| change.on[0].parse::<u64>().unwrap()));
        damaged += page.damaged;
        next = page.next;
        if next.is_none() {
            break;
        }
        change(100 + pages);
    }
    assert_eq!((shown, damaged), (vec![9, 8, 7, 6, 4, 3, 2, 1, 0], 2));
    for hostile in ["", "~", "x~~", "10~~", "+1~~", "0~a b~", &format!("0~~{}", "a".repeat(2_048))]
    {
        let problem = "this is not a valid audit cursor: begin with the newest entries";
        refused(block_on(audit::page(&store, Some(hostile), 3)), problem);
    }
}

// ---- New keys ----------------------------------------------------------------------------------

/// Randomness that would return only these bytes next.
struct FixedEntropy([u8; 32]);

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.iter_mut().zip(self.0).for_each(|(byte, drawn)| *byte = drawn);
    }
}

#[track_caller]
fn make(store: &MemoryStore, record: KeyRecord) -> MadeKey {
    block_on(keys::create(store, None, &test_operator().author(), record)).unwrap().outcome
}

fn name_of(key: &str) -> String {
    format!("key:{}", ApiKey::new(key).hash().to_hex())
}

#[test]
fn a_new_key_is_stored_as_its_hash_and_its_permissions() {
    for (mode, level, label, record, prefix) in [
        (Mode::Test, unit("u"), "", json!({ "mode": "test", "unit": "u" }), "service_sk_test_"),
        (
            Mode::Live,
            team(),
            "é",
            json!({ "mode": "live", "team": "team_dev", "label": "é" }),
            "service_sk_live_",
        ),
    ] {
        let store = MemoryStore::default();
        let made =
            make(&store, KeyRecord { label: label.to_owned(), ..KeyRecord::new(mode, level) });
        let key = made.secret().unwrap();
        assert!(key.starts_with(prefix), "`{key}`");
        assert_eq!(key.len(), prefix.len() + 40, "200 bits in base 32");
        let registered = if mode == Mode::Test { "unit:u" } else { "team:team_dev" };
        let mut all = vec![name_of(key), registered.to_owned(), "secret".to_owned()];
        all.sort();
        assert_eq!(names(&store), all);
        let mut kept = stored(&store, &name_of(key));
        assert!(!kept.to_string().contains(key));
        let members = kept.as_object_mut().unwrap();
        assert_eq!(members.remove("version"), Some(json!(VERSION)));
        assert_eq!(members.remove("secret"), Some(stored(&store, "secret")["secret"].clone()));
        assert_eq!(kept, record);
        let mut row = record;
        row["created"] = json!("2026-01-31T12:00:00.123Z");
        row["by"] = json!("ada@example.org");
        let mut note = store.metadata("key:").remove(0);
        let secret = note.as_object_mut().unwrap().remove("secret");
        assert!(secret.is_some_and(|digits| digits.as_str().unwrap().len() == 8));
        assert_eq!(note, row);
        row["id"] = json!(&name_of(key)[4..16]);
        row["name"] = json!(name_of(key));
        assert_eq!(shown(&made.row), row);
    }
}

/// The first key creates the secret, and each key has a copy. Nothing that is shown contains it.
#[test]
fn all_keys_of_a_namespace_have_one_secret() {
    let store = MemoryStore::default();
    let first = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let secret = stored(&store, "secret");
    assert_eq!(secret["version"], VERSION);
    let text = secret["secret"].as_str().unwrap().to_owned();
    assert_eq!(text.len(), 64);
    let other = TestOperator::with(FixedEntropy([9; 32]));
    let second = block_on(keys::create(
        &store,
        None,
        &other.author(),
        KeyRecord::new(Mode::Live, unit("v")),
    ))
    .unwrap()
    .outcome;
    for key in [&first, &second] {
        assert_eq!(stored(&store, &name_of(key.secret().unwrap()))["secret"], *text);
        assert!(!shown(key).to_string().contains(&text));
    }
    let (rows, _) = block_on(keys::list(&store, None, usize::MAX)).unwrap();
    assert!(rows.iter().all(|row| row.problem.is_none()) && rows.len() == 2);
    assert!(!shown(&rows).to_string().contains(&text));
    // If the secret's record is not visible, the copy in a key is used.
    store.remove("secret");
    store.keep(&format!("key:{}", "0".repeat(64)), b"{}", b"null");
    block_on(keys::create(
        &store,
        None,
        &TestOperator::with(FixedEntropy([8; 32])).author(),
        KeyRecord::new(Mode::Test, unit("w")),
    ))
    .unwrap();
    assert_eq!(stored(&store, "secret"), secret);
}

#[test]
fn a_damaged_secret_is_not_replaced() {
    let store = MemoryStore::default();
    store.keep("secret", b"{}", b"null");
    let made = block_on(keys::create(
        &store,
        None,
        &test_operator().author(),
        KeyRecord::new(Mode::Test, unit("u")),
    ));
    refused(made, "the stored secret is damaged: missing field `secret` at line 1 column 2");
    assert_eq!(names(&store), ["secret"]);
}

/// A key is derived from the random bits of its operation's ID. If a person chose the ID, the key is random.
#[test]
fn every_random_bit_is_in_the_key() {
    let store = MemoryStore::default();
    make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let secret = store.value("secret").unwrap();
    for (own, bits) in [(None, 128), (Some("mine"), 200)] {
        let key = |bit: usize| {
            let mut random = [0; 32];
            random[bit / 8] = 1 << (bit % 8);
            let test_operator = TestOperator::with(FixedEntropy(random));
            let author = test_operator.author();
            let author = match own {
                None => author,
                Some(id) => author.with_operation(OperationId::parse(id).unwrap()),
            };
            let store = MemoryStore::default();
            store.keep("secret", secret.as_bytes(), b"null");
            let record = KeyRecord::new(Mode::Test, unit("u"));
            let made = block_on(keys::create(&store, None, &author, record));
            made.unwrap().outcome.key.unwrap()
        };
        let mut keys: Vec<String> = (0..bits).map(key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), bits);
    }
}

#[test]
fn a_key_that_cannot_work_is_not_made() {
    let no_id = "is not an ID: write 1 to 128 ASCII characters without blanks, commas, double quotes and backslashes";
    let no_label = "the label is out of bounds: write one line of at most 100 characters";
    let long = "u".repeat(129);
    let team = |id: &str| KeyLevel::Team(id.to_owned());
    let store = MemoryStore::default();
    for (level, label, message) in [
        (unit(""), "", format!("`` {no_id}")),
        (unit("a b"), "", format!("`a b` {no_id}")),
        (unit("a\"b"), "", format!("`a\\\"b` {no_id}")),
        (unit(&long), "", format!("`{long}` {no_id}")),
        (team("a b"), "", format!("`a b` {no_id}")),
        (team("a:b"), "", "`a:b` is not the ID of a team: write it without a colon".to_owned()),
        (unit("u"), &*"l".repeat(101), no_label.to_owned()),
        (unit("u"), "a\nb", no_label.to_owned()),
    ] {
        let record = KeyRecord { label: label.to_owned(), ..KeyRecord::new(Mode::Test, level) };
        refused(block_on(keys::create(&store, None, &test_operator().author(), record)), &message);
    }
    assert_eq!(names(&store), [""; 0]);
}

// ---- The list ----------------------------------------------------------------------------------

fn name(first: &str) -> String {
    format!("key:{first:0<64}")
}

#[track_caller]
fn list(store: &MemoryStore) -> Vec<KeyRow> {
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

/// Workers KV takes 1,024 bytes of metadata. The longest texts must fit, even escaped or with four bytes a character.
#[test]
fn the_note_of_a_key_fits_beside_its_record() {
    let (store, clock) = (MemoryStore::default(), FixedClock(Cell::new(NOW_MS)));
    let (by, first) = ("\"".repeat(254), FixedEntropy([1; 32]));
    let author = Author::new(&by, &clock, &first).unwrap();
    let level = unit(&"u".repeat(128));
    let record =
        KeyRecord { label: "🌳".repeat(100), ..KeyRecord::new(Mode::Live, level.clone()) };
    let old = block_on(keys::create(&store, None, &author, record)).unwrap().outcome;
    let second = FixedEntropy([2; 32]);
    let author = Author::new(&by, &clock, &second).unwrap();
    let new = block_on(keys::rotate(&store, None, &author, old.secret().unwrap(), 60));
    let new = new.unwrap().outcome.made;
    let third = FixedEntropy([3; 32]);
    let author = Author::new(&by, &clock, &third).unwrap();
    block_on(keys::rotate(&store, None, &author, new.secret().unwrap(), 60)).unwrap();
    let longest = store.metadata("key:").iter().map(|note| note.to_string().len()).max();
    assert!((1_000..=1_024).contains(&longest.unwrap()), "{longest:?} bytes");
    let row = list(&store).into_iter().find_map(|row| row.note).unwrap();
    assert!(row.by.ends_with("\"…") && row.label == "🌳".repeat(100), "{row:?}");
    let audited = block_on(audit::since(&store, 0)).unwrap();
    assert!(audited.iter().all(|change| change.by == by));
    let (by, next) = ("a".repeat(254), FixedEntropy([4; 32]));
    let author = Author::new(&by, &clock, &next).unwrap();
    let made =
        block_on(keys::create(&store, None, &author, KeyRecord::new(Mode::Live, level))).unwrap();
    assert_eq!(made.outcome.row.note.unwrap().by, by, "whole where it fits");
}

/// Two operators who create the first two keys at the same time can create two secrets.
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

// ---- One key -----------------------------------------------------------------------------------

const KEY: &str = "service_sk_test_dev_unit";
const KEY_HASH: &str = "d4f722b49dea368c4dceef633b3f37542d192a3d0841798b01658e590581cb2e";

/// Returns a store with three keys. The IDs of two of them begin almost the same.
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
        let revoked =
            block_on(keys::revoke(&store, None, &test_operator().author(), wanted)).unwrap();
        assert_eq!(shown(&revoked.outcome), json!({ "id": &KEY_HASH[..12], "name": name }));
        assert_eq!((store.take_lists(), store.value(&name)), (vec![], None));
        assert!(block_on(keys::get(&store, wanted)).unwrap().is_none());
        let once_more = block_on(keys::revoke(&store, None, &test_operator().author(), wanted));
        refused(once_more, "nothing was revoked: this key does not exist here");
        assert_eq!(names(&store).len(), 2);
    }
}

#[test]
fn an_id_is_looked_for_among_the_names_that_begin_so() {
    let store = three_keys();
    let revoked =
        block_on(keys::revoke(&store, None, &test_operator().author(), &KEY_HASH[..13])).unwrap();
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
            "2 keys have IDs that begin with `d4f722b49dea`: give more of the hash, or the key \
             itself",
        ),
        (
            "bb0000000000",
            "no key has the ID `bb0000000000` in the list, which may lack keys of the last \
             60 s. Give the key itself or its whole hash to find a new key",
        ),
        ("aa", no_id),
        ("AA0000000000", no_id),
        (&KEY_HASH.to_uppercase(), no_id),
        ("", no_id),
        ("key:aa0000000000", no_id),
        (&"a".repeat(65), no_id),
        ("sk_live_of_another_service", no_id),
    ] {
        refused(block_on(keys::revoke(&store, None, &test_operator().author(), wanted)), message);
        refused(rotate(&store, wanted, 0), message);
    }
    assert_eq!(names(&store).len(), 3);
}

// ---- Rotation ----------------------------------------------------------------------------------

fn rotate(store: &MemoryStore, key: &str, keep: u32) -> Result<Rotated, OperatorError> {
    let test_operator = TestOperator::with(FixedEntropy([7; 32]));
    block_on(keys::rotate(store, None, &test_operator.author(), key, keep)).map(|done| done.outcome)
}

#[test]
fn a_key_that_replaces_another_may_do_the_same() {
    for keep in [0, 86_400] {
        let store = MemoryStore::default();
        let made =
            make(&store, KeyRecord { label: "x".to_owned(), ..KeyRecord::new(Mode::Live, team()) });
        store.edit(&name_of(made.secret().unwrap()), |text| {
            text.replacen('{', "{\"later\": [1], ", 1)
        });
        let before = store.value(&name_of(made.secret().unwrap())).unwrap();
        let rotated = rotate(&store, made.secret().unwrap(), keep).unwrap();
        let new = &rotated.made.row.name;
        assert_eq!(store.value(&new.name).unwrap(), before, "as it was spelled");
        assert_eq!(rotated.replaces, made.row.name);
        let rows = shown(&list(&store));
        let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == *id).cloned();
        let row_of_new = row(&new.id).unwrap();
        assert_eq!((&row_of_new["label"], row_of_new.get("ends")), (&json!("x"), None));
        assert_eq!(row_of_new["predecessor"], json!(made.row.name.id));
        let (ends, old) = match keep {
            0 => ("2026-01-31T12:00:00Z", None),
            _ => ("2026-02-01T12:00:00Z", Some((json!("1970-01-02T00:00:00Z"), json!(new.id)))),
        };
        let end = rotated.end.unwrap();
        assert_eq!((&*end.ends, end.revoked), (ends, false));
        let kept = row(&made.row.name.id);
        assert_eq!(kept.map(|row| (row["ends"].clone(), row["successor"].clone())), old);
    }
}

#[test]
fn an_end_is_not_put_off() {
    let store = MemoryStore::default();
    let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let first = rotate(&store, old.secret().unwrap(), 3_600).unwrap();
    for (keep, ends) in [(86_400, "2026-01-31T13:00:00Z"), (60, "2026-01-31T12:01:00Z")] {
        assert_eq!(rotate(&store, old.secret().unwrap(), keep).unwrap().end.unwrap().ends, ends);
    }
    let row = block_on(keys::get(&store, old.secret().unwrap())).unwrap().unwrap().note.unwrap();
    assert_eq!(row.ends.as_deref(), Some("2026-01-31T12:01:00Z"));
    assert_eq!(row.successor, Some(first.made.row.name.id));
}

/// The store of one operator, while another one revokes the key. `is_now` decides the moment by the name of a record that
/// is read or written.
struct Racing<'s> {
    store: &'s MemoryStore,
    key: &'s str,
    is_now: fn(&str, &str) -> bool,
    is_done: Cell<bool>,
}

impl Racing<'_> {
    async fn revoke_at(&self, work: &str, name: &str) {
        if !self.is_done.get() && (self.is_now)(work, name) {
            self.is_done.set(true);
            keys::revoke(
                self.store,
                None,
                &TestOperator::with(FixedEntropy([8; 32])).author(),
                self.key,
            )
            .await
            .unwrap();
        }
    }
}

impl Store for Racing<'_> {
    type Value = Vec<u8>;

    async fn get<K: Key>(
        &self,
        key: &K,
    ) -> Result<Option<Stored<Vec<u8>, K::Metadata>>, StoreError> {
        let found = self.store.get(key).await;
        self.revoke_at("get", &key.name()).await;
        found
    }

    async fn put<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
    ) -> Result<(), StoreError> {
        self.store.put(key, value, metadata).await?;
        self.revoke_at("put", &key.name()).await;
        Ok(())
    }
}

impl ListingStore for Racing<'_> {
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<Page, StoreError> {
        self.store.list(prefix, cursor).await
    }
}

impl OperatorStore for Racing<'_> {
    async fn get_values<K: Key>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.store.get_values(keys).await
    }

    async fn put_for<K: Key>(
        &self,
        key: &K,
        value: Vec<u8>,
        metadata: &K::Metadata,
        seconds: u32,
    ) -> Result<(), StoreError> {
        self.store.put_for(key, value, metadata, seconds).await
    }

    async fn remove<K: Key>(&self, key: &K) -> Result<(), StoreError> {
        OperatorStore::remove(self.store, key).await
    }

    async fn pause(&self, milliseconds: u32) {
        self.store.pause(milliseconds).await;
    }
}

#[test]
fn a_key_that_is_revoked_while_it_is_replaced_stays_revoked() {
    let moments: [fn(&str, &str) -> bool; 2] = [
        |work, name| work == "put" && name.starts_with("key:"), // the new key is written
        |work, name| work == "get" && name.starts_with("key:"), // the old key is read again
    ];
    for is_now in moments {
        let store = MemoryStore::default();
        let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
        let racing =
            Racing { store: &store, key: old.secret().unwrap(), is_now, is_done: Cell::default() };
        let test_operator = TestOperator::with(FixedEntropy([7; 32]));
        let rotated = block_on(keys::rotate(
            &racing,
            None,
            &test_operator.author(),
            old.secret().unwrap(),
            3_600,
        ))
        .unwrap();
        assert!(racing.is_done.get());
        let rotated = rotated.outcome;
        assert!(rotated.end.unwrap().revoked);
        assert_eq!(store.value(&name_of(old.secret().unwrap())), None);
        assert!(store.value(&name_of(rotated.made.secret().unwrap())).is_some());
    }
}

#[test]
fn a_key_is_not_replaced_by_one_that_cannot_work() {
    let store = MemoryStore::default();
    let record = r#"{"mode":"test","unit":"u"}"#;
    store.keep(&name("aa"), record.as_bytes(), b"null");
    store.keep(&name("bb"), b"{}", b"null");
    for (key, message) in [
        (
            "aa",
            "the record of the key aa0000000000 lacks the namespace's secret, without which a key \
             cannot create transactions: create a new key, and revoke this one",
        ),
        ("bb", "the record of the key bb0000000000 cannot be read: missing field `mode`"),
        ("cc", "there is no key cc0000000000: nothing was done"),
    ] {
        refused(rotate(&store, &name(key), 0), message);
    }
    assert_eq!(names(&store), [name("aa"), name("bb")]);
}

#[test]
fn the_new_key_works_where_the_end_of_the_old_one_could_not_be_written() {
    let store = MemoryStore::default();
    let old = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let before = store.value(&name_of(old.secret().unwrap())).unwrap();
    let prefix: &'static str = Box::leak(name_of(old.secret().unwrap()).into_boxed_str());
    store.set_unconfirmed(Some(prefix));
    let rotated = rotate(&store, old.secret().unwrap(), 60).unwrap();
    assert_eq!(rotated.end.unwrap_err(), OperatorError::Store(StoreError::Unavailable));
    assert_eq!(store.value(&name_of(rotated.made.secret().unwrap())).unwrap(), before);
}

// ---- Teams and the register --------------------------------------------------------------------

#[test]
fn a_team_is_a_record_for_each_unit() {
    let store = MemoryStore::default();
    let units = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let of = |team: &str| block_on(teams::get(&store, team)).unwrap().units;
    let key = make(&store, KeyRecord::new(Mode::Live, KeyLevel::Team("t".to_owned())));
    let key = key.secret().unwrap();
    let before = store.value(&name_of(key));
    let add = |team: &str, ids: &[&str]| {
        block_on(teams::add(&store, None, &test_operator().author(), team, &units(ids)))
    };
    let remove = |team: &str, ids: &[&str]| {
        block_on(teams::remove(&store, None, &test_operator().author(), team, &units(ids)))
    };
    store.set_page_length(2);
    add("t", &["a", "b:c", "d"]).unwrap();
    add("t2", &["a"]).unwrap();
    assert_eq!((of("t"), of("t2")), (units(&["a", "b:c", "d"]), units(&["a"])));
    let registered = json!({ "created": "2026-01-31T12:00:00.123Z", "by": "ada@example.org" });
    let mut expected = [json!({ "team": "t", "units": 3 }), json!({ "team": "t2", "units": 1 })];
    for row in &mut expected {
        row.as_object_mut().unwrap().extend(registered.as_object().unwrap().clone());
    }
    assert_eq!(
        shown(&block_on(teams::list(&store, usize::MAX, usize::MAX)).unwrap().0),
        json!(expected)
    );
    assert_eq!(store.metadata("unit:"), [registered.clone(), registered.clone(), registered]);
    remove("t", &["a", "b:c"]).unwrap();
    refused(remove("t", &["d", "a"]), "nothing was removed: `a` is not in the team `t` here");
    assert_eq!((of("t"), of("t2")), (units(&["d"]), units(&["a"])));
    assert_eq!(store.value(&name_of(key)), before, "no key is written again");
    refused(add("a:b", &["c"]), "`a:b` is not the ID of a team: write it without a colon");
    let no_id = "`c,d` is not an ID: write 1 to 128 ASCII characters without blanks, commas, double quotes and backslashes";
    refused(add("t", &["c,d"]), no_id);
}

#[test]
fn the_register_suggests_similar_ids() {
    let store = MemoryStore::default();
    let ids = ["shop-1", "shop-201", "web"].map(str::to_owned);
    block_on(register::add(&store, None, &test_operator().author(), &ids)).unwrap();
    for (id, known, suggestion) in [
        ("shop-1", true, None),
        ("shpo-1", false, Some("shop-1")),
        ("Shop-1", false, Some("shop-1")),
        ("shop-210", false, Some("shop-201")),
        ("wbe", false, Some("web")),
        ("w", false, None),
        ("till", false, None),
    ] {
        let unknown = shown(&block_on(register::look_up(&store, &[unit(id)])).unwrap());
        let expected = json!([{ "unit": id, "suggestion": suggestion }]);
        assert_eq!(unknown, if known { json!([]) } else { expected }, "{id}");
    }
    let both = [KeyLevel::Team("web".to_owned()), unit("web")];
    let unknown = shown(&block_on(register::look_up(&store, &both)).unwrap());
    assert_eq!(unknown, json!([{ "team": "web", "suggestion": null }]));
}

/// A page of a unit or team makes a limited number of calls, and says if they were not enough. If there are very many
/// units, it compares only one page of the IDs that begin like the given one.
#[test]
fn a_suggestion_costs_two_lists_and_a_page_of_names() {
    let store = MemoryStore::default();
    for number in 0..30 {
        store.keep(&format!("unit:shop-{number:02}"), b"{}", b"null");
        store.keep(&format!("unit:till-{number:02}"), b"{}", b"null");
    }
    store.set_page_length(40);
    let look_up = |ids: &[&str]| {
        let levels: Vec<_> = ids.iter().map(|id| unit(id)).collect();
        let unknown = block_on(register::look_up(&store, &levels)).unwrap();
        unknown.into_iter().map(|unknown| unknown.suggestion).collect::<Vec<_>>()
    };
    assert_eq!(look_up(&["tillx-29"]), [Some("till-29".to_owned())]);
    let lists = store.take_lists();
    let shown: Vec<_> = lists.iter().map(|list| (&*list.prefix, list.names)).collect();
    assert_eq!(shown, [("unit:", 40), ("unit:till", 30)]);
    assert_eq!(look_up(&["tlil-29"]), [None], "its beginning is that of no other");
    let many = ["tillx-29"; 30];
    store.take_lists();
    assert_eq!(look_up(&many).iter().flatten().count(), 10);
    assert_eq!(store.take_lists().len(), 20);
}

#[test]
fn the_keys_of_a_unit_or_a_team_and_the_teams_of_a_unit_are_picked_within_ten_pages() {
    let store = MemoryStore::default();
    let ada = test_operator();
    for (mode, level) in [(Mode::Test, unit("u")), (Mode::Live, unit("u")), (Mode::Live, team())] {
        block_on(keys::create(&store, None, &ada.author(), KeyRecord::new(mode, level))).unwrap();
    }
    store.keep(&name("aa"), b"{}", b"null");
    for (team, members) in [("t", ["u", "v"]), ("t2", ["u:v", "u"]), ("t3", ["v", "w"])] {
        let members = members.map(str::to_owned);
        block_on(teams::add(&store, None, &ada.author(), team, &members)).unwrap();
    }
    let keys_of = |level: &KeyLevel| {
        let (rows, more) = block_on(keys::list(&store, Some(level), MAX_PAGES)).unwrap();
        assert!(rows.iter().all(|row| row.note.as_ref().is_some_and(|it| it.level == *level)));
        (rows.len(), more)
    };
    let as_team = KeyLevel::Team("u".to_owned());
    assert_eq!(
        [unit("u"), team(), as_team].each_ref().map(keys_of),
        [(2, false), (1, false), (0, false)]
    );
    let teams_of = |unit| block_on(teams::of_unit(&store, unit)).unwrap();
    let both = ["t", "t2"].map(str::to_owned).to_vec();
    assert_eq!((teams_of("u"), teams_of("x")), ((both, false), (vec![], false)));
    for number in 0..9 {
        store.keep(&name(&format!("0{number}")), b"{}", b"null");
        store.keep(&format!("member:t4:{number}"), b"{}", b"null");
    }
    store.set_page_length(1);
    store.take_lists();
    assert!(keys_of(&unit("u")).1);
    assert_eq!(teams_of("u"), (vec!["t2".to_owned()], true), "`t:u` is listed after `t4:…`");
    assert_eq!(store.take_lists().len(), 20);
}

#[test]
fn the_last_backup_is_known() {
    let (store, test_operator) = (MemoryStore::default(), test_operator());
    assert_eq!(block_on(backups::last(&store)), Ok(None));
    for records in [7, 5_000_000_000] {
        let made =
            block_on(backups::record(&store, &test_operator.author(), BackupKey::Full, records))
                .unwrap();
        assert_eq!(block_on(backups::last(&store)), Ok(Some(made.clone())));
        let at = "2026-01-31T12:00:00.123Z";
        assert_eq!(shown(&made), json!({ "at": at, "records": records, "by": "ada@example.org" }));
    }
    let made = block_on(backups::record(&store, &test_operator.author(), BackupKey::Increment, 3))
        .unwrap();
    assert_eq!(block_on(backups::last_increment(&store)), Ok(Some(made)));
    assert_eq!(block_on(backups::last(&store)).unwrap().unwrap().records, 5_000_000_000);
    assert_eq!(store.names(), ["backup", "backup:increment"]);
}

// ---- Profiles ----------------------------------------------------------------------------------

fn profile(members: &Value) -> ProfileMembers {
    serde_json::from_value(members.clone()).unwrap()
}

#[test]
fn a_profile_becomes_a_record_of_its_unit() {
    let members = json!({ "name": "Nordwald", "accent": "#A03010", "language": "de",
        "logo": "https://nordwald.example/logo.svg", "link": "https://nordwald.example/",
        "mail": true, "replyTo": "hello@nordwald.example", "timeZone": "Europe/Berlin",
        "billingName": "Nordwald GmbH", "billingAddress": "Waldweg 1\n10115 Berlin", "taxText": "VAT DE123" });
    let store = MemoryStore::default();
    let row =
        block_on(units::set(&store, None, &test_operator().author(), "unit_1", profile(&members)));
    let row = row.unwrap().outcome;
    assert_eq!(shown(&row), json!({ "unit": "unit_1", "profile": members }));
    let mut kept = members.clone();
    kept["version"] = json!(VERSION);
    assert_eq!(changed(&store, "profile:unit_1"), kept);
    assert_eq!(shown(&block_on(units::get(&store, "unit_1")).unwrap()), shown(&row));
    let set = |members| {
        let set = block_on(units::set(&store, None, &test_operator().author(), "unit_1", members));
        shown(&set.unwrap().outcome)
    };
    let mut changed = shown(&row);
    changed["profile"]["name"] = json!("Südwald");
    assert_eq!(set(profile(&json!({ "name": "Südwald" }))), changed, "the name only");
    let unset = |members: &[Member]| {
        block_on(units::unset(&store, None, &test_operator().author(), "unit_1", members))
    };
    changed["profile"]
        .as_object_mut()
        .unwrap()
        .retain(|member, _| member == "name" || member == "link");
    set(profile(&json!({ "mail": false })));
    let optional = [
        Member::Accent,
        Member::Logo,
        Member::Language,
        Member::ReplyTo,
        Member::TimeZone,
        Member::BillingName,
        Member::BillingAddress,
        Member::TaxText,
    ];
    let without = unset(&optional).unwrap().outcome;
    assert_eq!(shown(&without), changed);
    assert_eq!(shown(&block_on(units::get(&store, "unit_1")).unwrap()), changed);
    assert!(
        block_on(units::remove(&store, None, &test_operator().author(), "unit_1")).unwrap().outcome
    );
    assert!(unset(&[Member::Link]).unwrap().outcome.is_none());
    assert!(
        !block_on(units::remove(&store, None, &test_operator().author(), "unit_1"))
            .unwrap()
            .outcome
    );
    assert!(block_on(units::get(&store, "unit_1")).unwrap().is_none());
}

#[test]
fn a_wrong_profile_is_refused_in_words() {
    let store = MemoryStore::default();
    for (unit, members, message) in [
        (
            "a b",
            json!({ "name": "N" }),
            "`a b` is not an ID: write 1 to 128 ASCII characters without blanks, commas, double quotes and backslashes",
        ),
        (
            "u",
            json!({ "name": "" }),
            "`name` must be one line of 1 to 80 characters, at least one of them visible, without characters that change the direction of text",
        ),
        (
            "u",
            json!({ "accent": "#000000" }),
            "the unit `u` has no profile yet: give it a name with `--name`",
        ),
        (
            "u",
            json!({ "name": "N", "logo": "http://l.example" }),
            "`logo` and `link` must start with `https://`, without a user name, and have at most 2,048 bytes",
        ),
        (
            "u",
            json!({ "name": "N", "accent": "red" }),
            "`accent` must be a colour, such as `#2c6a4a`",
        ),
        (
            "u",
            json!({ "name": "N", "language": "no" }),
            "`language` must be one of da, de, en, es, fr, it, ja, nl, pl, pt, sv, zh",
        ),
        (
            "u",
            json!({ "name": "N", "replyTo": "Ada <ada@shop.example>" }),
            "`reply-to` must be an e-mail address, such as `hello@shop.example`",
        ),
        (
            "u",
            json!({ "name": "N", "timeZone": "Mars/Olympus" }),
            "`time-zone` must be a time zone of the IANA database, such as `Europe/Berlin`",
        ),
    ] {
        refused(
            block_on(units::set(&store, None, &test_operator().author(), unit, profile(&members))),
            message,
        );
    }
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn units_are_listed_also_those_that_cannot_be_read() {
    let store = MemoryStore::default();
    store.set_page_length(2);
    for (name, record) in [
        ("profile:a", "{\"name\":\"A\",\"slogan\":1}"),
        ("profile:b", "{}"),
        ("profile:c", "{\"name\":\"C\"}"),
        ("unit:c", "{}"),
        ("unit:d", "{}"),
        ("catalogue:test", "{}"),
    ] {
        let metadata = json!({ "created": "then", "by": "ada" }).to_string();
        let metadata = if name == "unit:c" { &metadata } else { "null" };
        store.keep(name, record.as_bytes(), metadata.as_bytes());
    }
    let rows = shown(&block_on(units::list(&store, usize::MAX)).unwrap().0);
    assert_eq!(rows.as_array().unwrap().len(), 4);
    assert_eq!(rows[3], json!({ "unit": "d" }));
    assert_eq!(rows[0], json!({ "unit": "a", "profile": { "name": "A" } }));
    assert_eq!(rows[1]["unit"], "b");
    assert!(rows[1]["problem"].as_str().unwrap().starts_with("`name` must be"));
    assert_eq!(
        rows[2],
        json!({ "unit": "c", "profile": { "name": "C" }, "created": "then", "by": "ada" })
    );
}

// ---- Prices ------------------------------------------------------------------------------------

#[track_caller]
fn price_list(text: &Value) -> PriceList {
    parse(text.to_string().as_bytes()).unwrap()
}

#[test]
fn a_price_list_is_stored_as_the_service_reads_it_and_kept() {
    let meant = json!({ "currencyCode": "GBP", "unitPrices": { "tree": "0.50" } });
    let store = MemoryStore::default();
    assert_eq!(block_on(prices::get(&store, Mode::Test)), Ok(None));
    let edit = Edit::All(price_list(&meant));
    let time =
        block_on(prices::set(&store, None, &test_operator().author(), Mode::Live, &edit, None))
            .unwrap()
            .outcome;
    assert_eq!(time, "2026-01-31T12:00:00.123Z");
    let list = format!("prices:live:{time}");
    assert_eq!(names(&store), ["catalogue:live", &list]);
    let mut kept = meant;
    kept["prices"] = json!(time);
    assert_eq!(shown(&block_on(prices::get(&store, Mode::Live)).unwrap()), kept);
    kept["version"] = json!(VERSION);
    assert_eq!((changed(&store, "catalogue:live"), stored(&store, &list)), (kept.clone(), kept));
    let written = json!({ "created": time, "by": "ada@example.org" });
    assert_eq!(store.metadata("prices:"), [written]);
    store.keep("catalogue:test", b"{}", b"null");
    let problem =
        "the stored price list is damaged: missing field `currencyCode` at line 1 column 2";
    refused(block_on(prices::get(&store, Mode::Test)), problem);
    let now = block_on(prices::current(&store, Mode::Test)).unwrap();
    assert_eq!(now.compare(&PriceList::default()).risks, [problem]);
}

#[test]
fn the_effect_of_new_prices_is_shown_before_and_after() {
    let store = MemoryStore::default();
    let price = |offering: &str, from: Value, to: Value| json!({ "offering": offering, "from": from, "to": to });
    let lists = [
        (
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "kg": "1.25" } }),
            json!({ "currency": null, "risks": [], "prices":
                [price("kg", json!(null), json!("1.25")), price("tree", json!(null), json!("0.50"))] }),
        ),
        (
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.55", "kg": "1.25" } }),
            json!({ "currency": null, "risks": [], "prices": [price("tree", json!("0.50"), json!("0.55"))] }),
        ),
        (
            json!({ "currencyCode": "EUR", "unitPrices": { "kg": "1.25", "tre": "0.55" } }),
            json!({ "currency": ["USD", "EUR"],
                "risks": ["the currency changes from USD to EUR", "offerings that lose their price: 1"],
                "prices": [price("tre", json!(null), json!("0.55")), price("tree", json!("0.55"), json!(null))] }),
        ),
    ];
    let test_operator = test_operator();
    for (number, (file, change)) in (0..).zip(&lists) {
        let new = price_list(file);
        test_operator.clock.0.set(NOW_MS + number);
        let now = block_on(prices::current(&store, Mode::Live)).unwrap();
        assert_eq!(&shown(&now.compare(&new)), change);
        block_on(prices::set(
            &store,
            None,
            &test_operator.author(),
            Mode::Live,
            &Edit::All(new),
            None,
        ))
        .unwrap();
    }
    store.set_page_length(2);
    let history =
        shown(&block_on(prices::history(&store, Mode::Live, usize::MAX, usize::MAX)).unwrap());
    let listed = |(number, (_, change)): (u64, &(Value, Value))| {
        let time = format!("2026-01-31T12:00:00.{}Z", 123 + number);
        json!({ "mode": "live", "time": time, "by": "ada@example.org", "change": change })
    };
    assert_eq!(history, (0..).zip(&lists).map(listed).collect::<Value>());
    assert_eq!(block_on(prices::history(&store, Mode::Test, usize::MAX, usize::MAX)), Ok(vec![]));

    let with = |mode, price: &str| {
        block_on(prices::current(&store, mode))
            .unwrap()
            .with(&Edit::Set { offering: "tree".to_owned(), price: price.to_owned() })
    };
    let one = with(Mode::Live, "0.60").unwrap();
    assert_eq!(shown(&one.unit_prices), json!({ "kg": "1.25", "tre": "0.55", "tree": "0.60" }));
    refused(with(Mode::Live, "-1"), "`-1` is not a price: write a plain decimal such as `0.50`");
    refused(
        with(Mode::Test, "1"),
        "test keys have no prices yet: set a whole price list first, which has the currency",
    );
}

#[test]
fn a_price_list_has_a_bound() {
    refused(
        parse(b"{\"currencyCode\":\"\xff\"}"),
        "this is not UTF-8 text: check byte 17, and save the file as UTF-8",
    );
    let prices: String = (0..60_000).map(|offering| format!("\"{offering}\":\"0.00\",")).collect();
    let text = format!("{{\"currencyCode\":\"USD\",\"unitPrices\":{{{prices}\"x\":\"1\"}}}}");
    assert_eq!(parse(text.as_bytes()).unwrap().unit_prices.len(), 60_001);
    let padded = format!("{text}{}", " ".repeat(1024 * 1024));
    let length = padded.len();
    refused(
        parse(padded.as_bytes()),
        &format!(
            "a price list may have 1048576 bytes, but this one has {length}: leave out offerings that cost \
             nothing"
        ),
    );
}

// ---- Development data --------------------------------------------------------------------------

#[test]
fn the_development_data_are_those_of_the_documents() {
    let store = MemoryStore::default();
    let keys = block_on(seed::seed(&store)).unwrap();
    assert_eq!(
        keys.iter().map(|row| &*row.key).collect::<Vec<_>>(),
        [
            "service_sk_test_dev_unit",
            "service_sk_live_dev_unit",
            "service_sk_test_dev_unit_two",
            "service_sk_test_dev_team",
            "service_sk_live_dev_team",
        ]
    );
    assert_eq!(
        names(&store).len(),
        keys.len() + 9,
        "with prices of both modes, the secret, a profile, a team of two units, and the register"
    );
    for row in &keys {
        let text = store.value(&name_of(&row.key)).unwrap();
        let mut record: KeyRecord = serde_json::from_str(&text).unwrap();
        assert!(record.secret.take().is_some());
        assert_eq!(record, row.record);
        assert!(row.key.starts_with(record.mode.key_prefix()));
    }
    assert!(list(&store).iter().all(|row| row.problem.is_none()));
    for name in ["catalogue:test", "catalogue:live"] {
        assert_eq!(
            stored(&store, name),
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" }, "version": VERSION })
        );
    }
}

#[test]
fn the_demo_is_written_once_with_prices_that_rose_and_a_month_that_is_paid() {
    let store = MemoryStore::default();
    let TestOperator { clock, entropy } = test_operator();
    block_on(seed::seed(&store)).unwrap();
    let today = store.value("catalogue:live");
    let write = || block_on(demo::seed(&store, &clock, &entropy, "http://127.0.0.1:8787"));
    assert!(write().unwrap());
    let written = store.names();
    let count = |prefix: &str| written.iter().filter(|name| name.starts_with(prefix)).count();
    let counts = ["transaction:", "erased:", "prices:", "settlement:", "mail-failed:"].map(count);
    assert_eq!(counts, [60, 1, 4, 1, 1]);
    assert!(written.contains(&"settlement:live:unit_dev:2025-12".to_owned()));
    let prices = |text: Option<String>| serde_json::from_str::<PriceList>(&text.unwrap()).unwrap();
    assert_eq!(prices(store.value("catalogue:live")).unit_prices, prices(today).unit_prices);

    store.edit("catalogue:test", |text| text.replace("0.50", "7"));
    let (mine, before) = (store.value("catalogue:test"), store.names());
    assert!(!write().unwrap());
    assert_eq!((store.value("catalogue:test"), store.names()), (mine, before));
}

#[test]
fn seeding_keeps_changes_of_developers() {
    let store = MemoryStore::default();
    store.keep("catalogue:test", b"mine", b"null");
    block_on(seed::seed(&store)).unwrap();
    assert_eq!(store.value("catalogue:test").unwrap(), "mine");
    let seeded = names(&store);
    let values: Vec<_> = seeded.iter().map(|name| store.value(name)).collect();
    block_on(seed::seed(&store)).unwrap();
    assert_eq!(
        (names(&store), seeded.iter().map(|name| store.value(name)).collect()),
        (seeded.clone(), values)
    );
}

#[test]
fn a_store_that_fails_is_said_to() {
    let store = MemoryStore::default();
    store.set_broken(true);
    let failure = OperatorError::Store(StoreError::Unavailable);
    assert_eq!(block_on(keys::list(&store, None, usize::MAX)).unwrap_err(), failure);
    assert_eq!(block_on(units::list(&store, usize::MAX)).unwrap_err(), failure);
    assert_eq!(block_on(prices::get(&store, Mode::Test)).unwrap_err(), failure);
    assert_eq!(block_on(seed::seed(&store)).unwrap_err(), failure);
}
