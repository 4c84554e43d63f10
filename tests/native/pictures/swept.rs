//! Tests that pictures without an update are deleted, and no others.

use futures_executor::block_on;
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::Swept;
use impact_pledge::pledges::picture::{PictureFormat, PictureName};
use serde_json::json;
use std::cell::Cell;
use support::bucket::MemoryBucket;
use support::ledger::{Failing, SqliteLedger};
use support::service::{FixedClock, NOW_MS};

const DAY_MS: u64 = 86_400_000;
const RUN_MS: u64 = 300_000;

/// Writes an update with this picture, in this state.
fn update(ledger: &SqliteLedger, id: &str, state: &str, picture: &PictureName) {
    let content = json!({ "picture": { "url": picture.path() } });
    ledger.sql(&format!(
        "INSERT INTO updates VALUES ('{id}', 'live', '2026-01', 'tree', '{state}', '2026-01-20', '{content}', NULL, 1, '', \
         'ada', 0, 'ada', 0)"
    ));
}

/// Runs the cron until it has looked at all pictures once. Returns how many it has deleted.
fn sweep_all(bucket: &MemoryBucket, ledger: &SqliteLedger, from_ms: u64) -> usize {
    let clock = FixedClock(Cell::new(from_ms));
    let run = |_| {
        let Swept { deleted } = block_on(updates::sweep(bucket, ledger, &clock)).unwrap();
        clock.0.set(clock.0.get() + RUN_MS);
        deleted
    };
    (0..256).map(run).sum()
}

#[test]
fn a_picture_stays_while_any_update_has_it_and_for_a_day() {
    let (bucket, ledger) = (MemoryBucket::default(), SqliteLedger::default());
    let names: Vec<_> =
        (0..40_u8).map(|byte| PictureName::of(&[byte], PictureFormat::Png)).collect();
    bucket.now_ms.set(NOW_MS);
    for name in &names {
        bucket.keep(name.as_str(), b"picture");
    }
    for other in ["index.json", "00.png", "ff"] {
        bucket.keep(other, b"not a picture");
    }
    for (index, state) in ["draft", "published", "withdrawn"].into_iter().enumerate() {
        update(&ledger, &format!("upd_{index}"), state, &names[index]);
    }
    let early = FixedClock(Cell::new(NOW_MS));
    for _ in 0..256 {
        early.0.set(early.0.get() + RUN_MS);
        assert_eq!(block_on(updates::sweep(&bucket, &ledger, &early)), Ok(Swept::default()));
    }
    assert_eq!(sweep_all(&bucket, &ledger, NOW_MS + 2 * DAY_MS), 37);
    assert_eq!(bucket.names().len(), 3 + 3, "those of updates, and what is not a picture");
    assert_eq!(sweep_all(&bucket, &ledger, NOW_MS + 9 * DAY_MS), 0);

    bucket.now_ms.set(NOW_MS + 9 * DAY_MS);
    bucket.keep(names[9].as_str(), b"uploaded again, not saved yet");
    assert_eq!(sweep_all(&bucket, &ledger, NOW_MS + 9 * DAY_MS), 0);
    ledger.sql("DELETE FROM updates WHERE id = 'upd_1'");
    assert_eq!(sweep_all(&bucket, &ledger, NOW_MS + 11 * DAY_MS), 2);
}

#[test]
fn a_failure_deletes_nothing_and_the_next_pass_does_it() {
    let (bucket, ledger) = (MemoryBucket::default(), SqliteLedger::default());
    let name = PictureName::of(b"", PictureFormat::Jpg);
    bucket.keep(name.as_str(), b"picture");
    let of_run = u64::from_str_radix(&name.as_str()[..2], 16).unwrap();
    let clock = FixedClock(Cell::new((256 * 1_000 + of_run) * RUN_MS));
    for failing in [Failing::Before, Failing::After] {
        bucket.set_failing_after(0, failing);
        block_on(updates::sweep(&bucket, &ledger, &clock)).unwrap_err();
    }
    bucket.set_failing_after(0, Failing::Not);
    assert_eq!(bucket.names().len(), 1);
    assert_eq!(block_on(updates::sweep(&bucket, &ledger, &clock)), Ok(Swept { deleted: 1 }));
}
