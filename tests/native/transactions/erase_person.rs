//! Tests the erasure of all transactions of an e-mail address.

use super::{bench, email, found_ids, id_of, ledger_of, order, pass, records};
use futures_executor::block_on;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::{ErasureCursor, NotErased, PersonErasure, PersonStep};
use impact_pledge::office::shared::rule::coverage::DamagedRecords;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::pledges::store::StoreError;
use std::collections::BTreeSet;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{LIVE_UNIT, TestService, UNIT, minimal, repeatable, test_operator};

fn person<'e>(address: &'e str, units: &'e [String]) -> PersonErasure<'e> {
    PersonErasure { address, units, mode: None, is_everywhere: false }
}

/// Erases the person of [`order`] in steps. Each step reads at most 2 list pages and erases at most 10
/// transactions. Returns the erased and the refused IDs of each step.
fn erase_person(
    bench: &TestService<MemoryStore>,
    ledger: &SqliteLedger,
) -> Vec<(Vec<String>, Vec<String>)> {
    let test_operator = test_operator();
    test_operator.clock.0.set(bench.clock.0.get());
    let (mut steps, mut next) = (Vec::new(), None::<ErasureCursor>);
    let units = ["unit_dev".to_owned()];
    loop {
        bench.store.take_lists();
        let author = test_operator.author();
        let of = person("Canary@example.org", &units);
        let records = (&*bench.store, ledger as _);
        let step = transactions::erase_person_step(records, &author, of, next.as_ref(), (10, 2));
        let step = block_on(step).unwrap().outcome;
        assert!(bench.store.take_lists().len() <= 2);
        assert_eq!(step.damaged, DamagedRecords::default());
        let erased: Vec<_> = step.erased.into_iter().map(|erased| erased.id).collect();
        let young = "the transaction was created less than 5 minutes ago";
        let broken = |id: &str| format!("the request that created {id} was interrupted");
        let refused = step.refused.into_iter().map(|NotErased { id, why, .. }| {
            assert!(why.starts_with(young) || why.starts_with(&broken(&id)), "{why}");
            id
        });
        let refused: Vec<_> = refused.collect();
        assert!(erased.len() + refused.len() <= 10);
        steps.push((erased, refused));
        let text = step.next.map(|next| next.to_string());
        next = text.as_deref().map(|text| ErasureCursor::parse(text).unwrap());
        if next.is_none() {
            return steps;
        }
    }
}

/// Tests four cases: the ledger has all rows or none, and KV's lists are up to date or still show erased
/// transactions. If a transaction is listed again, it is erased twice, which does no harm.
#[test]
fn a_person_is_erased_in_steps_that_come_to_an_end() {
    for (is_stale, has_rows) in [(false, true), (true, true), (false, false), (true, false)] {
        let bench = bench();
        let mut mine: BTreeSet<_> = (0..24).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
        mine.extend((0..3).map(|_| id_of(&bench.create(LIVE_UNIT, &order()))));
        let ledger = if has_rows { ledger_of(&bench.store) } else { SqliteLedger::default() };
        let broken_off = id_of(&bench.send(&repeatable(&order())));
        let (replay, ..) = records(&bench.store, "idempotency:")[0].clone();
        bench.store.remove(&replay);
        let others = [id_of(&bench.create(UNIT, &minimal())), {
            id_of(&bench.create("service_sk_test_dev_unit_two", &order()))
        }];
        pass(&bench, 5);
        let young = id_of(&bench.create(UNIT, &order()));
        let before = others.each_ref().map(|id| bench.store.value(&format!("transaction:{id}")));
        bench.store.set_page_length(8);
        bench.store.freeze_lists(is_stale);
        let steps = erase_person(&bench, &ledger);
        if has_rows {
            assert_eq!(steps[0].0.len(), 10, "those of the ledger first");
        }
        let all = |steps: &[(Vec<String>, Vec<String>)], part: fn(&(Vec<_>, Vec<_>)) -> Vec<_>| {
            steps.iter().flat_map(part).collect::<Vec<String>>()
        };
        let (erased, refused) = (all(&steps, |it| it.0.clone()), all(&steps, |it| it.1.clone()));
        let twice = is_stale && has_rows;
        let times = if twice { 2 } else { 1 };
        assert_eq!((erased.len(), refused.len()), (times * mine.len(), 2));
        assert_eq!(erased.into_iter().collect::<BTreeSet<_>>(), mine);
        let left = BTreeSet::from([broken_off, young]);
        assert_eq!(refused.into_iter().collect::<BTreeSet<_>>(), left);
        pass(&bench, 5);
        let again = all(&erase_person(&bench, &ledger), |it| it.0.clone()).into_iter().collect();
        let expected = if is_stale { &left | &mine } else { left };
        assert_eq!(expected, again);
        bench.store.freeze_lists(false);
        let hashes = ledger.sql("SELECT count(email) FROM transactions");
        assert_eq!(hashes, ["0"], "each has its tombstone");
        assert_eq!(
            found_ids(&bench.store, "unit_dev", None, &email("canary@example.org")),
            [""; 0]
        );
        let after = others.each_ref().map(|id| bench.store.value(&format!("transaction:{id}")));
        assert_eq!(after, before);
    }
}

#[test]
fn a_step_that_breaks_off_says_what_it_has_erased_and_the_next_one_begins_with_the_rest() {
    for has_rows in [true, false] {
        let (bench, test_operator) = (bench(), test_operator());
        let mut ids: Vec<_> = (0..4).map(|_| id_of(&bench.create(UNIT, &order()))).collect();
        ids.sort();
        if has_rows {
            ids.reverse(); // newest first; of the same moment, by ID
        }
        let ledger = if has_rows { ledger_of(&bench.store) } else { SqliteLedger::default() };
        pass(&bench, 5);
        test_operator.clock.0.set(bench.clock.0.get());
        let broken: &'static str = Box::leak(format!("transaction:{}", ids[2]).into_boxed_str());
        let step = |from: Option<&ErasureCursor>| {
            let (author, units) = (test_operator.author(), ["unit_dev".to_owned()]);
            let (records, of) =
                ((&*bench.store, &ledger as _), person("canary@example.org", &units));
            let step = transactions::erase_person_step(records, &author, of, from, (20, 40));
            block_on(step).map(|done| done.outcome)
        };
        bench.store.set_failing(Some(broken));
        let first = step(None).unwrap();
        let erased =
            |step: &PersonStep| step.erased.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(erased(&first), ids[..2]);
        let error = step(first.next.as_ref()).unwrap_err();
        assert_eq!(error, OperatorError::Store(StoreError::Unavailable));
        bench.store.set_failing(None);
        let second = step(first.next.as_ref()).unwrap();
        assert_eq!((erased(&second), second.next), (ids[2..].to_vec(), None));
    }
}

/// Each unit has two lists: those of test and of live mode.
#[test]
fn the_steps_go_through_the_lists_of_many_units() {
    let (bench, ledger, test_operator) = (bench(), SqliteLedger::default(), test_operator());
    let id = id_of(&bench.create(UNIT, &order()));
    pass(&bench, 5);
    test_operator.clock.0.set(bench.clock.0.get());
    let units: Vec<_> = (0..30).map(|number| format!("unit_{number}")).collect();
    let units = [units, vec!["unit_dev".to_owned()]].concat();
    let (mut next, mut erased) = (None::<ErasureCursor>, Vec::new());
    loop {
        let (author, of) = (test_operator.author(), person("canary@example.org", &units));
        let records = (&*bench.store, &ledger as _);
        let step = transactions::erase_person_step(records, &author, of, next.as_ref(), (9, 5));
        let step = block_on(step).unwrap().outcome;
        erased.extend(step.erased.into_iter().map(|erased| erased.id));
        let Some(position) = step.next else { break };
        next = Some(ErasureCursor::parse(&position.to_string()).unwrap());
    }
    assert_eq!(erased, [id]);
}

#[test]
fn a_place_that_was_tampered_with_erases_nothing_else() {
    for text in
        ["", "found-1", "received-", "received-1", "found-x-ptran_", "9", "~", "x~~", "<script>"]
    {
        assert_eq!(ErasureCursor::parse(text), None, "{text}");
    }
    let (bench, ledger, test_operator) = (bench(), SqliteLedger::default(), test_operator());
    bench.create(UNIT, &order());
    let units = ["unit_dev".to_owned()];
    let of = person("canary@example.org", &units);
    let beyond = ErasureCursor::parse("9~~").unwrap();
    let author = test_operator.author();
    let records = (&*bench.store, &ledger as _);
    let step = transactions::erase_person_step(records, &author, of, Some(&beyond), (9, 9));
    let step = block_on(step).unwrap().outcome;
    assert_eq!((step.erased.len(), step.next), (0, None));
}
