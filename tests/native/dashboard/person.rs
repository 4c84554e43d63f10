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
        let page = self.post(OPERATOR, "/person", &[&base, fields].concat());
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
    let shown = page.text.matches("<a class=\"reference\"").count();
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
    for text in ["in the unit unit_dev", "Erased: 46", "Not erased: 0", "By ada@example.org"] {
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
        json!({ "unit": "", "address": ADDRESS, "confirm": "" }),
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
