//! Tests that repeating a change completes it, whichever step failed before.

use super::Command::*;
use super::{ADA, Command, Heard, MINUTE, World, calls_of, month_of};
use crate::faulty_changes::Fault;
use futures_executor::block_on;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::teams;
use impact_pledge::pledges::auth::ApiKey;
use serde_json::Value;
use strum::IntoEnumIterator as _;
use support::ledger::Failing;
use support::service::LIVE_UNIT;

/// Returns the state after a command has run without failures, and the state before it.
fn effects_of(command: Command) -> [Vec<String>; 2] {
    let (world, before) = (World::before(command), World::before(command).effect());
    world.done(command, &world.opened());
    [world.effect(), before]
}

#[test]
fn whatever_fails_at_a_step_a_repeat_ends_it() {
    for command in Command::iter() {
        let [done, _] = effects_of(command);
        for call in 1..=calls_of(command) {
            for fault in [Fault::Before, Fault::After, Fault::CrashBefore, Fault::CrashAfter] {
                let what = format!("{command:?}: {fault:?} at {call}");
                let world = World::before(command);
                let id = world.opened();
                let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[(call, fault)]);
                world.later(1_000);
                let (again, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
                check_soon(command, heard.as_ref(), &again.unwrap(), &what);
                world.later(21 * MINUTE);
                let (last, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
                let last = last.unwrap();
                if let Err(error) = &last {
                    assert!(is_of_what_was_done(command, error), "{what}: {error}");
                }
                assert_eq!(world.effect(), done, "{what}: {last:?}");
            }
        }
    }
}

/// A change is one batch of the ledger. So a process that ends at any step leaves nothing or everything of it there, and minutes
/// later the cron has written the copies in Workers KV.
#[test]
fn a_change_whose_process_ends_is_made_whole_or_not_at_all() {
    for command in Command::iter() {
        let rows = |world: &World| {
            let at = "SELECT json_array(name, content) FROM published ORDER BY name";
            [world.ledger.sql(at), world.own_rows()].concat()
        };
        let world = World::before(command);
        let before = rows(&world);
        world.done(command, &world.opened());
        let done = rows(&world);
        for call in 1..=calls_of(command) {
            for fault in [Fault::CrashBefore, Fault::CrashAfter] {
                let what = format!("{command:?}: {fault:?} at {call}");
                let world = World::before(command);
                world.ask(command.asked(), ADA, Some(&world.opened()), &[(call, fault)]);
                let left = rows(&world);
                assert!(left == before || left == done, "{what}: {left:#?}");
                let is_audited = world.audited(command) > 0;
                assert!(left == before || before == done || is_audited, "{what}");
                world.copies_agree_soon(&what);
            }
        }
    }
}

/// Asserts the answer to a request that is repeated after one second. The answer must say that the operation
/// was done, or that it may still be running.
#[track_caller]
fn check_soon(command: Command, first: Option<&Heard>, again: &Heard, what: &str) {
    match (first, again) {
        (None, Err(error)) => {
            let is_under_way = error.to_string().contains("this change has been running since");
            assert!(is_under_way || is_of_what_was_done(command, error), "{what}: {error}");
        }
        (Some(Ok(_)), Ok(done)) => {
            assert!(done.before.is_some() || !done.outcome.is_null(), "{what}")
        }
        (Some(Ok(_)), Err(error)) => {
            let is_kept = ["this change has been running since", "less than 2 minutes ago"];
            let is_told = is_kept.iter().any(|words| error.to_string().contains(words));
            assert!(is_told || is_of_what_was_done(command, error), "{what}: {error}");
        }
        _ => {}
    }
}

/// Returns whether an error says that there is nothing to change. In these tests, such an error means that the
/// operation was already carried out.
fn is_of_what_was_done(command: Command, error: &OperatorError) -> bool {
    let text = error.to_string();
    match command {
        Undo => text.contains("is not marked as paid"),
        Revoke => text.contains("there is no such key in this environment"),
        _ => false,
    }
}

/// The ledger fails after the change was made. So the outcome of the operation is not stored.
#[test]
fn a_change_whose_outcome_is_not_kept_counts_as_done() {
    for command in [Create, AddUnits] {
        let world = World::before(command);
        let id = world.opened();
        world.ledger.set_failing_after(1, Failing::Before); // all but the last
        let first = world.done(command, &id);
        assert_eq!(first.before, None);
        world.ledger.set_failing(Failing::Not);
        let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
        let error = heard.unwrap().unwrap_err();
        assert!(matches!(&error, OperatorError::Repeated(_)), "{error}");
        if command == Create {
            world.later(31_000);
            let again = world.done(command, &id).outcome;
            assert_eq!((&again["key"], &again["id"]), (&Value::Null, &first.outcome["id"]));
        }
    }
}

/// A key may have been created although the answer reported a failure. In this case nobody has seen the key,
/// and the key is shown when the form is sent again.
#[test]
fn a_key_whose_creation_failed_is_shown_by_the_retry() {
    for command in [Create, Rotate] {
        let world = World::before(command);
        let id = world.opened();
        world.store.set_unconfirmed(Some("key:"));
        world.ask(command.asked(), ADA, Some(&id), &[]).0.unwrap().unwrap_err();
        world.store.set_unconfirmed(None);
        let made = world.done(command, &id).outcome;
        let made = if command == Create { made } else { made["made"].clone() };
        let key = made["key"].as_str().unwrap();
        let name = format!("key:{}", ApiKey::new(key).hash().to_hex());
        assert!(world.store.value(&name).is_some());
        let keys = world.store.names().into_iter().filter(|name| name.starts_with("key:"));
        assert_eq!(keys.count(), 6, "{command:?}: those of the development data and one");
    }
}

/// The first request shows the new key, but fails to record when the old key expires. The repeated request
/// records this time, and does not show the new key again.
#[test]
fn a_rotation_that_was_ended_in_part_is_ended_by_the_repeat() {
    let old = format!("key:{}", ApiKey::new(LIVE_UNIT).hash().to_hex());
    let ended = |world: &World| match world.store.value(&old) {
        None => Some(Value::Null),
        Some(_) => world.store.metadata(&old)[0].get("successor").cloned(),
    };
    for command in [Rotate, RotateNow] {
        let mut parts = 0;
        for call in 1..calls_of(command) {
            let world = World::before(command);
            let id = world.opened();
            let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[(call, Fault::Before)]);
            let Some(Ok(first)) = heard else { continue };
            if ended(&world).is_some() {
                continue;
            }
            parts += 1;
            assert!(first.outcome["made"]["key"].is_string(), "{first:?}");
            let again = world.done(command, &id);
            let told = [&again.outcome["made"]["id"], &again.outcome["made"]["key"]];
            assert_eq!(told, [&first.outcome["made"]["id"], &Value::Null]);
            let successor = if command == Rotate { told[0] } else { &Value::Null };
            assert_eq!(ended(&world).as_ref(), Some(successor));
        }
        assert!(parts > 0, "{command:?}");
    }
}

/// If somebody has undone a change, a repeated request does not make the change again. Tests this with a key, a
/// member of a team, and a payment.
#[test]
fn a_repeat_does_not_bring_back_what_was_taken_away_since() {
    for (command, reverse) in [(Create, Revoke), (AddMember, RemoveMember), (Mark, Undo)] {
        let world = World::before(command);
        let id = world.opened();
        world.ledger.set_failing_after(if command == Create { 1 } else { 100 }, Failing::Before);
        let made = match command {
            Create => world.done(command, &id).outcome,
            _ => {
                // The outcome is not kept: the last call of the ledger fails.
                let last = calls_of(command);
                let (heard, _) =
                    world.ask(command.asked(), ADA, Some(&id), &[(last, Fault::CrashBefore)]);
                assert!(heard.is_none(), "{command:?}");
                Value::Null
            }
        };
        world.ledger.set_failing(Failing::Not);
        world.later(MINUTE);
        let author = world.author("bo@example.org", None);
        let (at, units) = (world.faulty(&[]), ["u".to_owned()]);
        let ledger = &world.ledger;
        match reverse {
            Revoke => {
                let name = made["name"].as_str().unwrap();
                block_on(keys::revoke(&at, ledger, &author, name)).map(drop).unwrap();
            }
            RemoveMember => {
                block_on(teams::remove(&at, ledger, &author, "team_dev", &units))
                    .map(drop)
                    .unwrap();
            }
            _ => block_on(payments::undo(&at, ledger, &author, &month_of(false), None))
                .map(drop)
                .unwrap(),
        }
        let all = world.effect();
        for later_ms in [MINUTE, 20 * MINUTE] {
            world.later(later_ms);
            let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
            match heard.unwrap() {
                Ok(done) => assert!(done.before.is_some(), "{command:?}"),
                Err(error) => assert!(error.to_string().contains("later revoked or replaced")),
            }
            assert_eq!(world.effect(), all, "{command:?}");
        }
    }
}

#[test]
fn a_key_is_revoked_also_where_the_ledger_does_not_answer() {
    let world = World::before(Revoke);
    world.ledger.set_failing(Failing::Before);
    world.done(Revoke, &world.opened());
    let (heard, _) = world.ask(Create.asked(), ADA, Some(&world.opened()), &[]);
    assert!(matches!(heard.unwrap(), Err(OperatorError::Ledger(_))));
}
