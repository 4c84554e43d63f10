//! The operator's commands, as the scripts call them: bytes in, JSON out.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected should panic")]
#![expect(clippy::string_slice, reason = "what is cut is hexadecimal")]

use impact_pledge::auth::{ApiKey, KeyRecord};
use impact_pledge::charge::Catalogue;
use impact_pledge::operator::run;
use impact_pledge::pledge::EditKey;
use impact_pledge::scope::Scope;
use impact_pledge::store::TransactionMetadata;
use impact_pledge::version::VERSION;
use serde_json::{Value, json};

#[track_caller]
fn answer(command: &str, input: &[u8]) -> Value {
    serde_json::from_str(&run(command, input).unwrap()).unwrap()
}

#[track_caller]
fn ask(command: &str, input: &Value) -> Value {
    answer(command, input.to_string().as_bytes())
}

#[track_caller]
fn refused(command: &str, input: &[u8], message: &str) {
    assert_eq!(run(command, input), Err(message.to_owned()));
}

// ---- New keys ----------------------------------------------------------------------------------

const RANDOM: &str = "00112233445566778899aabbccddeeff001122334455667788";

fn new_key(random: &str, record: &Value) -> Value {
    ask("new-key", &json!({ "random": random, "record": record }))
}

#[test]
fn a_new_key_is_kept_as_a_hash_and_what_it_may_do() {
    for (record, prefix) in [
        (json!({ "mode": "test", "level": "unit", "unitId": "u" }), "service_sk_test_"),
        (
            json!({ "mode": "live", "level": "team", "teamId": "t", "unitIds": ["u", "v"], "label": "é" }),
            "service_sk_live_",
        ),
    ] {
        let made = new_key(RANDOM, &record);
        let key = made["key"].as_str().unwrap();
        let hash = ApiKey::new(key).hash().to_hex();
        assert!(key.starts_with(prefix), "`{key}`");
        assert_eq!(key.len(), prefix.len() + 40, "200 bits in base 32");
        assert_eq!(made["entry"]["key"], format!("key:{hash}"));
        let stored = made["entry"]["value"].as_str().unwrap();
        let mut stored_record = serde_json::from_str::<Value>(stored).unwrap();
        assert_eq!(stored_record.as_object_mut().unwrap().remove("version"), Some(json!(VERSION)));
        assert_eq!(stored_record, record);
        assert!(!stored.contains(key));
        assert!(hash.starts_with(made["row"]["id"].as_str().unwrap()));
        assert_eq!(made["row"]["mode"], record["mode"]);
        assert_eq!(made["row"]["name"], made["entry"]["key"]);
    }
}

#[test]
fn a_new_key_has_the_secret_of_its_namespace() {
    let record = json!({ "mode": "test", "level": "unit", "unitId": "u" });
    let [first, second] = ["07", "08"].map(|byte| byte.repeat(32));
    let secret = |random: &str, records: &Value| {
        ask("secret", &json!({ "random": random, "records": records }))
    };
    let made = secret(&first, &json!({ "secret": null }));
    assert_eq!(made["entry"]["key"], "secret");
    assert_eq!(made["entry"]["value"], json!({ "secret": first, "version": 1 }).to_string());
    assert_eq!(made["stored"], made["entry"]["value"]);
    let kept = secret(&second, &json!({ "secret": made["stored"] }));
    assert_eq!(kept, json!({ "stored": made["stored"], "entry": null }));
    let key =
        ask("new-key", &json!({ "random": RANDOM, "record": record, "secret": made["stored"] }));
    let stored: Value = serde_json::from_str(key["entry"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(stored["secret"], first);
    assert!(!key["row"].to_string().contains(&first), "{key}");
    let list =
        ask("list-keys", &json!({ key["entry"]["key"].as_str().unwrap(): key["entry"]["value"] }));
    assert!(!list.to_string().contains(&first), "{list}");
    // Where the record is not seen, an API key has a copy.
    let again =
        secret(&second, &json!({ "secret": null, "key:0": "{}", "key:1": key["entry"]["value"] }));
    assert_eq!(again, made);
    refused(
        "secret",
        json!({ "random": second, "records": { "secret": "{}" } }).to_string().as_bytes(),
        "the record `secret` cannot be read: missing field `secret`",
    );
}

#[test]
fn every_random_bit_is_in_the_key() {
    let record = json!({ "mode": "test", "level": "unit", "unitId": "u" });
    let mut keys: Vec<String> = (0..200)
        .map(|bit| {
            let bytes = (0..25).map(|byte| if byte == bit / 8 { 1_u8 << (bit % 8) } else { 0 });
            let random: String = bytes.map(|byte| format!("{byte:02x}")).collect();
            new_key(&random, &record)["key"].as_str().unwrap().to_owned()
        })
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 200);
}

#[test]
fn a_key_that_cannot_work_is_not_made() {
    let long = "u".repeat(129);
    let label = "l".repeat(101);
    let many: Vec<String> = (0..1_001).map(|unit| unit.to_string()).collect();
    let no_id = "is not an ID: write 1 to 128 ASCII characters without blanks and commas";
    let no_label = "the label is out of bounds: write one line of at most 100 characters";
    for (record, message) in [
        (json!({ "mode": "test", "level": "unit", "unitId": "" }), format!("`` {no_id}")),
        (json!({ "mode": "test", "level": "unit", "unitId": "a b" }), format!("`a b` {no_id}")),
        (json!({ "mode": "test", "level": "unit", "unitId": "a,b" }), format!("`a,b` {no_id}")),
        (json!({ "mode": "test", "level": "unit", "unitId": "ü" }), format!("`ü` {no_id}")),
        (json!({ "mode": "test", "level": "unit", "unitId": long }), format!("`{long}` {no_id}")),
        (
            json!({ "mode": "test", "level": "team", "teamId": "", "unitIds": ["u"] }),
            format!("`` {no_id}"),
        ),
        (
            json!({ "mode": "test", "level": "team", "teamId": "t", "unitIds": ["u", "v w"] }),
            format!("`v w` {no_id}"),
        ),
        (
            json!({ "mode": "test", "level": "team", "teamId": "t", "unitIds": [] }),
            "a team has 1 to 1000 units, not 0".to_owned(),
        ),
        (
            json!({ "mode": "test", "level": "team", "teamId": "t", "unitIds": many }),
            "a team has 1 to 1000 units, not 1001".to_owned(),
        ),
        (
            json!({ "mode": "test", "level": "unit", "unitId": "u", "label": label }),
            no_label.to_owned(),
        ),
        (
            json!({ "mode": "test", "level": "unit", "unitId": "u", "label": "a\nb" }),
            no_label.to_owned(),
        ),
    ] {
        let input = json!({ "random": RANDOM, "record": record }).to_string();
        refused("new-key", input.as_bytes(), &message);
    }
}

#[test]
fn a_key_needs_all_of_its_randomness() {
    let record = json!({ "mode": "test", "level": "unit", "unitId": "u" });
    for random in ["", "00", "zz", &RANDOM[..48], &format!("{RANDOM}00")] {
        let input = json!({ "random": random, "record": record }).to_string();
        refused("new-key", input.as_bytes(), "`random` is not 25 bytes in hexadecimal");
    }
}

#[test]
fn the_longest_unit_fits_the_metadata_of_a_record() {
    let unit = "\"".repeat(128); // twice as long in JSON
    let record = json!({ "mode": "test", "level": "unit", "unitId": unit });
    let stored = new_key(RANDOM, &record)["entry"]["value"].as_str().unwrap().to_owned();
    let record: KeyRecord = serde_json::from_str(&stored).unwrap();
    let scope: Scope = record.scope(None).unwrap();
    let access = TransactionMetadata::new(scope, &EditKey::from_bytes([0; 20]));
    assert!(serde_json::to_vec(&access).unwrap().len() <= 1_024);
}

#[test]
fn a_key_that_replaces_another_may_do_the_same() {
    let record =
        json!({ "mode": "live", "level": "team", "teamId": "t", "unitIds": ["u"], "label": "x" });
    let made = ask("replace-key", &json!({ "random": RANDOM, "stored": record.to_string() }));
    let mut alike = new_key(RANDOM, &record);
    alike["entry"]["value"] = json!(record.to_string()); // as it was spelled
    assert_eq!(made, alike);
    refused(
        "replace-key",
        json!({ "random": RANDOM, "stored": "{}" }).to_string().as_bytes(),
        "its record cannot be read: missing field `mode`",
    );
}

// ---- The list ----------------------------------------------------------------------------------

fn name(first: &str) -> String {
    format!("key:{first:0<64}")
}

#[test]
fn the_list_shows_what_each_key_may_do() {
    let unit = r#"{"mode":"test","level":"unit","unitId":"u"}"#;
    let team =
        r#"{"mode":"live","level":"team","teamId":"t","unitIds":["u","v"],"label":"both shops"}"#;
    let rows = ask(
        "list-keys",
        &json!({ name("aa"): unit, name("bb"): team, name("cc"): "{}", name("dd"): null,
                 "key:short": unit, "transaction:1": unit, format!("key:{}", "A".repeat(64)): unit }),
    );
    assert_eq!(
        rows,
        json!([
            { "id": "aa0000000000", "name": name("aa"), "mode": "test", "level": "unit", "unitId": "u" },
            { "id": "bb0000000000", "name": name("bb"), "mode": "live", "level": "team", "teamId": "t",
              "unitIds": ["u", "v"], "label": "both shops" },
            { "id": "cc0000000000", "name": name("cc"), "problem": "missing field `mode`" },
        ])
    );
    assert_eq!(ask("list-keys", &json!({})), json!([]));
}

// ---- One key -----------------------------------------------------------------------------------

const KEY: &str = "service_sk_test_dev_unit";
const KEY_HASH: &str = "d4f722b49dea368c4dceef633b3f37542d192a3d0841798b01658e590581cb2e";

#[test]
fn a_key_and_its_whole_hash_are_found_without_a_list() {
    let name = format!("key:{KEY_HASH}");
    for wanted in [KEY, " service_sk_test_dev_unit\n", KEY_HASH, &name] {
        assert_eq!(
            ask("find-key", &json!({ "key": wanted })),
            json!({ "id": &KEY_HASH[..12], "name": name })
        );
    }
}

#[test]
fn an_id_is_looked_for_among_the_names_that_begin_so() {
    let names = [name("aa"), format!("key:{KEY_HASH}"), name("d4f722b49dea0")];
    let id = &KEY_HASH[..13];
    assert_eq!(ask("find-key", &json!({ "key": id })), json!({ "prefix": format!("key:{id}") }));
    assert_eq!(
        ask("find-key", &json!({ "key": id, "names": names })),
        json!({ "id": &KEY_HASH[..12], "name": format!("key:{KEY_HASH}") })
    );
}

#[test]
fn what_names_no_key_or_several_is_refused() {
    let names = [name("aa"), format!("key:{KEY_HASH}"), name("d4f722b49dea0")];
    let no_id = "this is neither a key nor an ID: take the ID from the key list";
    for (wanted, message) in [
        (
            "d4f722b49dea",
            "2 keys have IDs that begin with `d4f722b49dea`: give more of the hash, or the key \
             itself",
        ),
        (
            "bb0000000000",
            "no key has the ID `bb0000000000` in the list, which may lack keys of the last \
             minute: give the key itself or its whole hash, and no list is needed",
        ),
        ("aa", no_id),
        ("AA0000000000", no_id),
        (&KEY_HASH.to_uppercase(), no_id),
        ("", no_id),
        ("key:aa0000000000", no_id),
        (&"a".repeat(65), no_id),
        ("sk_live_of_another_service", no_id),
    ] {
        let input = json!({ "key": wanted, "names": names }).to_string();
        refused("find-key", input.as_bytes(), message);
    }
}

// ---- Profiles ----------------------------------------------------------------------------------

#[test]
fn a_profile_becomes_a_record_of_its_unit() {
    let profile = json!({ "name": "Nordwald", "accent": "#A03010", "language": "de",
        "logo": "https://nordwald.example/logo.svg", "link": "https://nordwald.example/" });
    let made = ask("profile", &json!({ "unit": "unit_1", "profile": profile }));
    assert_eq!(made["profile"], profile);
    assert_eq!(made["entry"]["key"], "profile:unit_1");
    let record = made["entry"]["value"].as_str().unwrap();
    let mut kept = profile.clone();
    kept["version"] = json!(VERSION);
    assert_eq!(serde_json::from_str::<Value>(record).unwrap(), kept);
}

#[test]
fn a_wrong_profile_is_refused_in_words() {
    let rows = [
        (
            json!({ "unit": "a b", "profile": { "name": "N" } }),
            "`a b` is not an ID: write 1 to 128 ASCII characters without blanks and commas",
        ),
        (
            json!({ "unit": "u", "profile": {} }),
            "`name` is out of bounds: write one line of 1 to 80 characters, none of which turns the direction of text",
        ),
        (
            json!({ "unit": "u", "profile": { "name": "N", "logo": "http://l.example" } }),
            "`logo` and `link` are addresses: write `https://…`, at most 2,048 bytes",
        ),
        (
            json!({ "unit": "u", "profile": { "name": "N", "accent": "red" } }),
            "`accent` is no colour: write it as `#2c6a4a`",
        ),
        (
            json!({ "unit": "u", "profile": { "name": "N", "language": "no" } }),
            "`language` is none of da, de, en, es, fr, it, ja, nl, pl, pt, sv, zh",
        ),
    ];
    for (input, message) in rows {
        refused("profile", input.to_string().as_bytes(), message);
    }
}

#[test]
fn profiles_are_listed_also_those_that_cannot_be_read() {
    let found = json!({
        "profile:a": "{\"name\":\"A\",\"slogan\":1}",
        "profile:b": "{}",
        "profile:gone": null,
        "catalogue": "{}",
    });
    let rows = ask("list-profiles", &found);
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert_eq!(rows[0], json!({ "unit": "a", "profile": { "name": "A" } }));
    assert_eq!(rows[1]["unit"], "b");
    assert!(rows[1]["problem"].as_str().unwrap().starts_with("`name` is out of bounds"));
}

// ---- Prices ------------------------------------------------------------------------------------

#[test]
fn a_catalogue_is_stored_as_the_service_reads_it() {
    let written = "\u{feff}{\r\n  \"unitPrices\": { \"tree\": \"0.50\", \"plastic-kg\": \"1.25\" },\r\n  \"currencyCode\": \"GBP\"\r\n}\r\n";
    let checked = answer("catalogue", written.as_bytes());
    let meant =
        json!({ "currencyCode": "GBP", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } });
    assert_eq!(checked["catalogue"], meant);
    for mode in ["test", "live"] {
        let entry = &checked["entries"][mode];
        assert_eq!(entry["key"], format!("catalogue:{mode}"));
        let read: Catalogue = serde_json::from_str(entry["value"].as_str().unwrap()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), meant);
    }
}

#[test]
fn stored_prices_are_read_as_the_service_reads_them() {
    let meant = json!({ "currencyCode": "GBP", "unitPrices": { "tree": "0.50" } });
    let mut stored = meant.clone();
    stored["ofLaterReleases"] = json!(true);
    for record in [&meant, &stored] {
        assert_eq!(ask("stored-catalogue", record), meant);
    }
    refused("stored-catalogue", b"{}", "missing field `currencyCode` at line 1 column 2");
}

#[test]
fn a_catalogue_with_a_mistake_is_told_where_it_is() {
    let price = "expected a price: write a plain decimal in quotes, such as `\"0.50\"`";
    for (text, message) in [
        ("", "is not JSON: EOF while parsing a value at line 1 column 0".to_owned()),
        ("tree = 0.50", "is not JSON: expected ident at line 1 column 3".to_owned()),
        (
            "{\"currencyCode\":\"USD\",\n\"unitPrices\":{},}",
            "is not JSON: trailing comma at line 2 column 17".to_owned(),
        ),
        (
            "{\"currencyCode\":\"USD\"}",
            "missing member `unitPrices` at line 1 column 22".to_owned(),
        ),
        (
            "{\"currencyCode\":\"USD\",\"unitPrices\":[]}",
            "invalid type: sequence, expected an object from offering IDs to prices at line 1 column 35"
                .to_owned(),
        ),
        (
            "{\"currencyCode\":\"USD\",\n\"unitPrices\":{\"tree\":0.5}}",
            format!("invalid type: floating point `0.5`, {price} at line 2 column 24"),
        ),
        (
            "{\"currencyCode\":\"USD\",\n\"unitPrices\":{\n\"tree\":\"0,5\"}}",
            format!("invalid value: string \"0,5\", {price} at line 3 column 12"),
        ),
        (
            "{\"currencyCode\":\"USD\",\n\"unitPrices\":{\"tree\":\"1\",\n\"tree\":\"2\"}}",
            "`tree` has two prices: remove one of them at line 3 column 11".to_owned(),
        ),
        (
            "{\"currencyCode\":\"JPY\",\"unitPrices\":{}}",
            "unknown value `JPY`, expected one of `USD`, `GBP`, `EUR` at line 1 column 21"
                .to_owned(),
        ),
        (
            "{\"currencyCode\":\"USD\",\"prices\":{}}",
            "unknown member `prices`, expected `currencyCode` or `unitPrices` at line 1 column 30"
                .to_owned(),
        ),
        (
            "{\"currencyCode\":\"USD\",\n\"currencyCode\":\"USD\"}",
            "duplicate member `currencyCode` at line 2 column 14".to_owned(),
        ),
    ] {
        refused("catalogue", text.as_bytes(), &message);
    }
    refused(
        "catalogue",
        b"{\"currencyCode\":\"\xff\"}",
        "this is not UTF-8 text: look at byte 17, and save it as UTF-8",
    );
}

#[test]
fn a_catalogue_has_a_bound() {
    let prices: String = (0..60_000).map(|offering| format!("\"{offering}\":\"0.00\",")).collect();
    let text = format!("{{\"currencyCode\":\"USD\",\"unitPrices\":{{{prices}\"x\":\"1\"}}}}");
    assert!(answer("catalogue", text.as_bytes())["catalogue"]["unitPrices"]["x"] == "1");
    let padded = format!("{text}{}", " ".repeat(1024 * 1024));
    let length = padded.len();
    refused(
        "catalogue",
        padded.as_bytes(),
        &format!(
            "a catalogue may have 1048576 bytes, this has {length}: leave out offerings that cost \
             nothing"
        ),
    );
}

// ---- Development data --------------------------------------------------------------------------

#[test]
fn the_development_data_are_those_of_the_documents() {
    let data = answer("seed", b"");
    let keys: Vec<&str> =
        data["keys"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(
        keys,
        [
            "service_sk_test_dev_unit",
            "service_sk_live_dev_unit",
            "service_sk_test_dev_unit_two",
            "service_sk_test_dev_team",
            "service_sk_live_dev_team",
        ]
    );
    let entries = data["entries"].as_array().unwrap();
    assert_eq!(
        entries.len(),
        keys.len() + 4,
        "with prices of both modes, the secret, and a profile"
    );
    for row in data["keys"].as_array().unwrap() {
        let name = format!("key:{}", ApiKey::new(row["key"].as_str().unwrap()).hash().to_hex());
        let entry = entries.iter().find(|entry| entry["key"] == name.as_str()).unwrap();
        let mut stored: KeyRecord = serde_json::from_str(entry["value"].as_str().unwrap()).unwrap();
        assert!(stored.secret.take().is_some());
        assert_eq!(serde_json::to_value(&stored).unwrap(), row["record"]);
        assert!(row["key"].as_str().unwrap().starts_with(stored.mode.key_prefix()));
    }
    for name in ["catalogue:test", "catalogue:live"] {
        let catalogue = entries.iter().find(|entry| entry["key"] == name).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(catalogue["value"].as_str().unwrap()).unwrap(),
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" }, "version": VERSION })
        );
    }
}

#[test]
fn another_command_is_refused() {
    for command in ["", "keys", "seed more"] {
        refused(command, b"", &format!("there is no operator's command `{command}`"));
    }
}
