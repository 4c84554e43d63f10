//! Tests interrupted backups, invocations at the same time, and changes meanwhile.

use super::{BackupOutcome, FEW, Failing, MANY, MINUTE, Place, Value, block_on};
use support::bucket::Watched;

/// Runs invocations as far as they come.
fn try_all(place: &Place, calls: u32) {
    for _ in 0..60 {
        if matches!(place.run(calls), Ok(BackupOutcome::NotDue) | Err(_)) {
            return;
        }
    }
}

#[test]
fn a_bucket_that_fails_at_any_call_delays_a_backup() {
    for failing in [Failing::Before, Failing::After] {
        for calls in 0.. {
            let place = Place::new();
            place.bucket.set_failing_after(calls, failing);
            try_all(&place, FEW);
            let has_failed = place.bucket.calls.get() > calls;
            place.bucket.set_failing_after(0, Failing::Not);
            place.run_all(FEW);
            place.assert_whole();
            assert!(place.store.value("backup").is_some());
            if !has_failed {
                assert!(calls > 20);
                break;
            }
        }
    }
}

#[test]
fn a_ledger_that_fails_at_any_call_delays_a_backup() {
    for calls in 0.. {
        let place = Place::new();
        place.ledger.set_failing_after(calls, Failing::Before);
        try_all(&place, FEW);
        let has_failed = place.ledger.calls.get() > calls;
        place.ledger.set_failing(Failing::Not);
        place.run_all(FEW);
        place.assert_whole();
        if !has_failed {
            assert!(calls > 10);
            break;
        }
    }
}

#[test]
fn a_store_that_fails_after_any_call_delays_a_backup() {
    for at in 0..60 {
        let place = Place::new();
        let bucket = Watched::new(&place.bucket, async |calls| place.store.set_broken(calls >= at));
        for _ in 0..60 {
            let outcome = block_on(place.run_with(&bucket, &place.ledger, FEW));
            if matches!(outcome, Ok(BackupOutcome::NotDue) | Err(_)) {
                break;
            }
        }
        place.store.set_broken(false);
        place.run_all(FEW);
        place.assert_whole();
    }
}

/// Runs another invocation before any call of each invocation. Whichever wins, the backups are whole.
#[test]
fn two_invocations_at_once_do_no_harm() {
    for at in 0..12 {
        let place = Place::new();
        let mut busy = 0;
        for round in 0..60 {
            let other = async |calls| {
                if calls == at {
                    let value = format!("changed {round}");
                    place.store.keep("record:5", value.as_bytes(), b"{}"); // the two write different parts
                    place.run_with(&place.bucket, &place.ledger, FEW).await.unwrap();
                }
            };
            let bucket = Watched::new(&place.bucket, other);
            let outcome = block_on(place.run_with(&bucket, &place.ledger, FEW)).unwrap();
            busy += usize::from(outcome == BackupOutcome::Busy);
            place.advance(5 * MINUTE);
        }
        place.run_all(FEW);
        place.assert_whole();
        assert!(busy > 0 || !(1..3).contains(&at), "{at}");
    }
}

#[test]
fn a_record_that_changes_meanwhile_is_one_of_its_versions() {
    let versions =
        [(r#"{"text":"old"}"#, r#"{"v":"old"}"#), (r#"{"text":"new"}"#, r#"{"v":"new"}"#)];
    for at in 0..40 {
        let place = Place::new();
        let keep = |(value, metadata): (&str, &str)| {
            place.store.keep("record:5", value.as_bytes(), metadata.as_bytes());
        };
        keep(versions[0]);
        let change = async |calls| {
            if calls == at {
                keep(versions[1]);
                place.store.remove("record:6");
                place.store.keep("record:66", b"{}", b"{}");
            }
        };
        let bucket = Watched::new(&place.bucket, change);
        while block_on(place.run_with(&bucket, &place.ledger, FEW)).unwrap()
            != BackupOutcome::NotDue
        {}
        let complete = place.index().complete;
        let lines = place.lines(&complete[1]);
        let changed = lines.iter().find(|line| line["name"] == "record:5").unwrap();
        let version = (changed["value"].as_str().unwrap(), &*changed["metadata"].to_string());
        assert!(versions.contains(&version), "{version:?}");
    }
}

#[test]
fn a_call_without_time_changes_nothing() {
    let place = Place::new();
    assert_eq!(place.run(0), Ok(BackupOutcome::Part));
    assert_eq!(place.run(0), Ok(BackupOutcome::Part));
    assert!(place.index().current.is_some_and(|current| current.parts.is_empty()));
    place.run_all(MANY);
    place.assert_whole();
    let names: Vec<Value> = place.bucket.names().into_iter().map(Value::from).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}
