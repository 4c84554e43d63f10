//! Tests that the health of the ledger says how the backups are, and whether they fail or are late.

use super::{BackupDays, DAY, Failing, MANY, MINUTE, NOW_MS, Place};
use futures_executor::block_on;
use impact_pledge::office::system::rows::backup_state;
use impact_pledge::office::system::rows::backup_state::Backups;
use impact_pledge::office::system::rule::epoch;
use impact_pledge::pledges::time::date_time;

impl Place {
    fn health(&self) -> (Option<Backups>, String) {
        let health = epoch::health(&self.store, &self.ledger, self.clock.0.get());
        let health = block_on(health).unwrap();
        (health.backups, health.problem.unwrap_or_default())
    }

    fn problem(&self) -> String {
        self.health().1
    }
}

#[test]
fn the_newest_backups_are_reported() {
    let place = Place::new();
    assert_eq!(place.health().0, None, "no bucket is bound, as far as the ledger knows");
    place.run_all(MANY);
    let (backups, problem) = place.health();
    let backups = backups.unwrap();
    let full = date_time(NOW_MS + 5 * MINUTE);
    assert_eq!((backups.full, backups.ledger), (Some(full.clone()), Some(full)));
    assert_eq!(backups.failing_since, None);
    assert!(!problem.contains("backup"), "{problem}");
    block_on(backup_state::forget(&place.ledger)).unwrap();
    assert_eq!(place.health().0, None);
}

#[test]
fn backups_that_fail_for_an_hour_are_a_problem_until_one_succeeds() {
    let place = Place::new();
    place.run_all(MANY);
    place.advance(2 * DAY);
    let since = place.clock.0.get();
    place.bucket.set_failing_after(0, Failing::Before);
    for minutes in [0, 30, 59] {
        place.clock.0.set(since + minutes * MINUTE);
        assert!(place.run(MANY).is_err());
        assert!(!place.problem().contains("bucket"), "after {minutes} minutes");
        assert_eq!(place.health().0.unwrap().failing_since, Some(date_time(since)));
    }
    place.clock.0.set(since + 60 * MINUTE);
    let expected = format!(
        "the backups into the bucket have failed since {}: the store did not answer",
        date_time(since)
    );
    assert!(place.problem().contains(&expected), "{}", place.problem());
    place.bucket.set_failing_after(0, Failing::Not);
    place.run_all(MANY);
    assert!(!place.problem().contains("bucket"));
}

#[test]
fn a_backup_that_is_not_made_is_a_problem_two_days_after_it_was_due() {
    let place = Place::new();
    place.run_all(MANY);
    let began = place.index().complete.last().unwrap().started;
    let problem = |after_ms| {
        place.clock.0.set(began + after_ms);
        place.problem()
    };
    assert!(!problem(3 * DAY).contains("overdue"));
    let late = problem(3 * DAY + 1);
    assert!(late.contains("a backup of the ledger's rows into the bucket is overdue: the last complete one began on 2026-01-31T12:05"), "{late}");
    // The rows are backed up, and all records are not.
    place.store.set_failing(Some("record:"));
    for day in 1..=9 {
        place.clock.0.set(began + day * DAY);
        let _of_the_rows = place.run(MANY).unwrap();
    }
    assert!(!problem(9 * DAY).contains("overdue"));
    assert!(problem(9 * DAY + 1).contains("a backup of all records into the bucket is overdue"));
}

#[test]
fn a_bucket_in_which_no_backup_was_ever_complete_is_noticed() {
    let place = Place::new();
    place.store.set_failing(Some("record:"));
    place.bucket.set_failing_after(2, Failing::Before);
    assert!(place.run(MANY).is_err());
    place.advance(3 * DAY + 1);
    place.bucket.set_failing_after(1, Failing::Before);
    block_on(backup_state::record(
        &place.ledger,
        backup_state::BackupAttempt {
            now: place.clock.0.get(),
            full_days: 7,
            ..Default::default()
        },
    ))
    .unwrap();
    assert!(place.problem().contains("overdue: none is complete"), "{}", place.problem());
}

#[test]
fn after_a_loss_of_rows_the_loss_alone_is_the_problem() {
    let place = Place::new();
    place.run_all(MANY);
    place.advance(2 * DAY);
    place.store.keep("epoch", br#"{"epoch":"of another database"}"#, b"{}");
    for _ in 0..3 {
        assert!(place.run(MANY).is_err());
        place.advance(60 * MINUTE);
    }
    let problem = place.problem();
    assert_eq!(problem.matches("the database has lost").count(), 1, "{problem}");
}

#[test]
fn the_days_come_from_variables() {
    for (full, kept, days, ignored) in [
        ("", " ", (7, 30), vec![]),
        ("1", "90", (1, 90), vec![]),
        ("365", " 365\n", (365, 365), vec![]),
        ("0", "366", (7, 30), vec!["BACKUP_FULL_DAYS", "BACKUP_KEPT_DAYS"]),
        ("-1", "a month", (7, 30), vec!["BACKUP_FULL_DAYS", "BACKUP_KEPT_DAYS"]),
        ("1.5", "30", (7, 30), vec!["BACKUP_FULL_DAYS"]),
    ] {
        let (parsed, problems) = BackupDays::parse(full, kept);
        assert_eq!((parsed.full, parsed.kept), days, "{full} {kept}");
        assert_eq!(problems.len(), ignored.len(), "{problems:?}");
        for (problem, name) in problems.iter().zip(ignored) {
            assert!(problem.contains(&format!("`{name}` is ignored")), "{problem}");
        }
    }
}
