//! Tests how API keys are created.

use super::{FixedEntropy, make, name_of, names, refused, shown, stored};
use futures_executor::block_on;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::auth::{KeyLevel, KeyRecord};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::version::VERSION;
use serde_json::json;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{TestOperator, team, test_operator, unit};

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

/// Creating the first key also creates the namespace's secret. Each key's record has a copy of it. Nothing
/// that is shown contains the secret.
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
        &SqliteLedger::default(),
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
        &SqliteLedger::default(),
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
        &SqliteLedger::default(),
        &test_operator().author(),
        KeyRecord::new(Mode::Test, unit("u")),
    ));
    refused(made, "the stored secret is damaged: missing field `secret` at line 1 column 2");
    assert_eq!(names(&store), ["secret"]);
}

/// A key is derived from the random bits in the ID of its operation. If a person has chosen that ID, the key is
/// made from new random bits instead.
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
            let made = block_on(keys::create(&store, &SqliteLedger::default(), &author, record));
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
        refused(
            block_on(keys::create(
                &store,
                &SqliteLedger::default(),
                &test_operator().author(),
                record,
            )),
            &message,
        );
    }
    assert_eq!(names(&store), [""; 0]);
}
