//! Tests the page that erases all transactions of a person.

use super::transaction::{assert_inert, main_of, order, test_dashboard};
use super::{OPERATOR, TestDashboard, confirmed};
use support::ledger::Failing;
use support::service::{Answer, LIVE_UNIT, UNIT, minimal};

const ADDRESS: &str = "Canary@example.org";

impl TestDashboard {
    /// Sends the form, and returns the page that shows what would be erased.
    fn person(&self, unit: &str) -> Answer {
        let page = self.post_new(OPERATOR, "/person", &[("unit", unit), ("email", ADDRESS)]);
        assert_inert(&page.text);
        page
    }

    /// Continues an erasure until its end. Returns the last page, and the number of records that were left after each step.
    fn go_on(&self, mut page: Answer) -> (Answer, Vec<usize>) {
        let mut left = vec![self.left()];
        while page.text.contains(">Continue</button>") {
            page = self.press(OPERATOR, &page, "Continue");
            assert_inert(&page.text);
            left.push(self.left());
        }
        (page, left)
    }

    /// Returns the number of records that still contain the person.
    fn left(&self) -> usize {
        let names = self.store().names().into_iter();
        let own = names.filter(|name| name.starts_with("transaction:"));
        own.filter(|name| self.store().value(name).unwrap().contains("canary@")).count()
    }
}

fn receipt(page: &Answer) -> &str {
    page.text.split_once("<pre").unwrap().1.split_once("</pre>").unwrap().0
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
    let asked = test_dashboard.person("unit_dev");
    let shown = asked.text.matches("data-label=\"Net amount\"").count();
    assert!(shown == 20 && asked.text.contains("unit_dev (live): 45"), "{}", asked.text);
    assert_eq!((asked.status, test_dashboard.left(), test_dashboard.changes().len()), (200, 47, 0));
    let (path, mut fields) = confirmed(&asked);
    for typed in ["unit", "yes", "unit_dev_two", ""] {
        fields.last_mut().unwrap().1 = typed.to_owned();
        let page = test_dashboard.send_form(OPERATOR, (path.clone(), fields.clone()));
        assert_eq!((page.status, test_dashboard.left()), (422, 47), "{typed}");
        assert!(page.text.contains("type “unit_dev” to confirm"), "{}", page.text);
    }
    test_dashboard.store().set_failing(Some("audit:"));
    let failed = test_dashboard.confirm(OPERATOR, &asked);
    assert_eq!((failed.status, test_dashboard.left()), (503, 47));
    test_dashboard.store().set_failing(None);

    let (page, left) = test_dashboard.go_on(test_dashboard.confirm(OPERATOR, &asked));
    assert_eq!((left[0], *left.last().unwrap()), (27, 1), "{left:?}");
    let receipt = receipt(&page);
    assert!(ids.iter().all(|id| receipt.contains(id)) && !receipt.contains(&other), "{receipt}");
    let words = "46 of 46 are erased, by ada@example.org";
    assert!(receipt.contains(words), "{receipt}");
    assert!(!page.text.to_lowercase().contains("canary@"), "{}", main_of(&page.text));
    assert!(!page.log.as_ref().unwrap().contains("anary"));
    let of_erasures = |change: &String| change.starts_with("transactions erase [ptran_");
    assert!(test_dashboard.changes().iter().all(of_erasures));
    test_dashboard.store().keep("unit:unit_dev", b"{}", b"null");
    let none = test_dashboard.person("unit_dev");
    assert!(none.text.contains("Erase this person in unit_dev?"), "KV may have more");
    test_dashboard.ledger.set_failing(Failing::Unbound);
    let page = test_dashboard.person("unit_dev");
    assert!(page.status == 500 && page.text.contains("This needs the ledger"));
}

/// Finds the person once, and erases everything with one confirmation, in as many steps as it takes.
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
    let asked = test_dashboard.person("");
    for words in ["unit_dev (live): 8", "unit_dev (test): 8", "unit_dev_two (test): 8"] {
        assert!(asked.text.contains(words), "{words}: {}", asked.text);
    }
    let (page, left) = test_dashboard.go_on(test_dashboard.confirm(OPERATOR, &asked));
    assert_eq!((left[0], *left.last().unwrap()), (4, 0), "{left:?}");
    let receipt = receipt(&page);
    assert!(receipt.contains("24 of 24 are erased") && !receipt.contains(&other));
    let none = test_dashboard.person("");
    assert!(none.text.contains("what shop systems have sent about this buyer"), "{}", none.text);
}

#[test]
fn transactions_that_cannot_be_erased_yet_are_named_with_the_reason() {
    let test_dashboard = test_dashboard();
    let (early, late) = (test_dashboard.make(LIVE_UNIT, &order()), &test_dashboard.service);
    test_dashboard.pass(10);
    late.clock.0.set(test_dashboard.clock.0.get());
    let late = test_dashboard.make(LIVE_UNIT, &order());
    test_dashboard.store().keep("unit:unit_dev", b"{}", b"null");
    let page = test_dashboard.confirm(OPERATOR, &test_dashboard.person("unit_dev"));
    let receipt = receipt(&page);
    for words in ["less than 5 minutes ago", "1 of 2 are erased", &early, &late] {
        assert!(receipt.contains(words), "{words}: {receipt}");
    }
    assert_eq!(test_dashboard.left(), 1);
}

#[test]
fn a_form_for_a_person_that_is_wrong_erases_nothing() {
    let test_dashboard = test_dashboard();
    test_dashboard.make(LIVE_UNIT, &order());
    test_dashboard.pass(10);
    let rest = |next: &str| {
        format!(
            r#"{{"done":{{"units":["unit_dev"],"has_more":false,"complete":"","receipt":{{"by":"","transactions":[],"checked":0,"damaged":0}}}},"next":{next}}}"#
        )
    };
    let (odd, hostile) = (rest("\"x\""), rest("\"<script>~~\""));
    for fields in [
        &[("unit", "a unit"), ("email", ADDRESS)][..],
        &[("unit", "unit_dev"), ("email", "")],
        &[("unit", "unit_dev"), ("email", "<script>")],
        &[("unit", "unit_dev"), ("email", ADDRESS), ("rest", "<script>")],
        &[("unit", "unit_dev"), ("email", ADDRESS), ("rest", &odd)],
        &[("unit", "unit_dev"), ("email", ADDRESS), ("rest", &hostile)],
    ] {
        let page = test_dashboard.post_new(OPERATOR, "/person", fields);
        assert_eq!((page.status, test_dashboard.left()), (422, 1), "{fields:?}: {}", page.text);
        assert_inert(&page.text);
    }
}
