//! Tests requests of shops for credits that meet other changes: other people, other credits, the limit, a removed manager,
//! an erasure.

use crate::credit_races::{interleave, polled};
use crate::credits::{Bench, ENDED_MS, MINUTE, bench, cancelled, request};
use crate::faulty_changes::Faulty;
use futures_executor::block_on;
use futures_util::future::join;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::credit_requests::rows::requests as rows;
use impact_pledge::office::credit_requests::rule as requests;
use impact_pledge::office::credit_requests::rule::Request;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::credits::rule::CreditRequest;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::people::rows::changes::Removable;
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::people::rule as people;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::pledges::settlement::Month;
use serde_json::json;
use std::collections::BTreeSet;
use support::service::{NOW_MS, changes, unit};

const EVA: &str = "eva@shop.example";
const BEN: &str = "ben@shop.example";

/// Adds two managers to the shop, and sets its limit.
fn with_shop(bench: &Bench, limit: Option<(&str, &str)>) {
    let (store, ledger, author) = (bench.store(), &bench.ledger, bench.operator.author());
    for person in [EVA, BEN] {
        let whom = (&unit("unit_dev"), person);
        block_on(people::add(store, ledger, &author, whom, PersonRole::Manager)).unwrap();
    }
    block_on(requests::set_limit(store, ledger, &author, "unit_dev", limit)).unwrap();
}

/// A part of 1.20 of an order of 2.00 USD.
fn part(id: &str) -> CreditRequest {
    request(id, Some(("1.20", &[("tree", "2.4")])))
}

/// Requests a credit as a manager of the shop. Returns the request, and whether the credit was made at once.
async fn ask(
    bench: &Bench,
    at: &Faulty<'_>,
    by: &str,
    wanted: &CreditRequest,
) -> Result<(Request, bool), OperatorError> {
    let memberships = people::of_person(&bench.ledger, by).await?;
    let id = format!("{}-{:0>32}", at.clock.0.get(), by.len());
    let author = Author::new(by, at.clock, &bench.operator.entropy)?
        .with_rights(at, &memberships)
        .with_operation(OperationId::parse(&id).unwrap());
    let made = requests::make(at, at, &author, wanted).await?.outcome;
    let credited = requests::at_once(at, at, &author, &made).await?;
    Ok((made, credited.is_some()))
}

fn ask_now(
    bench: &Bench,
    by: &str,
    wanted: &CreditRequest,
) -> Result<(Request, bool), OperatorError> {
    block_on(ask(bench, &bench.faulty(&[]), by, wanted))
}

/// Confirms the last request of a transaction as an operator.
async fn confirm(bench: &Bench, at: &Faulty<'_>, id: &str) -> Result<(), OperatorError> {
    let row = requests::last(at, id).await?;
    let wanted = requests::wanted(&row, None)?;
    let author = bench.operator.author();
    requests::confirm(at, at, &author, &row, &wanted).await.map(drop)
}

async fn refuse(bench: &Bench, at: &Faulty<'_>, id: &str) -> Result<(), OperatorError> {
    let author = bench.operator.author();
    requests::refuse(at, at, &author, (id, "It was shipped")).await.map(drop)
}

/// Returns the states of the requests of a transaction, oldest first.
fn states(bench: &Bench, id: &str) -> Vec<&'static str> {
    let rows = block_on(rows::of(&bench.ledger, id)).unwrap();
    rows.iter().map(|row| row.state.name()).collect()
}

const MADE: &str = "1.20 of 2.00 USD, quantities: 2.4 tree 2026-01";

#[test]
fn of_two_managers_at_the_same_time_one_requests_the_credit() {
    for (limit, state) in [(None, "open"), (Some(("2.00", "2.00")), "credited")] {
        interleave(
            |bench, first, second| {
                with_shop(bench, limit);
                let id = bench.order(NOW_MS, json!(4));
                let wanted = part(&id);
                let both = join(ask(bench, first, EVA, &wanted), ask(bench, second, BEN, &wanted));
                (id.clone(), polled(both))
            },
            |bench, id, (first, second)| {
                let states = states(bench, &id);
                match limit {
                    None => {
                        assert_eq!(first.is_ok(), second.is_err(), "{first:?} {second:?}");
                        assert_eq!(states, [state]);
                    }
                    // The second one may be requested after the first one was credited: then it waits, as 2.40 is too much.
                    Some(_) => {
                        assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
                        assert_eq!(
                            states.iter().filter(|it| **it == state).count(),
                            1,
                            "{states:?}"
                        );
                        assert_eq!(bench.credits_of(&id), [MADE]);
                    }
                }
            },
        );
    }
}

#[test]
fn the_limit_of_a_month_holds_for_two_orders_at_the_same_time() {
    let mut at_once = BTreeSet::new();
    interleave(
        |bench, first, second| {
            with_shop(bench, Some(("2.00", "2.00")));
            let ids = [0, 1].map(|hour| bench.order(NOW_MS + hour * 60 * MINUTE, json!(4)));
            let wanted = ids.clone().map(|id| part(&id));
            let one = ask(bench, first, EVA, &wanted[0]);
            (ids, polled(join(one, ask(bench, second, BEN, &wanted[1]))))
        },
        |bench, ids, (first, second)| {
            let is_made = [first.unwrap().1, second.unwrap().1];
            assert_ne!(is_made[0], is_made[1]);
            at_once.insert(is_made);
            let states = ids.map(|id| states(bench, &id).concat());
            let expected = if is_made[0] { ["credited", "open"] } else { ["open", "credited"] };
            assert_eq!(states, expected);
        },
    );
    assert_eq!(at_once.len(), 2, "each of the two is made in some orders of the calls");
}

#[test]
fn the_limit_bounds_each_order_and_month_and_its_currency() {
    let bench = bench();
    with_shop(&bench, Some(("1.20", "3.00")));
    let make = |reference: u64, by: &str, amount: &str| {
        let id = bench.order(NOW_MS + reference * 60 * MINUTE, json!(4));
        bench.at(ENDED_MS + reference * MINUTE);
        (id.clone(), ask_now(&bench, by, &request(&id, Some((amount, &[])))).unwrap().1)
    };
    let (id, is_made) = make(1, EVA, "1.20");
    assert!(is_made);
    bench.at(ENDED_MS + 2 * MINUTE);
    assert!(
        !ask_now(&bench, BEN, &request(&id, Some(("0.01", &[])))).unwrap().1,
        "1.21 of one order"
    );
    assert!(!make(3, EVA, "1.21").1, "above the limit of an order");
    assert!(make(4, EVA, "1.20").1);
    assert!(!make(5, EVA, "0.61").1, "3.01 in this month");
    assert!(make(6, EVA, "0.60").1);
    bench.at(Month::parse("2026-03").unwrap().span_ms().unwrap().0 + 1);
    assert!(make_in_march(&bench), "a new month");
    bench.ledger.sql("UPDATE credit_limits SET currency = 'EUR'");
    assert!(!make(7, BEN, "0.01").1, "another currency");
    let author = bench.operator.author();
    block_on(requests::set_limit(bench.store(), &bench.ledger, &author, "unit_dev", None)).unwrap();
    assert!(!make(8, BEN, "0.01").1, "no limit is set");
}

fn make_in_march(bench: &Bench) -> bool {
    let id = bench.order(NOW_MS + 9 * 60 * MINUTE, json!(4));
    ask_now(bench, EVA, &request(&id, Some(("0.50", &[])))).unwrap().1
}

/// Accounts credit the order by themselves while a colleague confirms or refuses the request.
#[test]
fn a_request_is_decided_once_and_never_credits_more_than_the_charge() {
    let mut outcomes = BTreeSet::new();
    for other in ["confirm", "refuse", "credit"] {
        interleave(
            |bench, first, second| {
                with_shop(bench, None);
                let id = bench.order(NOW_MS, json!(4));
                ask_now(bench, EVA, &part(&id)).unwrap();
                let second = async {
                    let author = bench.operator.author();
                    match other {
                        "confirm" => confirm(bench, second, &id).await,
                        "refuse" => refuse(bench, second, &id).await,
                        _ => credits::add(second, second, &author, &request(&id, None))
                            .await
                            .map(drop),
                    }
                };
                let both = polled(join(confirm(bench, first, &id), second));
                (id.clone(), both)
            },
            |bench, id, (first, second)| {
                let (made, states) = (bench.credits_of(&id), states(bench, &id));
                outcomes.insert((other, first.is_ok(), second.is_ok()));
                match other {
                    "confirm" => {
                        assert_eq!((made, states), (vec![MADE.to_owned()], vec!["credited"]))
                    }
                    "refuse" => {
                        assert_eq!(first.is_ok(), second.is_err(), "{first:?} {second:?}");
                        let is_made = if first.is_ok() { 1 } else { 0 };
                        assert_eq!(
                            (made.len(), states),
                            (is_made, vec![["refused", "credited"][is_made]])
                        );
                    }
                    _ => {
                        let sum: f64 = made.iter().map(|it| it[..4].parse::<f64>().unwrap()).sum();
                        assert!((sum - 2.0).abs() < 0.001 || made == [MADE], "{made:?}");
                        assert_eq!(states, [if first.is_ok() { "credited" } else { "open" }]);
                    }
                }
            },
        );
    }
    let both_ways = ["confirm", "refuse"].map(|other| [(other, true, false), (other, false, true)]);
    for outcome in
        both_ways.concat().iter().chain(&[("credit", true, true), ("credit", false, true)])
    {
        assert!(outcomes.contains(outcome), "{outcome:?}: {outcomes:?}");
    }
}

#[test]
fn a_manager_who_is_removed_meanwhile_requests_and_credits_nothing() {
    let mut is_asked = BTreeSet::new();
    interleave(
        |bench, first, second| {
            with_shop(bench, Some(("2.00", "2.00")));
            let id = bench.order(NOW_MS, json!(4));
            let wanted = part(&id);
            let author = bench.operator.author();
            let place = unit("unit_dev");
            let remove = people::remove(second, &author, (&place, EVA), Removable::All);
            let (asked, removed) = polled(join(ask(bench, first, EVA, &wanted), remove));
            removed.unwrap();
            (id.clone(), asked)
        },
        |bench, id, asked| {
            let states = states(bench, &id);
            is_asked.insert(states.clone());
            let is_made = asked.as_ref().is_ok_and(|(_, is_made)| *is_made);
            assert_eq!(is_made, states == ["credited"], "{asked:?}");
            assert_eq!(bench.credits_of(&id).len(), usize::from(is_made));
        },
    );
    assert_eq!(is_asked.len(), 3, "nothing, a request, or a credit: {is_asked:?}");
}

#[test]
fn a_request_of_an_order_that_was_cancelled_or_erased_meanwhile_is_decided() {
    for is_erased in [false, true] {
        let bench = bench();
        with_shop(&bench, None);
        let id = bench.order(NOW_MS, json!(4));
        ask_now(&bench, EVA, &cancelled(&id)).unwrap();
        bench.at(ENDED_MS + MINUTE);
        let again = ask_now(&bench, BEN, &part(&id)).unwrap_err().to_string();
        assert!(again.contains("already requested, and not decided yet"), "{again}");
        let at = bench.faulty(&[]);
        if is_erased {
            let record = block_on(transactions::get(bench.store(), &id)).unwrap();
            let author = bench.operator.author();
            block_on(transactions::erase(bench.store(), &bench.ledger, &author, &record)).unwrap();
            block_on(confirm(&bench, &at, &id)).unwrap();
            assert!(bench.store().value(&format!("cancelled:{id}")).is_some(), "the buyer is told");
        } else {
            bench.credit(&cancelled(&id)).unwrap();
            let error = block_on(confirm(&bench, &at, &id)).unwrap_err().to_string();
            assert!(error.contains("already credited in full"), "{error}");
            block_on(refuse(&bench, &at, &id)).unwrap();
        }
        assert_eq!(states(&bench, &id), [if is_erased { "credited" } else { "refused" }]);
        assert_eq!(bench.credits_of(&id).len(), 1);
        let error = block_on(refuse(&bench, &at, &id)).unwrap_err().to_string();
        assert!(error.contains("decided this request at"), "{error}");
        let kept = format!("{:?}", changes(bench.store(), &bench.ledger));
        let rows =
            bench.ledger.sql("SELECT json_array(content, answer) FROM credit_requests").concat();
        assert!(!kept.contains("Lovelace") && !rows.contains("Lovelace"));
    }
}

/// Whatever a shop sends, the rules of a credit hold before accounts see it.
#[test]
fn a_request_obeys_the_rules_of_a_credit() {
    let bench = bench();
    with_shop(&bench, None);
    let id = bench.order(NOW_MS, json!(4));
    for (reason, amount, problem) in [
        (
            "Returned by Ada Lovelace",
            "0.50",
            "must not contain an e-mail address, a name of the recipient",
        ),
        ("Returned", "2.01", "only 2.00 USD of the charge can still be credited"),
        ("", "0.50", "enter a reason"),
        ("Returned", "1e400", "write the amount as"),
    ] {
        let wanted = request(&id, Some((amount, &[])));
        let wanted = CreditRequest { reason: reason.to_owned(), ..wanted };
        let error = ask_now(&bench, EVA, &wanted).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert_eq!(states(&bench, &id), [""; 0]);
    let author = bench.operator.author();
    let at = bench.faulty(&[]);
    ask_now(&bench, EVA, &part(&id)).unwrap();
    let answer = (&*id, "Ada Lovelace asked for it");
    let refused = block_on(requests::refuse(&at, &at, &author, answer)).unwrap_err().to_string();
    assert!(refused.contains("must not contain"), "{refused}");
    assert_eq!(states(&bench, &id), ["open"]);
}
