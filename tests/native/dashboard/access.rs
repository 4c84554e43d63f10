//! Tests who may use the dashboard, from which sites, and with which permissions.

use super::{ACCOUNTS, OPERATOR, SUPPORT, dashboard, posted};
use impact_pledge::office::route::{Route, route};
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use std::collections::BTreeMap;
use strum::IntoEnumIterator as _;
use support::service::{NOW_MS, ORIGIN, TestRequest, seeded};

#[test]
fn nobody_gets_in_without_an_address_and_hears_what_to_set_up() {
    let dashboard = dashboard(seeded());
    for (identity, status, words) in [
        (Identity::None, 403, "This Worker has no sign-in"),
        (Identity::WithoutAddress, 403, "policy with the action Allow"),
        (Identity::Unknown, 503, "did not identify you in time"),
        (Identity::Address("eve@example.org"), 403, "eve@example.org has no role here"),
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
    let operators = " Ada@example.org;\n,,kurt@example.org other@Müller.example ";
    dashboard.settings = Settings::parse(Variables { operators, ..Variables::default() });
    for person in [OPERATOR, " ADA@example.org", "Kurt@EXAMPLE.org", "OTHER@Müller.example"] {
        assert_eq!(dashboard.get(person, "/audit").status, 200, "{person}");
    }
    // Letters beyond ASCII have cases as well, and the lower case of some is an ASCII letter.
    let strangers = [SUPPORT, ACCOUNTS, "", " ", "ada", "example.org", "\u{212a}urt@example.org"];
    for stranger in strangers.into_iter().chain(["other@MÜLLER.example", "\u{a0}ada@example.org"])
    {
        assert_eq!(dashboard.get(stranger, "/").status, 403, "{stranger}");
    }
}

/// A list of operators with one invalid address is ignored as a whole, and the dashboard reports it.
#[test]
fn a_list_of_which_a_part_is_no_address_names_nobody_and_says_so() {
    let mut dashboard = dashboard(seeded());
    let mike = "mike@shop.example";
    let mut status = |operators: &str, person| {
        let variables = Variables { operators, support: SUPPORT, ..Variables::default() };
        dashboard.settings = Settings::parse(variables);
        let page = dashboard.get(person, "/audit");
        (page.status, page.text, page.log.unwrap_or_default())
    };
    for list in [
        "Mike <mike@shop.example>",
        "ada@example.org, Mike O'Neil <Mike@shop.example>;joan@example.org",
        "<mike@shop.example>",
        "ada@example.org\nMike <mike@shop.example>",
    ] {
        assert_eq!(status(list, mike).0, 200, "{list}");
    }
    for (list, number) in [
        ("Mike mike@shop.example", 1),
        ("mike@shop.example, Ada <ada@example.org", 2),
        ("mike@shop.example, ada@example.org <joan@example.org>", 2),
        ("Mike <mike@shop.example> Ada <ada@example.org>", 1),
        ("\"Neil, Mike\" <mike@shop.example>", 1),
        ("mike@shop.example,,mike", 2),
        ("mailto:mike@shop.example", 1),
        ("mike@shop.example (Mike)", 1),
    ] {
        let words = "is ignored, because its entry";
        for person in [mike, OPERATOR, SUPPORT, "eve@example.org"] {
            let (status, text, log) = status(list, person);
            assert_eq!(status, 403, "{list}");
            assert_eq!(text.contains(words), person == SUPPORT, "{text}");
            let told = if person == SUPPORT { &text } else { &log };
            assert!(told.contains(&format!("{words} {number} is not an e-mail address")), "{told}");
            assert!(!text.contains(list) && !log.contains(list) && !log.contains(person), "{log}");
        }
    }
    dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        accounts: "joan",
        ..Variables::default()
    });
    let system = dashboard.get(OPERATOR, "/system").text;
    assert!(system.contains("<bdi>ACCOUNTS</bdi></code> is ignored"), "{system}");
}

/// An e-mail address of 254 bytes, the maximum, works on all pages.
#[test]
fn the_longest_address_can_use_all_pages() {
    let mut dashboard = dashboard(seeded());
    let local = "l".repeat(64);
    let domain = ["d".repeat(63), "o".repeat(63), "m".repeat(57), "org".to_owned()].join(".");
    let person = format!("{local}@{domain}");
    assert_eq!(person.len(), 254);
    dashboard.settings = Settings::parse(Variables { operators: &person, ..Variables::default() });
    assert_eq!(dashboard.get(&person, "/").status, 200);
    let unit = [("unit", "shop")];
    assert_eq!(dashboard.post_confirmed(&person, "/units", &unit).status, 200);
    assert!(dashboard.get(&person, "/audit").text.contains(&person));
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
    assert_eq!(with(&[("sec-fetch-site", "same-origin")]), 303);
    assert_eq!(with(&[("origin", ORIGIN)]), 303);
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
            ("strict-transport-security", "max-age=31536000"),
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

/// The pages and forms, each with the roles that may use it. First the roles of the service's staff, then
/// the roles of a shop's people, who see only their own units and teams. Operators are not listed: they may
/// use everything.
pub const MAY: [(&str, &str, &str); 94] = [
    ("GET /", "support accounts", "manager viewer"),
    ("POST /find", "support accounts", "manager viewer"),
    ("GET /find", "support accounts", "manager viewer"),
    ("GET /transactions/{id}", "support accounts", "manager viewer"),
    ("POST /transactions/{id}/credit", "accounts", ""),
    ("POST /transactions/{id}/credit/request", "accounts", "manager"),
    ("POST /transactions/{id}/credit/confirm", "accounts", ""),
    ("POST /transactions/{id}/credit/refuse", "accounts", "manager"),
    ("POST /transactions/{id}/whole", "", "manager"),
    ("POST /transactions/{id}/note", "support accounts", "manager viewer"),
    ("POST /transactions/{id}/note/done", "support accounts", ""),
    ("POST /transactions/{id}/mail", "support", "manager"),
    ("GET /transactions/{id}/mail", "support", "manager viewer"),
    ("POST /transactions/{id}/erase", "", "manager"),
    ("GET /units", "support accounts", ""),
    ("POST /units", "", ""),
    ("GET /units/{id}", "support accounts", "manager viewer"),
    ("GET /units/{id}/impact", "accounts", "manager viewer"),
    ("POST /units/{id}/credit-limit", "", ""),
    ("POST /units/{id}/profile", "", "manager"),
    ("GET /units/{id}/preview", "support accounts", "manager viewer"),
    ("POST /units/{id}/preview", "", "manager"),
    ("GET /units/{id}/payments", "accounts", "manager viewer"),
    ("GET /units/{id}/payments.csv", "accounts", "manager viewer"),
    ("GET /payments.csv", "accounts", ""),
    ("GET /fulfilment", "accounts", ""),
    ("GET /fulfilment.csv", "accounts", ""),
    ("GET /fulfilment/shops", "accounts", ""),
    ("GET /fulfilment/shops.csv", "accounts", ""),
    ("POST /fulfilment", "", ""),
    ("POST /fulfilment/remove", "", ""),
    ("POST /fulfilment/update", "", ""),
    ("GET /updates", "", ""),
    ("POST /updates", "", ""),
    ("POST /updates/preview", "", ""),
    ("POST /updates/{id}/preview", "", ""),
    ("GET /updates/{id}", "", ""),
    ("POST /updates/{id}", "", ""),
    ("GET /updates/{id}/preview", "", ""),
    ("POST /updates/{id}/publish", "", ""),
    ("POST /updates/{id}/withdraw", "", ""),
    ("GET /orders", "support accounts", "manager viewer"),
    ("POST /orders", "support accounts", "manager viewer"),
    ("GET /orders.csv", "support accounts", "manager viewer"),
    ("GET /payments", "accounts", ""),
    ("GET /payments/several", "accounts", ""),
    ("GET /payments/statements", "accounts", ""),
    ("POST /payments/several", "accounts", ""),
    ("GET /units/{id}/statement", "accounts", "manager viewer"),
    ("GET /units/{id}/transactions.csv", "accounts", "manager viewer"),
    ("GET /units/{id}/paid", "accounts", ""),
    ("POST /units/{id}/paid", "accounts", ""),
    ("POST /units/{id}/unpaid", "accounts", ""),
    ("GET /person", "", "manager"),
    ("POST /person", "", "manager"),
    ("POST /keys", "", "manager"),
    ("POST /keys/replace", "", "manager"),
    ("POST /prices/remove", "", ""),
    ("POST /keys/rotate", "", "manager"),
    ("POST /keys/revoke", "", "manager"),
    ("GET /units/{id}/people", "", "manager"),
    ("POST /units/{id}/people", "", "manager"),
    ("POST /units/{id}/people/remove", "", "manager"),
    ("POST /units/{id}/people/leave", "support accounts", "manager viewer"),
    ("GET /units/{id}/connections", "", "manager"),
    ("POST /units/{id}/connections", "", "manager"),
    ("GET /connections/{id}", "", "manager"),
    ("POST /connections/{id}", "", "manager"),
    ("POST /connections/{id}/retry", "", "manager"),
    ("POST /connections/{id}/fetch", "", "manager"),
    ("POST /connections/{id}/end", "", "manager"),
    ("POST /connections/{id}/preview", "", "manager"),
    ("GET /teams/{id}/people", "", "manager"),
    ("POST /teams/{id}/people", "", "manager"),
    ("POST /teams/{id}/people/remove", "", "manager"),
    ("POST /teams/{id}/people/leave", "support accounts", "manager viewer"),
    ("GET /teams", "", ""),
    ("POST /teams", "", ""),
    ("GET /teams/{id}", "", "manager viewer"),
    ("POST /teams/{id}/add", "", ""),
    ("POST /teams/{id}/remove", "", ""),
    ("GET /prices", "", ""),
    ("GET /units/{id}/prices", "", "manager"),
    ("POST /prices", "", ""),
    ("GET /mails", "support", ""),
    ("POST /mails/dismiss", "support", ""),
    ("POST /mails", "support", ""),
    ("GET /notices", "support accounts", "manager viewer"),
    ("POST /tasks", "", ""),
    ("POST /tasks/reopen", "", ""),
    ("POST /notices", "support accounts", "manager viewer"),
    ("GET /audit", "", "manager viewer"),
    ("GET /system", "", ""),
    ("GET /healthz", "support accounts", ""),
];

#[test]
fn each_role_reaches_its_own_pages_and_forms_and_no_other() {
    let dashboard = dashboard(seeded());
    let expected: BTreeMap<_, _> = MAY.iter().map(|(it, roles, _)| (*it, *roles)).collect();
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
