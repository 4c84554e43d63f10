//! Tests the stored records of API keys, and which records are refused.

use impact_pledge::pledges::auth::{ApiKey, KeyHash, KeyLevel, KeyRecord};
use impact_pledge::pledges::scope::Mode;
use serde_json::json;

#[test]
fn a_key_never_shows_itself() {
    assert_eq!(format!("{:?}", ApiKey::new("service_sk_live_secret")), "ApiKey(…)");
}

#[test]
fn a_key_is_stored_as_its_sha_256() {
    let hash = ApiKey::new("service_sk_test_dev_unit").hash();
    assert_eq!(hash.to_hex(), "d4f722b49dea368c4dceef633b3f37542d192a3d0841798b01658e590581cb2e");
    assert_eq!(KeyHash::from_hex(&hash.to_hex()), Some(hash));
    let hex = hash.to_hex();
    let (first, rest) = hex.split_at(1);
    for text in ["", "00", rest, &format!("{hex}0"), &hex.to_uppercase(), &hex.replace(first, "g")]
    {
        assert_eq!(KeyHash::from_hex(text), None, "`{text}`");
    }
}

#[test]
fn a_record_that_cannot_be_right_is_refused() {
    for record in [
        json!({}),
        json!({ "mode": "test" }),
        json!({ "unit": "u" }),
        json!({ "mode": "prod", "unit": "u" }),
        json!({ "mode": "test", "unit": 1 }),
        json!({ "mode": "test", "unit": "u", "team": "t" }),
        json!({ "mode": "test", "unit": "a,b" }),
        json!({ "mode": "test", "team": "" }),
        json!({ "mode": "test", "team": "a:b" }), // in `member:a:b:c` the team would end at the first colon
    ] {
        assert!(serde_json::from_value::<KeyRecord>(record.clone()).is_err(), "{record}");
    }
}

/// Members that this release does not know are ignored, so that an operator can roll back from a later release
/// to this one.
#[test]
fn members_of_a_later_release_are_passed_over() {
    let level = KeyLevel::Unit("unit:1".to_owned());
    let record = r#"{"mode":"test","unit":"unit:1","units":["v"],"extra":{}}"#;
    let read: KeyRecord = serde_json::from_str(record).unwrap();
    assert_eq!(read, KeyRecord::new(Mode::Test, level));
}
