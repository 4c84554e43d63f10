//! Tests the lists of transactions in a state: each has the transactions that the whole list shows in that state, in pages of
//! any size and in both directions.

use super::{list, message, receive};
use impact_pledge::office::orders::rows::order::{Filter, Order, PageCursor, TransactionState};
use impact_pledge::office::orders::rows::orders::Direction;
use impact_pledge::pledges::scope::Mode;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;

/// Whether a transaction matches a filter.
type Matches = fn(&Order) -> bool;

/// A unit's ID can contain a colon, and look like the beginning of another unit's settlements.
const UNITS: [&str; 3] = ["u", "v", "u:v"];
const MONTHS: [&str; 4] = ["2025-10", "2025-11", "2025-12", "2026-01"];

/// Returns a ledger with transactions of several units and months: some are paid, credited, unpriced or erased, and some are
/// large.
fn mixed() -> SqliteLedger {
    let ledger = SqliteLedger::default();
    let change = |number: u8| {
        let unit = UNITS[usize::from(number) % 3];
        let day = number % 28 + 1;
        let amount =
            if number.is_multiple_of(13) { "1".repeat(20) } else { format!("{}.50", number % 5) };
        let mut change = json!({
            "unit": unit, "mode": if number.is_multiple_of(7) { "test" } else { "live" },
            "summary": {
                "createdAt": format!("{}-{day:02}T12:00:00.000Z", MONTHS[usize::from(number / 3) % 4]),
                "amount": amount, "unpriced": u8::from(number.is_multiple_of(11)),
                "key": if number.is_multiple_of(5) { "ffffffffffff" } else { "0123456789ab" },
            },
        });
        if number.is_multiple_of(9) {
            change["summary"]["erased"] = json!("2026-01-31T00:00:00.000Z");
            change["summary"]["lookup"] = Value::Null;
        }
        change
    };
    receive(&ledger, &(1..=90).map(|number| message(number, change(number))).collect::<Vec<_>>());
    for name in
        ["live:u:2025-10", "live:u:2025-12", "live:v:2026-01", "test:v:2025-11", "live:u:v:2025-11"]
    {
        ledger.sql(&format!(
            "INSERT INTO published (name, content, change, author, by_shop, at)
             VALUES ('settlement:{name}', '{{}}', '', 'x', 0, 1)"
        ));
    }
    // A payment that was undone leaves its name.
    ledger.sql(
        "INSERT INTO published (name, content, change, author, by_shop, at)
         VALUES ('settlement:live:v:2025-12', NULL, '', 'x', 0, 1)",
    );
    ledger.sql(
        "INSERT INTO credits (id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents, cents,
           quantities, reason, change, author, at)
         SELECT t.id, n.value, t.id || n.value, s.mode, s.unit, strftime('%Y-%m', t.created / 1000, 'unixepoch'), '2026-01',
           'USD', t.cents, 10, '[]', 'r', 'c', 'a', 1
         FROM transactions t JOIN scopes s USING (scope), json_each('[1,2]') n WHERE t.cents = 250",
    );
    ledger
}

fn is_in(state: TransactionState, order: &Order) -> bool {
    match state {
        TransactionState::Paid => order.paid,
        TransactionState::Unpaid => !order.paid,
        TransactionState::Credited => order.credited.is_some(),
        TransactionState::Unpriced => order.unpriced > 0,
        TransactionState::Erased => order.erased.is_some(),
        TransactionState::Cancelled | TransactionState::Failed => false,
    }
}

/// Walks through a list in pages, forward and back.
#[track_caller]
fn walked(ledger: &SqliteLedger, filter: &Filter, most: usize) -> Vec<Order> {
    let mut pages = vec![list(ledger, filter, &Direction::Newest, most)];
    while let Some(place) = pages.last().unwrap().older.clone() {
        pages.push(list(ledger, filter, &Direction::Older(place), most));
        assert!(pages.len() < 200, "{filter:?}");
    }
    for (page, before) in pages.iter().skip(1).zip(&pages) {
        let newer = Direction::Newer(page.newer.clone().unwrap());
        assert_eq!(list(ledger, filter, &newer, most).orders, before.orders, "{filter:?}");
    }
    pages.into_iter().flat_map(|page| page.orders).collect()
}

#[test]
fn a_state_selects_what_the_whole_list_shows_in_it() {
    use TransactionState::{Credited, Erased, Paid, Unpaid, Unpriced};
    let ledger = mixed();
    let whole = list(&ledger, &Filter::default(), &Direction::Newest, 1_000).orders;
    assert_eq!(whole.len(), 90);
    let limits: [(Filter, Matches); 6] = [
        (Filter::default(), |_| true),
        (Filter { mode: Some(Mode::Live), ..Filter::default() }, |it| it.scope.mode == Mode::Live),
        (Filter { units: Some(vec!["u".to_owned()]), ..Filter::default() }, |it| {
            it.scope.unit == "u"
        }),
        (Filter { least: Some(250), greatest: Some(350), ..Filter::default() }, |it| {
            ["2.50", "3.50"].contains(&&*it.amount)
        }),
        (Filter { least: Some(100_000), ..Filter::default() }, |it| it.amount.len() > 10),
        (Filter { key: Some("ffffffffffff".to_owned()), ..Filter::default() }, |it| {
            it.key.as_deref() == Some("ffffffffffff")
        }),
    ];
    for (limit, is_within) in limits {
        for state in [Paid, Unpaid, Credited, Unpriced, Erased] {
            let expected: Vec<_> =
                whole.iter().filter(|it| is_in(state, it) && is_within(it)).cloned().collect();
            let filter = Filter { state: Some(state), ..limit.clone() };
            for most in [1, 4, 1_000] {
                assert_eq!(walked(&ledger, &filter, most), expected, "{filter:?}");
            }
            let middle = whole[45].created_ms;
            let filter = Filter { from: middle, ..filter };
            let later: Vec<_> = expected.into_iter().filter(|it| it.created_ms >= middle).collect();
            assert_eq!(walked(&ledger, &filter, 3), later, "{filter:?}");
        }
    }
}

#[test]
fn given_ids_select_their_transactions_and_no_others() {
    let ledger = mixed();
    let whole = list(&ledger, &Filter::default(), &Direction::Newest, 1_000).orders;
    let wanted: Vec<_> =
        whole.iter().step_by(7).filter(|it| it.erased.is_none()).cloned().collect();
    let mut ids: Vec<_> = whole.iter().step_by(7).map(|it| it.id.clone()).collect();
    ids.push("ptran_no_such".to_owned());
    let failed = Some(TransactionState::Failed);
    let filter = Filter { state: failed, ids: Some(ids.clone()), ..Filter::default() };
    assert_eq!(walked(&ledger, &filter, 4), wanted, "an erased one has no notifications");
    let none = Filter { state: failed, ids: Some(Vec::new()), ..Filter::default() };
    assert_eq!(walked(&ledger, &none, 4), []);
    let tampered = PageCursor::parse(&format!("0-{}", whole[0].id)).unwrap();
    let newest = list(&ledger, &filter, &Direction::Newer(tampered), 100).orders;
    assert_eq!(newest, wanted);
}
