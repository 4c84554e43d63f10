//! Keys: the header's rows, what is stored of a key, and for which unit it acts.

use impact_pledge::auth::{ApiKey, KeyHash, KeyLevel, KeyRecord};
use impact_pledge::scope::{Mode, Scope};
use serde_json::json;

// ---- The header --------------------------------------------------------------------------------

#[track_caller]
fn reads(header: &str, token: &str) {
    assert_eq!(ApiKey::from_authorization(header), Some(ApiKey::new(token)), "`{header}`");
}

#[test]
fn a_bearer_token_is_read() {
    reads("Bearer service_sk_test_1", "service_sk_test_1");
    reads("bearer service_sk_test_1", "service_sk_test_1");
    reads("BEARER service_sk_test_1", "service_sk_test_1");
    reads("bEaReR service_sk_test_1", "service_sk_test_1");
    reads("Bearer   service_sk_test_1", "service_sk_test_1");
    reads("  Bearer service_sk_test_1  ", "service_sk_test_1");
    reads("Bearer x", "x");
    reads("Bearer eyJhbGciOi.J9-_~+/==", "eyJhbGciOi.J9-_~+/==");
    reads("Bearer Bearer", "Bearer");
    let long = "k".repeat(10_000);
    reads(&format!("Bearer {long}"), &long);
}

#[test]
fn anything_else_is_refused() {
    for header in [
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Bearer    ",
        "service_sk_test_1",
        "Basic c2VydmljZQ==",
        "Token x",
        "Bearerx",
        "Bearer:x",
        "Bearer=x",
        "Bearers x",
        "Bear x",
        "Bearer x y",
        "Bearer x, Bearer y",
        "Bearer x\ty",
        "Bearer\tx",
        "Bearer\u{a0}x",
        "Bearer \u{e9}",
        "Bearer x\u{a0}",
        "\u{85}Bearer x",
        "Bearer x\u{b}",
        "Bearer x\u{0}",
        "Bearer x\u{7f}",
        "Bearer \u{1f511}",
        ", Bearer x",
        "\"Bearer\" x",
    ] {
        assert_eq!(ApiKey::from_authorization(header), None, "`{}`", header.escape_debug());
    }
}

#[test]
fn a_key_never_shows_itself() {
    assert_eq!(format!("{:?}", ApiKey::new("service_sk_live_secret")), "ApiKey(…)");
}

// ---- What is stored ----------------------------------------------------------------------------

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

fn unit_key(mode: Mode) -> KeyRecord {
    let level = KeyLevel::Unit { unit_id: "unit_1".to_owned() };
    KeyRecord::new(mode, level)
}

fn team_key(units: &[&str]) -> KeyRecord {
    let unit_ids = units.iter().map(|unit| (*unit).to_owned()).collect();
    let level = KeyLevel::Team { team_id: "team_1".to_owned(), unit_ids };
    KeyRecord { label: "shop".to_owned(), ..KeyRecord::new(Mode::Live, level) }
}

#[test]
fn a_record_is_stored_as_operators_know_it() {
    assert_eq!(
        serde_json::to_value(unit_key(Mode::Test)).unwrap(),
        json!({ "mode": "test", "level": "unit", "unitId": "unit_1" })
    );
    assert_eq!(
        serde_json::to_value(team_key(&["a", "b"])).unwrap(),
        json!({ "mode": "live", "level": "team", "teamId": "team_1", "unitIds": ["a", "b"], "label": "shop" })
    );
}

#[test]
fn a_record_reads_back() {
    for record in [unit_key(Mode::Test), unit_key(Mode::Live), team_key(&["a", "b"])] {
        let bytes = serde_json::to_vec(&record).unwrap();
        assert_eq!(serde_json::from_slice::<KeyRecord>(&bytes).unwrap(), record);
    }
}

#[test]
fn a_record_that_cannot_be_right_is_refused() {
    for record in [
        json!({}),
        json!({ "mode": "test" }),
        json!({ "level": "unit", "unitId": "u" }),
        json!({ "mode": "test", "level": "unit" }),
        json!({ "mode": "Test", "level": "unit", "unitId": "u" }),
        json!({ "mode": "prod", "level": "unit", "unitId": "u" }),
        json!({ "mode": "test", "level": "Unit", "unitId": "u" }),
        json!({ "mode": "test", "level": "team", "teamId": "t" }),
        json!({ "mode": "test", "level": "team", "unitIds": ["u"] }),
        json!({ "mode": "test", "level": "team", "teamId": "t", "unitIds": [] }),
        json!({ "mode": "test", "level": "unit", "unitId": 1 }),
        json!({ "mode": "test", "level": "unit", "unitId": null }),
        json!({ "mode": "test", "level": "unit", "teamId": "t", "unitIds": ["u"] }),
        json!({ "mode": "test", "level": "team", "unitId": "u" }),
    ] {
        assert!(serde_json::from_value::<KeyRecord>(record.clone()).is_err(), "{record}");
    }
}

/// A release can be rolled back: what it does not know decides nothing.
#[test]
fn members_of_a_later_release_are_passed_over() {
    for record in [
        json!({ "mode": "test", "level": "unit", "unitId": "unit_1", "extra": { "a": [1] } }),
        json!({ "mode": "test", "level": "unit", "unitId": "unit_1", "unitIds": ["v"] }),
    ] {
        let text = record.to_string();
        assert_eq!(serde_json::from_str::<KeyRecord>(&text).unwrap(), unit_key(Mode::Test));
    }
}

// ---- The unit ----------------------------------------------------------------------------------

fn scope(unit: &str, mode: Mode) -> Option<Scope> {
    Some(Scope { unit: unit.to_owned(), mode })
}

#[test]
fn a_unit_level_key_ignores_the_header() {
    for mode in [Mode::Test, Mode::Live] {
        for header in [None, Some(""), Some("unit_1"), Some("unit_2"), Some("UNIT_1")] {
            assert_eq!(unit_key(mode).scope(header), scope("unit_1", mode));
        }
    }
}

#[test]
fn a_team_level_key_acts_for_a_unit_of_its_team() {
    let key = team_key(&["unit_1", "unit_2"]);
    assert_eq!(key.scope(Some("unit_1")), scope("unit_1", Mode::Live));
    assert_eq!(key.scope(Some("unit_2")), scope("unit_2", Mode::Live));
    for header in [None, Some(""), Some("unit_3"), Some("UNIT_1"), Some("unit_"), Some("team_1")] {
        assert_eq!(key.scope(header), None, "{header:?}");
    }
}

#[test]
fn a_mode_is_what_the_contract_calls_it() {
    assert_eq!(Mode::Test.key_prefix(), "service_sk_test");
    assert_eq!(Mode::Live.key_prefix(), "service_sk_live");
    assert!(!Mode::Test.is_live() && Mode::Live.is_live());
}
