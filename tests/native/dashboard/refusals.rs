//! Tests that each refusal of a form stands at its field.

use super::fields::assert_problem_at;
use super::prices::assert_has;
use super::usage::used;
use super::{OPERATOR, TestDashboard};
use impact_pledge::office::operations::Operation;
use std::fs;
use std::path::Path;
use strum::IntoEnumIterator as _;
use support::service::Answer;

/// A form: its path, in which `{id}` is a transaction, its valid fields, and what is wrong with it.
struct Form {
    path: &'static str,
    valid: Fields,
    rows: &'static [Row],
}

type Fields = &'static [(&'static str, &'static str)];

/// Some invalid fields, the field at which the form must show the problem (empty: at no field), and words of
/// the message.
type Row = (Fields, &'static str, &'static str);

/// The field for the quantity of trees.
const TREES: &str = "quantity-tree";
const HIDDEN: &str = "a\u{202e}b";
const LONG: &str = "1\n2\n3\n4\n5\n6\n7";

const CREDIT: Form = Form {
    path: "/transactions/{id}/credit",
    valid: &[("reason", "Returned")],
    rows: &[
        (&[("amount", "1.51")], "amount", "only 1.50 USD of the charge"),
        (&[("amount", "1,5")], "amount", "write the amount as"),
        (&[("amount", "0")], "amount", "enter an amount or a quantity"),
        (&[(TREES, "1")], "amount", "in addition to the quantities"),
        (&[("amount", "0"), (TREES, "4")], TREES, "can still be credited"),
        (&[("amount", "0"), (TREES, "x")], TREES, "write the quantity of"),
        (&[("reason", "")], "reason", "fill in “Reason”"),
        (&[("reason", "the amount, for ada@example.org")], "reason", "must not contain an e-mail"),
        (&[("cancelled", "yes"), ("amount", "0.50")], "cancelled", "leave out the amount"),
    ],
};

const PAYMENT: Form = Form {
    path: "/units/unit_dev/paid",
    valid: &[
        ("mode", "live"),
        ("month", "2025-12"),
        ("amount-USD", "1.50"),
        ("paid-at", "2026-01-05"),
        ("invoice", "7"),
        ("accept-unpriced", "1"),
    ],
    rows: &[
        (&[("amount-USD", "1.49")], "amount-USD", "a sum of 1.50 USD, not of 1.49 USD"),
        (&[("amount-USD", "1,5")], "amount-USD", "needs an amount such as"),
        (&[("amount-USD", "")], "amount-USD", "fill in “Amount”"),
        (&[("amount-EUR", "1")], "", "not of 1.00 EUR and 1.50 USD"),
        (&[("amount-EUR", "x")], "", "needs an amount such as"),
        (&[("accept-unpriced", "")], "accept-unpriced", "has 1 unpriced pledge"),
        (&[("accept-unpriced", "-1")], "accept-unpriced", "enter a whole number"),
        (&[("paid-at", "2026-02-31")], "paid-at", "enter a day or a date-time"),
        (&[("paid-at", "2026-02-01")], "paid-at", "which is in the future"),
        (&[("invoice", "")], "invoice", "fill in “Invoice number”"),
        (&[("month", "2026-01")], "", "cannot be marked before"),
        (&[("month", "2025-10"), ("accept-unpriced", "")], "", "has no transactions"),
    ],
};

/// The unit's ID, `unpriced-shop`, contains a word from the name of another field.
const PAYMENT_OF_UNPRICED: Form = Form {
    path: "/units/unpriced-shop/paid",
    rows: &[
        (&[("paid-at", "2026-02-01")], "paid-at", "which is in the future"),
        (&[("invoice", "")], "invoice", "fill in “Invoice number”"),
    ],
    ..PAYMENT
};

const FULFILMENT: Form = Form {
    path: "/fulfilment",
    valid: &[
        ("mode", "live"),
        ("month", "2026-01"),
        ("offering", "tree"),
        ("quantity", "1"),
        ("done-on", "2026-01-20"),
    ],
    rows: &[
        (&[("quantity", "many")], "quantity", "must be a number above 0"),
        (&[("quantity", "the partner")], "quantity", "must be a number above 0"),
        (&[("done-on", "never")], "done-on", "enter a day, such as"),
        (&[("done-on", "2027-01-01")], "done-on", "is in the future"),
        (&[("partner", HIDDEN)], "partner", "the partner must be one line"),
        (&[("place", HIDDEN)], "place", "the place must be one line"),
        (&[("report", "http://example.org")], "report", "begins with https://"),
        (&[("offering", "")], "offering", "fill in “Offering”"),
    ],
};

const UPDATE: Form = Form {
    path: "/updates",
    valid: &[
        ("mode", "live"),
        ("month", "2026-01"),
        ("offering", "tree"),
        ("stage", "done"),
        ("date", "2026-01-20"),
    ],
    rows: &[
        (&[("offering", "")], "offering", "fill in “Offering”"),
        (&[("stage", "begun")], "stage", "enter one of"),
        (&[("date", "never")], "date", "enter a day"),
        (&[("date", "2027-01-01")], "date", "is in the future"),
        (&[("quantity", "many")], "quantity", "must be a number above 0"),
        (&[("partner", HIDDEN)], "partner", "must be one line"),
        (&[("place", HIDDEN)], "place", "must be one line"),
        (&[("longitude", "38")], "latitude", "is missing"),
        (&[("latitude", "-1")], "longitude", "is missing"),
        (&[("latitude", "91"), ("longitude", "38")], "latitude", "must be degrees"),
        (&[("latitude", "-1"), ("longitude", "181")], "longitude", "must be degrees"),
        (&[("latitude", "-1"), ("longitude", "38")], "place", "need the name of a place"),
        (&[("picture", "javascript:alert(1)")], "picture", "must be a web address"),
        (&[("picture", "https://example.org/a.png")], "picture-text", "is missing"),
        (&[("picture-text", "Seedlings")], "picture", "is missing"),
        (&[("picture-text", HIDDEN)], "picture-text", "must be one line"),
        (&[("report", "http://example.org")], "report", "must be a web address"),
        (&[("text-de", HIDDEN)], "text-de", "must be one line"),
        (&[("text-pt-BR", HIDDEN)], "text-pt-BR", "must be one line"),
        (&[("text-tlh", "Qapla'")], "", "not available in this language"),
    ],
};

const PEOPLE: Form = Form {
    path: "/units/unit_dev/people",
    valid: &[("address", "eva@shop.example"), ("role", "viewer")],
    rows: &[
        (&[("address", "eva")], "address", "not an e-mail address"),
        (&[("address", "zoe@shop.example")], "role", "already has the role manager"),
    ],
};

const KEY: Form = Form {
    path: "/keys",
    valid: &[("unit", "unit_dev"), ("mode", "test")],
    rows: &[
        (&[("label", HIDDEN)], "label", "has invisible characters"),
        (&[("label", "a\u{7}b")], "label", "is out of bounds"),
    ],
};

const UNIT: Form = Form {
    path: "/units",
    valid: &[],
    rows: &[
        (&[("unit", "")], "unit", "fill in “Unit ID”"),
        (&[("unit", "a b")], "unit", "is not an ID"),
    ],
};

const TEAM: Form = Form {
    path: "/teams",
    valid: &[("team", "market"), ("unit", "unit_dev")],
    rows: &[
        (&[("team", "a:b")], "team", "is not the ID of a team"),
        (&[("team", "a b"), ("unit", "a b")], "team", "is not an ID"),
        (&[("unit", "team market")], "unit", "is not an ID"),
        (&[("team", "chain"), ("unit", "unpriced-shop")], "team", "already exists"),
    ],
};

const MEMBER: Form = Form {
    path: "/teams/chain/add",
    valid: &[],
    rows: &[
        (&[("unit", "")], "unit", "fill in “Unit ID”"),
        (&[("unit", "a b")], "unit", "is not an ID"),
    ],
};

const PROFILE: Form = Form {
    path: "/units/unpriced-shop/profile",
    valid: &[("name", "Shop"), ("language", "en")],
    rows: &[
        (&[("name", "")], "name", "must be one line"),
        (&[("logo", "http://a.example"), ("link", "https://b.example")], "logo", "https://"),
        (&[("logo", "https://a.example"), ("link", "http://b.example")], "link", "https://"),
        (&[("accent", "red")], "accent", "must be a colour"),
        (&[("language", "")], "language", "of the shop's pages"),
        (&[("language", "tlh")], "language", "must be one of"),
        (&[("reply-to", "Nord")], "reply-to", "must be an e-mail address"),
        (&[("time-zone", "Mars/Olympus")], "time-zone", "must be a time zone"),
        (&[("mail-text", LONG)], "mail-text", "must have 1 to 6 lines"),
        (&[("billing-name", HIDDEN)], "billing-name", "must be one line"),
        (&[("billing-address", LONG)], "billing-address", "must have 1 to 6 lines"),
        (&[("tax-text", LONG)], "tax-text", "must have 1 to 6 lines"),
    ],
};

const OTHERS: [Form; 3] = [
    Form {
        path: "/find",
        valid: &[],
        rows: &[
            (&[("text", "")], "text", ""),
            (&[("text", "x"), ("unit", "no unit")], "unit", "is not an ID"),
        ],
    },
    Form {
        path: "/person",
        valid: &[("unit", "unit_dev"), ("email", "ada@example.org")],
        rows: &[
            (&[("unit", "no unit")], "unit", "is not an ID"),
            (&[("email", "ada")], "email", "is not an e-mail address"),
        ],
    },
    Form {
        path: "/prices",
        valid: &[("mode", "live")],
        rows: &[(&[("file", "{")], "file", "is not JSON")],
    },
];

/// Returns a dashboard with everything that the forms need: the unit `unpriced-shop`, a team and a manager.
fn prepared() -> (TestDashboard, String) {
    let (dashboard, [id, _]) = used();
    for (path, fields) in [
        ("/units", &[("unit", "unit_dev")][..]),
        ("/units", &[("unit", "unpriced-shop")]),
        ("/teams", &[("team", "chain"), ("unit", "unit_dev")]),
        ("/units/unit_dev/people", &[("address", "zoe@shop.example"), ("role", "manager")]),
    ] {
        let operation = [path, fields[0].1].concat().replace(['/', '@', '.'], "-");
        let sent = [fields, &[("operation", &*operation)]].concat();
        assert_has(&dashboard.post_confirmed(OPERATOR, path, &sent), 200, &[]);
    }
    (dashboard, id)
}

/// Sends a form with these fields instead of the valid ones.
fn send(dashboard: &TestDashboard, form: &Form, id: &str, wrong: Fields) -> Answer {
    let path = form.path.replace("{id}", id);
    let operation = ["try-", &wrong.iter().map(|(name, _)| *name).collect::<String>()].concat();
    let valid = [form.valid, &[("operation", &*operation)]].concat();
    let kept = valid.iter().filter(|(name, _)| wrong.iter().all(|(other, _)| other != name));
    let fields: Vec<_> = kept.chain(wrong).map(|(name, value)| (*name, value.to_owned())).collect();
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    dashboard.post(OPERATOR, &path, &fields)
}

#[test]
fn each_refusal_of_a_form_stands_at_its_field() {
    let (dashboard, id) = prepared();
    let forms = [
        CREDIT,
        PAYMENT,
        PAYMENT_OF_UNPRICED,
        FULFILMENT,
        UPDATE,
        PEOPLE,
        KEY,
        UNIT,
        TEAM,
        MEMBER,
        PROFILE,
    ];
    let arguments: Vec<_> = Operation::iter().flat_map(|it| it.spec().arguments).collect();
    let before = dashboard.changes();
    for form in forms.iter().chain(&OTHERS) {
        for (wrong, field, words) in form.rows {
            println!("{} {wrong:?}", form.path); // a failed test prints it
            let page = send(&dashboard, form, &id, wrong);
            assert_has(&page, 422, &[words]);
            assert_problem_at(&page, field);
        }
    }
    for (_, field, _) in forms.iter().flat_map(|form| form.rows).filter(|row| !row.1.is_empty()) {
        let names = |name: &str| *field == name || field.starts_with(&format!("{name}-"));
        assert!(arguments.iter().any(|argument| names(argument.name)), "{field} is an argument");
    }
    assert_eq!(dashboard.changes(), before, "nothing was changed");
}

/// A page must not choose a field by the text of an error. Otherwise, a reworded message could move to another
/// field.
#[test]
fn no_page_searches_the_text_of_an_error() {
    fn check(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                check(&path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            for error in ["problem", "refused", "error", "why", "why.text", "error.to_string()"] {
                for search in ["contains", "starts_with", "ends_with", "find", "split_once"] {
                    let searched = format!("{error}.{search}(");
                    assert!(!source.contains(&searched), "{}: {searched}", path.display());
                }
            }
        }
    }
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/office")));
}
