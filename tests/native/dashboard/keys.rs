//! Tests the forms that create, rotate and revoke API keys. A form that is sent repeatedly takes effect once,
//! and shows its key only once.

use super::{OPERATOR, TestDashboard, dashboard, field, form_with};
use futures_executor::block_on;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::pledges::auth::ApiKey;
use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{Answer, NOW_MS, SECRET, TestService, minimal};

/// Returns a dashboard with the namespace's secret, a unit `shop`, and a team `team` to which the unit
/// belongs.
pub fn shop() -> TestDashboard {
    let store = MemoryStore::default();
    let secret = json!({ "secret": *SECRET, "version": 1 }).to_string();
    store.keep("secret", secret.as_bytes(), b"null");
    for (name, by) in [("unit:shop", "ada"), ("team:team", "ada"), ("member:team:shop", "ada")] {
        let registered = json!({ "created": "2026-01-01T00:00:00.000Z", "by": by }).to_string();
        store.keep(name, registered.as_bytes(), registered.as_bytes());
    }
    let dashboard = dashboard(TestService::new(store, ""));
    block_on(adopt(dashboard.store(), &dashboard.ledger, NOW_MS)).unwrap();
    dashboard
}

/// Returns the fields of the form that creates a key of a unit or a team.
fn making<'f>(id: &'f str, level: [&'f str; 2], mode: &'f str) -> Vec<(&'f str, &'f str)> {
    vec![("operation", id), (level[0], level[1]), ("mode", mode), ("label", "Till 3")]
}

pub fn form_id(dashboard: &TestDashboard, path: &str) -> String {
    field(&dashboard.get(OPERATOR, path).text, "operation")
}

/// Returns the key that an answer shows.
#[track_caller]
fn shown(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let key = answer.text.split("<code class=\"id\">").find(|rest| rest.starts_with("service_sk_"));
    key.expect("a key").split('<').next().unwrap().to_owned()
}

/// Asserts the answer to a form that was sent again, as by a double click, after it had created this key. The answer
/// names the key by its ID and has the buttons to replace and revoke it, but does not show the key itself.
#[track_caller]
fn check_made_before(answer: &Answer, key: &str) {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(!answer.text.contains(key), "{}", answer.text);
    let id = ApiKey::new(key).hash().id();
    let record = format!("key:{}", ApiKey::new(key).hash().to_hex());
    for button in [">Replace</button>", ">Revoke</button>"] {
        let (_, fields) = form_with(answer, button);
        assert!(fields.contains(&("key".to_owned(), record.clone())), "{fields:?}");
    }
    for words in [&*id, "was shown only once", "31 Jan 2026", "replace or revoke it", "sent twice"]
    {
        assert!(answer.text.contains(words), "{words}: {}", answer.text);
    }
    assert!(!answer.text.contains("Use it") && !answer.text.contains("New key"), "{}", answer.text);
}

pub fn make(dashboard: &TestDashboard, level: [&str; 2], mode: &str) -> String {
    let path = format!("/{}s/{}", level[0], level[1]);
    shown(&dashboard.post(OPERATOR, "/keys", &making(&form_id(dashboard, &path), level, mode)))
}

fn names(dashboard: &TestDashboard, prefix: &str) -> Vec<String> {
    let names = dashboard.store().names().into_iter();
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// Returns the audit log, newest entry last.
pub fn changes(dashboard: &TestDashboard) -> Vec<Value> {
    let changes = support::service::changes(dashboard.store(), &dashboard.ledger);
    changes.iter().rev().map(|change| json!(change)).collect()
}

pub fn commands(dashboard: &TestDashboard) -> Vec<String> {
    let command = |change: &Value| change["command"].as_str().unwrap().to_owned();
    changes(dashboard).iter().map(command).collect()
}

#[test]
fn a_key_is_made_once_of_a_form_and_shown_in_its_answer_alone() {
    for (level, mode, unit) in [
        (["unit", "shop"], "test", ""),
        (["unit", "shop"], "live", ""),
        (["team", "team"], "live", "-H 'X-Service-Unit-Id: UNIT'"),
    ] {
        let dashboard = shop();
        let path = format!("/{}s/{}", level[0], level[1]);
        let id = form_id(&dashboard, &path);
        let answer = dashboard.post(OPERATOR, "/keys", &making(&id, level, mode));
        let key = shown(&answer);
        assert!(key.starts_with(&format!("service_sk_{mode}_")), "{key}");
        assert!(answer.text.contains("curl https://YOUR-SERVICE/v2/"), "{}", answer.text);
        assert!(answer.text.contains(unit), "{}", answer.text);
        for later_ms in [0, 30 * 60_000, 61 * 60_000] {
            dashboard.clock.0.set(NOW_MS + later_ms);
            let again = dashboard.post(OPERATOR, "/keys", &making(&id, level, mode));
            check_made_before(&again, &key);
            assert_eq!((names(&dashboard, "key:").len(), commands(&dashboard).len()), (1, 1));
        }
        let other = making(&id, level, if mode == "live" { "test" } else { "live" });
        let other = dashboard.post(OPERATOR, "/keys", &other);
        assert_eq!(other.status, 422);
        assert!(other.text.contains("was used for another change"), "{}", other.text);
        let unsent = NOW_MS.to_string() + "-" + &"0".repeat(32);
        let late = dashboard.post(OPERATOR, "/keys", &making(&unsent, level, mode));
        assert_eq!(late.status, 422);
        assert!(late.text.contains("more than 60 minutes old"), "{}", late.text);
        assert!(late.text.contains("value=\"Till 3\""), "{}", late.text);
        assert_ne!(field(&late.text, "operation"), unsent);
        for answer in [&late, &dashboard.get(OPERATOR, &path)] {
            assert!(!answer.text.contains(&key) && !answer.log.as_ref().unwrap().contains(&key));
        }
        assert!(!format!("{:?}", changes(&dashboard)).contains(&key));
        dashboard.service.clock.0.set(dashboard.clock.0.get());
        let scoped = support::service::TestRequest::new("POST", support::service::PATH, &key)
            .with_body(minimal().to_string().into_bytes())
            .with_header("x-service-unit-id", "shop");
        let used = dashboard.service.send(&scoped);
        assert_eq!(used.status, 200, "{}", used.text);
        assert_eq!(used.json()["isLive"], json!(mode == "live"));
    }
}

#[test]
fn an_incomplete_or_invalid_form_creates_no_key() {
    let dashboard = shop();
    let id = form_id(&dashboard, "/units/shop");
    let long = "x".repeat(101);
    for (change, words) in [
        (("operation", ""), "Some fields are missing"),
        (("operation", "1-2 3"), "an operation ID has 1 to 64 letters"),
        (("mode", "both"), "enter one of test, live as “Mode”"),
        (("unit", ""), "start from the page of that unit or team"),
        (("team", "team"), "start from the page of that unit or team"),
        (("unit", "a b"), "is not an ID"),
        (("label", &*long), "label is out of bounds"),
        (("label", "a\u{7}b"), "label is out of bounds"),
    ] {
        let mut fields = making(&id, ["unit", "shop"], "test");
        fields.retain(|(name, _)| *name != change.0);
        fields.push(change);
        let answer = dashboard.post(OPERATOR, "/keys", &fields);
        assert_eq!(answer.status, 422, "{change:?}");
        assert!(answer.text.contains(words), "{change:?}: {}", answer.text);
    }
    dashboard.store().set_failing(Some("audit:"));
    let fields = making(&id, ["unit", "shop"], "test");
    assert_eq!(dashboard.post(OPERATOR, "/keys", &fields).status, 503);
    dashboard.store().set_failing(None);
    let asked = dashboard.post(OPERATOR, "/keys", &making(&id, ["unit", "shop2"], "test"));
    for button in [">Use the unit shop</button>", ">Create the unit shop2</button>"] {
        assert!(asked.status == 200 && asked.text.contains(button), "{}", asked.text);
    }
    assert_eq!((names(&dashboard, "key:"), names(&dashboard, "unit:").len()), (vec![], 1));
    shown(&dashboard.confirm(OPERATOR, &asked));
    assert_eq!(names(&dashboard, "unit:"), ["unit:shop", "unit:shop2"]);
}

#[test]
fn a_key_is_replaced_after_a_question_and_once() {
    for (keep, words, left) in
        [("0", "is revoked", 1), ("24h", "expires at 1 Feb 2026, 12:00 UTC", 2)]
    {
        let dashboard = shop();
        let old = make(&dashboard, ["unit", "shop"], "live");
        let record = names(&dashboard, "key:").remove(0);
        let named = [("key", &*record), ("unit", "shop")];
        let asked = dashboard.post(OPERATOR, "/keys/replace", &named);
        assert!(asked.status == 200 && asked.text.contains("Till 3"), "{}", asked.text);
        let chosen = "<option value=\"24h\" selected>24 hours</option>";
        assert!(asked.text.contains(chosen), "{}", asked.text);
        assert_eq!(commands(&dashboard), ["keys create"], "nothing was done yet");
        let id = field(&asked.text, "operation");
        let fields = [named[0], named[1], ("operation", &*id), ("keep", keep)];
        dashboard.store().set_failing(Some("audit:"));
        assert_eq!(dashboard.post(OPERATOR, "/keys/rotate", &fields).status, 503);
        dashboard.store().set_failing(None);
        assert_eq!(names(&dashboard, "key:"), [&*record]);
        let answer = dashboard.post(OPERATOR, "/keys/rotate", &fields);
        let new = shown(&answer);
        assert!(new != old && answer.text.contains(words), "{}", answer.text);
        let again = dashboard.post(OPERATOR, "/keys/rotate", &fields);
        check_made_before(&again, &new);
        assert!(again.text.contains(words), "{}", again.text);
        assert_eq!(names(&dashboard, "key:").len(), left);
        assert_eq!(commands(&dashboard), ["keys create", "keys rotate"]);
        let after = dashboard.post(OPERATOR, "/keys/replace", &named).text;
        let expected = if left == 1 { "no longer exists" } else { "<dt>Replaced by</dt>" };
        assert!(after.contains(expected), "{after}");
        let page = dashboard.get(OPERATOR, "/units/shop").text;
        assert_eq!(page.contains("replaced by"), left == 2, "{page}");
    }
    let dashboard = shop();
    make(&dashboard, ["unit", "shop"], "live");
    let record = names(&dashboard, "key:").remove(0);
    let named = [("key", &*record), ("unit", "shop")];
    let open = || field(&dashboard.post(OPERATOR, "/keys/replace", &named).text, "operation");
    let (first, second) = (open(), open());
    dashboard.clock.0.set(NOW_MS + 1_000);
    let send = |id: &str| {
        let fields = [named[0], named[1], ("operation", id), ("keep", "1h")];
        dashboard.post(OPERATOR, "/keys/rotate", &fields)
    };
    let new = shown(&send(&first));
    let overtaken = send(&second);
    assert!(overtaken.text.contains("This key was already replaced by"), "{}", overtaken.text);
    check_made_before(&send(&first), &new);
    assert_eq!(names(&dashboard, "key:").len(), 2, "nothing was done without a confirmation");
    assert_ne!(shown(&dashboard.confirm(OPERATOR, &overtaken)), new);
    let dashboard = shop();
    for fields in [&[("unit", "shop")][..], &[("key", "service_sk_test_1"), ("unit", "shop")]] {
        for path in ["/keys/replace", "/keys/rotate", "/keys/revoke"] {
            let answer = dashboard.post_new(OPERATOR, path, fields);
            assert!(answer.status == 422 && !answer.text.contains("service_sk"), "{}", answer.text);
        }
    }
}

#[test]
fn a_key_is_revoked_after_a_question_and_stays_revoked() {
    let dashboard = shop();
    let id = form_id(&dashboard, "/units/shop");
    let key = shown(&dashboard.post(OPERATOR, "/keys", &making(&id, ["unit", "shop"], "test")));
    let record = names(&dashboard, "key:").remove(0);
    let named = [("key", &*record), ("unit", "shop")];
    let forged = [("key", &*record), ("unit", "other")];
    let forged = dashboard.post(OPERATOR, "/keys/revoke", &forged).text;
    assert!(forged.contains("<dt>For</dt><dd><bdi>unit shop</bdi></dd>"), "{forged}");
    let asked = dashboard.post(OPERATOR, "/keys/revoke", &named);
    assert!(asked.text.contains("up to 40 s") && asked.text.contains("Till 3"), "{}", asked.text);
    dashboard.store().set_failing(Some("audit:"));
    assert_eq!(dashboard.confirm(OPERATOR, &asked).status, 503);
    dashboard.store().set_failing(None);
    assert_eq!(dashboard.service.create(&key, &minimal()).status, 200);
    dashboard.clock.0.set(NOW_MS + 1);
    let revoked = dashboard.confirm(OPERATOR, &asked);
    assert!(revoked.status == 200 && revoked.text.contains("is revoked."), "{}", revoked.text);
    assert_eq!(dashboard.service.isolate().create(&key, &minimal()).status, 401);
    let again = dashboard.confirm(OPERATOR, &asked);
    assert!(again.status == 200 && again.text.contains("sent twice"), "{}", again.text);
    for path in ["/keys/revoke", "/keys/replace", "/keys/rotate"] {
        let again = dashboard.post_new(OPERATOR, path, &[&named[..], &[("keep", "0")]].concat());
        assert!(again.status == 422, "{path}: {}", again.text);
    }
    let replayed = dashboard.post(OPERATOR, "/keys", &making(&id, ["unit", "shop"], "test"));
    check_made_before(&replayed, &key);
    assert_eq!(names(&dashboard, "key:"), [""; 0]);
    assert_eq!(commands(&dashboard), ["keys create", "keys revoke"]);
}

#[test]
fn stored_texts_of_keys_are_escaped() {
    let mut dashboard = shop();
    let hostile = "<script>\"'&\u{202e}";
    let note = |level: Value| {
        let mut note = json!({ "mode": "live", "label": hostile, "created": hostile, "by": hostile,
            "ends": hostile, "successor": hostile });
        note.as_object_mut().unwrap().extend(level.as_object().unwrap().clone());
        note.to_string()
    };
    for (digit, level) in [("a", json!({ "unit": "shop" })), ("b", json!({ "unit": "other" }))] {
        let name = format!("key:{}", digit.repeat(64));
        dashboard.store().keep(&name, b"{}", note(level).as_bytes());
    }
    dashboard.store().keep(&format!("key:{}", "c".repeat(64)), b"{}", b"{}");
    let origin = Variables {
        operators: OPERATOR,
        service_origin: "https://pledge.example/",
        ..Variables::default()
    };
    dashboard.settings = Settings::parse(origin);
    let page = dashboard.get(OPERATOR, "/units/shop").text;
    assert!(page.contains("aaaaaaaaaaaa") && !page.contains("bbbbbbbbbbbb"), "{page}");
    let key = field(&page, "key");
    let named = [("key", &*key), ("unit", "shop")];
    for text in [
        page,
        dashboard.post(OPERATOR, "/keys/replace", &named).text,
        dashboard.post(OPERATOR, "/keys/revoke", &named).text,
    ] {
        assert!(text.contains("&lt;script&gt;&quot;") && !text.contains("<script"), "{text}");
    }
    let id = form_id(&dashboard, "/units/shop");
    let made = dashboard.post(OPERATOR, "/keys", &making(&id, ["unit", "shop"], "test")).text;
    assert!(made.contains("curl https://pledge.example/v2/"), "{made}");
}
