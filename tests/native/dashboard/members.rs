//! Tests the permissions of people who belong to a shop. On each route, a person requests a unit, team,
//! transaction or key three times: one of their own shop, one of another shop, and one that does not exist.

use super::access::MAY;
use super::transaction::main_of;
use super::{OPERATOR, TestDashboard, dashboard, field, posted};
use futures_executor::block_on;
use impact_pledge::office::connections::rule as connections;
use impact_pledge::office::connections::rule::NewConnection;
use impact_pledge::office::people::rows::people::PersonRole::{Manager, Viewer};
use impact_pledge::office::people::rule as people;
use impact_pledge::office::route::{Route, route};
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::pledges::auth::{ApiKey, KeyLevel};
use impact_pledge::pledges::orders::{OrderSettings, System};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::types::TransactionId;
use std::cell::RefCell;
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;
use support::ledger::Failing;
use support::service::{
    Answer, CountedEntropy, FixedClock, PATH, TestRequest, key_record, minimal, put_key,
    put_member, seeded, unit,
};

pub const EVA: &str = "eva@north.example";
pub const VIC: &str = "vic@north.example";
/// A manager of the team that contains the unit `north`.
pub const TEA: &str = "tea@chain.example";
/// A manager of the unit `south`.
pub const ZOE: &str = "zoe@south.example";
const STRANGER: &str = "eve@elsewhere.example";

/// The dashboard of two shops, `north` and `south`, each with a team, a key, a transaction and people.
pub struct Shops {
    pub dashboard: TestDashboard,
    /// The transactions of `north` and `south`, and an ID that no transaction has.
    pub ids: [String; 3],
    /// The names of the key records of `north` and `south`, and a name that no record has.
    pub keys: [String; 3],
    /// The connections of `north` and `south`, and an ID that no connection has.
    pub connections: [String; 3],
}

pub fn shops() -> Shops {
    let dashboard = dashboard(seeded());
    let made = ["north", "south"].map(|shop| {
        let added = dashboard.post_new(OPERATOR, "/units", &[("unit", shop)]);
        assert!(added.text.contains("Registered: "), "{}", added.text);
        let key = format!("service_sk_live_{shop}_key");
        put_key(dashboard.store(), &key, &key_record(Mode::Live, unit(shop)));
        put_member(dashboard.store(), &format!("chain-{shop}"), shop);
        dashboard.store().keep(&format!("team:chain-{shop}"), b"{}", b"{}");
        let mut order = minimal();
        order["reference"] = format!("order-of-{shop}").into();
        order["recipient"]["email"] = "buyer@example.org".into();
        order["recipient"]["name"] = format!("buyer-of-{shop}").into();
        let created = dashboard.service.create(&key, &order).json();
        (created["id"].as_str().unwrap().to_owned(), key_name(&dashboard, shop))
    });
    let [(north, north_key), (south, south_key)] = made;
    for (address, place, role) in [
        (EVA, unit("north"), Manager),
        (VIC, unit("north"), Viewer),
        (TEA, KeyLevel::Team("chain-north".to_owned()), Manager),
        (ZOE, unit("south"), Manager),
    ] {
        let author = author(&dashboard, OPERATOR);
        let whom = (&place, address);
        block_on(people::add(dashboard.store(), &dashboard.ledger, &author, whom, role)).unwrap();
    }
    dashboard.reconcile();
    let absent = TransactionId::from_bytes([9; 26]).into_string();
    let connections = ["north", "south"].map(|shop| connect(&dashboard, shop));
    let [one, other] = connections;
    let connections = [one, other, "a".repeat(26)];
    let keys = [north_key, south_key, no_key()];
    Shops { dashboard, ids: [north, south, absent], keys, connections }
}

impl Shops {
    /// Creates the order of each shop a second time: a search that finds one transaction opens it.
    pub fn make_again(&self) {
        for shop in ["north", "south"] {
            let mut order = minimal();
            order["reference"] = format!("order-of-{shop}").into();
            order["recipient"]["email"] = "buyer@example.org".into();
            self.dashboard.make(&format!("service_sk_live_{shop}_key"), &order);
        }
        self.dashboard.reconcile();
    }
}

fn author<'d>(
    dashboard: &'d TestDashboard,
    by: &'d str,
) -> impact_pledge::office::audit::rule::Author<'d, FixedClock, CountedEntropy> {
    impact_pledge::office::audit::rule::Author::new(by, &dashboard.clock, &dashboard.entropy)
        .unwrap()
}

/// Connects a shop system. Returns the connection's ID.
fn connect(dashboard: &TestDashboard, shop: &str) -> String {
    let scope = Scope { unit: shop.to_owned(), mode: Mode::Live };
    let settings = OrderSettings::parse(RULES).unwrap();
    let (store, secret) = (format!("of-{shop}.example"), "the_secret".to_owned());
    let system = System::Shopify;
    let new = NewConnection { scope, system, store, secret, settings, token: None };
    let author = author(dashboard, OPERATOR);
    let made = block_on(connections::add(dashboard.store(), &dashboard.ledger, &author, &new));
    made.unwrap().outcome.connection.to_string()
}

const RULES: &str = r#"{"rules":[{"offeringId":"tree","basis":{"order":{"amount":"1"}}}]}"#;

fn no_key() -> String {
    format!("key:{}", "0".repeat(64))
}

/// Adds the metadata that lists show to the record of a shop's API key. Returns the record's name.
fn key_name(dashboard: &TestDashboard, shop: &str) -> String {
    let store = dashboard.store();
    let is_own = |name: &&String| {
        name.starts_with("key:") && store.value(name).unwrap().contains(&format!("\"{shop}\""))
    };
    let name = store.names().iter().find(is_own).unwrap().clone();
    let note = format!(
        r#"{{"mode":"live","unit":"{shop}","label":"label-of-{shop}","created":"2026-01-01T00:00:00.000Z","by":"{OPERATOR}"}}"#
    );
    store.keep(&name, store.value(&name).unwrap().as_bytes(), note.as_bytes());
    name
}

/// To whom the unit, team, transaction or key in a request belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Own = 0,
    Foreign = 1,
    Absent = 2,
}

impl Shops {
    fn unit(whose: Whose) -> &'static str {
        ["north", "south", "nowhere"][whose as usize]
    }

    /// Returns a request for a route as a page would send it, but without the confirmation of a change.
    pub fn request(&self, template: &str, whose: Whose) -> TestRequest {
        let (method, path) = template.split_once(' ').unwrap();
        let (unit, id, key) =
            (Self::unit(whose), &*self.ids[whose as usize], &*self.keys[whose as usize]);
        let named = match path.split('/').nth(1) {
            Some("teams") => format!("chain-{unit}"),
            Some("transactions") => id.to_owned(),
            Some("connections") => self.connections[whose as usize].clone(),
            _ => unit.to_owned(),
        };
        let path = path.replace("{id}", &named);
        if method == "GET" {
            let query = match &*path {
                "/orders" => format!("?unit={unit}"),
                "/audit" => format!("?shop={unit}"),
                _ => String::new(),
            };
            let of = if path.ends_with("/preview") { "?of=page" } else { "" };
            return TestRequest::new(method, &[&*path, of, &query].concat(), "");
        }
        let fields: &[(&str, &str)] = match &*path {
            "/find" => &[("text", id)],
            "/person" => &[("unit", unit), ("email", "buyer@example.org")],
            "/keys" => &[("unit", unit), ("mode", "test")],
            // A hostile form: it names the person's own unit, with the key of another one.
            _ if path.ends_with("/retry") => &[("delivery", "none")],
            "/keys/replace" | "/keys/rotate" | "/keys/revoke" => &[("unit", "north"), ("key", key)],
            _ => &[("address", "new@example.org"), ("role", "viewer"), ("name", "Name")],
        };
        posted(&path, fields)
    }

    pub fn send(&self, person: &str, request: &TestRequest) -> Answer {
        self.dashboard.send(request, Identity::Address(person))
    }

    /// Returns the names and values of all records.
    fn records(&self) -> Vec<(String, Option<String>)> {
        let store = self.dashboard.store();
        store.names().into_iter().map(|name| (name.clone(), store.value(&name))).collect()
    }

    /// Sends a request. Returns the answer's status, the answer's text with the request's own IDs replaced, and
    /// the number of reads and database calls.
    fn trace(&self, person: &str, template: &str, whose: Whose) -> (u16, String, usize, usize) {
        let (store, ledger) = (self.dashboard.store(), &self.dashboard.ledger);
        drop(store.take_reads());
        drop(store.take_lists());
        let calls = ledger.calls.get();
        let answer = self.send(person, &self.request(template, whose));
        let reads = store.take_reads().len() + store.take_lists().len();
        let index = whose as usize;
        let (id, key) = (&self.ids[index], &self.keys[index]);
        let named = [Self::unit(whose), id, key, &self.connections[index]];
        let (_, text) = answer.text.split_once("</style>").unwrap_or(("", &answer.text));
        let text = named.iter().fold(text.to_owned(), |text, named| text.replace(named, "…"));
        (answer.status, text, reads, ledger.calls.get() - calls)
    }
}

/// Whether a route names a unit, a team, a transaction or a key.
fn is_scoped(template: &str) -> bool {
    let route = Route::iter().find(|route| route.template() == template).unwrap();
    route.scope() != "global" || GLOBAL_WITH_ID.contains(&template)
}

/// Routes whose path contains no ID, but whose search text or filter can name a unit or a transaction. If a
/// filter names one of another shop, the answer is an empty list. A search is answered with a redirect.
const GLOBAL_WITH_ID: [&str; 3] = ["POST /find", "GET /orders", "GET /audit"];

#[test]
fn a_search_for_an_id_of_another_shop_leads_to_the_page_of_an_absent_one() {
    let shops = shops();
    let page_of = |id: &str| {
        let found = shops.dashboard.post(EVA, "/find", &[("text", id)]);
        assert_eq!(
            (found.status, &*found.headers["location"]),
            (303, &*format!("/transactions/{id}"))
        );
        let page = shops.dashboard.get(EVA, &found.headers["location"]);
        assert_eq!(page.status, 404);
        page.text.replace(id, "…")
    };
    assert_eq!(page_of(&shops.ids[1]), page_of(&shops.ids[2]));
}

#[test]
fn each_route_is_open_to_people_of_the_shop_and_to_no_others() {
    let shops = shops();
    for (template, _, own_roles) in MAY {
        for (person, role) in [(EVA, "manager"), (TEA, "manager"), (VIC, "viewer")] {
            // A team's people use its units; only they use the team.
            let is_out = person != TEA && template.contains("/teams/{id}");
            let may = own_roles.split(' ').any(|own| own == role);
            let own = shops.send(person, &shops.request(template, Whose::Own)).status;
            let is_open = !matches!(own, 403..=405);
            assert_eq!(is_open, may && !is_out, "{person}: {template}: {own}");
            assert!(own < 500, "{person}: {template}: {own}");
        }
        let stranger = shops.send(STRANGER, &shops.request(template, Whose::Own)).status;
        assert_eq!(stranger, 403, "{template}");
    }
}

#[test]
fn another_shop_answers_as_one_that_does_not_exist() {
    let shops = shops();
    let before = shops.records();
    for (template, ..) in MAY.iter().filter(|(template, ..)| is_scoped(template)) {
        for person in [EVA, TEA, VIC] {
            let foreign = shops.trace(person, template, Whose::Foreign);
            let absent = shops.trace(person, template, Whose::Absent);
            assert_eq!(foreign, absent, "{person}: {template}");
            let is_global =
                GLOBAL_WITH_ID.contains(template) && matches!(foreign.0, 200 | 303 | 403);
            assert!(
                is_global || matches!(foreign.0, 403 | 404),
                "{person}: {template}: {}",
                foreign.0
            );
            assert!(!foreign.1.contains("of-south"), "{person}: {template}");
        }
    }
    assert_eq!(shops.records(), before);
}

/// The manager of `south` sends every form that the manager of `north` can send. Each form is complete and
/// confirmed.
#[test]
fn a_form_of_another_shops_manager_changes_nothing() {
    let shops = shops();
    let forms = RefCell::new(Vec::new());
    let form_of = |page: &str, path: &str, fields: &[(&str, &str)]| {
        let page = shops.dashboard.get(EVA, page).text;
        let operation = field(&page, "operation");
        let fields = [fields, &[("operation", &*operation)]].concat();
        forms.borrow_mut().push((path.to_owned(), posted(path, &fields)));
    };
    let (id, key) = (&*shops.ids[0], &*shops.keys[0]);
    form_of("/units/north", "/keys", &[("unit", "north"), ("mode", "live")]);
    for sent in ["north", "south"] {
        let named = [("unit", sent), ("key", key)];
        form_of("/units/north", "/keys/replace", &named);
        form_of("/units/north", "/keys/rotate", &[&named[..], &[("keep", "1h")]].concat());
        form_of("/units/north", "/keys/revoke", &named);
    }
    form_of("/units/north", "/units/north/profile", &[("name", "Mine")]);
    form_of("/units/north", "/units/north/people", &[("address", ZOE), ("role", "manager")]);
    form_of("/units/north", "/units/north/people/remove", &[("address", VIC)]);
    form_of("/units/north", "/teams/chain-south/add", &[("unit", "north"), ("new", "yes")]);
    form_of("/units/north", "/teams/chain-north/people", &[("address", ZOE), ("role", "manager")]);
    let transaction = format!("/transactions/{id}");
    form_of("/units/north", &format!("{transaction}/erase"), &[]);
    form_of("/units/north", &format!("{transaction}/whole"), &[]);
    form_of("/units/north", &format!("{transaction}/note"), &[("text", "x")]);
    form_of("/units/north", &format!("{transaction}/note/done"), &[("number", "1")]);
    form_of("/units/north", "/tasks", &[("task", "idle"), ("reason", "x")]);
    form_of("/units/north", "/tasks/reopen", &[("task", "idle"), ("subject", "north")]);
    form_of("/units/north", &format!("{transaction}/mail"), &[]);
    let person = [("unit", "north"), ("email", "buyer@example.org")];
    form_of("/units/north", "/person", &person);
    form_of("/units/north", "/person", &[&person[..], &[("team", "chain-south")]].concat());
    form_of("/units/north", "/units/north/paid", &[("month", "2026-01")]);
    let january = ["mark", "invoice"].map(|field| format!("{field}.live:north:2026-01"));
    let several = [(&*january[0], "yes"), (&*january[1], "N-1"), ("paid-at", "2026-01-31")];
    form_of("/units/north", "/payments/several", &several);
    form_of("/units/north", "/units", &[("unit", "new"), ("new", "yes")]);
    form_of("/units/north", "/prices", &[("mode", "live")]);
    form_of("/units/north", "/prices/remove", &[("unit", "north")]);
    form_of("/units/north", "/find", &[("text", "order-of-north")]);
    form_of("/units/north", "/orders", &[("number", "order-of-north")]);
    let update =
        [("offering", "tree"), ("stage", "done"), ("date", "2026-01-20"), ("revision", "1")];
    for path in [
        "/fulfilment/update",
        "/updates",
        "/updates/preview",
        "/updates/upd_1",
        "/updates/upd_1/preview",
        "/updates/upd_1/publish",
        "/updates/upd_1/withdraw",
    ] {
        form_of("/units/north", path, &update);
    }
    form_of("/units/north", &format!("{transaction}/credit"), &[("reason", "r")]);
    let credit = format!("{transaction}/credit");
    form_of("/units/north", &format!("{credit}/request"), &[("reason", "r"), ("amount", "0.10")]);
    form_of("/units/north", &format!("{credit}/confirm"), &[]);
    form_of("/units/north", &format!("{credit}/refuse"), &[("reason", "r")]);
    let sums = [("per-order", "1"), ("per-month", "1")];
    form_of("/units/north", "/units/north/credit-limit", &sums);
    form_of("/units/north", "/units/north/unpaid", &[("month", "2026-01")]);
    let done = [("month", "2026-01"), ("offering", "tree"), ("quantity", "1"), ("partner", "p")];
    form_of("/units/north", "/fulfilment", &done);
    form_of("/units/north", "/fulfilment/remove", &[("fulfilment", "x")]);
    form_of("/units/north", "/teams", &[("team", "mine"), ("unit", "north"), ("new", "yes")]);
    form_of("/units/north", "/teams/chain-north/remove", &[("unit", "north")]);
    form_of("/units/north", "/teams/chain-north/people/remove", &[("address", TEA)]);
    form_of("/units/north", "/teams/chain-north/people/leave", &[]);
    form_of("/units/north", "/units/north/people/leave", &[]);
    let connect = [("mode", "live"), ("system", "shopify"), ("store", "new.example")];
    let connect = [&connect[..], &[("secret", "the_secret"), ("settings", RULES)]].concat();
    form_of("/units/north", "/units/north/connections", &connect);
    let connection = format!("/connections/{}", shops.connections[0]);
    form_of("/units/north", &connection, &[("settings", RULES)]);
    form_of("/units/north", &format!("{connection}/retry"), &[("delivery", "none")]);
    form_of("/units/north", &format!("{connection}/fetch"), &[("since", "2026-01-30")]);
    form_of("/units/north", &format!("{connection}/preview"), &[("rules", RULES)]);
    form_of("/units/north", &format!("{connection}/end"), &[]);
    form_of("/units/north", "/mails", &[("failed-on", "2026-01-31")]);
    form_of("/units/north", "/mails/dismiss", &[("unit", "north")]);
    form_of("/units/north", "/units/north/preview", &[("name", "Mine")]);
    let notice = [("kind", "statement"), ("state", "off"), ("address", EVA)];
    form_of("/units/north", "/notices", &notice);

    let before = (
        shops.records(),
        shops.dashboard.ledger.sql("SELECT place || address || role FROM people"),
    );
    for (path, form) in forms.borrow().iter() {
        let status = shops.send(ZOE, form).status;
        let is_own = ["/find", "/notices", "/orders"].contains(&&**path);
        assert!(matches!(status, 403 | 404) || is_own, "{path}: {status}");
    }
    let off = shops.dashboard.ledger.sql("SELECT address FROM notices_off");
    assert_eq!(off, [ZOE], "the sender's own e-mails");
    let after = (
        shops.records(),
        shops.dashboard.ledger.sql("SELECT place || address || role FROM people"),
    );
    assert_eq!(before, after);

    // The test has a form for each route, and a form that the shop's own manager may send is complete.
    let template = |path: &str| route("POST", path).unwrap().template();
    let tried: BTreeSet<_> = forms.borrow().iter().map(|(path, _)| template(path)).collect();
    let routes = MAY.iter().map(|(template, ..)| *template);
    let all: BTreeSet<_> = routes.filter(|template| template.starts_with("POST")).collect();
    assert_eq!(tried, all, "a form is missing here");
    let of_managers = |path: &str| MAY.iter().any(|it| it.0 == template(path) && it.2 == "manager");
    let opened: BTreeSet<_> = forms
        .borrow()
        .iter()
        .filter(|(path, _)| of_managers(path) && !path.starts_with("/teams"))
        .filter(|(_, form)| matches!(shops.send(EVA, form).status, 200 | 303 | 409 | 422))
        .map(|(path, _)| template(path))
        .collect();
    let own = all.into_iter().filter(|it| MAY.iter().any(|row| row.0 == *it && row.2 == "manager"));
    assert_eq!(opened, own.filter(|it| !it.contains("/teams")).collect());
    assert_ne!(shops.records(), before.0, "the forms change something if they may");
}

#[test]
fn nothing_that_a_manager_sees_names_another_shop() {
    let shops = shops();
    let south = [&*shops.ids[1], &shops.keys[1], &shops.keys[1][4..16], "south", ZOE, OPERATOR];
    let clean = |what: &str, text: &str| {
        for word in south {
            assert!(!text.contains(word), "{what} contains {word}: {text}");
        }
    };
    let id = &shops.ids[0];
    for path in [
        "/",
        "/orders",
        "/person",
        "/units/north",
        "/units/north/impact",
        "/units/north/payments",
        "/units/north/payments.csv",
        "/units/north/people",
        "/orders?mode=live",
        "/orders?state=unpriced",
        "/audit",
        "/notices",
        "/find",
        &format!("/transactions/{id}"),
        "/nowhere",
        "/prices",
    ] {
        clean(path, &shops.dashboard.get(EVA, path).text);
    }
    // Words that lead an operator to the other shop, and to suggestions of it.
    let find = |text: &str, unit: &str| {
        let page = shops.dashboard.search(EVA, &[("text", text), ("unit", unit)]);
        clean(text, &page.text);
        page.text
    };
    let nothing = find("no-such-order", "");
    for text in
        ["order-of-south", "souht", "chain-south", "south", &shops.keys[1][4..16], &shops.keys[1]]
    {
        for unit in ["", "south", "north", "nowhere"] {
            assert_eq!(find(text, unit), find("no-such-order", unit), "{text} in {unit}");
        }
    }
    assert!(nothing.contains("Nothing in your units matches this"), "{nothing}");
    let lists = [1, 2].map(|of| {
        let lists = ["buyer", "reference"].map(|by| {
            let page = shops.dashboard.get(EVA, &format!("/orders?{by}={}", shops.ids[of]));
            assert_eq!(page.status, 404);
            page.text
        });
        lists.join("")
    });
    assert_eq!(lists[0], lists[1]);
    let like = shops.dashboard.get(EVA, &format!("/orders?buyer={id}")).text;
    assert!(like.contains("order-of-north"), "{like}");
    clean("the orders of one buyer", &like);
    // The buyer has ordered in both shops.
    let page = find("buyer@example.org", "");
    assert!(page.contains("order-of-north"), "{page}");
    assert!(find("order-of-north", "").contains(id.as_str()));
    assert!(find(&shops.keys[0], "").contains("label-of-north"));
    assert!(
        find("chain-north", "").contains("Nothing in your units"),
        "the team is not the person's"
    );
}

#[test]
fn who_made_a_transaction_with_a_teams_key_is_for_the_people_of_the_team() {
    let shops = shops();
    let (store, team) = (shops.dashboard.store(), KeyLevel::Team("chain-north".to_owned()));
    let key = "service_sk_live_chain_key";
    put_key(store, key, &key_record(Mode::Live, team));
    let note = r#"{"mode":"live","team":"chain-north","label":"till","created":"2026-01-01T00:00:00.000Z","by":"x"}"#;
    let name = format!("key:{}", ApiKey::new(key).hash().to_hex());
    store.keep(&name, store.value(&name).unwrap().as_bytes(), note.as_bytes());
    let request = TestRequest::new("POST", PATH, key)
        .with_body(minimal().to_string().into_bytes())
        .with_header("x-service-unit-id", "north");
    let created = shops.dashboard.service.send(&request).json();
    let path = format!("/transactions/{}", created["id"].as_str().unwrap());
    for (person, sees) in [(EVA, false), (VIC, false), (TEA, true), (OPERATOR, true)] {
        let page = shops.dashboard.get(person, &path).text;
        let shown = ["chain-north", "till"].map(|word| page.contains(word));
        assert_eq!(shown, [sees; 2], "{person}: {page}");
        assert!(page.contains(&name[4..16]), "the ID of the key: {page}");
    }
}

#[test]
fn a_viewer_sees_nothing_unmasked_and_no_form_but_that_of_a_note() {
    let shops = shops();
    let path = format!("/transactions/{}", shops.ids[0]);
    let (manager, viewer) =
        (shops.dashboard.get(EVA, &path).text, shops.dashboard.get(VIC, &path).text);
    for word in ["Show personal data", "<h2>Erase</h2>"] {
        assert_eq!((manager.contains(word), viewer.contains(word)), (true, false), "{word}");
    }
    assert!(!viewer.contains("buyer-of-north"), "{viewer}");
    let forms = main_of(&viewer).matches("<form").count();
    assert!(forms == 1 && viewer.contains("/note\""), "only that of a note: {viewer}");
    let whole = shops.dashboard.post(EVA, &format!("{path}/whole"), &[]).text;
    assert!(whole.contains("buyer-of-north"));
    assert!(shops.dashboard.get(OPERATOR, "/audit").text.contains(EVA), "the viewing is recorded");
    let unit = shops.dashboard.get(VIC, "/units/north").text;
    assert_eq!(main_of(&unit).matches("<form").count(), 1, "{unit}");
    assert!(unit.contains("/people/leave") && !unit.contains("/people\""), "{unit}");
}

/// The text says who may open the page. It does not say that the person lacks a role, because the person may
/// have this role.
#[test]
fn a_refusal_says_for_whom_the_page_is() {
    let shops = shops();
    for (person, path, words) in [
        (EVA, "/prices", "This page is for the operators of this service"),
        (VIC, "/prices", "This page is for the operators of this service"),
        (VIC, "/units/north/people", "This page is for managers of a shop."),
        (VIC, "/person", "This page is for managers of a shop."),
    ] {
        let page = shops.dashboard.get(person, path);
        assert_eq!(page.status, 403, "{person} {path}");
        assert!(page.text.contains(words), "{person} {path}: {}", page.text);
    }
}

#[test]
fn a_manager_sees_the_prices_that_apply_to_the_shop() {
    let shops = shops();
    let list =
        |price: &str| format!(r#"{{"currencyCode":"EUR","unitPrices":{{"tree":"{price}"}}}}"#);
    let store = shops.dashboard.store();
    store.keep("catalogue:live", list("0.71").as_bytes(), b"null");
    let unit = shops.dashboard.get(EVA, "/units/north").text;
    assert!(unit.contains("href=\"/units/north/prices\""), "{unit}");
    let shown = |query: &str| {
        let page = shops.dashboard.get(EVA, &format!("/units/north/prices{query}"));
        assert_eq!(page.status, 200, "{}", page.text);
        assert!(!main_of(&page.text).contains("<form"), "{}", page.text);
        assert!(!page.text.contains("south"), "{}", page.text);
        page.text
    };
    assert!(shown("").contains(">0.71<") && shown("").contains("all units without a price list"));
    assert!(!shown("?mode=test").contains(">0.71<"));
    store.keep("catalogue:live:north", list("0.64").as_bytes(), b"null");
    store.keep("catalogue:live:south", list("0.59").as_bytes(), b"null");
    let page = shown("");
    assert!(page.contains(">0.64<") && page.contains("this unit alone"), "{page}");
    assert!(!page.contains(">0.71<") && !page.contains(">0.59<"), "{page}");
}

#[test]
fn a_team_manager_manages_its_units_but_does_not_choose_them() {
    let shops = shops();
    let team = shops.dashboard.get(TEA, "/teams/chain-north").text;
    assert!(team.contains("/units/north") && team.contains("/teams/chain-north/people"), "{team}");
    assert!(!team.contains("/teams/chain-north/add"), "{team}");
    assert!(shops.dashboard.get(TEA, "/units/north").text.contains("Create key"));
}

#[test]
fn a_removed_person_is_refused_at_the_next_request() {
    let shops = shops();
    assert_eq!(shops.dashboard.get(VIC, "/units/north").status, 200);
    let page = shops.dashboard.post(EVA, "/units/north/people/remove", &[("address", VIC)]);
    assert!(page.text.contains("Nothing was changed yet"), "{}", page.text);
    let removed = shops.dashboard.confirm(EVA, &page);
    assert!(removed.text.contains("was removed"), "{}", removed.text);
    assert_eq!(shops.dashboard.get(VIC, "/units/north").status, 403);
    // The last manager stays, unless an operator removes the person.
    for (person, status, may) in [(EVA, 422, 200), (OPERATOR, 200, 403)] {
        let form = [("address", EVA)];
        let page = shops.dashboard.post_confirmed(person, "/units/north/people/remove", &form);
        assert_eq!(page.status, status, "{}", page.text);
        assert_eq!(shops.dashboard.get(EVA, "/units/north").status, may, "{person}");
    }
}

#[test]
fn a_manager_adds_a_person_who_can_sign_in_at_once() {
    let shops = shops();
    let page = shops.dashboard.get(EVA, "/units/north/people").text;
    let form = [
        ("address", "New@North.example"),
        ("role", "viewer"),
        ("operation", &*field(&page, "operation")),
    ];
    for _ in 0..2 {
        let added = shops.dashboard.post(EVA, "/units/north/people", &form);
        assert_eq!(added.status, 200, "{}", added.text);
        assert!(added.text.contains("new@north.example"), "{}", added.text);
    }
    assert_eq!(shops.dashboard.get("new@north.example", "/units/north").status, 200);
    assert_eq!(shops.dashboard.get("new@north.example", "/units/north/people").status, 403);
    for (name, value, words) in [
        ("role", "owner", "one of manager, viewer"),
        ("address", "new", "not an e-mail address"),
        ("team", "chain-south", "give either"), // the address of the form names the unit
    ] {
        let mut form = form;
        form[2].1 = "another-operation";
        form.iter_mut().filter(|(own, _)| *own == name).for_each(|field| field.1 = value);
        let sent = [&form[..], &[(name, value)]].concat();
        let page = shops.dashboard.post(EVA, "/units/north/people", &sent);
        assert_eq!(page.status, 422);
        assert!(page.text.to_lowercase().contains(words), "{}", page.text);
    }
}

#[test]
fn a_key_that_a_form_revoked_is_not_revoked_again() {
    let shops = shops();
    let form = [("unit", "north"), ("key", &*shops.keys[0])];
    let asked = shops.dashboard.post(EVA, "/keys/revoke", &form);
    let statuses = [0, 1].map(|_| shops.dashboard.confirm(EVA, &asked).status);
    assert_eq!(statuses, [200, 409]);
    assert_eq!(shops.dashboard.post(EVA, "/keys/revoke", &form).status, 404);
}

#[test]
fn a_stranger_costs_one_query_and_is_told_whom_to_ask() {
    let mut shops = shops();
    shops.dashboard.settings = Settings::parse(Variables {
        operators: OPERATOR,
        contact: "help@pledges.example",
        ..Variables::default()
    });
    let ledger = &shops.dashboard.ledger;
    drop(shops.dashboard.store().take_reads());
    let calls = ledger.calls.get();
    let page = shops.dashboard.get(STRANGER, "/units/north");
    assert_eq!((page.status, ledger.calls.get() - calls), (403, 1));
    assert_eq!(shops.dashboard.store().take_reads(), [""; 0]);
    assert!(page.text.contains(&format!(">{STRANGER} has no role here")), "{}", page.text);
    assert!(
        page.text.contains("help@pledges.example") && !page.text.contains("OPERATORS"),
        "{}",
        page.text
    );
    assert_eq!(shops.dashboard.get(OPERATOR, "/units/north").status, 200);
}

#[test]
fn without_a_ledger_that_answers_only_operators_get_in() {
    let shops = shops();
    shops.dashboard.ledger.set_failing(Failing::Before);
    assert_eq!(shops.dashboard.get(EVA, "/units/north").status, 503);
    assert_eq!(shops.dashboard.get(OPERATOR, "/units/north").status, 200);
    shops.dashboard.ledger.set_failing(Failing::Unbound);
    let page = shops.dashboard.get(EVA, "/units/north");
    assert_eq!(page.status, 403);
    let log = page.log.unwrap_or_default();
    assert!(log.contains("`OPERATORS`"), "{log}");
    for internal in ["database", "secret", "OPERATORS"] {
        assert!(!page.text.contains(internal), "{}", page.text);
    }
    assert_eq!(shops.dashboard.get(OPERATOR, "/units/north").status, 200);
}
