//! Tests the form that changes the prices of a mode in two steps.

use super::{OPERATOR, TestDashboard, dashboard, field};
use futures_executor::block_on;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::system::rule::publish;
use impact_pledge::office::system::rule::publish::Republished;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::PriceListKey;
use serde_json::{Value, json};
use support::ledger::SqliteLedger;
use support::service::{Answer, changes, seeded};

/// The fields of a form, and texts that the answer to this form must contain.
pub type Row<'r> = (&'r [(&'static str, &'r str)], &'r [&'r str]);

const LIVE: &str = "catalogue:live";
const SOME: &str = r#"{"currencyCode":"USD","unitPrices":{"oak":"1"}}"#;

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

fn seen(dashboard: &TestDashboard) -> String {
    field(&dashboard.get(OPERATOR, "/prices").text, "seen")
}

/// Sends the first step of the form, and returns its answer.
fn ask(dashboard: &TestDashboard, fields: &[(&str, &str)]) -> Answer {
    let seen = seen(dashboard);
    let fields = [&[("mode", "live"), ("seen", &seen)], fields].concat();
    dashboard.post(OPERATOR, "/prices", &fields)
}

/// Returns the fields of the price table on a page, as a browser would send them, after editing these prices.
/// The price of a new offering goes into the first empty row.
pub fn table(page: &Answer, prices: &[(&str, &str)]) -> Vec<(String, String)> {
    let hidden = ["mode", "unit", "seen", "others"]
        .into_iter()
        .filter(|name| page.text.contains(&format!("name=\"{name}\"")));
    let mut fields: Vec<_> =
        hidden.map(|name| (name.to_owned(), field(&page.text, name))).collect();
    fields.push(("change".to_owned(), "table".to_owned()));
    let currency = page.text.split("<option value=\"").find(|option| option.contains("selected>"));
    fields.push(("currency".to_owned(), currency.unwrap()[..3].to_owned()));
    let row = |number: usize| {
        ["offering", "price"].map(|name| field(&page.text, &format!("{name}-{number}")))
    };
    let mut rows: Vec<_> = (0..page.text.matches("name=\"price-").count()).map(row).collect();
    for (offering, price) in prices {
        let place = rows.iter().position(|row| row[0] == *offering);
        let place = place.or_else(|| rows.iter().position(|row| row[0].is_empty())).unwrap();
        rows[place] = [*offering, *price].map(str::to_owned);
    }
    for (number, [offering, price]) in rows.into_iter().enumerate() {
        fields.push((format!("offering-{number}"), offering));
        fields.push((format!("price-{number}"), price));
    }
    fields
}

/// Edits prices in the table of the page, and returns the preview.
fn edit(dashboard: &TestDashboard, prices: &[(&str, &str)]) -> Answer {
    send(dashboard, &table(&dashboard.get(OPERATOR, "/prices"), prices))
}

/// Returns the fields of the form's second step, as the first step's page contains them.
pub fn confirmation(page: &Answer) -> Vec<(String, String)> {
    assert_eq!(page.status, 200, "{}", page.text);
    let names = ["mode", "unit", "seen", "change", "step", "list"].into_iter();
    let names = names.filter(|name| page.text.contains(&format!("name=\"{name}\"")));
    names.map(|name| (name.to_owned(), field(&page.text, name))).collect()
}

pub fn accepted(mut form: Vec<(String, String)>) -> Vec<(String, String)> {
    form.push(("risks".to_owned(), "accepted".to_owned()));
    form
}

pub fn send(dashboard: &TestDashboard, fields: &[(String, String)]) -> Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    dashboard.post(OPERATOR, "/prices", &fields)
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
    assert_has(
        &page,
        200,
        &[
            "<bdi>tree</bdi>",
            "0.50",
            "are charged 0.00",
            "about 70 s",
            "No price list has been saved yet",
        ],
    );
    let asked = edit(&dashboard, &[("tree", " 0.55 ")]);
    let words = [
        "Nothing was saved yet",
        "0.50",
        "0.55",
        "changed: 1, added: 0, removed: 0",
        "Save prices",
    ];
    assert_has(&asked, 200, &words);
    assert!(!asked.text.contains("plastic-kg</bdi>") && !asked.text.contains("name=\"risks\""));
    assert_eq!(
        (stored(&dashboard)["unitPrices"]["tree"].as_str(), counts(&dashboard)),
        (Some("0.50"), (0, 0))
    );

    let form = confirmation(&asked);
    assert_has(&send(&dashboard, &form), 200, &["were saved on", "0.55"]);
    let time = "2026-01-31T12:00:00.123Z";
    let prices = json!({ "tree": "0.55", "plastic-kg": "1.25" });
    let set = json!({ "currencyCode": "USD", "unitPrices": prices, "prices": time, "version": 1 });
    assert_eq!((stored(&dashboard), counts(&dashboard)), (set.clone(), (1, 1)));
    for later_ms in [0, 3_600_000] {
        dashboard.clock.0.set(dashboard.clock.0.get() + later_ms);
        assert_has(
            &send(&dashboard, &form),
            422,
            &["already have these prices, set by ada@example.org at 31 Jan 2026"],
        );
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

/// A change that is probably a mistake: a function that requests it, and texts that its preview must contain.
type Likely<'l> = (&'l dyn Fn(&TestDashboard) -> Answer, &'l [&'l str]);

#[test]
fn a_likely_mistake_needs_a_confirmation() {
    let dashboard = dashboard(seeded());
    let list = r#"{"currencyCode":"EUR","unitPrices":{}}"#;
    let words = ["The currency changes from USD to EUR.", "Offerings that lose their price: 1."];
    let removed = |dashboard: &_| edit(dashboard, &[("tree", "")]);
    let replaced = |dashboard: &_| ask(dashboard, &[("change", "list"), ("list", list)]);
    let raised = |dashboard: &_| edit(dashboard, &[("tree", "50000")]);
    let lowered = |dashboard: &_| edit(dashboard, &[("plastic-kg", "0.01")]);
    let asks: [Likely<'_>; 4] = [
        (&raised, &["The price of tree changes from 0.50 to 50000 (× 100000)."]),
        (&lowered, &["The price of plastic-kg changes from 1.25 to 0.01 (÷ 125)."]),
        (&removed, &["Offerings that lose their price: 1."]),
        (&replaced, &words),
    ];
    for (number, (asks, words)) in asks.into_iter().enumerate() {
        let asked = asks(&dashboard);
        assert_has(&asked, 200, words);
        let form = confirmation(&asked);
        assert_has(&send(&dashboard, &form), 422, &["tick the box to confirm", "name=\"step\""]);
        assert_eq!(counts(&dashboard).0, number);
        assert_has(&send(&dashboard, &accepted(form)), 200, &["were saved on"]);
        dashboard.clock.0.set(dashboard.clock.0.get() + 1);
    }
    assert_eq!(stored(&dashboard)["currencyCode"], "EUR");
}

#[test]
fn invalid_input_is_shown_again_with_the_problem() {
    let dashboard = dashboard(seeded());
    let rows: [Row; 6] = [
        (&[("change", "list"), ("list", "")], &["The list: is not JSON", "<details open>"]),
        (
            &[
                ("change", "list"),
                (
                    "list",
                    "{\n \"currencyCode\": \"USD\",\n \"unitPrices\": {\n \"</textarea><script>\": 1 } }",
                ),
            ],
            &["at line 4 column", "&lt;/textarea&gt;&lt;script&gt;"],
        ),
        (
            &[
                ("change", "list"),
                ("list", r#"{"currencyCode":"USD","unitPrices":{"a":"1","a":"2"}}"#),
            ],
            &["<bdi>a</bdi></code> has two prices"],
        ),
        (&[("mode", "dead")], &[]),
        (
            &[("seen", "2020-01-01T00:00:00.000Z"), ("change", "list"), ("list", SOME)],
            &["now have other prices", "value=\"oak\""],
        ),
        (&[("change", "price")], &["Some fields are missing"]),
    ];
    for (fields, words) in rows {
        let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
        let seen = seen(&dashboard);
        let hidden = [("mode", "live"), ("seen", &*seen)];
        let hidden = hidden.into_iter().filter(|(name, _)| !names.contains(name));
        let fields: Vec<_> = hidden.chain(fields.iter().copied()).collect();
        let answer = dashboard.post(OPERATOR, "/prices", &fields);
        assert_has(&answer, 422, words);
        assert!(
            !answer.text.contains("<script") && !answer.text.contains("<b>"),
            "{}",
            answer.text
        );
    }
    assert_eq!(counts(&dashboard), (0, 0));
}

/// Workers KV may return old prices for a minute. Without a check, one operator's change could undo
/// another's.
#[test]
fn prices_that_others_set_meanwhile_are_not_replaced() {
    let dashboard = dashboard(seeded());
    let before = dashboard.store().value(LIVE).unwrap();
    let asked = edit(&dashboard, &[("tree", "4")]);
    let form = confirmation(&asked);
    let other = edit(&dashboard, &[("oak", "2")]);
    assert_has(&send(&dashboard, &confirmation(&other)), 200, &[]);
    let now = dashboard.store().value(LIVE).unwrap();
    assert_has(
        &send(&dashboard, &form),
        422,
        &["now have other prices, set by ada@example.org at 31 Jan 2026"],
    );

    // A late write replaces the copy in Workers KV. Pages show the newest prices, and the cron writes the copy again.
    dashboard.store().keep(LIVE, before.as_bytes(), b"null");
    assert_has(&dashboard.get(OPERATOR, "/prices"), 200, &["value=\"oak\""]);
    assert_has(&send(&dashboard, &form), 422, &["now have other prices"]);
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
    dashboard.store().edit(LIVE, |_| now.clone());
    let asked = edit(&dashboard, &[("tree", "4")]);
    assert_has(&send(&dashboard, &confirmation(&asked)), 200, &["were saved on"]);
    assert_eq!(
        stored(&dashboard)["unitPrices"],
        json!({ "oak": "2", "plastic-kg": "1.25", "tree": "4" })
    );
}

#[test]
fn damaged_prices_can_be_replaced_and_hostile_ids_stay_text() {
    let dashboard = dashboard(seeded());
    dashboard.store().edit(LIVE, |_| "canary".to_owned());
    let page = dashboard.get(OPERATOR, "/prices");
    assert_has(&page, 200, &["The stored price list is damaged", "name=\"list\""]);
    assert!(!page.text.contains("canary"));
    let id = "<script>\"'&\u{202e}\n\0</textarea>";
    let list = json!({ "currencyCode": "GBP", "unitPrices": { id: "1.00" } }).to_string();
    let asked = ask(&dashboard, &[("change", "list"), ("list", &list)]);
    let set = send(&dashboard, &accepted(confirmation(&asked)));
    let now = dashboard.get(OPERATOR, "/prices");
    for page in [&asked, &set, &now] {
        assert_has(page, 200, &["<bdi>&lt;script&gt;&quot;'&amp;\u{fffd}"]);
        assert!(!page.text.contains("<script") && !page.text.contains('\0'));
        assert!(page.text.matches("</textarea>").count() < 2);
    }
    assert_eq!(stored(&dashboard)["unitPrices"], json!({ id: "1.00" }));
    let text = field(&asked.text, "list");
    let read = prices::parse(text.replace('\n', "\r\n").as_bytes()).unwrap();
    assert_eq!(json!(read), json!({ "currencyCode": "GBP", "unitPrices": { id: "1.00" } }));
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
