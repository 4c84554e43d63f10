//! Tests the record that contains the updates for timelines. Pages do not trust its contents.

use impact_pledge::buyer::updates::{MAX_UPDATES, OfferingUpdates, Texts, Update};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::Month;
use impact_pledge::pledges::store::{Key as _, UpdatesKey, decode};
use serde_json::{Value, json};

/// Returns an update with all members.
pub fn full() -> Value {
    json!({
        "id": "upd_1",
        "stage": "under-way",
        "date": "2026-01-20",
        "place": { "name": "Kitui", "latitude": -1.3733, "longitude": 38.0106 },
        "partner": "Reforest",
        "quantity": 12.5,
        "picture": { "url": "https://pictures.example/1.jpg", "text": "Seedlings" },
        "report": "https://reports.example/1",
        "texts": { "en": "We plant.", "pt-BR": "Plantamos." },
    })
}

fn read(updates: &Value) -> Vec<Update> {
    let record = json!({ "version": 9, "updates": updates, "later": { "member": 1 } }).to_string();
    decode::<OfferingUpdates>(UpdatesKey::KIND, record.as_bytes()).unwrap().updates
}

/// Returns the full update with one member replaced. `pointer` is a JSON pointer to the member, which may be
/// nested.
fn changed(pointer: &str, value: &Value) -> Value {
    let mut update = full();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    update.pointer_mut(parent).unwrap()[name] = value.clone();
    update
}

#[test]
fn a_record_is_read_and_written_without_a_difference() {
    let minimal = json!({ "id": "upd_2", "stage": "funded", "date": "2026-01-03", "texts": {} });
    let updates = read(&json!([full(), minimal]));
    assert_eq!(updates.len(), 2);
    let written = serde_json::to_string(&OfferingUpdates::new(updates)).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written, json!({ "version": 1, "updates": [full(), minimal] }));
    let mut of_later = full();
    of_later["weather"] = json!("rain");
    assert_eq!(read(&json!([of_later])).len(), 1);
}

#[test]
fn an_invalid_update_is_left_out_and_the_others_are_shown() {
    let long = "x".repeat(401);
    let huge = "x".repeat(10_000_000);
    let rows: &[(&str, &[Value])] = &[
        ("/id", &[json!(""), json!("a b"), json!("\"><script>"), json!("x".repeat(41)), json!(1)]),
        ("/stage", &[json!("felled"), json!("Done"), json!(null), json!(0)]),
        (
            "/date",
            &[json!("2026-02-30"), json!("2026-1-3"), json!("2026-01-20T00:00:00Z"), json!("")],
        ),
        ("/place", &[json!("Kitui"), json!({}), json!({ "name": "K", "latitude": 1 })]),
        ("/place/name", &[json!(""), json!("\u{200b}"), json!("a\nb"), json!("\u{202e}iutiK")]),
        ("/place/latitude", &[json!(90.1), json!(-91), json!("1"), json!(null)]),
        ("/place/longitude", &[json!(180.5), json!(1e308), json!([])]),
        (
            "/partner",
            &[
                json!(" "),
                json!("x".repeat(201)),
                json!("a\u{2066}b"),
                json!("\u{1b}[2J"),
                json!(&huge),
            ],
        ),
        ("/quantity", &[json!(0), json!(-1), json!("12"), json!([])]),
        (
            "/picture",
            &[
                json!("https://a.example/"),
                json!({ "url": "https://a.example/" }),
                json!({ "text": "x" }),
            ],
        ),
        (
            "/picture/url",
            &[
                json!("http://a.example/1.jpg"),
                json!("javascript:alert(1)"),
                json!("data:image/png;base64,AA=="),
                json!("//a.example/1.jpg"),
                json!("https://ada@a.example/1.jpg"),
                json!("https://a.example/a b"),
                json!("https:///1.jpg"),
                json!(["https://a.example/", &"x".repeat(2_048)].concat()),
                json!(["https://a.example/", &huge].concat()),
            ],
        ),
        ("/picture/text", &[json!(""), json!("\u{2028}"), json!(null)]),
        (
            "/report",
            &[
                json!("HTTP://a.example/"),
                json!("JavaScript:alert(1)"),
                json!("https://"),
                json!(""),
            ],
        ),
        (
            "/texts",
            &[
                json!([]),
                json!("We plant."),
                json!({ "": "x" }),
                json!({ "e\"n": "x" }),
                json!({ "en-": "x" }),
            ],
        ),
        (
            "/texts/en",
            &[json!(""), json!(&long), json!(&huge), json!("a\rb"), json!("\u{202d}x"), json!(1)],
        ),
    ];
    for (pointer, values) in rows {
        for value in *values {
            let beside = changed("/id", &json!("beside"));
            let updates = read(&json!([changed(pointer, value), beside]));
            let ids: Vec<_> = updates.iter().map(|update| &*update.id).collect();
            let brief: String = value.to_string().chars().take(60).collect();
            assert_eq!(ids, ["beside"], "{pointer} {brief}");
        }
    }
    for name in ["id", "stage", "date"] {
        let mut without = full();
        without.as_object_mut().unwrap().remove(name);
        assert!(read(&json!([without])).is_empty(), "{name}");
    }
}

#[test]
fn valid_values_at_their_limits_are_shown() {
    for (pointer, value) in [
        ("/stage", json!("verified")),
        ("/date", json!("1970-01-01")),
        ("/place", json!({ "name": "Kitui" })),
        ("/place", json!(null)),
        ("/place/latitude", json!(-90)),
        ("/place/longitude", json!(180)),
        ("/partner", json!("植".repeat(200))),
        ("/quantity", json!(1e300)),
        ("/quantity", json!(0.000_001)),
        ("/picture/url", json!("HTTPS://a.example/1.jpg?x=1#y")),
        ("/texts", json!({})),
        ("/texts/en", json!("عربي".repeat(100))),
        ("/texts/en", json!("<script>alert(1)</script>")), // pages escape texts
    ] {
        assert_eq!(read(&json!([changed(pointer, &value)])).len(), 1, "{pointer} {value}");
    }
}

#[test]
fn a_long_list_is_cut_and_a_record_of_another_shape_is_damaged() {
    let many: Vec<_> =
        (0..MAX_UPDATES + 9).map(|id| changed("/id", &json!(format!("u{id}")))).collect();
    let updates = read(&json!(many));
    assert_eq!((updates.len(), &*updates[0].id), (MAX_UPDATES, "u0"));
    for record in ["", "[]", "{}", r#"{"updates":{}}"#, r#"{"updates":[}"#, r#"{"updates":null}"#] {
        assert!(
            decode::<OfferingUpdates>(UpdatesKey::KIND, record.as_bytes()).is_err(),
            "{record}"
        );
    }
    for update in [json!(null), json!([]), json!("x"), json!({ "id": "x" })] {
        assert!(read(&json!([update])).is_empty());
    }
}

#[test]
fn a_sentence_is_found_by_language_then_english_then_the_first() {
    let texts = |value: Value| serde_json::from_value::<Texts>(value).unwrap();
    let of = |texts: &Texts, tag: &str| {
        texts.best(tag).map(|(tag, text)| format!("{tag} {text}")).unwrap_or_default()
    };
    let three = texts(json!({ "sv": "1", "EN": "2", "pt-BR": "3" }));
    let found = ["sv", "SV", "pt-br", "pt", "de"].map(|tag| of(&three, tag));
    assert_eq!(found, ["sv 1", "sv 1", "pt-BR 3", "EN 2", "EN 2"]);
    let without_english: Texts = serde_json::from_str(r#"{ "sv": "1", "da": "2" }"#).unwrap();
    assert_eq!(of(&without_english, "de"), "sv 1");
    assert_eq!(of(&Texts::default(), "de"), "");
    assert_eq!(three.get("de"), None);
    let twice: Texts = serde_json::from_str(r#"{ "en": "1", "En": "2" }"#).unwrap();
    assert_eq!(twice.iter().collect::<Vec<_>>(), [("En", "2")]);
    let many: serde_json::Map<_, _> =
        (0..25).map(|number| (format!("l{number}"), json!("x"))).collect();
    assert!(serde_json::from_value::<Texts>(json!(many)).is_err());
}

#[test]
fn the_key_has_a_hash_because_an_offering_may_be_longer_than_a_name() {
    let month = Month::parse("2026-01").unwrap();
    let name = UpdatesKey::new(Mode::Live, "tree", month).name();
    let hash = "dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622";
    assert_eq!(name, format!("updates:live:{hash}:2026-01"));
    let long = UpdatesKey::new(Mode::Test, &"x".repeat(10_000), month).name();
    assert!(long.len() < 512 && long.starts_with("updates:test:"), "{long}");
}
