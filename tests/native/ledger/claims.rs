//! Tests claims: rows in the ledger that decide which of two people succeeds if both change the same fact (such
//! as a unit's membership of a team) at the same time.

use super::MINUTE;
use futures_executor::block_on;
use impact_pledge::office::shared::rows::claims;
use impact_pledge::office::shared::rows::claims::{
    Change, ClaimOutcome, Fact, Kind, ObservedFact, TargetState,
};
use support::ledger::SqliteLedger;
use support::service::NOW_MS;

fn fact(name: &str) -> Fact {
    Fact { kind: Kind::Member, name: name.to_owned() }
}

fn by(author: &str, at: u64) -> Change {
    Change { change: format!("audit:{author}"), author: author.to_owned(), at }
}

/// Claims the fact `t:u` (unit `u` is in team `t`) in the ledger, for a change to the state `wanted`.
/// `is_there` says whether the change has seen a record of the fact in KV.
fn claim(ledger: &SqliteLedger, wanted: TargetState, is_there: bool, by: &Change) -> ClaimOutcome {
    let seen = ObservedFact { fact: fact("t:u"), is_there, change: None };
    block_on(claims::claim(ledger, wanted, &[seen], by)).unwrap().remove(0)
}

#[track_caller]
fn theirs(turn: ClaimOutcome) -> (String, claims::State) {
    match turn {
        ClaimOutcome::Theirs(claim) => (claim.by.author, claim.state),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_two_changes_of_one_fact_the_second_one_hears_of_the_first() {
    use impact_pledge::office::shared::rows::claims::State::{Adding, Gone, Kept, Removing};
    let ledger = SqliteLedger::default();
    let people = ["ada", "bob", "cyd", "dan"];
    let [ada, bob, cyd, dan] = people.map(|author| by(author, NOW_MS));
    let facts = [fact("t:u")];
    let add = |is_there, by| claim(&ledger, TargetState::Added, is_there, by);
    let remove = |is_there, by| claim(&ledger, TargetState::Removed, is_there, by);
    let heard = |author: &str, state| (author.to_owned(), state);
    assert_eq!(remove(false, &bob), ClaimOutcome::None);
    assert_eq!(add(false, &ada), ClaimOutcome::Ours);
    assert_eq!(add(false, &ada), ClaimOutcome::Ours, "a call that was repeated");
    assert_eq!(theirs(add(false, &bob)), heard("ada", Adding));
    assert_eq!(theirs(remove(true, &bob)), heard("ada", Adding));
    block_on(claims::give_up(&ledger, &facts, &ada)).unwrap();
    assert_eq!(add(false, &bob), ClaimOutcome::Ours);
    block_on(claims::confirm(&ledger, &facts, &bob)).unwrap();
    for is_there in [true, false] {
        assert_eq!(theirs(add(is_there, &ada)), heard("bob", Kept));
    }
    for is_there in [false, true] {
        assert_eq!(remove(is_there, &cyd), ClaimOutcome::Ours);
        assert_eq!(theirs(remove(is_there, &dan)), heard("cyd", Removing));
        assert_eq!(theirs(add(is_there, &dan)), heard("cyd", Removing));
        block_on(claims::give_up(&ledger, &facts, &cyd)).unwrap();
        assert_eq!(theirs(add(is_there, &dan)), heard("bob", Kept));
    }
    assert_eq!(remove(true, &dan), ClaimOutcome::Ours);
    for _ in 0..2 {
        block_on(claims::confirm(&ledger, &facts, &dan)).unwrap();
    }
    assert_eq!(theirs(remove(true, &cyd)), heard("dan", Gone));
    assert_eq!(add(true, &cyd), ClaimOutcome::Ours, "KV shows the old record");
}

/// Giving up a change restores the state that the fact had before. If the change has seen the fact's record
/// in KV, the ledger keeps a claim of the fact.
#[test]
fn giving_up_a_change_restores_the_earlier_state() {
    let row = |state, change, age| {
        format!("'member', 't:u', '{state}', '{change}', '{change}', {}", NOW_MS - age)
    };
    for (before, is_there, wanted, after) in [
        (None, false, TargetState::Added, None),
        (None, true, TargetState::Removed, Some(("kept", "", NOW_MS))),
        (Some(("kept", "x", MINUTE)), true, TargetState::Removed, Some(("kept", "x", MINUTE))),
        (Some(("kept", "", NOW_MS)), true, TargetState::Removed, Some(("kept", "", NOW_MS))),
        (Some(("gone", "x", MINUTE)), true, TargetState::Added, Some(("gone", "x", MINUTE))),
        (
            Some(("gone", "x", 30 * MINUTE)),
            false,
            TargetState::Added,
            Some(("gone", "x", 30 * MINUTE)),
        ),
    ] {
        let ledger = SqliteLedger::default();
        if let Some((state, change, age)) = before {
            let columns = "kind, name, state, change, author, at";
            ledger.sql(&format!(
                "INSERT INTO claims ({columns}) VALUES ({})",
                row(state, change, age)
            ));
        }
        for _ in 0..2 {
            assert_eq!(claim(&ledger, wanted, is_there, &by("ada", NOW_MS)), ClaimOutcome::Ours);
        }
        for _ in 0..2 {
            let ada = by("ada", NOW_MS);
            block_on(claims::give_up(&ledger, &[fact("t:u")], &ada)).unwrap();
        }
        let claims = ledger.sql("SELECT format('%Q, %Q, %Q, %Q, %Q, %d', kind, name, state, change, author, at) FROM claims");
        let after = after.map(|(state, change, age)| row(state, change, age));
        assert_eq!(claims, Vec::from_iter(after), "{before:?} {wanted:?}");
    }
}

/// KV may still show a record for a while after its removal. If an addition after the removal is given up, the
/// removal still counts. So nobody may remove the record a second time.
#[test]
fn an_addition_that_is_given_up_does_not_forget_the_removal_before_it() {
    let ledger = SqliteLedger::default();
    let [ada, bob, cyd] = ["ada", "bob", "cyd"].map(|author| by(author, NOW_MS));
    let facts = [fact("t:u")];
    assert_eq!(claim(&ledger, TargetState::Removed, true, &ada), ClaimOutcome::Ours);
    block_on(claims::confirm(&ledger, &facts, &ada)).unwrap();
    assert_eq!(claim(&ledger, TargetState::Added, true, &bob), ClaimOutcome::Ours);
    block_on(claims::give_up(&ledger, &facts, &bob)).unwrap();
    let gone = ("ada".to_owned(), claims::State::Gone);
    assert_eq!(theirs(claim(&ledger, TargetState::Removed, true, &cyd)), gone);
}

#[test]
fn a_removal_is_of_the_record_that_was_seen() {
    let ledger = SqliteLedger::default();
    let ada = by("ada", NOW_MS);
    claim(&ledger, TargetState::Added, false, &ada);
    block_on(claims::confirm(&ledger, &[fact("t:u")], &ada)).unwrap();
    for (change, is_ours) in [(Some("audit:older"), false), (Some("audit:ada"), true), (None, true)]
    {
        let change = change.map(str::to_owned);
        let seen = [ObservedFact { fact: fact("t:u"), is_there: true, change }];
        let bob = by("bob", NOW_MS);
        let turn = block_on(claims::claim(&ledger, TargetState::Removed, &seen, &bob)).unwrap();
        assert_eq!(turn[0] == ClaimOutcome::Ours, is_ours, "{turn:?}");
        block_on(claims::give_up(&ledger, &[fact("t:u")], &bob)).unwrap();
    }
}

/// A claim that a crash left behind no longer counts after 20 minutes. From then on, the record in KV alone
/// shows the state of the fact.
#[test]
fn an_old_claim_or_one_of_a_clock_that_is_far_ahead_gives_way_to_the_record() {
    for (age, is_recent) in [
        (0, true),
        (20 * MINUTE, true),
        (20 * MINUTE + 1, false),
        (0_u64.wrapping_sub(6 * MINUTE), false),
    ] {
        for state in ["adding", "kept", "removing", "gone"] {
            for is_there in [false, true] {
                for wanted in [TargetState::Added, TargetState::Removed] {
                    let ledger = SqliteLedger::default();
                    let at = NOW_MS.wrapping_sub(age);
                    ledger.sql(&format!(
                        "INSERT INTO claims (kind, name, state, change, author, at) VALUES ('member', 't:u', '{state}', 'x', 'x', {at})"
                    ));
                    let turn = claim(&ledger, wanted, is_there, &by("ada", NOW_MS));
                    let before = if wanted == TargetState::Added { "gone" } else { "kept" };
                    let is_ours = match is_recent {
                        true => state == before,
                        false => is_there == (wanted == TargetState::Removed),
                    };
                    let rows = ledger.sql("SELECT author FROM claims");
                    assert_eq!(
                        turn == ClaimOutcome::Ours,
                        is_ours,
                        "{age} {state} {is_there} {wanted:?}"
                    );
                    assert_eq!(rows, [if is_ours { "ada" } else { "x" }]);
                    assert_eq!(matches!(turn, ClaimOutcome::Theirs(_)), is_recent && !is_ours);
                }
            }
        }
    }
}

#[test]
fn thousands_of_facts_are_claimed_together() {
    let ledger = SqliteLedger::default();
    let longest = |number: usize| fact(&format!("{number:0>128}:{number:0>128}"));
    let facts: Vec<_> = (0..2_500).map(longest).collect();
    let seen = |fact: &Fact| ObservedFact { fact: fact.clone(), is_there: false, change: None };
    let seen: Vec<_> = facts.iter().map(seen).collect();
    let (ada, bob) = (by("ada", NOW_MS), by("bob", NOW_MS));
    let claim = |by| block_on(claims::claim(&ledger, TargetState::Added, &seen, by)).unwrap();
    assert!(claim(&ada).iter().all(|turn| *turn == ClaimOutcome::Ours));
    block_on(claims::confirm(&ledger, &facts, &ada)).unwrap();
    assert_eq!(ledger.calls.get(), 6);
    assert!(claim(&bob).into_iter().all(|turn| theirs(turn).0 == "ada"));
}
