//! Tests teams, and the register of units and teams.

use super::key_list::name;
use super::{make, name_of, refused, shown};
use futures_executor::block_on;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::shared::rule::records::MAX_PAGES;
use impact_pledge::office::shops::rule::{register, teams};
use impact_pledge::office::system::rule::backups;
use impact_pledge::pledges::auth::{KeyLevel, KeyRecord};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::BackupKey;
use serde_json::json;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{team, test_operator, unit};

#[test]
fn a_team_is_a_record_for_each_unit() {
    let store = MemoryStore::default();
    let (ledger, test_operator) = (SqliteLedger::default(), test_operator());
    let units = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let of = |team: &str| block_on(teams::get(&store, team)).unwrap().units;
    let key = make(&store, KeyRecord::new(Mode::Live, KeyLevel::Team("t".to_owned())));
    let key = key.secret().unwrap();
    let before = store.value(&name_of(key));
    let add = |team: &str, ids: &[&str]| {
        block_on(teams::add(&store, &ledger, &test_operator.author(), team, &units(ids)))
    };
    let remove = |team: &str, ids: &[&str]| {
        block_on(teams::remove(&store, &ledger, &test_operator.author(), team, &units(ids)))
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
    let gone = "nothing was removed, because `a` is no longer in the team `t`: ada@example.org removed it at \
                2026-01-31T12:00:00.123Z";
    refused(remove("t", &["d", "a"]), gone);
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
    block_on(register::add(&store, &SqliteLedger::default(), &test_operator().author(), &ids))
        .unwrap();
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

/// If an ID is not registered, the look-up also suggests a similar ID that is registered. This costs two list
/// calls. In a large register, the ID is compared only with one page of IDs that begin in the same way.
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
    let (store, ledger) = (MemoryStore::default(), SqliteLedger::default());
    let ada = test_operator();
    for (mode, level) in [(Mode::Test, unit("u")), (Mode::Live, unit("u")), (Mode::Live, team())] {
        block_on(keys::create(&store, &ledger, &ada.author(), KeyRecord::new(mode, level)))
            .unwrap();
    }
    store.keep(&name("aa"), b"{}", b"null");
    for (team, members) in [("t", ["u", "v"]), ("t2", ["u:v", "u"]), ("t3", ["v", "w"])] {
        let members = members.map(str::to_owned);
        block_on(teams::add(&store, &ledger, &ada.author(), team, &members)).unwrap();
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
