//! Tests the backups that the cron makes in a bucket.

mod faults;
mod health;
mod retention;

use futures_executor::block_on;
use impact_pledge::office::shared::rows::port::{Ledger, Unbound};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::system::rows::upkeep::Limits;
use impact_pledge::office::system::rule::backup_index::{
    BackupDays, BackupIndex, BackupKind, CompleteBackup, INDEX,
};
use impact_pledge::office::system::rule::bucket::Bucket;
use impact_pledge::office::system::rule::cron_backup::{BackupOutcome, BackupPorts, back_up};
use impact_pledge::pledges::store::StoreError;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::cell::Cell;
use support::bucket::MemoryBucket;
use support::ledger::{Failing, SqliteLedger};
use support::memory::MemoryStore;
use support::service::{FixedClock, NOW_MS};

const DAY: u64 = 24 * 60 * 60_000;
const MINUTE: u64 = 60_000;
/// Enough for a whole backup.
const MANY: u32 = 600;
/// Enough for one or two steps.
const FEW: u32 = 6;

/// A namespace, its ledger, and the bucket for their backups.
struct Place {
    bucket: MemoryBucket,
    store: MemoryStore,
    ledger: SqliteLedger,
    clock: FixedClock,
    days: Cell<BackupDays>,
}

type Outcome = Result<BackupOutcome, OperatorError>;

impl Place {
    /// A place with 10 records, whose list has pages of 3, and 150 entries of the audit log.
    fn new() -> Self {
        let (store, ledger) = (MemoryStore::default(), SqliteLedger::default());
        store.set_page_length(3);
        for number in 0..9 {
            let value = format!("{{\"text\":\"\u{2028}é{number}\"}}");
            store.keep(&format!("record:{number}"), value.as_bytes(), b"{\"a\":1.50}");
        }
        store.keep("record:no text", &[0xff, 0xfe], b"null");
        for number in 0..150 {
            ledger.sql(&format!("INSERT INTO audit VALUES ('audit:{number:03}', '{{}}')"));
        }
        let (bucket, clock) = (MemoryBucket::default(), FixedClock(Cell::new(NOW_MS)));
        Place { bucket, store, ledger, clock, days: Cell::default() }
    }

    async fn run_with(&self, bucket: &impl Bucket, ledger: &dyn Ledger, calls: u32) -> Outcome {
        let ports = BackupPorts { bucket, store: &self.store, ledger, clock: &self.clock };
        let limits = Limits { calls, milliseconds: MINUTE };
        let place = json!({ "kind": "local", "folder": "a test" });
        back_up(ports, &place, self.days.get(), limits).await
    }

    fn run(&self, calls: u32) -> Outcome {
        block_on(self.run_with(&self.bucket, &self.ledger, calls))
    }

    /// Runs invocations until nothing is due, one each 5 minutes.
    fn run_all(&self, calls: u32) -> Vec<BackupOutcome> {
        let mut outcomes = vec![self.run(calls).unwrap()];
        while outcomes.last() != Some(&BackupOutcome::NotDue) {
            self.advance(5 * MINUTE);
            outcomes.push(self.run(calls).unwrap());
        }
        outcomes
    }

    fn advance(&self, milliseconds: u64) {
        self.clock.0.set(self.clock.0.get() + milliseconds);
    }

    fn index(&self) -> BackupIndex {
        let bytes = self.bucket.bytes(INDEX).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn kinds(&self) -> Vec<BackupKind> {
        self.index().complete.iter().map(|backup| backup.kind).collect()
    }

    /// Returns the lines of a complete backup between header and trailer, after a check of all lines.
    #[track_caller]
    fn lines(&self, backup: &CompleteBackup) -> Vec<Value> {
        let parts = backup.parts.iter().map(|part| self.bucket.bytes(part).unwrap());
        let file = String::from_utf8(parts.collect::<Vec<_>>().concat()).unwrap();
        let mut lines: Vec<&str> = file.split_inclusive('\n').collect();
        let trailer: Value = serde_json::from_str(lines.pop().unwrap()).unwrap();
        let sha256 = base16ct(&Sha256::digest(lines.concat()));
        let mut lines: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.remove(0)["version"], 3);
        let count = lines.iter().filter(|line| line["name"].is_string()).count();
        let rows = lines.len() - count;
        assert_eq!(trailer, json!({ "count": count, "rows": rows, "sha256": sha256 }));
        assert_eq!((backup.records, backup.rows), (count as u64, rows as u64));
        assert_eq!(backup.sha256, sha256);
        let names: Vec<_> = lines[..count].iter().map(|line| line["name"].as_str()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        lines
    }

    /// Asserts that the newest full backup and all others have their lines, and the newest full one every record and row.
    #[track_caller]
    fn assert_whole(&self) {
        let complete = self.index().complete;
        complete.iter().for_each(|backup| drop(self.lines(backup)));
        let full = complete.iter().rfind(|backup| backup.kind == BackupKind::Full).unwrap();
        assert_eq!((full.rows, self.count_records(full)), (151, 10));
    }

    fn count_records(&self, backup: &CompleteBackup) -> usize {
        let is_record =
            |line: &&Value| line["name"].as_str().is_some_and(|name| name.starts_with("record:"));
        self.lines(backup).iter().filter(is_record).count()
    }
}

fn base16ct(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_new_place_gets_a_backup_of_each_kind() {
    let place = Place::new();
    let outcomes = place.run_all(MANY);
    assert_eq!(outcomes, [BackupOutcome::Complete, BackupOutcome::Complete, BackupOutcome::NotDue]);
    assert_eq!(place.kinds(), [BackupKind::Ledger, BackupKind::Full]);
    place.assert_whole();
    let index = place.index();
    let lines = place.lines(&index.complete[1]);
    let record = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap();
    assert_eq!(
        record("record:3"),
        &json!({ "name": "record:3", "value": "{\"text\":\"\u{2028}é3\"}", "metadata": { "a": 1.5 } })
    );
    assert_eq!(record("record:no text")["base64"], "//4=");
    let first_row = json!({ "table": "database", "row": "{\"epoch\":null,\"keptFrom\":0}" });
    assert!(lines.contains(&first_row));
    assert_eq!(place.lines(&index.complete[0]).len(), 151);
}

#[test]
fn the_namespace_has_the_record_of_each_backup() {
    let place = Place::new();
    place.run_all(MANY);
    let record = |name| serde_json::from_str::<Value>(&place.store.value(name).unwrap()).unwrap();
    let index = place.index();
    assert_eq!(record("backup")["records"], index.complete[1].records);
    assert_eq!(record("backup")["by"], "the dashboard's cron");
    assert_eq!(record("backup")["at"], "2026-01-31T12:05:00.123Z");
    assert_eq!(record("backup:ledger")["records"], 151);
}

#[test]
fn a_backup_continues_over_many_invocations() {
    let place = Place::new();
    let outcomes = place.run_all(FEW);
    assert!(outcomes.iter().filter(|outcome| **outcome == BackupOutcome::Part).count() > 5);
    place.assert_whole();
    assert!(place.index().complete[1].parts.len() > 3);
    assert_eq!(place.index().current, None);
}

#[test]
fn large_records_are_divided_into_parts() {
    let place = Place::new();
    let value = "x".repeat(1_500_000);
    (0..8).for_each(|number| place.store.keep(&format!("a:{number}"), value.as_bytes(), b"{}"));
    place.run_all(MANY);
    place.assert_whole();
    let full = &place.index().complete[1];
    let sizes: Vec<_> =
        full.parts.iter().map(|part| place.bucket.bytes(part).unwrap().len()).collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size < 9_000_000), "{sizes:?}");
}

#[test]
fn records_that_are_read_one_by_one_take_more_invocations() {
    let place = Place::new();
    place.store.set_calls_of_a_read(200);
    let outcomes = place.run_all(MANY);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == BackupOutcome::Part).count(), 1);
    place.assert_whole();
}

#[test]
fn a_place_without_a_database_gets_full_backups() {
    let place = Place::new();
    let run = || block_on(place.run_with(&place.bucket, &Unbound, MANY)).unwrap();
    assert_eq!([run(), run()], [BackupOutcome::Complete, BackupOutcome::NotDue]);
    assert_eq!(place.kinds(), [BackupKind::Full]);
    assert_eq!((place.index().complete[0].records, place.index().complete[0].rows), (10, 0));
    place.lines(&place.index().complete[0]);
}

#[test]
fn a_damaged_index_is_not_replaced() {
    let place = Place::new();
    place.bucket.keep(INDEX, b"{}");
    assert!(matches!(place.run(MANY), Err(OperatorError::Store(StoreError::Damaged(_)))));
    assert_eq!(place.bucket.names(), [INDEX]);
}
