//! Tests the list of the people of a shop: the maximum number of people, that all of them are shown, and who
//! may change the list. Also tests that a form has no effect if its sender has lost the right to send it.

use super::members::{EVA, Shops, TEA, VIC, ZOE, shops};
use super::{ACCOUNTS, OPERATOR, field, posted};
use support::service::{Answer, TestRequest, changes};

const LIST: &str = "/units/north/people";
/// The number of people that a unit or team may have.
const MOST: usize = 200;

impl Shops {
    fn people_sql(&self, sql: &str) -> Vec<String> {
        self.dashboard.ledger.sql(sql)
    }

    fn count(&self) -> usize {
        let sql = "SELECT count(*) FROM people WHERE place = 'unit:north'";
        self.people_sql(sql)[0].parse().unwrap()
    }

    /// Adds people to the ledger without the limit of the dashboard, as a restore does.
    fn fill(&self, number: usize) {
        let row = |index| format!("('unit:north', 'a{index:04}@x.example', 'viewer', 1, 'x', 0)");
        let rows: Vec<_> = (0..number).map(row).collect();
        self.people_sql(&format!(
            "INSERT INTO people (place, address, role, at, author, by_shop) VALUES {}",
            rows.join(", ")
        ));
    }

    fn add(&self, who: &str, address: &str) -> Answer {
        let page = self.dashboard.get(OPERATOR, LIST).text;
        let form =
            [("address", address), ("role", "manager"), ("operation", &*field(&page, "operation"))];
        self.dashboard.post(who, LIST, &form)
    }

    fn confirmed(&self, who: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.dashboard.post_confirmed(who, path, fields)
    }
}

#[test]
fn a_full_list_takes_nobody_else_and_shows_everybody() {
    let shops = shops();
    shops.fill(MOST - shops.count() - 1);
    assert_eq!(shops.add(EVA, "last@north.example").status, 200);
    for who in [EVA, OPERATOR] {
        let full = shops.add(who, "zzz-hidden@evil.example");
        assert_eq!((full.status, shops.count()), (422, MOST), "{}", full.text);
        assert!(full.text.contains("200 people"), "{}", full.text);
    }
    assert_eq!(shops.dashboard.get("zzz-hidden@evil.example", "/").status, 403);
    let again = shops.add(EVA, "last@north.example");
    assert!(again.text.contains("already"), "{}", again.text);
    let page = shops.dashboard.get(EVA, LIST).text;
    assert!([EVA, VIC, "a0000@", "last@"].iter().all(|who| page.contains(who)), "{page}");
    assert_eq!(shops.confirmed(EVA, &format!("{LIST}/remove"), &[("address", VIC)]).status, 200);
    assert_eq!(shops.add(EVA, "next@north.example").status, 200);
}

#[test]
fn a_list_beyond_the_limit_is_shown_whole_and_removes_by_address() {
    let shops = shops();
    shops.fill(450);
    shops.people_sql(
        "UPDATE people SET address = 'zzz@evil.example', role = 'manager' WHERE address = 'a0000@x.example'",
    );
    let pages = [1, 2, 3].map(|page| shops.dashboard.get(EVA, &format!("{LIST}?page={page}")).text);
    for (index, page) in pages.iter().enumerate() {
        assert_eq!(page.contains(&format!("page={}", index + 2)), index < 2, "{page}");
    }
    let button = |address: &str| format!("aria-label=\"Remove {address}\"");
    let shown = |address: &str| pages.iter().filter(|page| page.contains(&button(address))).count();
    let addresses = shops.people_sql("SELECT address FROM people WHERE place = 'unit:north'");
    assert!(addresses.iter().all(|address| shown(address) == 1), "each is on one page");
    for page in ["0", "x", "99999999999999999999"] {
        assert_eq!(shops.dashboard.get(EVA, &format!("{LIST}?page={page}")).status, 200, "{page}");
    }
    let page = shops.dashboard.get(EVA, LIST).text;
    assert!(page.contains("Remove a person"), "{page}");
    let gone = [("address", " ZZZ@evil.example ")];
    assert_eq!(shops.confirmed(EVA, &format!("{LIST}/remove"), &gone).status, 200);
    assert_eq!(shops.dashboard.get("zzz@evil.example", "/").status, 403);
}

#[test]
fn a_person_leaves_a_shop() {
    for (who, page, path, left) in [
        (VIC, "/units/north", "/units/north/people/leave", true),
        (TEA, "/teams/chain-north", "/teams/chain-north/people/leave", false), // the last manager
        (EVA, "/units/north", "/units/north/people/leave", false),
    ] {
        let shops = shops();
        assert!(shops.dashboard.get(who, page).text.contains(path), "{who}");
        // A form cannot remove another person.
        let answer = shops.confirmed(who, path, &[("address", EVA)]);
        assert_eq!(answer.status, if left { 200 } else { 422 }, "{}", answer.text);
        assert_eq!(shops.dashboard.get(who, page).status, if left { 403 } else { 200 }, "{who}");
        assert_eq!(shops.dashboard.get(EVA, "/").status, 200);
    }
    let shops = shops();
    assert_eq!(shops.add(EVA, "second@north.example").status, 200);
    assert_eq!(shops.confirmed(EVA, "/units/north/people/leave", &[]).status, 200);
    assert_eq!(shops.dashboard.get(EVA, "/units/north").status, 403);
    // A person whom a shop's manager added leaves that shop, and keeps the own one.
    assert_eq!(shops.add("second@north.example", ZOE).status, 200);
    assert_eq!(shops.confirmed(ZOE, "/units/north/people/leave", &[]).status, 200);
    let own = ["/units/north", "/units/south"].map(|page| shops.dashboard.get(ZOE, page).status);
    assert_eq!(own, [404, 200]);
    // People who are not on the unit's own list have nothing to leave.
    for (who, status) in [(TEA, 422), (OPERATOR, 422), ("eve@elsewhere.example", 403)] {
        assert_eq!(shops.confirmed(who, "/units/north/people/leave", &[]).status, status, "{who}");
        let page = shops.dashboard.get(who, "/units/north").text;
        assert!(!page.contains("/people/leave"), "{who}");
    }
}

/// Returns the forms that a manager may send. Each form is complete and confirmed.
fn forms(shops: &Shops) -> Vec<(String, Vec<(&'static str, String)>)> {
    let (id, key) = (&shops.ids[0], &shops.keys[0]);
    let rows: [(String, &[(&'static str, &str)]); 9] = [
        ("/keys".to_owned(), &[("unit", "north"), ("mode", "live")]),
        ("/keys/rotate".to_owned(), &[("unit", "north"), ("key", key), ("keep", "1h")]),
        ("/keys/revoke".to_owned(), &[("unit", "north"), ("key", key)]),
        ("/units/north/profile".to_owned(), &[("name", "Mine"), ("language", "en")]),
        (LIST.to_owned(), &[("address", "new@north.example"), ("role", "manager")]),
        (format!("{LIST}/remove"), &[("address", VIC)]),
        (format!("/transactions/{id}/erase"), &[]),
        (format!("/transactions/{id}/whole"), &[]),
        ("/person".to_owned(), &[("unit", "north"), ("email", "buyer@example.org")]),
    ];
    let owned = |(name, value): &(&'static str, &str)| (*name, (*value).to_owned());
    rows.into_iter().map(|(path, fields)| (path, fields.iter().map(owned).collect())).collect()
}

/// Returns the request of the button on a page that asks for confirmation.
fn confirmed(asked: &Answer) -> TestRequest {
    let (path, fields) = super::confirmed(asked);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    posted(&path, &fields)
}

/// The sender of a form is removed, or becomes a viewer, after the dashboard has checked the sender's right.
/// Then the form changes nothing.
#[test]
fn a_form_in_flight_ends_with_its_senders_right() {
    let (none, viewer) = ("DELETE FROM people", "UPDATE people SET role = 'viewer'");
    for (sender, lost) in [(EVA, none), (EVA, viewer), (TEA, none)] {
        for index in 0..forms(&shops()).len() {
            let shops = shops();
            let (path, mut fields) = forms(&shops).swap_remove(index);
            shops.dashboard.clock.0.update(|now| now + 10 * 60_000); // an erasure is possible
            let page = shops.dashboard.get(OPERATOR, LIST).text;
            fields.push(("operation", field(&page, "operation")));
            let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
            let asks = ["/remove", "/revoke", "/erase", "/person"];
            let request = match asks.iter().any(|end| path.ends_with(end)) {
                true => confirmed(&shops.send(sender, &posted(&path, &fields))),
                false => posted(&path, &fields),
            };
            let before = (shops.dashboard.store().names(), shops.count());
            let loss = format!("{lost} WHERE address = '{sender}'");
            shops.dashboard.ledger.set_meanwhile(1, &loss);
            let answer = shops.send(sender, &request);
            assert_eq!(answer.status, 403, "{sender} {path}: {}", answer.text);
            assert!(!answer.text.contains("buyer-of-north"), "{path}");
            let people = before.1 - usize::from(sender == EVA && lost == none);
            assert_eq!(
                (shops.dashboard.store().names(), shops.count()),
                (before.0, people),
                "{path}"
            );
        }
    }
}

/// The sender's right ends before one of the calls to the ledger; each call is tried. A person is added or
/// removed only if the statement that does so has already run.
#[test]
fn a_change_of_people_and_its_senders_right_are_one_statement() {
    let lost = "DELETE FROM people WHERE address = 'eva@north.example'";
    for (path, address) in [(LIST, "new@north.example"), (&*format!("{LIST}/remove"), VIC)] {
        let mut outcomes = Vec::new();
        for call in 1..12 {
            let shops = shops();
            let page = shops.dashboard.get(OPERATOR, LIST).text;
            let form = [
                ("address", address),
                ("role", "viewer"),
                ("operation", &*field(&page, "operation")),
            ];
            let ledger = &shops.dashboard.ledger;
            let request = match path == LIST {
                true => posted(path, &form),
                false => confirmed(&shops.send(EVA, &posted(path, &form))),
            };
            ledger.set_meanwhile(call, lost);
            let status = shops.send(EVA, &request).status;
            let is_lost = shops.dashboard.get(EVA, "/").status == 403;
            let has = shops.dashboard.get(address, "/").status == 200;
            let is_changed = has == (path == LIST);
            assert_eq!(is_changed, status == 200, "{path} {call}: {status}");
            outcomes.push((is_lost, is_changed));
        }
        assert!(outcomes.contains(&(true, false)), "{outcomes:?}");
        assert!(outcomes.iter().any(|(_, is_changed)| *is_changed), "{outcomes:?}");
    }
}

/// A text with an invisible character could look like another text.
#[test]
fn no_text_that_people_read_takes_invisible_characters() {
    let shops = shops();
    let credit = format!("/transactions/{}/credit", shops.ids[0]);
    let profile: &[(&str, &str)] = &[("name", "North"), ("language", "en")];
    let done: &[(&str, &str)] =
        &[("month", "2026-01"), ("offering", "tree"), ("quantity", "1"), ("done-on", "2026-01-20")];
    let paid: &[(&str, &str)] = &[
        ("mode", "live"),
        ("month", "2025-12"),
        ("paid-at", "2026-01-05"),
        ("amount-USD", "1.50"),
    ];
    for (who, path, fields, name, text) in [
        (EVA, "/keys", &[("unit", "north"), ("mode", "test")][..], "label", "web"),
        (EVA, "/units/north/profile", profile, "name", "North"),
        (EVA, "/units/north/profile", profile, "mail-text", "Thanks"),
        (EVA, "/units/north/profile", profile, "billing-name", "North Ltd"),
        (EVA, LIST, &[("role", "viewer")], "address", "new@north.example"),
        (OPERATOR, "/fulfilment", done, "partner", "Reef"),
        (OPERATOR, "/fulfilment", done, "place", "Kenya"),
        (ACCOUNTS, &*credit, &[("amount", "0.50")], "reason", "returned"),
        (ACCOUNTS, "/units/north/paid", paid, "invoice", "R-1"),
    ] {
        for hidden in [
            '\u{200b}',
            '\u{202e}',
            '\u{2066}',
            '\u{200f}',
            '\u{ad}',
            '\u{feff}',
            '\u{e0041}',
            '\u{200d}',
        ] {
            let (before, after) = text.split_at(2);
            let hostile = [before, &hidden.to_string(), after].concat();
            let page = shops.dashboard.get(OPERATOR, LIST).text;
            let operation = field(&page, "operation");
            let kept = fields.iter().filter(|(own, _)| *own != name).copied();
            let fields: Vec<_> =
                kept.chain([(name, &*hostile), ("operation", &operation)]).collect();
            let changes = || changes(shops.dashboard.store(), &shops.dashboard.ledger).len();
            let before_it = changes();
            let answer = shops.dashboard.post(who, path, &fields);
            assert_eq!(answer.status, 422, "{path} {name} {hidden:?}: {}", answer.text);
            assert!(
                answer.text.contains("invisible") || answer.text.contains("not an e-mail address"),
                "{path} {name} {hidden:?}: {}",
                answer.text
            );
            assert_eq!(changes(), before_it, "{path} {name} {hidden:?}");
        }
    }
}
