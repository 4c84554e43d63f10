//! Tests changes that are requested twice.

use super::Command::*;
use super::{ADA, Asked, Command, HOUR, MINUTE, World, calls_of};
use crate::faulty_changes::Fault;
use impact_pledge::pledges::time::date_time;
use serde_json::Value;
use std::task::{Context, Poll, Waker};
use strum::IntoEnumIterator as _;

#[test]
fn what_is_asked_for_again_is_not_done_again_and_its_outcome_is_told() {
    for command in Command::iter() {
        let world = World::before(command);
        let id = world.opened();
        let first = world.done(command, &id);
        assert_eq!(first.before, None, "{command:?}");
        let (all, at) = (world.all(), world.clock.0.get());
        for later_ms in [1, MINUTE, 2 * HOUR, 24 * HOUR] {
            world.clock.0.set(at + later_ms);
            let again = world.done(command, &id);
            assert_eq!(again.before, Some(date_time(at)), "{command:?}");
            check_told_again(command, &first.outcome, &again.outcome);
            assert_eq!(world.all(), all, "{command:?}");
        }
    }
}

/// Asserts that a repeated request returns the same key data as the first one, but without the key's secret
/// text.
#[track_caller]
fn check_told_again(command: Command, first: &Value, again: &Value) {
    let mut first = first.clone();
    let made = match command {
        Create => Some(&mut first),
        Rotate | RotateNow => Some(&mut first["made"]),
        _ => None,
    };
    if let Some(made) = made {
        assert!(made["key"].as_str().unwrap().starts_with("service_sk_live_"), "{made}");
        made["key"] = Value::Null;
    }
    assert_eq!(again, &first, "{command:?}");
}

#[test]
fn an_id_stands_for_one_change() {
    for command in Command::iter() {
        let world = World::before(command);
        let id = world.opened();
        world.done(command, &id);
        let all = world.all();
        let other = if command == AddUnits { Create } else { AddUnits };
        let others = [Asked { command, has_others: true }, other.asked()];
        for asked in others.into_iter().filter(|it| it.command != Erase && it.command != Rebuild) {
            let (heard, _) = world.ask(asked, ADA, Some(&id), &[]);
            let problem = heard.unwrap().unwrap_err().to_string();
            let words = format!(
                "the operation ID `{id}` was used for another change, `{}`",
                command.name()
            );
            assert!(problem.contains(&words), "{command:?}: {problem}");
            assert_eq!(world.all(), all, "{command:?}");
        }
    }
}

#[test]
fn nobody_else_hears_of_an_operation_or_is_stopped_by_it() {
    for command in [Create, AddUnits] {
        let world = World::before(command);
        let id = world.opened();
        let first = world.done(command, &id);
        let (heard, _) = world.ask(command.asked(), "bo@example.org", Some(&id), &[]);
        let other = heard.unwrap().unwrap();
        assert_eq!(other.before, None, "{command:?}");
        if command == Create {
            assert_ne!(other.outcome["key"], first.outcome["key"]);
            assert!(other.outcome["key"].is_string());
        }
    }
}

#[test]
fn without_an_id_each_change_gets_a_new_one() {
    let world = World::before(Create);
    let make = || world.ask(Create.asked(), ADA, None, &[]).0.unwrap().unwrap();
    let (one, other) = (make(), make());
    assert_eq!((&one.before, &other.before), (&None, &None));
    assert_ne!(one.outcome["key"], other.outcome["key"]);
}

/// Sends two equal requests at the same time. The first request stops at one of its calls until the second
/// request has ended, and then continues. Only one of them makes the change.
#[test]
fn of_two_at_once_one_is_done() {
    for command in Command::iter() {
        let calls = calls_of(command);
        for call in 1..=calls {
            let world = World::before(command);
            let id = world.opened();
            let faults = [(call, Fault::Wait)];
            let (at, author) = (world.faulty(&faults), world.author(ADA, Some(&id)));
            let mut first = world.asking(command.asked(), &at, &author);
            let mut context = Context::from_waker(Waker::noop());
            assert!(first.as_mut().poll(&mut context).is_pending(), "{command:?} {call}");
            let (second, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
            let Poll::Ready(first) = first.as_mut().poll(&mut context) else {
                panic!("{command:?} {call}: it goes on");
            };
            let heard = [first, second.unwrap()];
            let done = heard.iter().flatten().filter(|done| done.before.is_none()).count();
            assert_eq!(done, 1, "{command:?} {call}: {heard:?}");
            for error in heard.iter().filter_map(|heard| heard.as_ref().err()) {
                let is_told = error.to_string().contains("this change has been running since");
                assert!(is_told, "{command:?} {call}: {error}");
            }
            assert_eq!(world.audited(command), audits_of(command), "{command:?} {call}");
            assert!(world.done(command, &id).before.is_some(), "{command:?} {call}");
        }
    }
}

fn audits_of(command: Command) -> usize {
    let world = World::before(command);
    world.done(command, &world.opened());
    world.audited(command)
}
