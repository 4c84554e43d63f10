//! Tests the ledger's lists of transactions and its searches.

use super::{list, message, receive, references, scope};
use futures_executor::block_on;
use impact_pledge::office::orders::rows::order::{Filter, PageCursor, TransactionState};
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::{Direction, OrderPage};
use impact_pledge::office::shops::rows::scopes;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::types::TransactionId;
use serde_json::json;
use support::ledger::SqliteLedger;
use support::service::{NOW_MS, SECRET};

#[test]
fn lists_go_both_ways_and_lose_nothing() {
    let ledger = SqliteLedger::default();
    let same_time = json!({ "summary": { "createdAt": "2026-01-31T12:00:05.000Z" } });
    let mut messages: Vec<_> = (1..=20).map(|number| message(number, json!({}))).collect();
    messages.extend((21..=25).map(|number| message(number, same_time.clone())));
    messages
        .extend((26..=40).map(|number| message(number, json!({ "unit": "v", "mode": "test" }))));
    receive(&ledger, &messages);
    let filter = Filter::default();
    let whole = list(&ledger, &filter, &Direction::Newest, 100);
    assert_eq!((whole.orders.len(), &whole.newer, &whole.older), (40, &None, &None));
    let mut pages = vec![list(&ledger, &filter, &Direction::Newest, 7)];
    while let Some(place) = pages.last().unwrap().older.clone() {
        let place = PageCursor::parse(&place.to_string()).unwrap();
        pages.push(list(&ledger, &filter, &Direction::Older(place), 7));
    }
    let orders: Vec<_> = pages.iter().flat_map(|page| page.orders.clone()).collect();
    assert_eq!(orders, whole.orders);
    for (page, before) in pages.iter().skip(1).zip(&pages) {
        let newer = Direction::Newer(page.newer.clone().unwrap());
        assert_eq!(list(&ledger, &filter, &newer, 7).orders, before.orders);
    }
    let newest = Direction::Newer(whole.orders[0].place());
    assert_eq!(list(&ledger, &filter, &newest, 7), OrderPage::default());
}

#[test]
fn lists_are_those_of_units_modes_keys_times_or_without_a_price() {
    let ledger = SqliteLedger::default();
    receive(
        &ledger,
        &[
            message(1, json!({})),
            message(2, json!({ "mode": "test" })),
            message(3, json!({ "unit": "v" })),
            message(4, json!({ "summary": { "key": "ffffffffffff" } })),
            message(5, json!({ "summary": { "unpriced": 1 } })),
            message(6, json!({ "summary": { "key": null } })),
        ],
    );
    let units = |units: &[&str]| Some(units.iter().map(|unit| (*unit).to_owned()).collect());
    let at = |second: u64| NOW_MS + second * 1_000;
    let rows = [
        (Filter { units: units(&["v"]), ..Filter::default() }, "03"),
        (
            Filter { units: units(&["u", "v", "w"]), mode: Some(Mode::Test), ..Filter::default() },
            "02",
        ),
        (Filter { units: units(&[]), ..Filter::default() }, ""),
        (Filter { key: Some("ffffffffffff".to_owned()), ..Filter::default() }, "04"),
        (Filter { key: Some("' OR 1".to_owned()), ..Filter::default() }, ""),
        (Filter { state: Some(TransactionState::Unpriced), ..Filter::default() }, "05"),
        (Filter { from: at(3), until: Some(at(5)), ..Filter::default() }, "04 03"),
    ];
    for (filter, expected) in rows {
        let page = list(&ledger, &filter, &Direction::Newest, 10);
        assert_eq!(references(&page).join(" "), expected, "{filter:?}");
    }
}

#[test]
fn orders_are_found_by_address_and_reference_over_all_shops() {
    let ledger = SqliteLedger::default();
    let other = scope(Mode::Test, "v");
    let reference = "order 2";
    let lookup = json!(SECRET.hashes(&other, reference, "ADA@shop.example"));
    let id = TransactionId::new(&SECRET, &other, reference, [9; 16]);
    let of_other =
        json!({ "id": id.as_str(), "mode": "test", "unit": "v", "summary": { "lookup": lookup } });
    receive(&ledger, &[message(1, json!({})), message(2, json!({})), message(3, of_other)]);
    let shops = block_on(scopes::scopes(&ledger, None, None)).unwrap();
    assert_eq!(shops, [scope(Mode::Live, "u"), other.clone()]);
    let by_email = |shops: &[Scope], email: &str| {
        let found = orders::by_email(&ledger, &SECRET, (shops, email), &Direction::Newest, 10);
        references(&block_on(found).unwrap()).join(" ")
    };
    assert_eq!(by_email(&shops, "Ada@Shop.example"), "03 02 01");
    assert_eq!(by_email(&shops[1..], "ada@shop.example"), "03");
    assert_eq!(by_email(&shops, "bob@shop.example"), "");
    let by_reference = |shops: &[Scope], reference: &str| {
        let asked = (shops, reference);
        let found = orders::by_reference(&ledger, &SECRET, asked, &Direction::Newest, 10);
        references(&block_on(found).unwrap()).join(" ")
    };
    assert_eq!(by_reference(&shops, reference), "03 02");
    assert_eq!(by_reference(&shops, "order 1"), "01");
    assert_eq!(by_reference(&shops, "#ORDER1"), "01");
    assert_eq!(by_reference(&shops, "order"), "");
}
