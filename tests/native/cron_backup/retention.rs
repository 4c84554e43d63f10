//! Tests when backups are made, and how long they are kept.

use super::{
    BackupDays, BackupKind, BackupOutcome, CompleteBackup, DAY, FEW, Failing, MANY, MINUTE, NOW_MS,
    Place,
};
use impact_pledge::office::system::rule::backup_index::{FULL_DAYS, INDEX, KEPT_DAYS};

const HOUR: u64 = 60 * MINUTE;

impl Place {
    /// Lets days pass, with an invocation each hour.
    fn live(&self, days: u64) {
        for _ in 0..days * 24 {
            self.run(MANY).unwrap();
            self.advance(HOUR);
        }
    }
}

#[test]
fn rows_are_backed_up_daily_and_records_weekly() {
    let place = Place::new();
    place.live(15);
    let started = |kind| {
        let complete = place.index().complete;
        let of_kind = complete.into_iter().filter(|backup| backup.kind == kind);
        of_kind.map(|backup| (backup.started - NOW_MS) / HOUR).collect::<Vec<_>>()
    };
    let full = started(BackupKind::Full);
    assert_eq!(full, [1, 170, 339]);
    assert!(full.is_sorted_by(|a, b| (FULL_DAYS * 24..FULL_DAYS * 24 + 3).contains(&(b - a))));
    assert_eq!(started(BackupKind::Ledger).len(), 15);
    place.assert_whole();
}

#[test]
fn old_backups_are_deleted_with_all_their_objects() {
    let place = Place::new();
    place.run_all(MANY);
    let first = place.index().complete[1].name.clone();
    place.bucket.keep(&format!("{first}/00009-orphan"), b"of an interrupted invocation");
    place.bucket.keep("notes.txt", b"of a person");
    place.live(KEPT_DAYS + 1);
    let index = place.index();
    let oldest = index.complete.iter().map(|backup| backup.started).min().unwrap();
    assert!(place.clock.0.get() - oldest <= (KEPT_DAYS + 1) * DAY);
    let parts: Vec<String> =
        index.complete.iter().flat_map(|backup| backup.parts.clone()).collect();
    let mut expected = [parts, vec![INDEX.to_owned(), "notes.txt".to_owned()]].concat();
    expected.sort();
    assert_eq!(place.bucket.names(), expected);
    assert_eq!(index.deleting, Vec::<String>::new());
}

#[test]
fn the_days_between_full_backups_and_for_which_backups_are_kept_are_settings() {
    let place = Place::new();
    place.days.set(BackupDays { full: 1, kept: 2 });
    place.live(6);
    let complete = place.index().complete;
    let full: Vec<_> = complete.iter().filter(|it| it.kind == BackupKind::Full).collect();
    let age = |backup: &&CompleteBackup| (place.clock.0.get() - backup.started) / DAY;
    assert_eq!(full.iter().map(age).collect::<Vec<_>>(), [1, 0]);
    assert!(complete.iter().all(|backup| place.clock.0.get() - backup.started <= 2 * DAY + HOUR));
    place.assert_whole();
}

#[test]
fn the_newest_full_backup_is_never_deleted() {
    let place = Place::new();
    place.run_all(MANY);
    place.advance(100 * DAY);
    place.store.set_failing(Some("record:")); // no full backup succeeds any more
    for _ in 0..60 * 24 {
        let _failed = place.run(MANY);
        place.advance(HOUR);
    }
    let full: Vec<_> = place.kinds().into_iter().filter(|kind| *kind == BackupKind::Full).collect();
    assert_eq!(full.len(), 1);
    place.assert_whole();
    let newest = place.index().complete.last().unwrap().started;
    assert!(place.clock.0.get() - newest < 2 * DAY, "the ledger's rows are backed up all the same");
    place.store.set_failing(None);
    place.run_all(MANY);
    place.advance(7 * HOUR);
    place.run_all(MANY);
    place.assert_whole();
    assert!(
        place
            .index()
            .complete
            .iter()
            .all(|backup| place.clock.0.get() - backup.started < KEPT_DAYS * DAY)
    );
}

#[test]
fn a_deletion_that_fails_is_repeated() {
    for calls in 0..8 {
        let place = Place::new();
        place.run_all(MANY);
        place.advance(8 * DAY);
        place.run_all(MANY);
        place.advance(31 * DAY);
        place.bucket.set_failing_after(calls, Failing::After);
        assert!(place.run(MANY).is_err(), "{calls}");
        place.bucket.set_failing_after(0, Failing::Not);
        place.run_all(MANY);
        place.assert_whole();
        let parts = place.index().complete.iter().map(|backup| backup.parts.len()).sum::<usize>();
        assert_eq!(place.bucket.names().len(), parts + 1);
    }
}

#[test]
fn a_backup_that_makes_no_progress_begins_again() {
    let place = Place::new();
    place.run_all(MANY);
    place.advance(8 * DAY);
    assert_eq!(place.run(MANY), Ok(BackupOutcome::Complete)); // the ledger's rows
    assert_eq!(place.run(FEW), Ok(BackupOutcome::Part));
    let begun = place.index().current.unwrap();
    place.store.set_broken(true);
    for _ in 0..7 {
        assert!(place.run(FEW).is_err());
        place.advance(HOUR);
    }
    place.store.set_broken(false);
    assert_eq!(place.run(FEW), Ok(BackupOutcome::Part));
    assert_ne!(place.index().current.unwrap().name, begun.name);
    place.run_all(MANY);
    place.assert_whole();
    assert!(!place.bucket.names().iter().any(|name| name.starts_with(&begun.name)));
}

#[test]
fn after_a_loss_of_rows_no_backup_is_made_or_deleted() {
    let place = Place::new();
    place.run_all(MANY);
    place.advance(8 * DAY);
    place.run_all(MANY);
    place.advance(50 * DAY);
    let before = place.bucket.names();
    place.store.keep("epoch", br#"{"epoch":"of another database"}"#, b"{}");
    assert!(place.run(MANY).is_err());
    assert_eq!(place.bucket.names(), before);
    assert_eq!(place.index().current, None);
    place.store.remove("epoch");
    place.run_all(MANY);
    place.assert_whole();
}
