//! Tests the profiles of units.

use super::{changed, names, refused, shown};
use futures_executor::block_on;
use impact_pledge::office::shops::rule::units;
use impact_pledge::office::shops::rule::units::{Member, ProfileMembers};
use impact_pledge::pledges::version::VERSION;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::test_operator;

fn profile(members: &Value) -> ProfileMembers {
    serde_json::from_value(members.clone()).unwrap()
}

#[test]
fn a_profile_becomes_a_record_of_its_unit() {
    let members = json!({ "name": "Nordwald", "accent": "#A03010", "language": "de",
        "logo": "https://nordwald.example/logo.svg", "link": "https://nordwald.example/",
        "mail": true, "messagingServices": ["MessagingServiceA", "MessagingServiceC"],
        "replyTo": "hello@nordwald.example", "mailText": "Danke!\nBis bald.", "timeZone": "Europe/Berlin",
        "billingName": "Nordwald GmbH", "billingAddress": "Waldweg 1\n10115 Berlin", "taxText": "VAT DE123" });
    let store = MemoryStore::default();
    let row = block_on(units::set(
        &store,
        &SqliteLedger::default(),
        &test_operator().author(),
        "unit_1",
        profile(&members),
    ));
    let row = row.unwrap().outcome;
    assert_eq!(shown(&row), json!({ "unit": "unit_1", "profile": members }));
    let mut kept = members.clone();
    kept["version"] = json!(VERSION);
    assert_eq!(changed(&store, "profile:unit_1"), kept);
    assert_eq!(shown(&block_on(units::get(&store, "unit_1")).unwrap()), shown(&row));
    let set = |members| {
        let set = block_on(units::set(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            "unit_1",
            members,
        ));
        shown(&set.unwrap().outcome)
    };
    let mut changed = shown(&row);
    changed["profile"]["name"] = json!("Südwald");
    assert_eq!(set(profile(&json!({ "name": "Südwald" }))), changed, "the name only");
    let unset = |members: &[Member]| {
        block_on(units::unset(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            "unit_1",
            members,
        ))
    };
    changed["profile"]
        .as_object_mut()
        .unwrap()
        .retain(|member, _| member == "name" || member == "link");
    set(profile(&json!({ "mail": false, "messagingServices": [] })));
    let optional = [
        Member::Accent,
        Member::Logo,
        Member::Language,
        Member::ReplyTo,
        Member::MailText,
        Member::TimeZone,
        Member::BillingName,
        Member::BillingAddress,
        Member::TaxText,
    ];
    let without = unset(&optional).unwrap().outcome;
    assert_eq!(shown(&without), changed);
    assert_eq!(shown(&block_on(units::get(&store, "unit_1")).unwrap()), changed);
    assert!(
        block_on(units::remove(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            "unit_1"
        ))
        .unwrap()
        .outcome
    );
    assert!(unset(&[Member::Link]).unwrap().outcome.is_none());
    assert!(
        !block_on(units::remove(
            &store,
            &SqliteLedger::default(),
            &test_operator().author(),
            "unit_1"
        ))
        .unwrap()
        .outcome
    );
    assert!(block_on(units::get(&store, "unit_1")).unwrap().is_none());
}

#[test]
fn a_wrong_profile_is_refused_in_words() {
    let store = MemoryStore::default();
    for (unit, members, message) in [
        (
            "a b",
            json!({ "name": "N" }),
            "`a b` is not an ID: write 1 to 128 ASCII characters without blanks, commas, double quotes and backslashes",
        ),
        (
            "u",
            json!({ "name": "" }),
            "`name` must be one line of 1 to 80 characters, at least one of them visible, without invisible characters",
        ),
        ("u", json!({ "accent": "#000000" }), "the unit `u` has no profile yet: give it a `name`"),
        (
            "u",
            json!({ "name": "N", "logo": "http://l.example" }),
            "`logo` and `link` must start with `https://`, contain no user name, and have at most 2,048 bytes",
        ),
        (
            "u",
            json!({ "name": "N", "accent": "red" }),
            "`accent` must be a colour, such as `#2c6a4a`",
        ),
        (
            "u",
            json!({ "name": "N", "language": "no" }),
            "`language` must be one of da, de, en, es, fr, it, ja, nl, pl, pt, pt-BR, sv, zh",
        ),
        (
            "u",
            json!({ "name": "N", "messagingServices": ["MessagingServiceA", "Email"] }),
            "`messaging-services` may contain only MessagingServiceA, MessagingServiceB and MessagingServiceC",
        ),
        (
            "u",
            json!({ "name": "N", "replyTo": "Ada <ada@shop.example>" }),
            "`reply-to` must be an e-mail address, such as `hello@shop.example`",
        ),
        (
            "u",
            json!({ "name": "N", "mailText": "a\n\nb" }),
            "`mail-text` must have 1 to 6 lines, together at most 300 characters, no blank line, and no invisible characters",
        ),
        (
            "u",
            json!({ "name": "N", "timeZone": "Mars/Olympus" }),
            "`time-zone` must be a time zone of the IANA database, such as `Europe/Berlin`",
        ),
    ] {
        refused(
            block_on(units::set(
                &store,
                &SqliteLedger::default(),
                &test_operator().author(),
                unit,
                profile(&members),
            )),
            message,
        );
    }
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn units_are_listed_also_those_that_cannot_be_read() {
    let store = MemoryStore::default();
    store.set_page_length(2);
    for (name, record) in [
        ("profile:a", "{\"name\":\"A\",\"slogan\":1}"),
        ("profile:b", "{}"),
        ("profile:c", "{\"name\":\"C\"}"),
        ("unit:c", "{}"),
        ("unit:d", "{}"),
        ("catalogue:test", "{}"),
    ] {
        let metadata = json!({ "created": "then", "by": "ada" }).to_string();
        let metadata = if name == "unit:c" { &metadata } else { "null" };
        store.keep(name, record.as_bytes(), metadata.as_bytes());
    }
    let rows = shown(&block_on(units::list(&store, usize::MAX)).unwrap().0);
    assert_eq!(rows.as_array().unwrap().len(), 4);
    assert_eq!(rows[3], json!({ "unit": "d" }));
    assert_eq!(rows[0], json!({ "unit": "a", "profile": { "name": "A" } }));
    assert_eq!(rows[1]["unit"], "b");
    assert!(rows[1]["problem"].as_str().unwrap().starts_with("`name` must be"));
    assert_eq!(
        rows[2],
        json!({ "unit": "c", "profile": { "name": "C" }, "created": "then", "by": "ada" })
    );
}
