//! Tests which requests over plain HTTP are refused, and what `/healthz` says about settings.

use super::health;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::service::{Settings, Variables};
use serde_json::json;
use std::collections::BTreeSet;
use support::service::{
    LIVE_UNIT, ORIGIN, PATH, TestRequest, TestService, UNIT, key_record, minimal, put_key, seeded,
    unit,
};

const HERE: [&str; 6] = [
    "http://127.0.0.1:8787",
    "http://127.8.9.10",
    "http://localhost:3000",
    "http://LOCALHOST",
    "http://shop.localhost",
    "http://[::1]:8787",
];
const ELSEWHERE: [&str; 9] = [
    "http://pledges.example",
    "http://pledges.example:8787",
    "http://127.0.0.1.pledges.example",
    "http://localhost.pledges.example",
    "http://localhost@pledges.example",
    "http://notlocalhost",
    "http://10.0.0.1",
    "http://[::2]",
    "http://",
];

#[test]
fn a_live_key_by_plain_http_is_refused_by_its_prefix_and_by_its_record() {
    let service = seeded();
    put_key(&*service.store, "a_live_key", &key_record(Mode::Live, unit("unit_dev")));
    put_key(&*service.store, "service_sk_live_is_test", &key_record(Mode::Test, unit("unit_dev")));
    let id = service.create(LIVE_UNIT, &minimal()).json()["id"].as_str().unwrap().to_owned();
    let names = service.store.names();
    for (key, reads) in [
        (LIVE_UNIT, 0),
        ("service_sk_live_unknown", 0),
        ("service_sk_live_is_test", 0),
        ("a_live_key", 1),
    ] {
        for origin in ELSEWHERE {
            let isolate = service.isolate();
            let before = service.store.reads();
            for request in [create_by(key), get_by(key, &id)] {
                let answer = isolate.send(&request.at(origin));
                assert_eq!(
                    (answer.status, &answer.json()["isLive"]),
                    (403, &json!(true)),
                    "{origin}"
                );
                assert!(answer.json()["message"].as_str().unwrap().contains("Replace the key"));
            }
            let most = if reads == 0 { 0 } else { 2 }; // the key, and the transaction of the get
            assert!(service.store.reads() - before <= most, "{key}");
        }
    }
    assert_eq!(service.store.names(), names);
}

#[test]
fn plain_http_is_for_test_keys_this_machine_and_whoever_allows_it() {
    let mut service = seeded();
    for origin in HERE.into_iter().chain(["https://pledges.example"]) {
        assert_eq!(service.send(&create_by(LIVE_UNIT).at(origin)).status, 200, "{origin}");
    }
    let open = |service: &TestService<_>, key| {
        service.send(&create_by(key).at("http://pledges.example")).status
    };
    assert_eq!(open(&service, UNIT), 200);
    for (allow_plain_http, environment, status) in [
        ("true", "", 200),
        (" true ", "development", 200),
        ("true", "production", 403),
        ("", "development", 403),
        ("yes", "", 403),
        ("false", "", 403),
    ] {
        let public_origin = "https://pledges.example";
        let variables =
            Variables { allow_plain_http, environment, public_origin, ..Variables::default() };
        service.settings = Settings::parse(variables);
        assert_eq!(open(&service, LIVE_UNIT), status, "`{allow_plain_http}`, `{environment}`");
    }
}

#[test]
fn every_answer_by_https_asks_for_https_from_then_on() {
    let service = seeded();
    let url = service.create(UNIT, &minimal()).json()["timelineUrl"].as_str().unwrap().to_owned();
    let page = url.strip_prefix(ORIGIN).unwrap();
    let requests = || {
        let by = |method, path| TestRequest::new(method, path, "");
        let strange = by("GET", "/healthz").with_header("host", "a@b");
        [create_by(UNIT), create_by("none"), by("GET", page), by("GET", "/timeline/x"), strange]
            .into_iter()
            .chain([
                by("OPTIONS", PATH),
                by("GET", "/none"),
                by("PUT", PATH),
                by("HEAD", "/healthz"),
            ])
    };
    let policies = |origin| -> BTreeSet<Option<String>> {
        let answers = requests().map(|request| service.send(&request.at(origin)));
        answers.map(|answer| answer.headers.get("strict-transport-security").cloned()).collect()
    };
    let year = Some("max-age=31536000".to_owned());
    assert_eq!(policies("https://pledges.example"), [year].into());
    for origin in ["http://pledges.example", "http://127.0.0.1:8787"] {
        assert_eq!(policies(origin), [None].into(), "{origin}");
    }
    let local = service.send(&create_by(UNIT).at("https://localhost:8787"));
    assert_eq!(local.headers.get("strict-transport-security"), None);
}

fn create_by(key: &str) -> TestRequest {
    TestRequest::new("POST", PATH, key).with_body(minimal().to_string().into_bytes())
}

fn get_by(key: &str, id: &str) -> TestRequest {
    TestRequest::new("GET", &format!("{PATH}/{id}"), key)
}

#[test]
fn a_setting_that_keeps_e_mails_from_being_sent_shows_where_the_queue_is_bound() {
    let (from, to) = ("pledges@shop.example", "ada@shop.example");
    for (has_queue, mail_from, has_mail_service, mail_test_to, problem) in [
        (false, "", false, "", None),
        (false, "nobody", false, "nobody", None),
        (true, from, true, "", None),
        (true, " pledges@shop.example ", true, to, None),
        (true, "", true, "", Some("`MAIL_FROM`")),
        (true, "Shop <pledges@shop.example>", true, "", Some("`MAIL_FROM`")),
        (true, "pledges@shop.example, a@b.example", true, "", Some("`MAIL_FROM`")),
        (true, from, false, "", Some("`RESEND_API_KEY`")),
        (true, from, true, "ada", Some("`MAIL_TEST_TO`")),
    ] {
        let mut service = seeded();
        service.settings = Settings::parse(Variables {
            public_origin: "https://pledges.example",
            has_queue,
            mail_from,
            has_mail_service,
            mail_test_to,
            ..Variables::default()
        });
        let shown = health(&service);
        let is_right = problem.map_or(shown.is_null(), |word| shown.to_string().contains(word));
        assert!(is_right, "`{mail_from}` and `{mail_test_to}`: {shown}");
    }
}
