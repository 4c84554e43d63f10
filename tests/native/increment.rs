//! Tests which records an incremental backup contains.

use crate::ledger::{message, receive};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::changed;
use impact_pledge::office::orders::rows::changed::Next;
use impact_pledge::office::system::rule::increment;
use impact_pledge::office::system::rule::increment::{BackupDecision, fate};
use impact_pledge::office::system::rule::restore::{BackupSummary, Restore, RestoreOptions};
use impact_pledge::pledges::time::date_time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::NOW_MS;

const DAY: u64 = 86_400;

/// Returns the indexes of the messages whose transactions have changed since a time. Reads the changed
/// transactions in pages of at most `most`.
fn changed(ledger: &SqliteLedger, messages: &[Value], since: u64, most: usize) -> Vec<usize> {
    let (mut ids, mut next) = (Vec::new(), Some(Next::default()));
    while let Some(from) = next {
        let page = block_on(changed::changed(ledger, since, from, most)).unwrap();
        assert!(page.ids.len() <= most);
        ids.extend(page.ids);
        next = page.next;
    }
    let number = |id: &String| messages.iter().position(|one| one["id"] == **id).unwrap();
    let mut numbers: Vec<_> = ids.iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_page_after_the_other_has_all_that_was_created_or_erased_since() {
    let ledger = SqliteLedger::default();
    let same_time = json!({ "summary": { "createdAt": date_time(NOW_MS + 5_000) } });
    let of_v = json!({ "unit": "v", "mode": "test" });
    let mut messages: Vec<_> = (0..10).map(|number| message(number, json!({}))).collect();
    messages.extend((10..14).map(|number| message(number, same_time.clone())));
    messages.extend((14..20).map(|number| message(number, of_v.clone())));
    receive(&ledger, &messages);
    let erased_at = |ms| json!({ "summary": { "erased": date_time(ms), "lookup": null } });
    let erased = [(0, NOW_MS + 5_000), (1, NOW_MS + 5_000), (2, NOW_MS - 40 * DAY * 1_000)];
    receive(&ledger, &erased.map(|(number, at)| message(number, erased_at(at))));
    let expected: Vec<_> = [0, 1].into_iter().chain(5..20).collect();
    for most in [1, 2, 3, 7, 1_000] {
        assert_eq!(changed(&ledger, &messages, NOW_MS + 5_000, most), expected, "{most}");
    }
    assert_eq!(changed(&ledger, &messages, NOW_MS + DAY * 1_000, 7), [0; 0]);
}

#[test]
fn a_backup_takes_only_new_records_of_a_list() {
    let since = date_time(NOW_MS);
    let seconds = NOW_MS / 1_000;
    let audit = |ms: u64| format!("audit:{:013}:0011223344556677", 9_999_999_999_999 - ms);
    let marker = "notification:ptran_a";
    let rows = [
        (audit(NOW_MS), None, BackupDecision::Taken),
        (audit(NOW_MS - 1), None, BackupDecision::Last),
        (marker.to_owned(), Some(seconds + 30 * DAY), BackupDecision::Taken),
        (marker.to_owned(), Some(seconds + 30 * DAY - 600), BackupDecision::Known),
        (marker.to_owned(), None, BackupDecision::Taken),
        ("key:00".to_owned(), Some(seconds), BackupDecision::Taken),
    ];
    for (name, expiration, expected) in rows {
        assert_eq!(fate(&name, expiration, &since), expected, "{name} {expiration:?}");
    }
}

#[test]
fn the_next_increment_begins_where_the_ledger_was_complete() {
    let ledger = SqliteLedger::default();
    let span =
        |started_at, complete_up_to| block_on(increment::span(&ledger, started_at, complete_up_to));
    let started_at = "2026-01-31T12:00:00.000Z";
    assert!(span(started_at, None).unwrap_err().to_string().contains("npm run ledger -- check"));
    ledger.sql(&format!("UPDATE reconciliation SET completed = {}", NOW_MS + 600_000));
    let first = span(started_at, None).unwrap();
    assert_eq!(first.since, "2026-01-31T11:58:00.000Z");
    assert_eq!(first.complete_up_to, "2026-01-31T12:08:00.123Z");
    let next = span("2026-01-31T12:30:00.000Z", Some(&first.complete_up_to)).unwrap();
    assert_eq!(next.since, first.complete_up_to);
    assert!(span("yesterday", None).is_err());
    assert!(block_on(increment::span(&SqliteLedger::default(), started_at, None)).is_err());
}

#[test]
fn a_replay_record_is_named_by_its_transaction() {
    let mut metadata = message(1, json!({}));
    let name = format!("transaction:{}", metadata["id"].as_str().unwrap());
    assert_eq!(increment::replay_of(&name, &metadata), None);
    for (replay, expected) in [("ab".repeat(32), Some("idempotency:")), ("../x".to_owned(), None)] {
        metadata["summary"]["replay"] = json!(replay);
        let found = increment::replay_of(&name, &metadata);
        assert_eq!(found, expected.map(|prefix| format!("{prefix}{replay}")), "{replay}");
    }
}

// ---- Every kind of records -----------------------------------------------------------------------

/// How an incremental backup finds the records of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The backup contains all records of the kind.
    Whole,
    /// The backup lists the names of all records of the kind, and contains the new records.
    New,
    /// The backup contains the records that the ledger lists as changed.
    Changed,
    /// The backup contains no records of the kind, and a restore accepts none.
    LeftOut,
}

/// How a backup finds the records of each kind. A new kind needs a row here. It must also be added to `WHOLE`,
/// `listed`, `changed` or `Restore::takes`.
const WAYS: [(&str, Way); 27] = [
    ("audit:", Way::New),
    ("backup", Way::LeftOut), // valid only in the place where the backup was made
    ("cancelled:", Way::Whole),
    ("catalogue:", Way::Whole),
    ("connection:", Way::Whole),
    ("epoch", Way::LeftOut), // names the database of the place where the backup was made
    ("erased:", Way::Whole),
    ("idempotency:", Way::Changed),
    ("key:", Way::Whole),
    ("ledger-unsent:", Way::LeftOut), // belongs to a queue: the reconciliation writes the row
    ("mail-failed:", Way::Whole),
    ("mail-queued:", Way::LeftOut), // belongs to a queue whose messages no longer exist
    ("mailed:", Way::LeftOut),      // names a person by the secret, for two days
    ("member:", Way::Whole),
    ("news-sent:", Way::LeftOut), // belongs to a subscription
    ("news:", Way::LeftOut),      // of a buyer who may have unsubscribed since
    ("notification:", Way::New),
    ("prices:", Way::Whole),
    ("profile:", Way::Whole),
    ("received:", Way::LeftOut), // may be of a person who was erased since
    ("secret", Way::Whole),
    ("settlement:", Way::Whole),
    ("team:", Way::Whole),
    ("total:", Way::LeftOut), // the cron writes it from the ledger
    ("transaction:", Way::Changed),
    ("unit:", Way::Whole),
    ("updates:", Way::Whole),
];

#[test]
fn no_kind_of_records_is_forgotten() {
    let known: BTreeSet<_> = WAYS.iter().map(|(prefix, _)| (*prefix).to_owned()).collect();
    let (keys, prefixes) = kinds_of_the_store();
    assert_eq!(prefixes, known, "what does an incremental backup do with this kind of records?");
    assert_eq!(keys, WAYS.len(), "a key of src/pledges/store whose prefix is no literal");
    let all = RestoreOptions { with_keys: true, ..RestoreOptions::default() };
    let restore =
        block_on(Restore::new(&MemoryStore::default(), all, BackupSummary::default())).unwrap();
    for (prefix, way) in WAYS {
        let name = format!("{prefix}x");
        assert_eq!(way_of(prefix), way, "`{prefix}`");
        assert_eq!(restore.takes(&name), way != Way::LeftOut, "`{prefix}`");
    }
}

/// Returns how a backup finds the records of a kind.
fn way_of(prefix: &str) -> Way {
    let id = message(1, json!({}))["id"].as_str().unwrap().to_owned();
    let mut metadata = message(1, json!({}));
    metadata["summary"]["replay"] = json!("ab".repeat(32));
    let changed = increment::name_of(&id).unwrap();
    let replay = increment::replay_of(&changed, &metadata).unwrap();
    let is_changed = [changed, replay].iter().any(|name| name.starts_with(prefix));
    match (increment::listed().contains(&prefix), increment::is_whole(prefix), is_changed) {
        (true, true, false) => Way::Whole,
        (true, false, false) => Way::New,
        (false, false, true) => Way::Changed,
        (false, false, false) => Way::LeftOut,
        other => panic!("`{prefix}` goes two ways: {other:?}"),
    }
}

/// Searches the code of src/pledges/store. Returns the number of key types, and the prefixes of their names.
fn kinds_of_the_store() -> (usize, BTreeSet<String>) {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pledges/store");
    let files = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let code: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let keys = code.lines().filter(|line| line.starts_with("impl") && line.contains("Key for "));
    let named = code.lines().filter_map(|line| {
        let text = line.trim().strip_prefix("const PREFIX: &'static str = \"")?;
        Some(text.strip_suffix("\";")?.to_owned())
    });
    (keys.count(), named.collect())
}
