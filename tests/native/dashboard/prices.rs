//! Tests the forms that change the prices of a mode.

use super::{OPERATOR, TestDashboard, dashboard, filled};
use futures_executor::block_on;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::system::rule::publish;
use impact_pledge::office::system::rule::publish::Republished;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::PriceListKey;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::service::{Answer, changes, seeded};

/// The fields of a form, and texts that the answer to this form must contain.
pub type Row<'r> = (&'r [(&'static str, &'r str)], &'r [&'r str]);

const LIVE: &str = "catalogue:live";

/// Returns the stored prices, without the name of the change that wrote them.
fn stored(dashboard: &TestDashboard) -> Value {
    let mut prices: Value = serde_json::from_str(&dashboard.store().value(LIVE).unwrap()).unwrap();
    prices.as_object_mut().unwrap().remove("change");
    prices
}

/// Returns two counts: of the price lists that were set, and of the entries in the audit log.
fn counts(dashboard: &TestDashboard) -> (usize, usize) {
    let lists = dashboard.store().names().iter().filter(|name| name.starts_with("prices:")).count();
    (lists, changes(dashboard.store(), &dashboard.ledger).len())
}

/// Sends the form that replaces the list with JSON, and returns the preview.
fn replace(dashboard: &TestDashboard, list: &str) -> Answer {
    let form = filled(&dashboard.get(OPERATOR, "/prices"), "name=\"file\"", &[("file", list)]);
    dashboard.send_form(OPERATOR, form)
}

/// Returns the table of prices on a page, as a browser would send it after these changes. A new offering gets an empty row.
pub fn table(page: &Answer, prices: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let (path, mut fields) = filled(page, "name=\"currency\"", &[]);
    for (offering, price) in prices {
        let name = format!("price-{}", utf8_percent_encode(offering, NON_ALPHANUMERIC));
        let is_own = |(own, _): &&mut (String, String)| {
            own.replace('-', "%2D") == name.replace('-', "%2D") || own == offering
        };
        if let Some((_, value)) = fields.iter_mut().find(is_own) {
            *value = (*price).to_owned();
            continue;
        }
        let empty = fields.iter().position(|(own, value)| {
            own.starts_with("new-price") && !own.ends_with("value") && value.is_empty()
        });
        let empty = empty.unwrap();
        fields[empty].1 = (*offering).to_owned();
        fields[empty + 1].1 = (*price).to_owned();
    }
    (path, fields)
}

/// Edits prices in the table of a page, and returns the preview.
pub fn edit(dashboard: &TestDashboard, page: &str, prices: &[(&str, &str)]) -> Answer {
    dashboard.send_form(OPERATOR, table(&dashboard.get(OPERATOR, page), prices))
}

/// Edits the table of a page, confirms the change, and returns both answers.
pub fn save(dashboard: &TestDashboard, page: &str, prices: &[(&str, &str)]) -> [Answer; 2] {
    let asked = edit(dashboard, page, prices);
    let saved = dashboard.confirm(OPERATOR, &asked);
    dashboard.clock.0.set(dashboard.clock.0.get() + 1);
    [asked, saved]
}

#[track_caller]
pub fn assert_has(answer: &Answer, status: u16, words: &[&str]) {
    let shown = answer.text.rsplit("<main").next().unwrap();
    assert_eq!(answer.status, status, "{shown}");
    for words in words {
        assert!(answer.text.contains(words), "`{words}` is not in {shown}");
    }
}

#[test]
fn a_price_is_shown_before_it_is_set_and_set_once() {
    let dashboard = dashboard(seeded());
    let page = dashboard.get(OPERATOR, "/prices");
    let words = [
        "<bdi>tree</bdi>",
        "0.50",
        "are charged 0.00",
        "about 70 s",
        "No price list has been saved yet",
    ];
    assert_has(&page, 200, &words);
    let asked = edit(&dashboard, "/prices", &[("tree", " 0.55 ")]);
    let words = [
        "Nothing was changed yet",
        "<bdi>tree</bdi></th><td class=\"number\" data-label=\"Before\">0.50</td><td class=\"number\" data-label=\"After\">0.55",
        "1 changed, 1 unchanged",
        ">Save prices</button>",
    ];
    assert_has(&asked, 200, &words);
    assert!(!asked.text.contains("<bdi>plastic-kg</bdi>"));
    let before = Some("0.50");
    assert_eq!(
        (stored(&dashboard)["unitPrices"]["tree"].as_str(), counts(&dashboard)),
        (before, (0, 0))
    );

    let saved = dashboard.confirm(OPERATOR, &asked);
    assert_has(&saved, 200, &["Saved: prices for live keys, in USD", "0.55"]);
    let time = "2026-01-31T12:00:00.123Z";
    let prices = json!({ "tree": "0.55", "plastic-kg": "1.25" });
    let set = json!({ "currencyCode": "USD", "unitPrices": prices, "prices": time, "version": 1 });
    assert_eq!((stored(&dashboard), counts(&dashboard)), (set.clone(), (1, 1)));
    for later_ms in [0, 3_600_000] {
        dashboard.clock.0.set(dashboard.clock.0.get() + later_ms);
        assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["This was already done"]);
    }
    assert_eq!((stored(&dashboard), counts(&dashboard)), (set, (1, 1)));
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(
        &page,
        200,
        &[" by <bdi>ada@example.org</bdi>", "<td class=\"number\" data-label=\"After\">0.55</td>"],
    );
    assert_has(
        &dashboard.get(OPERATOR, "/prices?mode=test"),
        200,
        &["0.50", "No price list has been saved yet"],
    );
}

#[test]
fn a_likely_mistake_is_named_in_the_preview() {
    let dashboard = dashboard(seeded());
    let list = r#"{"currencyCode":"EUR","unitPrices":{}}"#;
    let words = ["the currency changes from USD to EUR", "offerings that lose their price: 1"];
    let rows: [Row; 3] = [
        (&[("tree", "50000")], &["price of tree changes from 0.50 to 50000 (× 100000)."]),
        (&[("plastic-kg", "0.01")], &["price of plastic-kg changes from 1.25 to 0.01 (÷ 125)."]),
        (&[("tree", "")], &["fferings that lose their price: 1."]),
    ];
    for (prices, words) in rows {
        let [asked, saved] = save(&dashboard, "/prices", prices);
        assert_has(&asked, 200, words);
        assert_has(&saved, 200, &["Saved: "]);
    }
    let asked = replace(&dashboard, list);
    assert_has(&asked, 200, &words.map(|words| words.get(1..).unwrap()));
    assert_has(&dashboard.confirm(OPERATOR, &asked), 200, &["Saved: "]);
    assert_eq!(stored(&dashboard)["currencyCode"], "EUR");
}

#[test]
fn invalid_input_is_shown_again_with_the_problem() {
    let dashboard = dashboard(seeded());
    let hostile =
        "{\n \"currencyCode\": \"USD\",\n \"unitPrices\": {\n \"</textarea><script>\": 1 } }";
    for (list, words) in [
        ("{", &["is not JSON", "<details open>"][..]),
        (hostile, &["at line 4 column", "&lt;/textarea&gt;&lt;script&gt;"]),
        (
            r#"{"currencyCode":"USD","unitPrices":{"a":"1","a":"2"}}"#,
            &["<bdi>a</bdi></code> has two prices"],
        ),
    ] {
        let answer = replace(&dashboard, list);
        assert_has(&answer, 422, words);
        assert!(!answer.text.contains("<script"), "{}", answer.text);
    }
    assert_has(&edit(&dashboard, "/prices", &[]), 422, &["no price is different"]);
    let dead = dashboard.post_new(OPERATOR, "/prices", &[("mode", "dead"), ("price-tree", "1")]);
    assert_eq!((dead.status, counts(&dashboard)), (422, (0, 0)));
}

/// Workers KV may return old prices for a minute. Without a check, one operator's change could undo
/// another's.
#[test]
fn prices_that_others_set_meanwhile_are_kept_and_shown() {
    let dashboard = dashboard(seeded());
    let before = dashboard.store().value(LIVE).unwrap();
    let form = table(&dashboard.get(OPERATOR, "/prices"), &[("tree", "4"), ("plastic-kg", "2")]);
    let asked = dashboard.send_form(OPERATOR, form.clone());
    assert_has(
        &save(&dashboard, "/prices", &[("oak", "2"), ("plastic-kg", "1.30")])[1],
        200,
        &["Saved: "],
    );
    let now = dashboard.store().value(LIVE).unwrap();
    let again = dashboard.confirm(OPERATOR, &asked);
    let words = ["the records have changed since you opened this page", ">1.30</td>", ">2</td>"];
    assert_has(&again, 422, &words);

    // A late write replaces the copy in Workers KV. Pages show the newest prices, and the cron writes the copy again.
    dashboard.store().keep(LIVE, before.as_bytes(), b"null");
    assert_has(&dashboard.get(OPERATOR, "/prices"), 200, &["<bdi>oak</bdi>"]);
    let republish = || {
        let (store, ledger) = (dashboard.store(), &dashboard.ledger);
        block_on(publish::republish(store, ledger, &dashboard.clock, 9)).unwrap()
    };
    assert_eq!(republish(), Republished::default(), "Workers KV may not show it yet");
    dashboard.clock.0.set(dashboard.clock.0.get() + 120_001);
    assert_eq!(republish(), Republished { written: 1, ..Republished::default() });
    assert_eq!((counts(&dashboard), dashboard.store().value(LIVE)), ((1, 1), Some(now.clone())));
    assert_eq!(republish(), Republished::default(), "a late write may still replace it");
    dashboard.clock.0.set(dashboard.clock.0.get() + 180_000);
    assert_eq!(republish(), Republished { confirmed: 1, ..Republished::default() });
    assert_eq!(republish(), Republished::default());
    assert_has(&dashboard.confirm(OPERATOR, &again), 200, &["Saved: "]);
    assert_eq!(
        stored(&dashboard)["unitPrices"],
        json!({ "oak": "2", "plastic-kg": "2", "tree": "4" }),
        "the price of the oak was not changed in the form"
    );
}

#[test]
fn damaged_prices_can_be_replaced_and_hostile_ids_stay_text() {
    let dashboard = dashboard(seeded());
    dashboard.store().edit(LIVE, |_| "canary".to_owned());
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["The stored price list is damaged", "name=\"file\""]);
    assert!(!page.text.contains("canary"));
    let id = "<script>\"'&\u{202e}\n\0</textarea>";
    let list = json!({ "currencyCode": "GBP", "unitPrices": { id: "1.00" } }).to_string();
    let asked = replace(&dashboard, &list);
    let set = dashboard.confirm(OPERATOR, &asked);
    let now = dashboard.get(OPERATOR, "/prices");
    for page in [&asked, &set, &now] {
        assert_has(page, 200, &["<bdi>&lt;script&gt;&quot;'&amp;\u{fffd}"]);
        assert!(!page.text.contains("<script") && !page.text.contains('\0'));
        assert!(page.text.matches("</textarea>").count() < 2);
    }
    assert_eq!(stored(&dashboard)["unitPrices"], json!({ id: "1.00" }));
}

#[test]
fn a_page_shows_a_bounded_number_of_prices_and_lists() {
    let dashboard = dashboard(seeded());
    let author = audit::Author::new("ada", &dashboard.clock, &dashboard.entropy);
    let author = author.unwrap();
    for number in 0..30 {
        dashboard.clock.0.set(dashboard.clock.0.get() + 1);
        let unit_prices: Value =
            (0..500).map(|at| (format!("o{at:03}"), json!(number.to_string()))).collect();
        let list = json!({ "currencyCode": "USD", "unitPrices": unit_prices }).to_string();
        let edit = Edit::All(prices::parse(list.as_bytes()).unwrap());
        block_on(prices::set(
            dashboard.store(),
            &SqliteLedger::default(),
            &author,
            PriceListKey::of_mode(Mode::Live),
            &edit,
            None,
        ))
        .unwrap();
    }
    dashboard.store().take_reads();
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(
        &page,
        200,
        &["And 300 more", "Only the newest 20", "and 490 more", ">28</td>", ">9</td>"],
    );
    assert!(!page.text.contains(">8</td>") && !page.text.contains(">none</td>"));
    assert_eq!(dashboard.store().take_reads().len(), 1 + 21);
    dashboard.store().set_page_length(2);
    assert_has(
        &dashboard.get(OPERATOR, "/prices"),
        200,
        &["Live keys have too many price lists", "<bdi>o199</bdi>"],
    );
}
