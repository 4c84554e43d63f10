//! The inputs below `fuzz/corpus`, and every byte, through the doors that `npm run fuzz` feeds.

#![expect(clippy::expect_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::indexing_slicing, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "an input that fails should be named")]
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]

#[path = "../fuzz/doors/mod.rs"]
mod doors;

use doors::DOORS;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

#[test]
fn every_input_of_the_corpus_passes_its_door() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let names: Vec<_> = DOORS.iter().map(|(name, _)| corpus.join(name)).collect();
    assert_eq!(entries(&corpus), names, "a folder of inputs for each door");
    for (name, door) in DOORS {
        let inputs = entries(&corpus.join(name));
        assert!(inputs.len() >= 5, "`{name}` has {} inputs", inputs.len());
        for path in inputs {
            let input = fs::read(&path).unwrap();
            catch_unwind(|| door(&input)).unwrap_or_else(|_| panic!("{}", path.display()));
        }
    }
}

#[test]
fn every_input_of_one_byte_passes_every_door() {
    for (_, door) in DOORS {
        door(&[]);
        (0..=u8::MAX).for_each(|byte| door(&[byte]));
    }
}
