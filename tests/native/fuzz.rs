//! Runs the fuzz targets of `npm run fuzz` on the inputs in `tests/proofs/fuzz/corpus` and on every single byte.

use fuzz_targets::TARGETS;
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
fn every_input_of_the_corpus_and_every_byte_passes_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proofs/fuzz/corpus");
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| corpus.join(name)).collect();
    assert_eq!(entries(&corpus), names, "a folder of inputs for each target");
    for (name, target) in TARGETS {
        let inputs = entries(&corpus.join(name));
        assert!(inputs.len() >= 20, "`{name}` has {} inputs", inputs.len());
        for path in inputs {
            let input = fs::read(&path).unwrap();
            catch_unwind(|| target(&input)).unwrap_or_else(|_| panic!("{}", path.display()));
        }
        target(&[]);
        (0..=u8::MAX).for_each(|byte| target(&[byte]));
    }
}
