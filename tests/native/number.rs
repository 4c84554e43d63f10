//! Tests the rule that numbers must be finite and above 0 as doubles, against the standard library's
//! conversion. Also tests how amounts are read and written.

use impact_pledge::pledges::types::Amount;
use impact_pledge::pledges::validate;
use impact_pledge::pledges::validate::Code;
use impact_pledge::pledges::validate::compact;
use impact_pledge::pledges::validate::compact::{CompactIssue, UNDECIDED};
use impact_pledge::pledges::validate::json::Source;
use num_bigint::BigUint;
use proptest::prelude::*;

fn expected(text: &str) -> Option<Code> {
    let double: f64 = text.parse().unwrap();
    if double.is_infinite() {
        Some(Code::NotFinite)
    } else if double > 0.0 {
        None
    } else {
        Some(Code::NotPositive)
    }
}

fn request(amount: &str) -> String {
    let pledge = format!(r#"{{"impact":{{"amount":{amount},"offeringId":"tree"}}}}"#);
    format!(r#"{{"reference":"r","recipient":{{"email":"a@b.c"}},"pledges":[{pledge}]}}"#)
}

/// Returns the code of the issue in a create request with this amount; `None` if the amount is valid.
#[track_caller]
fn code_of(text: &str) -> Option<Code> {
    let request = request(text);
    let issues = validate::check(request.as_bytes());
    assert!(issues.len() <= 1, "`{text}`");
    issues.first().map(|issue| {
        assert_eq!(issue.path().to_string(), "/pledges/0/impact/amount", "`{text}`");
        issue.code()
    })
}

/// Returns the issue code that the validator in WebAssembly reports. This validator checks the text of a
/// number without converting it.
#[track_caller]
fn code_without_conversion(text: &str) -> Option<u8> {
    let mut room = [CompactIssue::default(); 2];
    let request = request(text);
    let count = compact::check(request.as_bytes(), Source::Json, 0, &mut [], &mut room);
    assert!(count <= 1, "`{text}`");
    room.first().filter(|_| count > 0).map(|issue| issue.about.to_le_bytes()[1])
}

#[track_caller]
fn agree(text: &str) {
    for text in [text, &format!("-{text}")] {
        let expected = expected(text);
        assert_eq!(code_of(text), expected, "`{text}`");
        match code_without_conversion(text) {
            Some(UNDECIDED) => {
                assert!(text.contains(['e', 'E']) || text.len() >= 300, "`{text}` is undecided");
            }
            code => assert_eq!(code, expected.map(|code| code as u8), "`{text}`"),
        }
    }
}

// ---- Boundaries of rounding --------------------------------------------------------------------

/// Returns the smallest number that converts to infinity: the middle between the greatest double and the
/// next power of two.
fn top() -> BigUint {
    (BigUint::from(1_u8) << 1024) - (BigUint::from(1_u8) << 970)
}

/// Returns the greatest number that still converts to 0: half of the smallest double. The result is in units
/// of 10^-1075.
fn bottom() -> BigUint {
    BigUint::from(5_u8).pow(1075)
}

/// Returns some spellings of the number `digits` × 10^`power`.
fn spellings(digits: &str, power: i32) -> Vec<String> {
    let mut spellings = vec![format!("{digits}e{power}"), format!("{digits}.000e{power}")];
    for zeros in [0, 1, 400] {
        let fraction = "0".repeat(zeros) + digits;
        spellings.push(format!("0.{fraction}E{:+}", power + fraction.len() as i32));
        spellings.push(format!("{digits}{}e{}", "0".repeat(zeros), power - zeros as i32));
    }
    if power == 0 {
        spellings.push(digits.to_owned());
    }
    spellings
}

#[track_caller]
fn agree_around(number: &BigUint, power: i32) {
    let one = BigUint::from(1_u8);
    for (number, power) in [
        (number.clone(), power),
        (number - &one, power),
        (number + &one, power),
        // Differs in the 60th decimal.
        (number * BigUint::from(10_u8).pow(60) + &one, power - 60),
        (number * BigUint::from(10_u8).pow(60) - &one, power - 60),
    ] {
        spellings(&number.to_string(), power).iter().for_each(|text| agree(text));
    }
}

#[test]
fn around_the_first_infinite_number_and_the_last_that_rounds_to_0() {
    agree_around(&top(), 0);
    assert_eq!(code_of(&top().to_string()), Some(Code::NotFinite));
    assert_eq!(code_of(&(top() - 1_u8).to_string()), None);
    agree_around(&bottom(), -1075);
    assert_eq!(code_of(&format!("{}e-1075", bottom())), Some(Code::NotPositive));
    assert_eq!(code_of(&format!("{}e-1075", bottom() + 1_u8)), None);
}

/// Tests numbers with a large negative exponent and as many zeros, such as `1`, 700,000 zeros and `e-700000`.
/// The standard library ignores the last digits of such exponents, so the test states the expected results
/// itself.
#[test]
fn exponents_that_many_digits_make_up_for() {
    const MANY: usize = 700_000;
    let zeros = "0".repeat(MANY);
    let row = |text: String, amount: Option<f64>, code: Option<Code>| {
        // Not `assert_eq!`, which would print megabytes.
        assert!(Amount::parse(&text) == amount.and_then(Amount::new), "{code:?}");
        assert!(code_of(&text) == code, "{code:?}");
    };
    row(format!("1{zeros}e-{MANY}"), Some(1.0), None);
    row(format!("12{zeros}.5E-{}", MANY + 1), Some(1.2), None);
    row(format!("0.{zeros}15e+{}", MANY + 1), Some(1.5), None);
    row(format!("-1{zeros}e-{MANY}"), None, Some(Code::NotPositive));
    row(format!("1{zeros}e-{MANY}0"), None, Some(Code::NotPositive));
    row(format!("1{zeros}e-{}", "9".repeat(30)), None, Some(Code::NotPositive));
    row(format!("0.{zeros}1e{}", "9".repeat(30)), None, Some(Code::NotFinite));
    row(format!("-1{zeros}"), None, Some(Code::NotFinite));
    row(format!("0.{zeros}e{}", "9".repeat(30)), None, Some(Code::NotPositive));
    row(format!("1{}e-655360", "0".repeat(65_536)), None, Some(Code::NotPositive));
}

// ---- Amounts -----------------------------------------------------------------------------------

fn written(amount: Amount) -> String {
    serde_json::to_string(&amount).unwrap()
}

// ---- Any number --------------------------------------------------------------------------------

const NUMBER: &str = "(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?";
const LONG_NUMBER: &str = "(0|[1-9][0-9]{0,900})(\\.[0-9]{1,900})?([eE][+-]?[0-9]{1,25})?";

/// Generates numbers close to the greatest or the smallest double: one digit of a boundary is changed, and a
/// power of ten is applied.
fn near_a_boundary() -> impl Strategy<Value = String> {
    (any::<bool>(), any::<prop::sample::Index>(), 0..=9_u8, any::<prop::sample::Index>()).prop_map(
        |(is_top, position, digit, cut)| {
            let (digits, power) =
                if is_top { (top().to_string(), 0) } else { (bottom().to_string(), -1075) };
            let mut digits = digits.into_bytes();
            let position = position.index(digits.len());
            digits.splice(position..=position, [b'0' + digit]);
            let digits = String::from_utf8(digits).unwrap();
            let (front, back) = digits.split_at(1 + cut.index(digits.len() - 1));
            let front = front.trim_start_matches('0');
            let front = if front.is_empty() { "0" } else { front };
            format!("{front}.{back}e{}", power + back.len() as i32)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_number(text in NUMBER) {
        agree(&text);
    }

    #[test]
    fn any_long_number(text in LONG_NUMBER) {
        agree(&text);
    }

    #[test]
    fn any_number_near_a_boundary(text in near_a_boundary()) {
        agree(&text);
    }

    #[test]
    fn any_double(bits in any::<u64>()) {
        let double = f64::from_bits(bits & (u64::MAX >> 1));
        prop_assume!(double.is_finite());
        agree(&format!("{double}"));
        agree(&format!("{double:e}"));
        agree(&format!("{double:.20e}"));
    }

    #[test]
    fn any_amount_reads_back(bits in any::<u64>()) {
        if let Some(amount) = Amount::new(f64::from_bits(bits & (u64::MAX >> 1))) {
            let text = written(amount);
            prop_assert_eq!(Amount::parse(&text), Some(amount));
            prop_assert_eq!(serde_json::from_str::<Amount>(&text).ok(), Some(amount));
        }
    }
}
