//! Who gets in, from where, and what they may do.

use super::{ACCOUNTS, OPERATOR, SUPPORT, dashboard, posted};
use impact_pledge::dashboard::{Identity, Route, Settings, Variables, route};
use std::collections::BTreeMap;
use strum::IntoEnumIterator as _;
use support::service::{NOW_MS, ORIGIN, TestRequest, seeded};

#[test]
fn nobody_gets_in_without_an_address_and_hears_what_to_set_up() {
    let dashboard = dashboard(seeded());
    for (identity, status, words) in [
        (Identity::None, 403, "enable Cloudflare Access"),
        (Identity::WithoutAddress, 403, "policy of the action Allow"),
        (Identity::Unknown, 503, "did not say in time"),
        (
            Identity::Address("eve@example.org"),
            403,
            "<bdi>OPERATORS</bdi></code>, <code><bdi>SUPPORT</bdi></code> or",
        ),
        (Identity::Address(""), 403, "has no role here"),
    ] {
        for request in [TestRequest::new("GET", "/", ""), posted("/find", &[("text", "x")])] {
            let answer = dashboard.send(&request, identity);
            assert_eq!(answer.status, status, "{identity:?}");
            assert!(request.method == "POST" || answer.text.contains(words), "{}", answer.text);
        }
    }
}

#[test]
fn addresses_are_compared_in_lower_case_and_an_empty_list_names_nobody() {
    let mut dashboard = dashboard(seeded());
    assert_eq!(dashboard.get("Ada@Example.ORG", "/audit").status, 200);
    let operators = " Ada@example.org;\n,,other@example.org ";
    dashboard.settings = Settings::parse(Variables { operators, ..Variables::default() });
    assert_eq!(dashboard.get(OPERATOR, "/audit").status, 200);
    for stranger in [SUPPORT, ACCOUNTS, "", " ", "ada", "example.org"] {
        assert_eq!(dashboard.get(stranger, "/").status, 403, "{stranger}");
    }
}

#[test]
fn a_form_is_taken_from_our_own_pages_alone() {
    let dashboard = dashboard(seeded());
    let with = |headers: &[(&str, &str)]| {
        let mut request = posted("/find", &[("text", "unit_dev")]);
        request.headers.remove("sec-fetch-site");
        for (name, value) in headers {
            request = request.with_header(name, value);
        }
        dashboard.send(&request, Identity::Address(OPERATOR)).status
    };
    assert_eq!(with(&[("sec-fetch-site", "same-origin")]), 200);
    assert_eq!(with(&[("origin", ORIGIN)]), 200);
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", ORIGIN)],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "")],
        &[("origin", "null")],
        &[("origin", "https://pledge.example.evil.example")],
        &[("origin", "http://pledge.example")],
        &[("origin", "https://pledge.example:8443")],
    ] {
        assert_eq!(with(headers), 403, "{headers:?}");
    }
}

#[test]
fn every_page_has_the_headers_that_keep_it_private() {
    let dashboard = dashboard(seeded());
    for (person, path) in [(OPERATOR, "/"), ("eve@example.org", "/"), (OPERATOR, "/nowhere")] {
        let headers = dashboard.get(person, path).headers;
        for (name, value) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(headers.get(name).map(String::as_str), Some(value), "{name}");
        }
        let policy = headers.get("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("form-action 'self'; frame-ancestors 'none'"), "{policy}");
    }
}

#[test]
fn requests_that_no_page_sends_are_refused() {
    let dashboard = dashboard(seeded());
    let status =
        |request: TestRequest| dashboard.send(&request, Identity::Address(OPERATOR)).status;
    assert_eq!(status(TestRequest::new("GET", "/nowhere", "")), 404);
    assert_eq!(status(TestRequest::new("GET", "/keys", "")), 405);
    assert_eq!(status(TestRequest::new("PUT", "/", "")), 405);
    assert_eq!(status(TestRequest::new("HEAD", "/", "")), 200);
    assert_eq!(status(posted("/find", &[]).with_header("content-type", "text/plain")), 415);
    let long = "x".repeat(3 * 1024 * 1024);
    assert_eq!(status(posted("/find", &[("text", &long)])), 413);
    assert_eq!(dashboard.clock.0.get(), NOW_MS);
}

/// Who may open each page and send each form, besides operators, who may all.
const MAY: [(&str, &str); 33] = [
    ("GET /", "support accounts"),
    ("POST /find", "support"),
    ("GET /transactions/{id}", "support"),
    ("POST /transactions/{id}/whole", ""),
    ("POST /transactions/{id}/mail", "support"),
    ("GET /transactions/{id}/mail", "support"),
    ("POST /transactions/{id}/erase", ""),
    ("GET /units", "support accounts"),
    ("POST /units", ""),
    ("GET /units/{id}", "support accounts"),
    ("POST /units/{id}/profile", ""),
    ("GET /units/{id}/preview", "support accounts"),
    ("GET /units/{id}/usage", "accounts"),
    ("GET /units/{id}/usage.csv", "accounts"),
    ("POST /units/{id}/usage", "accounts"),
    ("POST /units/{id}/paid", "accounts"),
    ("POST /units/{id}/unpaid", "accounts"),
    ("GET /person", ""),
    ("POST /person", ""),
    ("POST /keys", ""),
    ("POST /keys/rotate", ""),
    ("POST /keys/revoke", ""),
    ("GET /teams", ""),
    ("POST /teams", ""),
    ("GET /teams/{id}", ""),
    ("POST /teams/{id}/add", ""),
    ("POST /teams/{id}/remove", ""),
    ("GET /prices", ""),
    ("POST /prices", ""),
    ("GET /mails", "support"),
    ("POST /mails", "support"),
    ("GET /audit", ""),
    ("GET /system", ""),
];

#[test]
fn each_role_reaches_its_own_pages_and_forms_and_no_other() {
    let dashboard = dashboard(seeded());
    let expected: BTreeMap<_, _> = MAY.into();
    let templates: Vec<_> = Route::iter().map(|route| route.template()).collect();
    assert_eq!(templates.len(), expected.len());
    let names = dashboard.store().names();
    for template in templates {
        let (method, path) = template.split_once(' ').unwrap();
        let path = path.replace("{id}", "unit_dev");
        assert_eq!(route(method, &path).map(|route| route.template()), Some(template));
        for (person, role) in [(SUPPORT, "support"), (ACCOUNTS, "accounts"), ("eve@x.example", "-")]
        {
            let request = match method {
                "POST" => posted(&path, &[]),
                _ => TestRequest::new(method, &path, ""),
            };
            let status = dashboard.send(&request, Identity::Address(person)).status;
            let may = expected[template].split(' ').any(|allowed| allowed == role);
            assert_eq!(status != 403, may, "{role}: {template}: {status}");
        }
    }
    assert_eq!(dashboard.store().names(), names);
}
