//! Keys, prices and profiles, as an operator manages them.

use futures_executor::block_on;
use impact_pledge::auth::{ApiKey, KeyLevel, KeyRecord};
use impact_pledge::handle::Entropy;
use impact_pledge::operator::audit::{self, Author};
use impact_pledge::operator::keys::{self, KeyRow, MadeKey, Rotated};
use impact_pledge::operator::prices::parse;
use impact_pledge::operator::units;
use impact_pledge::operator::{OperatorError, prices, seed};
use impact_pledge::scope::Mode;
use impact_pledge::store::StoreError;
use impact_pledge::timeline::NewProfile;
use impact_pledge::version::VERSION;
use serde_json::{Value, json};
use std::fmt::Debug;
use support::memory::MemoryStore;
use support::service::{Desk, NOW_MS, desk, team, unit};

#[track_caller]
fn refused(outcome: Result<impl Debug, OperatorError>, message: &str) {
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

fn shown(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// A record as it is stored.
#[track_caller]
fn stored(store: &MemoryStore, name: &str) -> Value {
    serde_json::from_str(&store.value(name).unwrap_or_else(|| panic!("no `{name}`"))).unwrap()
}

/// The names of all records but those of the record of changes.
fn names(store: &MemoryStore) -> Vec<String> {
    store.names().into_iter().filter(|name| !name.starts_with("audit:")).collect()
}

// ---- The record of changes ---------------------------------------------------------------------

#[test]
fn a_change_is_recorded_first_and_otherwise_not_made() {
    let store = MemoryStore::default();
    let desk = desk();
    let ada = desk.author();
    let catalogue = parse(br#"{"currencyCode":"USD","unitPrices":{}}"#).unwrap();
    let profile = || profile(&json!({ "name": "N" }));
    let record = KeyRecord::new(Mode::Live, unit("u"));
    let key = block_on(keys::create(&store, &ada, record.clone())).unwrap().row.name;
    let next = block_on(keys::rotate(&store, &ada, &key.name, 60)).unwrap().made.row.name;
    block_on(prices::set(&store, &ada, Mode::Live, &catalogue)).unwrap();
    block_on(units::set(&store, &ada, "u", profile())).unwrap();
    desk.clock.0.set(NOW_MS + 1);
    block_on(keys::revoke(&store, &ada, &key.name)).unwrap();
    block_on(units::remove(&store, &ada, "u")).unwrap();
    let mut expected = json!([
        { "command": "keys create", "on": [&key.id] },
        { "command": "keys rotate", "on": [&key.id, &next.id] },
        { "command": "catalogue set", "on": ["catalogue:live"] },
        { "command": "units set", "on": ["u"] },
        { "command": "keys revoke", "on": [&key.id] },
        { "command": "units remove", "on": ["u"] },
    ]);
    for (index, change) in expected.as_array_mut().unwrap().iter_mut().enumerate() {
        change["by"] = json!("ada@example.org");
        change["at"] = json!(format!("2026-01-31T12:00:00.12{}Z", if index < 4 { 3 } else { 4 }));
    }
    let since = |time_ms| shown(&block_on(audit::since(&store, time_ms)).unwrap());
    let sorted = |list: Value| {
        let mut list: Vec<_> = list.as_array().unwrap().iter().map(Value::to_string).collect();
        list.sort();
        list
    };
    assert_eq!(sorted(since(0)), sorted(expected.clone()));
    assert_eq!(sorted(since(NOW_MS + 1)), sorted(json!(&expected.as_array().unwrap()[4..])));
    assert_eq!(since(0)[0]["at"], "2026-01-31T12:00:00.124Z", "the newest first");

    store.set_failing(Some("audit:"));
    let before = names(&store);
    let failure = OperatorError::Store(StoreError::Unavailable);
    assert_eq!(block_on(keys::create(&store, &ada, record)).unwrap_err(), failure);
    assert_eq!(block_on(keys::rotate(&store, &ada, &next.name, 0)).unwrap_err(), failure);
    assert_eq!(block_on(keys::revoke(&store, &ada, &next.name)).unwrap_err(), failure);
    assert_eq!(block_on(prices::set(&store, &ada, Mode::Test, &catalogue)), Err(failure.clone()));
    assert_eq!(block_on(units::set(&store, &ada, "v", profile())).unwrap_err(), failure);
    assert_eq!(names(&store), before);
    for wrong in ["", "a\u{1b}b", &"é".repeat(41)] {
        let problem =
            "this is not the name of who changes records: give one line of 1 to 80 bytes by `--by`";
        refused(Author::new(wrong, &desk.clock, &desk.entropy).map(drop), problem);
    }
}

// ---- New keys ----------------------------------------------------------------------------------

/// What it would draw next is these bytes alone.
struct FixedEntropy([u8; 32]);

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.iter_mut().zip(self.0).for_each(|(byte, drawn)| *byte = drawn);
    }
}

#[track_caller]
fn make(store: &MemoryStore, record: KeyRecord) -> MadeKey {
    block_on(keys::create(store, &desk().author(), record)).unwrap()
}

fn name_of(key: &str) -> String {
    format!("key:{}", ApiKey::new(key).hash().to_hex())
}

#[test]
fn a_new_key_is_kept_as_a_hash_and_what_it_may_do() {
    for (mode, level, label, record, prefix) in [
        (
            Mode::Test,
            unit("u"),
            "",
            json!({ "mode": "test", "level": "unit", "unitId": "u", "label": "" }),
            "service_sk_test_",
        ),
        (
            Mode::Live,
            team(),
            "é",
            json!({ "mode": "live", "level": "team", "teamId": "team_dev",
                    "unitIds": ["unit_dev", "unit_dev_two"], "label": "é" }),
            "service_sk_live_",
        ),
    ] {
        let store = MemoryStore::default();
        let made =
            make(&store, KeyRecord { label: label.to_owned(), ..KeyRecord::new(mode, level) });
        let key = &made.key;
        assert!(key.starts_with(prefix), "`{key}`");
        assert_eq!(key.len(), prefix.len() + 40, "200 bits in base 32");
        assert_eq!(names(&store), [&*name_of(key), "secret"]);
        let mut kept = stored(&store, &name_of(key));
        assert!(!kept.to_string().contains(key.as_str()));
        let members = kept.as_object_mut().unwrap();
        assert_eq!(members.remove("version"), Some(json!(VERSION)));
        assert_eq!(members.remove("secret"), Some(stored(&store, "secret")["secret"].clone()));
        members.entry("label").or_insert(json!(""));
        assert_eq!(kept, record);
        let row = shown(&made.row);
        assert!(name_of(key)[4..].starts_with(row["id"].as_str().unwrap()));
        assert_eq!((&row["name"], &row["mode"]), (&json!(name_of(key)), &record["mode"]));
    }
}

/// The secret is made with the first key, each key has a copy, and nothing that is shown has.
#[test]
fn all_keys_of_a_namespace_have_one_secret() {
    let store = MemoryStore::default();
    let first = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let secret = stored(&store, "secret");
    assert_eq!(secret["version"], VERSION);
    let text = secret["secret"].as_str().unwrap().to_owned();
    assert_eq!(text.len(), 64);
    let other = Desk::with(FixedEntropy([9; 32]));
    let second =
        block_on(keys::create(&store, &other.author(), KeyRecord::new(Mode::Live, unit("v"))))
            .unwrap();
    for key in [&first, &second] {
        assert_eq!(stored(&store, &name_of(&key.key))["secret"], *text);
        assert!(!shown(key).to_string().contains(&text));
    }
    let rows = block_on(keys::list(&store)).unwrap();
    assert!(rows.iter().all(|row| row.problem.is_none()) && rows.len() == 2);
    assert!(!shown(&rows).to_string().contains(&text));
    // Where its record is not seen, a key has a copy.
    store.remove("secret");
    store.keep(&format!("key:{}", "0".repeat(64)), b"{}", b"null");
    block_on(keys::create(
        &store,
        &Desk::with(FixedEntropy([8; 32])).author(),
        KeyRecord::new(Mode::Test, unit("w")),
    ))
    .unwrap();
    assert_eq!(stored(&store, "secret"), secret);
}

#[test]
fn a_damaged_secret_is_not_replaced() {
    let store = MemoryStore::default();
    store.keep("secret", b"{}", b"null");
    let made =
        block_on(keys::create(&store, &desk().author(), KeyRecord::new(Mode::Test, unit("u"))));
    refused(made, "the stored secret is damaged: missing field `secret` at line 1 column 2");
    assert_eq!(names(&store), ["secret"]);
}

#[test]
fn every_random_bit_is_in_the_key() {
    let store = MemoryStore::default();
    make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let mut keys: Vec<String> = (0..200)
        .map(|bit| {
            let mut random = [0; 32];
            random[bit / 8] = 1 << (bit % 8);
            let desk = Desk::with(FixedEntropy(random));
            block_on(keys::create(&store, &desk.author(), KeyRecord::new(Mode::Test, unit("u"))))
                .unwrap()
                .key
        })
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 200);
}

#[test]
fn a_key_that_cannot_work_is_not_made() {
    let no_id = "is not an ID: write 1 to 128 ASCII characters without blanks and commas";
    let no_label = "the label is out of bounds: write one line of at most 100 characters";
    let long = "u".repeat(129);
    let teams = |team_id: &str, units: &[&str]| KeyLevel::Team {
        team_id: team_id.to_owned(),
        unit_ids: units.iter().map(|unit| (*unit).to_owned()).collect(),
    };
    let store = MemoryStore::default();
    for (level, label, message) in [
        (unit(""), "", format!("`` {no_id}")),
        (unit("a b"), "", format!("`a b` {no_id}")),
        (unit(&long), "", format!("`{long}` {no_id}")),
        (teams("t", &["u", "v w"]), "", format!("`v w` {no_id}")),
        (teams("t", &[]), "", "a team has 1 to 1000 units, not 0".to_owned()),
        (teams("t", &["u"; 1_001]), "", "a team has 1 to 1000 units, not 1001".to_owned()),
        (unit("u"), &*"l".repeat(101), no_label.to_owned()),
        (unit("u"), "a\nb", no_label.to_owned()),
    ] {
        let record = KeyRecord { label: label.to_owned(), ..KeyRecord::new(Mode::Test, level) };
        refused(block_on(keys::create(&store, &desk().author(), record)), &message);
    }
    assert_eq!(names(&store), [""; 0]);
}

// ---- The list ----------------------------------------------------------------------------------

fn name(first: &str) -> String {
    format!("key:{first:0<64}")
}

#[track_caller]
fn list(store: &MemoryStore) -> Vec<KeyRow> {
    block_on(keys::list(store)).unwrap()
}

#[test]
fn the_list_shows_what_each_key_may_do() {
    let unit = r#"{"mode":"test","level":"unit","unitId":"u"}"#;
    let team =
        r#"{"mode":"live","level":"team","teamId":"t","unitIds":["u","v"],"label":"both shops"}"#;
    let store = MemoryStore::default();
    assert_eq!(shown(&list(&store)), json!([]));
    for (name, record) in [
        (name("aa"), unit),
        (name("bb"), team),
        (name("cc"), "{}"),
        ("key:short".to_owned(), unit),
        ("transaction:1".to_owned(), unit),
        (format!("key:{}", "A".repeat(64)), unit),
    ] {
        store.keep(&name, record.as_bytes(), b"null");
    }
    let rows = [
        json!({ "id": "aa0000000000", "name": name("aa"), "mode": "test", "level": "unit", "unitId": "u" }),
        json!({ "id": "bb0000000000", "name": name("bb"), "mode": "live", "level": "team", "teamId": "t",
          "unitIds": ["u", "v"], "label": "both shops" }),
        json!({ "id": "cc0000000000", "name": name("cc"), "problem": "missing field `mode`" }),
    ];
    assert_eq!(shown(&list(&store)), json!(rows));
}

#[test]
fn keys_of_many_pages_are_listed_and_read_a_hundred_at_once() {
    let store = MemoryStore::default();
    store.set_page_length(150); // of which 100 are read by a first call
    for number in 0..320 {
        let record = json!({ "mode": "test", "level": "unit", "unitId": format!("u{number}") });
        store.keep(&name(&format!("{number:03}")), record.to_string().as_bytes(), b"null");
    }
    let rows = list(&store);
    assert_eq!(rows.len(), 320);
    assert!(rows.windows(2).all(|pair| pair[0].name.name < pair[1].name.name));
    assert_eq!(
        store.take_lists().iter().map(|list| list.names).collect::<Vec<_>>(),
        [150, 150, 20]
    );
}

/// Two operators who make the first two keys at the same time can make two secrets.
#[test]
fn a_key_with_another_secret_is_pointed_out() {
    let store = MemoryStore::default();
    let made = make(&store, KeyRecord::new(Mode::Test, unit("u")));
    let other = "08".repeat(32);
    for (first, members) in [("aa", json!({ "secret": other })), ("bb", json!({}))] {
        let mut record = json!({ "mode": "test", "level": "unit", "unitId": "u" });
        record.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        store.keep(&name(first), record.to_string().as_bytes(), b"null");
    }
    let problems: Vec<_> =
        list(&store).into_iter().map(|row| (row.name.name, row.problem.is_some())).collect();
    let mut expected = vec![(name("aa"), true), (name("bb"), true), (name_of(&made.key), false)];
    expected.sort();
    assert_eq!(problems, expected);
    assert!(!shown(&list(&store)).to_string().contains(&other));
}

// ---- One key -----------------------------------------------------------------------------------

const KEY: &str = "service_sk_test_dev_unit";
const KEY_HASH: &str = "d4f722b49dea368c4dceef633b3f37542d192a3d0841798b01658e590581cb2e";

/// A store with that key, another whose ID begins almost the same, and a third.
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
        let revoked = block_on(keys::revoke(&store, &desk().author(), wanted)).unwrap();
        let row = json!({ "id": &KEY_HASH[..12], "name": name, "found": true });
        assert_eq!(shown(&revoked), row);
        assert_eq!((store.take_lists(), store.value(&name)), (vec![], None));
        assert!(
            !block_on(keys::revoke(&store, &desk().author(), wanted)).unwrap().found,
            "once more"
        );
        assert_eq!(names(&store).len(), 2);
    }
}

#[test]
fn an_id_is_looked_for_among_the_names_that_begin_so() {
    let store = three_keys();
    let revoked = block_on(keys::revoke(&store, &desk().author(), &KEY_HASH[..13])).unwrap();
    assert_eq!(revoked.name.name, format!("key:{KEY_HASH}"));
    assert_eq!(names(&store), [name("aa"), name("d4f722b49dea0")]);
    let prefix = format!("key:{}", &KEY_HASH[..13]);
    assert_eq!(store.take_lists(), [support::memory::Listing { prefix, names: 1 }]);
}

#[test]
fn what_names_no_key_or_several_is_refused() {
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
             minute: give the key itself or its whole hash, and no list is needed",
        ),
        ("aa", no_id),
        ("AA0000000000", no_id),
        (&KEY_HASH.to_uppercase(), no_id),
        ("", no_id),
        ("key:aa0000000000", no_id),
        (&"a".repeat(65), no_id),
        ("sk_live_of_another_service", no_id),
    ] {
        refused(block_on(keys::revoke(&store, &desk().author(), wanted)), message);
        refused(rotate(&store, wanted, 0), message);
    }
    assert_eq!(names(&store).len(), 3);
}

// ---- Rotation ----------------------------------------------------------------------------------

fn rotate(store: &MemoryStore, key: &str, keep: u32) -> Result<Rotated, OperatorError> {
    block_on(keys::rotate(store, &Desk::with(FixedEntropy([7; 32])).author(), key, keep))
}

#[test]
fn a_key_that_replaces_another_may_do_the_same() {
    for keep in [0, 86_400] {
        let store = MemoryStore::default();
        let made =
            make(&store, KeyRecord { label: "x".to_owned(), ..KeyRecord::new(Mode::Live, team()) });
        store.edit(&name_of(&made.key), |text| text.replacen('{', "{\"later\": [1], ", 1));
        let before = store.value(&name_of(&made.key)).unwrap();
        let rotated = rotate(&store, &made.key, keep).unwrap();
        assert_eq!(rotated.ended, Ok(()));
        assert_eq!(store.value(&name_of(&rotated.made.key)).unwrap(), before, "as it was spelled");
        assert_eq!(rotated.replaces.name, made.row.name);
        let rows = list(&store);
        let ends = |key: &str| {
            let row = rows.iter().find(|row| row.name.name == name_of(key));
            row.map(|row| row.ends.clone())
        };
        assert_eq!(ends(&rotated.made.key), Some(None), "without an end");
        let (end, old) = match keep {
            0 => ("2026-01-31T12:00:00Z", None),
            _ => ("2026-02-01T12:00:00Z", Some(Some("1970-01-02T00:00:00Z".to_owned()))),
        };
        assert_eq!((&*rotated.replaces.ends, ends(&made.key)), (end, old));
    }
}

#[test]
fn a_key_is_not_replaced_by_one_that_cannot_work() {
    let store = MemoryStore::default();
    let record = r#"{"mode":"test","level":"unit","unitId":"u"}"#;
    store.keep(&name("aa"), record.as_bytes(), b"null");
    store.keep(&name("bb"), b"{}", b"null");
    for (key, message) in [
        (
            "aa",
            "the record of the key aa0000000000 lacks the namespace's secret, without which a key \
             cannot create: make a new key, and revoke this one",
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
    let before = store.value(&name_of(&old.key)).unwrap();
    let prefix: &'static str = Box::leak(name_of(&old.key).into_boxed_str());
    store.set_unconfirmed(Some(prefix));
    let rotated = rotate(&store, &old.key, 60).unwrap();
    assert_eq!(rotated.ended, Err(StoreError::Unavailable));
    assert_eq!(store.value(&name_of(&rotated.made.key)).unwrap(), before);
}

// ---- Profiles ----------------------------------------------------------------------------------

fn profile(members: &Value) -> NewProfile {
    serde_json::from_value(members.clone()).unwrap()
}

#[test]
fn a_profile_becomes_a_record_of_its_unit() {
    let members = json!({ "name": "Nordwald", "accent": "#A03010", "language": "de",
        "logo": "https://nordwald.example/logo.svg", "link": "https://nordwald.example/" });
    let store = MemoryStore::default();
    let row = block_on(units::set(&store, &desk().author(), "unit_1", profile(&members))).unwrap();
    assert_eq!(shown(&row), json!({ "unit": "unit_1", "profile": members }));
    let mut kept = members.clone();
    kept["version"] = json!(VERSION);
    assert_eq!(stored(&store, "profile:unit_1"), kept);
    assert_eq!(shown(&block_on(units::get(&store, "unit_1")).unwrap()), shown(&row));
    assert!(block_on(units::remove(&store, &desk().author(), "unit_1")).unwrap());
    assert!(!block_on(units::remove(&store, &desk().author(), "unit_1")).unwrap());
    assert!(block_on(units::get(&store, "unit_1")).unwrap().is_none());
}

#[test]
fn a_wrong_profile_is_refused_in_words() {
    let store = MemoryStore::default();
    for (unit, members, message) in [
        (
            "a b",
            json!({ "name": "N" }),
            "`a b` is not an ID: write 1 to 128 ASCII characters without blanks and commas",
        ),
        (
            "u",
            json!({ "name": "" }),
            "`name` is out of bounds: write one line of 1 to 80 characters, not all of them invisible, none of which turns the direction of text",
        ),
        (
            "u",
            json!({ "name": "N", "logo": "http://l.example" }),
            "`logo` and `link` are addresses: write `https://…` without a user, at most 2,048 bytes",
        ),
        (
            "u",
            json!({ "name": "N", "accent": "red" }),
            "`accent` is no colour: write it as `#2c6a4a`",
        ),
        (
            "u",
            json!({ "name": "N", "language": "no" }),
            "`language` is none of da, de, en, es, fr, it, ja, nl, pl, pt, sv, zh",
        ),
    ] {
        refused(block_on(units::set(&store, &desk().author(), unit, profile(&members))), message);
    }
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn profiles_are_listed_also_those_that_cannot_be_read() {
    let store = MemoryStore::default();
    store.set_page_length(2);
    for (name, record) in [
        ("profile:a", "{\"name\":\"A\",\"slogan\":1}"),
        ("profile:b", "{}"),
        ("profile:c", "{\"name\":\"C\"}"),
        ("catalogue:test", "{}"),
    ] {
        store.keep(name, record.as_bytes(), b"null");
    }
    let rows = shown(&block_on(units::list(&store)).unwrap());
    assert_eq!(rows.as_array().unwrap().len(), 3);
    assert_eq!(rows[0], json!({ "unit": "a", "profile": { "name": "A" } }));
    assert_eq!(rows[1]["unit"], "b");
    assert!(rows[1]["problem"].as_str().unwrap().starts_with("`name` is out of bounds"));
    assert_eq!(rows[2]["unit"], "c");
}

// ---- Prices ------------------------------------------------------------------------------------

#[test]
fn a_catalogue_is_stored_as_the_service_reads_it() {
    let meant = json!({ "currencyCode": "GBP", "unitPrices": { "tree": "0.50" } });
    let catalogue = parse(meant.to_string().as_bytes()).unwrap();
    let store = MemoryStore::default();
    assert_eq!(block_on(prices::get(&store, Mode::Test)), Ok(None));
    block_on(prices::set(&store, &desk().author(), Mode::Live, &catalogue)).unwrap();
    assert_eq!(names(&store), ["catalogue:live"]);
    let mut kept = meant.clone();
    kept["version"] = json!(VERSION);
    assert_eq!(stored(&store, "catalogue:live"), kept);
    assert_eq!(block_on(prices::get(&store, Mode::Live)), Ok(Some(catalogue)));
    store.keep("catalogue:test", b"{}", b"null");
    refused(
        block_on(prices::get(&store, Mode::Test)),
        "the stored catalogue is damaged: missing field `currencyCode` at line 1 column 2",
    );
}

#[test]
fn a_catalogue_has_a_bound() {
    refused(
        parse(b"{\"currencyCode\":\"\xff\"}"),
        "this is not UTF-8 text: look at byte 17, and save it as UTF-8",
    );
    let prices: String = (0..60_000).map(|offering| format!("\"{offering}\":\"0.00\",")).collect();
    let text = format!("{{\"currencyCode\":\"USD\",\"unitPrices\":{{{prices}\"x\":\"1\"}}}}");
    assert_eq!(parse(text.as_bytes()).unwrap().unit_prices.len(), 60_001);
    let padded = format!("{text}{}", " ".repeat(1024 * 1024));
    let length = padded.len();
    refused(
        parse(padded.as_bytes()),
        &format!(
            "a catalogue may have 1048576 bytes, this has {length}: leave out offerings that cost \
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
        keys.len() + 4,
        "with prices of both modes, the secret, and a profile"
    );
    for row in &keys {
        let text = store.value(&name_of(&row.key)).unwrap();
        let mut record: KeyRecord = serde_json::from_str(&text).unwrap();
        assert!(record.secret.take().is_some());
        assert_eq!(record, row.record);
        assert!(row.key.starts_with(record.mode.key_prefix()));
    }
    for name in ["catalogue:test", "catalogue:live"] {
        assert_eq!(
            stored(&store, name),
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" }, "version": VERSION })
        );
    }
}

#[test]
fn what_a_developer_changed_is_not_seeded_again() {
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
    assert_eq!(block_on(keys::list(&store)).unwrap_err(), failure);
    assert_eq!(block_on(units::list(&store)).unwrap_err(), failure);
    assert_eq!(block_on(prices::get(&store, Mode::Test)).unwrap_err(), failure);
    assert_eq!(block_on(seed::seed(&store)).unwrap_err(), failure);
}
