//! Tests notes on transactions, and what they hand over.

use super::members::{EVA, VIC, shops};
use super::transaction::{assert_inert, main_of};
use super::{ACCOUNTS, OPERATOR, SUPPORT, TestDashboard};
use support::service::Answer;

fn write(dashboard: &TestDashboard, person: &str, id: &str, fields: &[(&str, &str)]) -> Answer {
    dashboard.post_new(person, &format!("/transactions/{id}/note"), fields)
}

/// A note hands a transaction over to the people of a role, whose start page shows it until somebody ends it.
#[test]
fn a_note_hands_a_transaction_over_until_somebody_ends_it() {
    let shops = shops();
    let (dashboard, id) = (&shops.dashboard, &shops.ids[0]);
    let text = "Refund <b>asked</b> by phone";
    let written = write(dashboard, SUPPORT, id, &[("text", text), ("hand-over", "accounts")]);
    assert_eq!(written.status, 200, "{}", main_of(&written.text));
    assert_inert(&written.text);
    let shown = "Refund &lt;b&gt;asked&lt;/b&gt; by phone";
    for (person, is_told) in [(ACCOUNTS, true), (OPERATOR, true), (SUPPORT, false), (EVA, false)] {
        let home = dashboard.get(person, "/").text;
        assert_eq!(home.contains(shown), is_told, "{person}: {}", main_of(&home));
        let page = dashboard.get(person, &format!("/transactions/{id}")).text;
        assert_eq!(page.contains(shown), person != EVA, "{person}: {}", main_of(&page));
    }
    let done = format!("/transactions/{id}/note/done");
    for number in ["2", "0", "x"] {
        let refused = dashboard.post_new(ACCOUNTS, &done, &[("number", number)]);
        assert_eq!(refused.status, 422, "{number}");
    }
    let ended = dashboard.post_new(ACCOUNTS, &done, &[("number", "1")]);
    assert!(ended.text.contains("Hand-over to accounts ended by"), "{}", main_of(&ended.text));
    assert!(!dashboard.get(ACCOUNTS, "/").text.contains(shown));
    assert_eq!(dashboard.post_new(ACCOUNTS, &done, &[("number", "1")]).status, 422, "once");
    let changes = dashboard.changes().join("\n");
    assert!(changes.contains(&format!("transactions note [{id}]")), "{changes}");
    assert!(!changes.contains("Refund"), "an erasure leaves the audit log as it is");
    let stored = dashboard.ledger.sql("SELECT ifnull(outcome, '') FROM operations").join("\n");
    assert!(!stored.contains("Refund"), "{stored}");
}

/// People of a shop see each other's notes, and operators see all. A shop does not see the notes of others.
#[test]
fn people_of_a_shop_see_the_notes_of_their_own_people() {
    let shops = shops();
    let (dashboard, id) = (&shops.dashboard, &shops.ids[0]);
    assert_eq!(write(dashboard, VIC, id, &[("text", "from the shop")]).status, 200);
    assert_eq!(write(dashboard, OPERATOR, id, &[("text", "only for us")]).status, 200);
    assert_eq!(write(dashboard, VIC, &shops.ids[1], &[("text", "x")]).status, 404);
    for (person, sees_all) in [(EVA, false), (VIC, false), (SUPPORT, true)] {
        let page = dashboard.get(person, &format!("/transactions/{id}")).text;
        assert!(page.contains("from the shop"), "{person}");
        assert_eq!(page.contains("only for us"), sees_all, "{person}");
    }
}

#[test]
fn a_note_is_bounded_and_is_deleted_with_the_persons_data() {
    let shops = shops();
    let (dashboard, id) = (&shops.dashboard, &shops.ids[0]);
    for (text, expected) in [
        ("", 422),
        ("two\nlines", 422),
        ("hidden \u{202e} order", 422),
        (&*"é".repeat(501), 422),
        (&*"é".repeat(500), 200),
    ] {
        assert_eq!(write(dashboard, SUPPORT, id, &[("text", text)]).status, expected, "{text}");
    }
    let other = [("text", "x"), ("hand-over", "operators")];
    assert_eq!(write(dashboard, SUPPORT, id, &other).status, 422);
    dashboard.ledger.sql(&format!(
        "WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
         INSERT INTO notes (id, number, at, author, by_shop, text) SELECT '{id}', n, 1, 'a', 0, 't' FROM n"
    ));
    let full = write(dashboard, SUPPORT, id, &[("text", "one too many")]);
    assert!(full.status == 422 && full.text.contains("has 100 notes"), "{}", main_of(&full.text));
    dashboard.pass(10);
    let erased = dashboard.post_confirmed(OPERATOR, &format!("/transactions/{id}/erase"), &[]);
    assert_eq!(erased.status, 200, "{}", main_of(&erased.text));
    assert_eq!(dashboard.ledger.sql("SELECT count(*) FROM notes"), ["0"]);
    let late = write(dashboard, SUPPORT, id, &[("text", "x")]);
    assert!(late.text.contains("the transaction is erased"), "{}", main_of(&late.text));
}
