//! Tests the audit log: an entry is written before its change, and entries are read page by page.

use super::{names, refused, shown};
use futures_executor::block_on;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::audit::rule::{AuditFilter, Author};
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::units;
use impact_pledge::office::shops::rule::units::Member;
use impact_pledge::office::shops::rule::{register, teams};
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::charge::PriceList;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{PriceListKey, StoreError};
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{NOW_MS, test_operator, unit};

#[test]
fn a_change_is_recorded_first_and_otherwise_not_made() {
    let store = MemoryStore::default();
    let ledger = SqliteLedger::default();
    let test_operator = test_operator();
    let ada = test_operator.author();
    let named = |name: &str| serde_json::from_value(json!({ "name": name })).unwrap();
    let unset = [Member::Accent];
    let (u, v) = (["u".to_owned()], ["v".to_owned()]);
    let record = KeyRecord::new(Mode::Live, unit("u"));
    let key =
        block_on(keys::create(&store, &ledger, &ada, record.clone())).unwrap().outcome.row.name;
    let next =
        block_on(keys::rotate(&store, &ledger, &ada, &key.name, 60)).unwrap().outcome.made.row.name;
    let prices = Edit::All(PriceList::default());
    let set = |mode| {
        block_on(prices::set(&store, &ledger, &ada, PriceListKey::of_mode(mode), &prices, None))
    };
    let time = set(Mode::Live).unwrap().outcome;
    block_on(units::set(&store, &ledger, &ada, "u", named("N"))).unwrap();
    block_on(units::unset(&store, &ledger, &ada, "u", &unset)).unwrap();
    block_on(register::add(&store, &ledger, &ada, &v)).unwrap();
    test_operator.clock.0.set(NOW_MS + 1);
    block_on(keys::revoke(&store, &ledger, &ada, &key.name)).unwrap();
    block_on(teams::add(&store, &ledger, &ada, "t", &u)).unwrap();
    block_on(teams::remove(&store, &ledger, &ada, "t", &u)).unwrap();
    block_on(teams::add(&store, &ledger, &ada, "t", &u)).unwrap();
    block_on(units::remove(&store, &ledger, &ada, "v")).unwrap();
    let expected = [
        json!({ "command": "keys create", "on": [&key.id, "u"], "of": { "unit": "u" } }),
        json!({ "command": "keys rotate", "on": [&key.id, &next.id], "of": { "unit": "u" } }),
        json!({ "command": "prices set", "on": [format!("prices:live:{time}")] }),
        json!({
            "command": "units set",
            "on": ["u"],
            "changed": [{ "member": "name", "after": "N" }],
        }),
        json!({ "command": "units unset", "on": ["u"] }),
        json!({ "command": "units add", "on": ["v"] }),
        json!({ "command": "keys revoke", "on": [&key.id], "of": { "unit": "u" } }),
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
        let filter = AuditFilter { since_ms: Some(time_ms), ..AuditFilter::default() };
        let page = block_on(audit::page(&store, &ledger, &filter, None, 100)).unwrap();
        let changes = shown(&page.changes);
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
    failed(block_on(keys::create(&store, &ledger, &ada, record)).err());
    failed(block_on(keys::rotate(&store, &ledger, &ada, &next.name, 0)).err());
    failed(block_on(keys::revoke(&store, &ledger, &ada, &next.name)).err());
    failed(block_on(register::add(&store, &ledger, &ada, &v)).err());
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
    let ledger = SqliteLedger::default();
    store.set_page_length(4);
    let change = |number: u64| {
        test_operator.clock.0.set(NOW_MS + number);
        block_on(test_operator.author().record(&store, "units add", [number.to_string()])).unwrap();
    };
    (0..10).for_each(change);
    let audits: Vec<_> =
        store.names().into_iter().filter(|name| name.starts_with("audit:")).collect();
    store.edit(&audits[4], |_| "canary".to_owned());
    let (mut shown, mut damaged, mut next) = (Vec::new(), 0, None);
    for pages in 1.. {
        let page =
            block_on(audit::page(&store, &ledger, &AuditFilter::default(), next.as_deref(), 3))
                .unwrap();
        assert!(page.changes.len() + page.damaged <= 3);
        shown.extend(page.changes.into_iter().map(|change| change.on[0].parse::<u64>().unwrap()));
        damaged += page.damaged;
        next = page.next;
        if next.is_none() {
            break;
        }
        change(100 + pages);
    }
    assert_eq!((shown, damaged), (vec![9, 8, 7, 6, 4, 3, 2, 1, 0], 1));
    for hostile in ["~", "x", "audit:a b", &format!("audit:{}", "a".repeat(512))] {
        let problem =
            "this is not a valid position in the audit log: start again from the newest entries";
        let all = AuditFilter::default();
        refused(block_on(audit::page(&store, &ledger, &all, Some(hostile), 3)), problem);
    }
}
