//! Tests the page that erases all transactions of a person.

use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{OPERATOR, TestDashboard, field};
use serde_json::json;
use support::ledger::Failing;
use support::service::{Answer, LIVE_UNIT, UNIT, minimal};

const ADDRESS: &str = "Canary@example.org";

impl TestDashboard {
    fn person(&self, fields: &[(&str, &str)]) -> Answer {
        let base = [("unit", "unit_dev"), ("address", ADDRESS)];
        let base = base.iter().filter(|(name, _)| fields.iter().all(|(own, _)| own != name));
        let fields: Vec<_> = base.chain(fields).copied().collect();
        let page = self.post(OPERATOR, "/person", &fields);
        assert_inert(&page.text);
        page
    }

    /// Returns the number of records that still contain the person.
    fn left(&self) -> usize {
        let names = self.store().names().into_iter();
        let own = names.filter(|name| name.starts_with("transaction:"));
        own.filter(|name| self.store().value(name).unwrap().contains("canary@")).count()
    }
}

#[test]
fn a_person_is_erased_in_steps_with_a_receipt_that_does_not_name_them() {
    let test_dashboard = test_dashboard();
    assert!(test_dashboard.get(OPERATOR, "/person").text.contains("action=\"/person\""));
    let mut ids: Vec<_> = (0..45).map(|_| test_dashboard.make(LIVE_UNIT, &order())).collect();
    ids.push(test_dashboard.make(UNIT, &order()));
    let other = test_dashboard.make(UNIT, &minimal());
    test_dashboard.make("service_sk_test_dev_unit_two", &order());
    test_dashboard.pass(10);
    test_dashboard.reconcile();
    let page = test_dashboard.person(&[]);
    let shown = page.text.matches("<th scope=\"row\" data-label=\"Transaction\"><a").count();
    assert!(shown == 20 && page.text.contains("These are the newest 20"), "{}", page.text);
    assert_eq!((page.status, test_dashboard.left(), test_dashboard.changes().len()), (200, 47, 0));
    assert_eq!(field(&page.text, "address"), ADDRESS);
    for typed in ["unit", "yes", "unit_dev_two"] {
        let page = test_dashboard.person(&[("confirm", typed)]);
        assert_eq!((page.status, test_dashboard.left()), (422, 47), "{typed}");
        assert!(page.text.contains("type the unit ID"));
    }
    test_dashboard.store().set_failing(Some("audit:"));
    assert_eq!(
        (test_dashboard.person(&[("confirm", "unit_dev")]).status, test_dashboard.left()),
        (503, 47)
    );
    test_dashboard.store().set_failing(None);

    let mut page = test_dashboard.person(&[("confirm", "unit_dev")]);
    let mut left = vec![test_dashboard.left()];
    while page.text.contains("name=\"at\"") {
        let names = ["confirm", "at", "erased", "left"];
        let values: Vec<_> = names.iter().map(|name| field(&page.text, name)).collect();
        let fields: Vec<_> = names.iter().copied().zip(values.iter().map(String::as_str)).collect();
        page = test_dashboard.person(&fields);
        left.push(test_dashboard.left());
    }
    assert_eq!((left[0], *left.last().unwrap()), (27, 1), "{left:?}");
    let receipt = page.text.split_once("<pre").unwrap().1.split_once("</pre>").unwrap().0;
    assert!(ids.iter().all(|id| receipt.contains(id)) && !receipt.contains(&other), "{receipt}");
    for text in ["in the unit unit_dev\n", "Erased: 46", "Not erased: 0", "By ada@example.org"] {
        assert!(receipt.contains(text), "{text}: {receipt}");
    }
    assert!(!page.text.to_lowercase().contains("canary@"), "{}", main_of(&page.text));
    assert!(!page.log.unwrap().contains("anary"));
    assert!(
        test_dashboard
            .changes()
            .iter()
            .all(|change| change.starts_with("transactions erase [ptran_"))
    );
    let page = test_dashboard.person(&[("confirm", "unit_dev")]); // the first form again
    assert!(
        page.text.contains("Erased: 0") && test_dashboard.left() == 1,
        "{}",
        main_of(&page.text)
    );
    assert!(
        test_dashboard
            .person(&[])
            .text
            .contains("The ledger has no transaction with this e-mail address")
    );
    test_dashboard.ledger.set_failing(Failing::Unbound);
    for fields in [&[][..], &[("confirm", "unit_dev")]] {
        let page = test_dashboard.person(fields);
        assert!(page.status == 500 && page.text.contains("This needs the ledger"));
    }
}

/// Finds the person once, and erases everything with one confirmation: the link, "Find transactions", "Erase permanently", and
/// "Continue erasing" where there are more than a step can erase.
#[test]
fn a_person_is_erased_in_all_units_with_one_confirmation() {
    let test_dashboard = test_dashboard();
    for key in [LIVE_UNIT, UNIT, "service_sk_test_dev_unit_two"] {
        for _ in 0..8 {
            test_dashboard.make(key, &order());
        }
    }
    let other = test_dashboard.make(UNIT, &minimal());
    test_dashboard.pass(10);
    test_dashboard.reconcile();
    let all = |fields: &[(&str, &str)]| test_dashboard.person(&[&[("unit", "")], fields].concat());
    let mut page = all(&[]);
    let counts: Vec<_> = page.text.match_indices("data-label=\"Transactions\">8<").collect();
    assert_eq!((page.status, counts.len(), test_dashboard.left()), (200, 3, 24), "{}", page.text);
    let mut values: Vec<_> = vec![("confirm", "all units".to_owned())];
    let mut left = Vec::new();
    while page.text.contains("name=\"units\"") {
        for name in ["units", "at", "confirm", "erased", "left"] {
            if page.text.contains(&format!("type=\"hidden\" name=\"{name}\"")) {
                values.retain(|(own, _)| *own != name);
                values.push((name, field(&page.text, name)));
            }
        }
        let fields: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        page = all(&fields);
        left.push(test_dashboard.left());
    }
    assert_eq!((left[0], *left.last().unwrap()), (4, 0), "{left:?}");
    let receipt = page.text.split_once("<pre").unwrap().1.split_once("</pre>").unwrap().0;
    for text in ["in the units unit_dev, unit_dev_two", "Erased: 24", "Not erased: 0"] {
        assert!(receipt.contains(text), "{text}: {receipt}");
    }
    assert!(!receipt.contains(&other));
    let page = all(&[]).text;
    let is_empty = page.contains("no transaction with this");
    assert!(is_empty && page.contains("What shop systems have sent about this buyer is deleted."));
}

#[test]
fn transactions_that_cannot_be_erased_yet_are_named_with_the_reason() {
    let test_dashboard = test_dashboard();
    let (early, late) = (test_dashboard.make(LIVE_UNIT, &order()), &test_dashboard.service);
    test_dashboard.pass(10);
    late.clock.0.set(test_dashboard.clock.0.get());
    let late = test_dashboard.make(LIVE_UNIT, &order());
    let page = test_dashboard.person(&[("confirm", "unit_dev")]).text;
    let receipt = page.split_once("<pre").unwrap().1;
    assert!(
        page.contains("Person not completely erased")
            && page.contains("less than 5 minutes ago")
            && page.contains("could not be erased yet: 1."),
        "{}",
        main_of(&page)
    );
    assert!(
        receipt.contains(&format!("{late} not erased"))
            && receipt.contains(&format!("{early} 2026-"))
    );
    assert_eq!(test_dashboard.left(), 1);
}

#[test]
fn a_form_for_a_person_that_is_wrong_erases_nothing() {
    let test_dashboard = test_dashboard();
    test_dashboard.make(LIVE_UNIT, &order());
    test_dashboard.pass(10);
    for fields in [
        json!({ "unit": "", "address": ADDRESS, "confirm": "all units" }),
        json!({ "unit": "", "address": ADDRESS, "confirm": "unit_dev", "units": "unit_dev" }),
        json!({ "unit": "", "address": ADDRESS, "confirm": "all units", "units": "a unit\nunit_dev" }),
        json!({ "unit": "unit_dev", "team": "team_dev", "address": ADDRESS, "confirm": "all units", "units": "unit_dev" }),
        json!({ "unit": "a unit", "address": ADDRESS, "confirm": "a unit" }),
        json!({ "unit": "unit_dev", "address": "", "confirm": "unit_dev" }),
        json!({ "unit": "unit_dev", "address": "<script>", "confirm": "unit_dev" }),
        json!({ "unit": "unit_dev", "address": ADDRESS, "confirm": "unit_dev", "at": "x" }),
        json!({ "unit": "unit_dev", "address": ADDRESS, "confirm": "unit_dev", "at": "<script>~~" }),
    ] {
        let fields = fields.as_object().unwrap();
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
        let page = test_dashboard.post(OPERATOR, "/person", &fields);
        assert_eq!((page.status, test_dashboard.left()), (422, 1), "{fields:?}");
        assert_inert(&page.text);
    }
    let hostile =
        [("confirm", "unit_dev"), ("erased", "<script>\nptran_ 2026\n"), ("left", "<script> x\ny")];
    let page = test_dashboard.person(&hostile);
    assert!(
        page.text.contains("Erased: 1") && page.text.contains("Not erased: 0"),
        "{}",
        page.text
    );
}
