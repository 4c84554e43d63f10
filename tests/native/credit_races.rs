//! Tests credits that are made at the same time as other credits and payments, and credits that stop halfway.

use crate::credits::{Bench, ENDED_MS, MINUTE, bench, cancelled, payment, request};
use crate::faulty_changes::{Fault, Faulty};
use futures_executor::block_on;
use futures_util::future::{FutureExt as _, join};
use impact_pledge::office::system::rows::check;

use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::credits::rule::{Credit, CreditRequest};
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::pin::pin;
use support::service::{CountedEntropy, NOW_MS};

/// The end of an operation's ID.
const RANDOM: &str = "00112233445566778899aabbccddeeff";

impl Bench {
    /// Returns the store and the ledger as one process sees them. `faults` lists what goes wrong, each with
    /// the number of the call at which it happens.
    pub fn faulty<'f>(&'f self, faults: &'f [(usize, Fault)]) -> Faulty<'f> {
        let (store, ledger, clock) = (self.store(), &self.ledger, self.clock());
        Faulty { store, ledger, clock, calls: Cell::new(0), faults }
    }
}

/// Polls a future in a loop until it is ready. This is necessary because a call with [`Fault::Wait`] does not
/// wake its task.
pub fn polled<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Some(output) = future.as_mut().now_or_never() {
            return output;
        }
    }
}

async fn add(
    at: &Faulty<'_>,
    (by, entropy): (&str, &CountedEntropy),
    of: &CreditRequest,
) -> Result<Done<Credit>, OperatorError> {
    let clock = at.clock;
    let author = audit::Author::new(by, clock, entropy).unwrap();
    let id = OperationId::parse(&format!("{}-{RANDOM}", clock.0.get())).unwrap();
    credits::add(at, at, &author.with_operation(id), of).await
}

// ---- At the same time ----------------------------------------------------------------------------

/// Runs two changes at the same time, once for each call that the first change makes. In each run, the first
/// change stops at another one of its calls until the second change has ended.
pub fn interleave<T, U>(
    run: impl Fn(&Bench, &Faulty<'_>, &Faulty<'_>) -> (T, U),
    mut check: impl FnMut(&Bench, T, U),
) {
    for number in 1.. {
        let bench = bench();
        let faults = [(number, Fault::Wait)];
        let (first, second) = (bench.faulty(&faults), bench.faulty(&[]));
        let (own, other) = run(&bench, &first, &second);
        let calls = first.calls.get();
        check(&bench, own, other);
        if calls < number {
            return;
        }
    }
}

#[test]
fn of_two_credits_of_60_percent_at_the_same_time_one_is_refused() {
    let mut made_by_first = BTreeSet::new();
    interleave(
        |bench, first, second| {
            let id = bench.order(NOW_MS, json!(4));
            let of = request(&id, Some(("1.20", &[("tree", "2.4")])));
            let entropy = &bench.operator.entropy;
            let made =
                polled(join(add(first, ("ada", entropy), &of), add(second, ("bob", entropy), &of)));
            (id, made)
        },
        |bench, id, (first, second)| {
            assert_eq!(first.is_ok(), second.is_err(), "{first:?} {second:?}");
            made_by_first.insert(first.is_ok());
            assert_eq!(bench.credits_of(&id), ["1.20 of 2.00 USD, quantities: 2.4 tree 2026-01"]);
            assert_eq!(bench.audited(), ["credits add"]);
        },
    );
    assert_eq!(made_by_first.len(), 2, "each of the two is made in some orders of the calls");
}

/// Marks a month as paid while a rebuild empties the ledger. A mark that succeeds must count the month's
/// transaction. The amount due cannot show whether transactions are missing: it is 0.00 if all of them were
/// credited, and also if there are none.
#[test]
fn a_month_is_not_marked_without_the_transactions_that_a_rebuild_empties_at_the_same_time() {
    let mut is_marked = BTreeSet::new();
    interleave(
        |bench, first, second| {
            let id = bench.order(NOW_MS, json!(4));
            bench.credit(&request(&id, None)).unwrap();
            let (payment, author) = (payment("2026-01", "0.00"), bench.operator.author());
            let mark = payments::mark(first, first, &author, &payment);
            polled(join(mark, check::clear(second)))
        },
        |_, marked, cleared| {
            cleared.unwrap();
            is_marked.insert(marked.is_ok());
            if let Ok(done) = marked {
                assert_eq!(done.outcome.settlement.sums[0].transactions, 1);
            }
        },
    );
    assert_eq!(is_marked.len(), 2, "the month is marked in some orders of the calls");
}

/// A credit and a mark are made at the same time. One of two outcomes is correct. Either the month is marked as
/// paid with its whole sum, and the credit is booked in the next month. Or the month is not marked, and the
/// credit is booked in it.
#[test]
fn a_credit_and_a_mark_at_the_same_time_never_change_a_settled_month() {
    for is_mark_first in [true, false] {
        interleave(
            |bench, first, second| {
                let id = bench.order(NOW_MS, json!(4));
                let of = request(&id, Some(("1.20", &[])));
                let payment = payment("2026-01", "2.00");
                let author = bench.operator.author();
                let run = async |marks: &Faulty<'_>, credits: &Faulty<'_>| {
                    let mark = payments::mark(marks, marks, &author, &payment);
                    let credit = add(credits, ("bob", &bench.operator.entropy), &of);
                    match is_mark_first {
                        true => join(mark, credit).await,
                        false => {
                            let (credit, mark) = join(credit, mark).await;
                            (mark, credit)
                        }
                    }
                };
                let both = if is_mark_first { [first, second] } else { [second, first] };
                (id, polled(run(both[0], both[1])))
            },
            |bench, id, (marked, credited)| {
                let dues = bench.dues();
                let expected: &[&str] = match (&marked, &credited) {
                    (Ok(_), Ok(_)) => &[
                        "2026-02 0.00 − 1.20 − 0.00 = 0.00",
                        "2026-01 2.00 − 0.00 − 0.00 = 2.00 of 2.00",
                    ],
                    (Ok(_), Err(_)) => &["2026-01 2.00 − 0.00 − 0.00 = 2.00 of 2.00"],
                    (Err(_), Ok(_)) => &["2026-01 2.00 − 1.20 − 0.00 = 0.80"],
                    (Err(_), Err(_)) => panic!("{marked:?} {credited:?}"),
                };
                assert_eq!(dues, expected);
                assert_eq!(bench.credits_of(&id).len(), usize::from(credited.is_ok()));
            },
        );
    }
}

// ---- Again ---------------------------------------------------------------------------------------

#[test]
fn a_credit_that_is_sent_twice_is_made_once() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    let of = request(&id, Some(("0.20", &[])));
    let faulty = bench.faulty(&[]);
    let ada = ("ada", &bench.operator.entropy);
    let first = block_on(add(&faulty, ada, &of)).unwrap();
    let again = block_on(add(&faulty, ada, &of)).unwrap();
    assert_eq!((first.before, &again.outcome), (None, &first.outcome));
    assert!(again.before.is_some());
    let other = request(&id, Some(("0.30", &[])));
    let error = block_on(add(&faulty, ada, &other)).unwrap_err().to_string();
    assert!(error.contains("was used for another change"), "{error}");
    assert_eq!((bench.credits_of(&id).len(), bench.audited().len()), (1, 1));
    bench.ledger.sql("DELETE FROM operations"); // after 90 days
    bench.at(ENDED_MS + 1);
    assert_eq!(bench.credits_of(&id).len(), 1);
}

/// Sends a form with its operation ID. Returns `None` if the process ends before the answer.
fn send(
    bench: &Bench,
    at: &Faulty<'_>,
    form: &OperationId,
    of: &CreditRequest,
) -> Option<Result<Done<Credit>, OperatorError>> {
    let author = audit::Author::new("ada", bench.clock(), &bench.operator.entropy);
    let form = OperationId::parse(form.as_str()).unwrap();
    let author = author.unwrap().with_operation(form);
    credits::add(at, at, &author, of).now_or_never()
}

/// In each run, one call fails, succeeds without an answer, or ends the process. Then the same form is sent
/// again.
#[test]
fn a_credit_that_stops_anywhere_is_made_once_when_it_is_sent_again() {
    for fault in [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter] {
        for number in 1.. {
            let bench = bench();
            let id = bench.order(NOW_MS, json!(4));
            let of = request(&id, Some(("1.20", &[("tree", "1")])));
            let entropy = CountedEntropy::default();
            let form = OperationId::new(bench.clock(), &entropy);
            let send = |at: &Faulty<'_>| send(&bench, at, &form, &of);
            let faults = [(number, fault)];
            let first = bench.faulty(&faults);
            let heard = send(&first);
            if first.calls.get() < number {
                assert!(heard.unwrap().is_ok());
                break;
            }
            let credits = bench.credits_of(&id).len();
            assert!(heard.is_none_or(|heard| heard.is_err() || credits == 1), "{fault:?} {number}");
            bench.at(ENDED_MS + MINUTE);
            let again = send(&bench.faulty(&[])).unwrap().unwrap();
            assert_eq!(again.outcome.amount, "1.20", "{fault:?} {number}");
            let made = ["1.20 of 2.00 USD, quantities: 1 tree 2026-01"];
            assert_eq!(bench.credits_of(&id), made, "{fault:?} {number}");
            assert!(bench.audited().contains(&"credits add".to_owned()), "{fault:?} {number}");
        }
    }
}

/// Whichever call fails, a fully credited transaction is marked as cancelled once the form is sent again. A
/// transaction without a credit is never marked.
#[test]
fn a_cancellation_that_stops_anywhere_is_marked_when_it_is_sent_again() {
    for fault in [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter] {
        for number in 1.. {
            let bench = bench();
            let id = bench.order(NOW_MS, json!(4));
            let (of, name) = (cancelled(&id), format!("cancelled:{id}"));
            let form = OperationId::new(bench.clock(), &CountedEntropy::default());
            let send = |at: &Faulty<'_>| send(&bench, at, &form, &of);
            let faults = [(number, fault)];
            let first = bench.faulty(&faults);
            let heard = send(&first);
            let is_credited = !bench.credits_of(&id).is_empty();
            let is_marked = bench.store().value(&name).is_some();
            assert!(is_credited || !is_marked, "{fault:?} {number}");
            if first.calls.get() < number {
                assert!(heard.unwrap().is_ok() && is_marked && number > 8);
                break;
            }
            bench.at(ENDED_MS + MINUTE);
            let again = send(&bench.faulty(&[])).unwrap().unwrap();
            let mark = bench.store().value(&name).unwrap();
            assert!(mark.contains(&again.outcome.at), "{fault:?} {number}: {mark}");
            assert_eq!(bench.credits_of(&id).len(), 1, "{fault:?} {number}");
        }
    }
}
