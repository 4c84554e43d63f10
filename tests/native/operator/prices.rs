//! Tests how price lists are set.

use super::{changed, names, refused, shown, stored};
use futures_executor::block_on;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::{Edit, parse};
use impact_pledge::pledges::charge::PriceList;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::PriceListKey;
use impact_pledge::pledges::version::VERSION;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{NOW_MS, test_operator};

#[track_caller]
fn price_list(text: &Value) -> PriceList {
    parse(text.to_string().as_bytes()).unwrap()
}

#[test]
fn a_price_list_is_stored_as_the_service_reads_it_and_kept() {
    let meant = json!({ "currencyCode": "GBP", "unitPrices": { "tree": "0.50" } });
    let store = MemoryStore::default();
    assert_eq!(block_on(prices::get(&store, PriceListKey::of_mode(Mode::Test))), Ok(None));
    let edit = Edit::All(price_list(&meant));
    let time = block_on(prices::set(
        &store,
        &SqliteLedger::default(),
        &test_operator().author(),
        PriceListKey::of_mode(Mode::Live),
        &edit,
        None,
    ))
    .unwrap()
    .outcome;
    assert_eq!(time, "2026-01-31T12:00:00.123Z");
    let list = format!("prices:live:{time}");
    assert_eq!(names(&store), ["catalogue:live", &list]);
    let mut kept = meant;
    kept["prices"] = json!(time);
    assert_eq!(
        shown(&block_on(prices::get(&store, PriceListKey::of_mode(Mode::Live))).unwrap()),
        kept
    );
    kept["version"] = json!(VERSION);
    assert_eq!((changed(&store, "catalogue:live"), stored(&store, &list)), (kept.clone(), kept));
    let written = json!({ "created": time, "by": "ada@example.org" });
    assert_eq!(store.metadata("prices:"), [written]);
    store.keep("catalogue:test", b"{}", b"null");
    let problem =
        "the stored price list is damaged: missing field `currencyCode` at line 1 column 2";
    refused(block_on(prices::get(&store, PriceListKey::of_mode(Mode::Test))), problem);
    let now = block_on(prices::current(
        &store,
        &SqliteLedger::default(),
        PriceListKey::of_mode(Mode::Test),
    ))
    .unwrap();
    assert_eq!(now.compare(&PriceList::default()).risks, [problem]);
}

#[test]
fn the_effect_of_new_prices_is_shown_before_and_after() {
    let store = MemoryStore::default();
    let price = |offering: &str, from: Value, to: Value| json!({ "offering": offering, "from": from, "to": to });
    let lists = [
        (
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.50", "kg": "1.25" } }),
            json!({ "currency": null, "risks": [], "prices":
                [price("kg", json!(null), json!("1.25")), price("tree", json!(null), json!("0.50"))] }),
        ),
        (
            json!({ "currencyCode": "USD", "unitPrices": { "tree": "0.55", "kg": "1.25" } }),
            json!({ "currency": null, "risks": [], "prices": [price("tree", json!("0.50"), json!("0.55"))] }),
        ),
        (
            json!({ "currencyCode": "EUR", "unitPrices": { "kg": "1.25", "tre": "0.55" } }),
            json!({ "currency": ["USD", "EUR"],
                "risks": ["the currency changes from USD to EUR", "offerings that lose their price: 1"],
                "prices": [price("tre", json!(null), json!("0.55")), price("tree", json!("0.55"), json!(null))] }),
        ),
    ];
    let test_operator = test_operator();
    for (number, (file, change)) in (0..).zip(&lists) {
        let new = price_list(file);
        test_operator.clock.0.set(NOW_MS + number);
        let now = block_on(prices::current(
            &store,
            &SqliteLedger::default(),
            PriceListKey::of_mode(Mode::Live),
        ))
        .unwrap();
        assert_eq!(&shown(&now.compare(&new)), change);
        block_on(prices::set(
            &store,
            &SqliteLedger::default(),
            &test_operator.author(),
            PriceListKey::of_mode(Mode::Live),
            &Edit::All(new),
            None,
        ))
        .unwrap();
    }
    store.set_page_length(2);
    let history = shown(
        &block_on(prices::history(
            &store,
            PriceListKey::of_mode(Mode::Live),
            usize::MAX,
            usize::MAX,
        ))
        .unwrap(),
    );
    let listed = |(number, (_, change)): (u64, &(Value, Value))| {
        let time = format!("2026-01-31T12:00:00.{}Z", 123 + number);
        json!({ "mode": "live", "time": time, "by": "ada@example.org", "change": change })
    };
    assert_eq!(history, (0..).zip(&lists).map(listed).collect::<Value>());
    assert_eq!(
        block_on(prices::history(
            &store,
            PriceListKey::of_mode(Mode::Test),
            usize::MAX,
            usize::MAX
        )),
        Ok(vec![])
    );

    let with = |mode, price: &str| {
        block_on(prices::current(&store, &SqliteLedger::default(), PriceListKey::of_mode(mode)))
            .unwrap()
            .with(&Edit::Set { offering: "tree".to_owned(), price: price.to_owned() })
    };
    let one = with(Mode::Live, "0.60").unwrap();
    assert_eq!(shown(&one.unit_prices), json!({ "kg": "1.25", "tre": "0.55", "tree": "0.60" }));
    refused(with(Mode::Live, "-1"), "`-1` is not a price: write a plain decimal such as `0.50`");
    refused(
        with(Mode::Test, "1"),
        "test keys have no prices yet: set a whole price list with its currency first",
    );
}

#[test]
fn a_price_list_has_a_bound() {
    refused(
        parse(b"{\"currencyCode\":\"\xff\"}"),
        "this is not UTF-8 text: check byte 17, and save the file as UTF-8",
    );
    let prices: String = (0..60_000).map(|offering| format!("\"{offering}\":\"0.00\",")).collect();
    let text = format!("{{\"currencyCode\":\"USD\",\"unitPrices\":{{{prices}\"x\":\"1\"}}}}");
    assert_eq!(parse(text.as_bytes()).unwrap().unit_prices.len(), 60_001);
    let padded = format!("{text}{}", " ".repeat(1024 * 1024));
    let length = padded.len();
    refused(
        parse(padded.as_bytes()),
        &format!(
            "a price list may have at most 1048576 bytes, but this one has {length}: leave out offerings that cost \
             nothing"
        ),
    );
}

/// If a price is given in cents, or has its decimal point in the wrong place, it is ten or a hundred times too
/// high.
#[test]
fn a_price_that_becomes_ten_times_as_high_or_as_low_is_a_risk() {
    let list = |price: &str| {
        price_list(&json!({ "currencyCode": "USD", "unitPrices": { "tree": price } }))
    };
    for (from, to, factor) in [
        ("0.50", "5", Some(" (× 10)")),
        ("0.07", "0.70", Some(" (× 10)")),
        ("0.50", "4.99", None),
        ("5", "0.50", Some(" (÷ 10)")),
        ("4.99", "0.50", None),
        ("0.50", "50000", Some(" (× 100000)")),
        ("1.25", "0.01", Some(" (÷ 125)")),
        ("0.4", "5", Some(" (× 12.5)")),
        ("0.50", "0", Some("")),
        ("0", "0.50", None),
        ("0", "0.00", None),
        (
            "0.0000000000000000000000000000000000001",
            "999999999999999999999999999999999999999",
            Some(" (× "),
        ),
    ] {
        let store = MemoryStore::default();
        let operator = test_operator();
        let of = PriceListKey::of_mode(Mode::Live);
        let set = Edit::All(list(from));
        block_on(prices::set(&store, &SqliteLedger::default(), &operator.author(), of, &set, None))
            .unwrap();
        let risks = block_on(prices::current(&store, &SqliteLedger::default(), of))
            .unwrap()
            .compare(&list(to))
            .risks;
        let expected =
            factor.map(|factor| format!("the price of tree changes from {from} to {to}{factor}"));
        let is_expected = match (&*risks, &expected) {
            ([], None) => true,
            ([risk], Some(expected)) => {
                risk.starts_with(expected) && (risk == expected || factor == Some(" (× "))
            }
            _ => false,
        };
        assert!(is_expected, "{from} {to}: {risks:?}");
    }
}

#[test]
fn the_risks_of_a_long_price_list_stay_short() {
    let list = |price: &str| {
        let prices: BTreeMap<_, _> = (0..200).map(|number| (format!("o{number}"), price)).collect();
        price_list(&json!({ "currencyCode": "USD", "unitPrices": prices }))
    };
    let store = MemoryStore::default();
    let of = PriceListKey::of_mode(Mode::Live);
    let set = Edit::All(list("1"));
    block_on(prices::set(
        &store,
        &SqliteLedger::default(),
        &test_operator().author(),
        of,
        &set,
        None,
    ))
    .unwrap();
    let risks = block_on(prices::current(&store, &SqliteLedger::default(), of))
        .unwrap()
        .compare(&list("100"))
        .risks;
    assert_eq!((risks.len(), &*risks[5]), (6, "prices that change as much: 195 more"));
}
