//! Tests that the service reads the request head that the client sends.

use impact_pledge::pledges::api::{Credentials, InvalidArgument, RequestHead, header};
use impact_pledge::pledges::auth::ApiKey;
use impact_pledge::pledges::idempotency::IdempotencyKey;
use proptest::prelude::*;

fn value<'h>(head: &'h RequestHead, name: &str) -> Option<&'h str> {
    head.headers.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
}

fn credentials() -> Result<Credentials<'static>, InvalidArgument> {
    Credentials::new("service_sk_test_1", Some("unit_1"))
}

#[test]
fn a_create_names_key_unit_type_and_idempotency_key() {
    let key = IdempotencyKey::new("order 1".into()).expect("printable");
    let head = RequestHead::create(credentials().expect("texts that fit"), Some(&key));
    assert_eq!((head.method, head.path.as_str()), ("POST", "/v2/pledge-transaction"));
    assert_eq!(value(&head, header::AUTHORIZATION), Some("Bearer service_sk_test_1"));
    assert_eq!(value(&head, header::UNIT_ID), Some("unit_1"));
    assert_eq!(value(&head, header::CONTENT_TYPE), Some("application/json"));
    assert_eq!(value(&head, header::IDEMPOTENCY_KEY), Some("order 1"));
}

#[test]
fn a_get_names_key_and_unit_only_where_there_is_one() {
    let unit_level = Credentials::new("service_sk_test_1", None).expect("texts that fit");
    let head = RequestHead::get(unit_level, "ptran_1").expect("an ID");
    assert_eq!((head.method, head.path.as_str()), ("GET", "/v2/pledge-transaction/ptran_1"));
    assert_eq!(head.headers.len(), 1);
    assert_eq!(RequestHead::create(unit_level, None).headers.len(), 2);
}

#[test]
fn an_id_that_would_name_another_path_is_refused() {
    for id in ["", ".", ".."] {
        let head = credentials().and_then(|credentials| RequestHead::get(credentials, id));
        assert_eq!(head, Err(InvalidArgument::Id));
    }
}

#[test]
fn texts_that_no_header_can_carry_are_refused() {
    for key in ["", " ", "a b", "a\n", "a\r\nx: y", "schlüssel", "a\0", "Bearer a", "\u{200b}a"] {
        assert_eq!(Credentials::new(key, None).expect_err("a refusal"), InvalidArgument::ApiKey);
        assert_eq!(
            Credentials::new("k", Some(key)).expect_err("a refusal"),
            InvalidArgument::UnitId
        );
    }
    for key in ["", "\n", "é", &"x".repeat(256)] {
        assert_eq!(IdempotencyKey::new(key.to_owned()), None);
    }
}

proptest! {
    #[test]
    fn the_service_reads_the_key_that_was_sent(key in "[!-~]{1,80}") {
        let credentials = Credentials::new(&key, None).map_err(|argument| TestCaseError::fail(<&str>::from(argument)))?;
        let head = RequestHead::create(credentials, None);
        let sent = value(&head, header::AUTHORIZATION).and_then(ApiKey::from_authorization);
        prop_assert!(sent == Some(ApiKey::new(&key)));
    }

    #[test]
    fn the_service_reads_the_idempotency_key_that_was_sent(text in "[ -~]{1,255}") {
        let key = IdempotencyKey::new(text).ok_or_else(|| TestCaseError::fail("printable"))?;
        prop_assert_eq!(IdempotencyKey::parse(&key.to_header()), Some(key));
    }

    #[test]
    fn the_service_routes_every_id_to_itself(id in "\\PC{1,40}") {
        prop_assume!(!matches!(id.as_str(), "." | ".."));
        let head = credentials()
            .and_then(|credentials| RequestHead::get(credentials, &id))
            .map_err(|argument| TestCaseError::fail(<&str>::from(argument)))?;
        let segment = head.path.strip_prefix("/v2/pledge-transaction/").unwrap_or_default();
        prop_assert!(!segment.contains(['/', '?', '#', '\\', ' ']));
        let read = percent_encoding::percent_decode_str(segment).decode_utf8_lossy();
        prop_assert_eq!(read, id);
    }
}
