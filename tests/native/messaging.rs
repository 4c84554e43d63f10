//! Tests addresses: the settings with which the Worker reaches the adapters of messaging services. Also tests
//! the signatures of requests to adapters.

use impact_pledge::buyer::adapters::{
    AdapterAddress, AdapterAddresses, AdapterName, AddressProblem, AddressVariables,
};
use impact_pledge::buyer::adapters::{SigningSecrets, TimedId};
use impact_pledge::pledges::schema::NOTIFICATION_TYPES;
use impact_pledge::pledges::service::{Settings, Variables};
use impact_pledge::pledges::types::NotificationService;
use impact_pledge::pledges::types::NotificationService::{
    Email, MessagingServiceA, MessagingServiceB, MessagingServiceC,
};
use std::collections::BTreeMap;
use strum::IntoEnumIterator as _;

/// The signing secret in Standard Webhooks' own example. `ID`, `BODY` and `SIGNATURE` are from the same
/// example.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLD: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const BODY: &[u8] = br#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn sign(secrets: &str) -> String {
    let secrets = SigningSecrets::parse(secrets).unwrap();
    secrets.sign(TimedId { id: ID, seconds: 1_614_265_330 }, BODY)
}

#[test]
fn the_services_are_those_of_the_contract() {
    let names: Vec<_> = NotificationService::iter().map(NotificationService::name).collect();
    assert_eq!(names, NOTIFICATION_TYPES);
    let messaging = NotificationService::iter().filter(|service| !service.is_email());
    assert_eq!(messaging.collect::<Vec<_>>(), NotificationService::MESSAGING);
}

#[test]
fn a_signature_is_that_of_standard_webhooks() {
    assert_eq!(sign(SECRET), SIGNATURE);
    let both = sign(&format!("{SECRET},{OLD}"));
    let (first, second) = both.split_once(' ').unwrap();
    assert_eq!((first, second), (SIGNATURE, &*sign(OLD)));
    assert_eq!(sign(&format!(" {SECRET}\n {OLD} ")), both);
    assert_eq!(sign(OLD), sign(OLD.trim_end_matches('=')));
}

#[test]
fn a_secret_of_another_form_is_refused() {
    let encoded = |bytes: usize| format!("whsec_{}", "A".repeat(bytes / 3 * 4));
    for secret in [
        "",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-w",
        "whsek_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        &encoded(21),
        &encoded(66),
        &[SECRET, OLD, SECRET].join(" "),
        &[SECRET, "old"].join(" "),
    ] {
        assert!(SigningSecrets::parse(secret).is_none(), "{secret}");
    }
    for bytes in [24, 63] {
        assert!(SigningSecrets::parse(&encoded(bytes)).is_some(), "{bytes}");
    }
    let secrets = SigningSecrets::parse(SECRET).unwrap();
    assert_eq!(format!("{secrets:?}"), "SigningSecrets(1)");
}

#[test]
fn a_door_is_a_binding_or_a_url_with_a_secret() {
    use impact_pledge::buyer::adapters::AddressProblem::{InvalidSecret, InvalidUrl, NoSecret};
    let url = "https://adapter.example/a?b=c";
    let long = format!("https://adapter.example/{}", "a".repeat(2_048));
    // Whether there is a binding, URL and secret; the address's URL and number of secrets, or the problem.
    type Row<'r> =
        (bool, &'r str, &'r str, Result<Option<(Option<&'r str>, bool)>, AddressProblem>);
    let rows: [Row<'_>; 21] = [
        (false, "", "", Ok(None)),
        (false, "  ", SECRET, Ok(None)),
        (true, "", "", Ok(Some((None, false)))),
        (true, "", SECRET, Ok(Some((None, true)))),
        (true, "", "secret", Err(InvalidSecret)),
        (true, "ftp://unused", SECRET, Ok(Some((None, true)))),
        (false, url, SECRET, Ok(Some((Some(url), true)))),
        (false, " https://adapter.example/a?b=c\n", SECRET, Ok(Some((Some(url), true)))),
        (false, url, "", Err(NoSecret)),
        (false, url, " ", Err(NoSecret)),
        (false, url, "secret", Err(InvalidSecret)),
        (false, "http://adapter.example/", SECRET, Err(InvalidUrl)),
        (false, "http://localhost.example/", SECRET, Err(InvalidUrl)),
        (false, "http://127.0.0.1:9402/", SECRET, Ok(Some((Some("http://127.0.0.1:9402/"), true)))),
        (false, "http://[::1]:9402/", SECRET, Ok(Some((Some("http://[::1]:9402/"), true)))),
        (false, "https://user@adapter.example/", SECRET, Err(InvalidUrl)),
        (false, "https://adapter.example /", SECRET, Err(InvalidUrl)),
        (false, "https:///path", SECRET, Err(InvalidUrl)),
        (false, "javascript:alert(1)", SECRET, Err(InvalidUrl)),
        (false, "adapter.example", SECRET, Err(InvalidUrl)),
        (false, &long, SECRET, Err(InvalidUrl)),
    ];
    for (has_binding, url, secret, expected) in rows {
        let address = AdapterAddress::parse(has_binding, url, secret);
        let address = address.as_ref().map(|address| {
            address.as_ref().map(|address| (address.url.as_deref(), address.secrets.is_some()))
        });
        assert_eq!(address, expected.as_ref().copied(), "{url} {secret}");
    }
}

/// The variables of a Worker by name. The value `{}` stands for a service binding.
struct Worker(BTreeMap<&'static str, &'static str>);

impl AddressVariables for Worker {
    fn has_binding(&self, name: &str) -> bool {
        self.0.get(name) == Some(&"{}")
    }

    fn text(&self, name: &str) -> String {
        self.0.get(name).map(|text| (*text).to_owned()).unwrap_or_default()
    }
}

#[test]
fn the_doors_of_a_worker_are_read_by_their_names() {
    let worker = Worker(BTreeMap::from([
        ("MESSAGING_SERVICE_A", "{}"),
        ("MESSAGING_SERVICE_A_TEST_URL", "https://adapter.example/test"),
        ("MESSAGING_SERVICE_A_TEST_SECRET", SECRET),
        ("MESSAGING_SERVICE_B_URL", "https://adapter.example/"),
        ("MESSAGING_SERVICE_C_TEST_URL", "http://adapter.example/"),
    ]));
    let adapters = AdapterAddresses::read(&worker).adapters().unwrap();
    assert!(AdapterAddresses::read(&Worker(BTreeMap::new())).adapters().is_none());
    assert_eq!(adapters.of_tests, [MessagingServiceA]);
    let problems = &adapters.problems;
    assert_eq!(
        *problems,
        [
            "MessagingServiceB is not attached: the variable `MESSAGING_SERVICE_B_URL` needs the secret \
             `MESSAGING_SERVICE_B_SECRET`",
            "MessagingServiceC for test keys is not attached: the variable `MESSAGING_SERVICE_C_TEST_URL` must be an \
             `https://` URL without a user name, of at most 2048 bytes",
        ]
    );
    let address =
        |service, is_live| AdapterAddresses::read_one(&worker, AdapterName { service, is_live });
    assert!(address(MessagingServiceA, true).unwrap().unwrap().url.is_none());
    assert!(address(MessagingServiceA, false).unwrap().unwrap().url.is_some());
    assert!(address(MessagingServiceC, true).unwrap().is_none());
    assert!(address(MessagingServiceB, true).is_err());

    let with_queue = Settings::parse(Variables {
        adapters: Some(&adapters),
        has_queue: true,
        mail_test_to: "tester@shop.example",
        ..Variables::default()
    });
    assert_eq!(with_queue.messaging_problems, *problems);
    assert_eq!(with_queue.notifies_tests, [Email, MessagingServiceA]);
    assert_eq!(with_queue.mail_problem, None, "the queue is there for the messaging services");
    let without = Settings::parse(Variables { adapters: Some(&adapters), ..Variables::default() });
    assert!(without.messaging_problems[0].contains("`NOTIFICATIONS`"));
}

#[test]
fn a_request_through_a_binding_names_its_service() {
    let urls = NotificationService::MESSAGING
        .map(|service| AdapterName { service, is_live: true }.internal_url());
    assert_eq!(urls, ["a", "b", "c"].map(|it| format!("https://messaging-service-{it}.internal/")));
}
