//! Runs the fuzz targets of `npm run fuzz` on the inputs in `proofs/fuzz/corpus` and on every single byte.

use fuzz_targets::service::{self, FuzzService};
use fuzz_targets::{TARGETS, address, charge};
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
fn every_input_of_the_corpus_passes_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/fuzz/corpus");
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| corpus.join(name)).collect();
    assert_eq!(entries(&corpus), names, "a folder of inputs for each target");
    for (name, target) in TARGETS {
        let inputs = entries(&corpus.join(name));
        assert!(inputs.len() >= 5, "`{name}` has {} inputs", inputs.len());
        for path in inputs {
            let input = fs::read(&path).unwrap();
            catch_unwind(|| target(&input)).unwrap_or_else(|_| panic!("{}", path.display()));
        }
    }
}

#[test]
fn every_input_of_one_byte_passes_every_target() {
    for (_, target) in TARGETS {
        target(&[]);
        (0..=u8::MAX).for_each(|byte| target(&[byte]));
    }
}

// ---- All inputs of a small set -----------------------------------------------------------------

/// Requests a path, with `@` for the record's ID and `$` for its edit key.
#[track_caller]
fn opens(service: &FuzzService, path: &str) {
    let path = path.replace('@', service::ID).replace('$', service::EDIT_KEY);
    assert_eq!(address::status(service, "GET", &path), address::expected("GET", &path), "{path}");
}

/// Replaces one character of the ID and one of the edit key by `%` and any two ASCII characters.
#[test]
fn every_percent_encoded_byte_is_what_the_model_says() {
    let service = &address::service();
    let (id, key) = (service::ID.trim_end_matches('y'), service::EDIT_KEY.trim_start_matches('a'));
    for (high, low) in (0..128_u8).flat_map(|high| (0..128_u8).map(move |low| (high, low))) {
        let code = format!("%{}{}", char::from(high), char::from(low));
        opens(service, &format!("/v2/pledge-transaction/{id}{code}"));
        opens(service, &format!("/timeline/@?edit_key={code}{key}"));
    }
    assert_eq!(address::status(service, "GET", &format!("/v2/pledge-transaction/{id}%79")), 200);
}

/// Tries all texts of up to five of these characters. Two of them spell `y`, the ID's last one.
#[test]
fn every_short_text_is_decoded_as_the_model_says() {
    let alphabet = ["%", "7", "9", "y", "Y", "/", "é"];
    let mut texts = vec![String::new()];
    let mut last = texts.clone();
    for _ in 0..5 {
        last =
            last.iter().flat_map(|text| alphabet.map(|letter| [text, letter].concat())).collect();
        texts.extend(last.clone());
    }
    assert_eq!(texts.len(), 19_608);
    let service = &address::service();
    let id = service::ID.trim_end_matches('y');
    let spelled = |text: &&String| {
        let path = format!("/v2/pledge-transaction/{id}{text}");
        opens(service, &path);
        address::expected("GET", &path) == 200
    };
    let spelled: Vec<_> = texts.iter().filter(spelled).map(String::as_str).collect();
    assert_eq!(spelled, ["y", "%79"]);
    opens(service, "/timeline/@?edit_key=$");
}

/// Multiplies amounts of two digits, at every third power of ten of a double, by prices of every
/// shape. Also adds up three products, so that digits carry.
#[test]
fn every_small_decimal_sums_as_integers_do() {
    let prices = ["0", "1", "0.005", "9.995", "0.01", "99999999999999999999.9999999999999999999"];
    let longest =
        ["9".repeat(40), format!("0.{}1", "0".repeat(37)), format!("9.{}", "9".repeat(38))];
    let prices: Vec<_> = prices.iter().map(|price| (*price).to_owned()).chain(longest).collect();
    let mut sums = 0;
    for exponent in (-324..=308_i32).step_by(3) {
        for digits in 1..100 {
            let Some(amount) = amount(&format!("{digits}e{exponent}")) else { continue };
            let price =
                &prices[(digits as usize + exponent.unsigned_abs() as usize) % prices.len()];
            charge::sum(&[(amount, price.clone())]);
            sums += 1;
        }
    }
    let limits = [5e-324, f64::MIN_POSITIVE, 0.005, 0.995, 1.0, 9_007_199_254_740_993.0, f64::MAX];
    for a in limits {
        for b in limits {
            for price in &prices {
                charge::sum(&[(a, price.clone()), (b, price.clone()), (a, "0.005".to_owned())]);
                sums += 1;
            }
        }
    }
    assert!(sums > 20_000, "{sums}");
}

fn amount(text: &str) -> Option<f64> {
    text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0)
}
