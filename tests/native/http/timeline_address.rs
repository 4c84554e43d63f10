//! Tests the origin of timeline addresses, and their percent-encoding.

use super::health;
use impact_pledge::pledges::service::{Settings, Variables};
use serde_json::{Value, json};
use support::memory::MemoryStore;
use support::service::{ORIGIN, PATH, TestRequest, TestService, UNIT, minimal, seeded};

// ---- The host of timeline addresses -----------------------------------------------------------

#[track_caller]
fn timeline_origin(service: &TestService<MemoryStore>, host: &str) -> Result<String, (u16, Value)> {
    let request = TestRequest::new("POST", PATH, UNIT)
        .with_body(minimal().to_string().into_bytes())
        .with_header("host", host);
    let answer = service.send(&request);
    let json = answer.json();
    match json["timelineUrl"].as_str() {
        Some(url) => Ok(url.split("/timeline/").next().unwrap().to_owned()),
        None => Err((answer.status, json["error"].clone())),
    }
}

#[test]
fn a_timeline_address_begins_with_the_host_unless_that_is_none() {
    let service = seeded();
    for host in ["shop.example", "a.b-c.example:8443", "localhost:1", "127.0.0.1", "[::1]:80"] {
        assert_eq!(timeline_origin(&service, host), Ok(format!("https://{host}")));
    }
    let before = service.store.names();
    for host in [
        "good.example@evil.example",
        "",
        "a b",
        "a..b",
        "evil.example:99999",
        "[::g]",
        "\u{fc}.example",
        "%65vil.example",
        "evil.example\\good",
    ] {
        let refused = Err((400, json!("Invalid host")));
        assert_eq!(timeline_origin(&service, host), refused, "`{host}`");
    }
    assert_eq!(service.store.names(), before);
}

#[test]
fn the_public_origin_decides_if_it_is_set() {
    let mut service = seeded();
    for (text, origin) in [
        ("https://pledges.example", "https://pledges.example"),
        (" https://pledges.example/ ", "https://pledges.example"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787"),
    ] {
        service.settings =
            Settings::parse(Variables { public_origin: text, ..Variables::default() });
        for host in ["any.example", "good.example@evil.example"] {
            assert_eq!(timeline_origin(&service, host).as_deref(), Ok(origin));
        }
        assert_eq!(health(&service), Value::Null);
    }
    for text in
        ["pledges.example", "https://", "https://a@b", "https://a/path", "ftp://a", "javascript:"]
    {
        service.settings =
            Settings::parse(Variables { public_origin: text, ..Variables::default() });
        assert_no_create(&service, "must be an origin");
    }
    assert!(health(&seeded()).as_str().unwrap().contains("is not set"));
}

#[test]
fn production_records_nothing_without_an_https_origin_of_its_own() {
    let with = |public_origin, environment| {
        let variables = Variables { public_origin, environment, ..Variables::default() };
        TestService { settings: Settings::parse(variables), ..seeded() }
    };
    for (public_origin, environment, origin) in [
        ("https://pledges.example", " production ", "https://pledges.example"),
        ("http://pledges.example", "staging", "http://pledges.example"),
        ("", "staging", "https://any.example"),
        ("", "development", "https://any.example"),
        ("", "", "https://any.example"),
    ] {
        let service = with(public_origin, environment);
        assert_eq!(timeline_origin(&service, "any.example").as_deref(), Ok(origin));
    }
    for (public_origin, problem) in [
        ("", "must be set"),
        (" ", "must be set"),
        ("http://pledges.example", "must begin with `https://`"),
        ("http://localhost:8787", "must begin with `https://`"),
        ("pledges.example", "must be an origin"),
    ] {
        assert_no_create(&with(public_origin, "production"), problem);
    }
}

/// Asserts that a create request to any host gets 503 and writes nothing, and that the log and `/healthz` state the
/// problem.
#[track_caller]
fn assert_no_create(service: &TestService<MemoryStore>, problem: &str) {
    let names = service.store.names();
    let answer = service.create(UNIT, &minimal());
    assert_eq!((answer.status, &answer.json()["error"]), (503, &json!("Service unavailable")));
    assert_eq!(answer.headers.get("retry-after"), None, "another attempt is of no use");
    assert!(answer.log.unwrap().contains(problem), "the log has no `{problem}`");
    assert!(health(service).as_str().unwrap().contains(problem), "{}", health(service));
    assert_eq!(service.store.names(), names);
}

#[test]
fn health_shows_all_problems_with_the_settings() {
    let mut service = seeded();
    for (allowed_origins, shown) in [
        ("", None),
        ("https://shop.example, http://localhost:3000/ ,", None),
        ("https://shop.example, https://*.shop.example", Some("`https://*.shop.example`")),
        (
            "https://shop.example https://b.example",
            Some("`https://shop.example https://b.example`"),
        ),
    ] {
        let public_origin = "https://pledges.example";
        let variables = Variables { allowed_origins, public_origin, ..Variables::default() };
        service.settings = Settings::parse(variables);
        let seen = health(&service);
        assert_eq!(seen.is_null(), shown.is_none(), "{seen}");
        assert!(shown.is_none_or(|entry| seen.to_string().contains(entry)), "{seen}");
    }
    let has_queue = true;
    let variables = Variables { allowed_origins: "*", has_queue, ..Variables::default() };
    service.settings = Settings::parse(variables);
    for name in ["`PUBLIC_ORIGIN`", "`MAIL_FROM`", "`ALLOWED_ORIGINS`"] {
        assert!(health(&service).as_str().unwrap().contains(name), "{name}");
    }
}

// ---- Percent-encoding -------------------------------------------------------------------------

#[test]
fn of_all_texts_behind_a_percent_only_the_missing_character_opens_a_record() {
    let service = seeded();
    let url = service.create(UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    let (page, key) = url.strip_prefix(ORIGIN).unwrap().split_once("?edit_key=").unwrap();
    let (begin, last) = key.split_at(key.len() - 1);
    let is_open = |query: &str| {
        let request = TestRequest::new("GET", &format!("{page}?{query}"), "");
        service.send(&request).status == 200
    };
    let opens: Vec<String> = (0..128_u8)
        .flat_map(|high| (0..128_u8).map(move |low| format!("%{}{}", high as char, low as char)))
        .filter(|code| is_open(&format!("edit_key={begin}{code}")))
        .collect();
    assert_eq!(opens, [format!("%{:x}", last.as_bytes()[0])]);
    let encoded: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert!(is_open(&format!("%65dit%5fkey={encoded}")));
}
