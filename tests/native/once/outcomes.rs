//! Tests what is stored about an operation, and how changes work without a ledger.

use super::Command::*;
use super::{ADA, ADDRESS, COMMANDS, ENDED_MS, HOUR, MINUTE, World};
use futures_executor::block_on;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::system::rows::upkeep::{Limits, keep_up};
use serde_json::Value;
use support::service::LIVE_UNIT;

// ---- What is kept -----------------------------------------------------------------------------

#[test]
fn what_is_kept_has_no_id_no_secret_and_no_person() {
    for command in COMMANDS {
        let world = World::before(command);
        let id = world.opened();
        let outcome = world.done(command, &id).outcome.to_string();
        let columns =
            "SELECT json_array(id, command, arguments, began, attempt, outcome) FROM operations";
        let rows = world.ledger.sql(columns).concat();
        assert!(rows.len() > 100, "{command:?}: {rows}");
        let secrets = [LIVE_UNIT, id.as_str(), "service_sk"];
        for secret in secrets {
            assert!(!rows.contains(secret), "{command:?}: {rows}");
        }
        let person = if matches!(command, Mark | Undo) { "eve@" } else { ADDRESS };
        assert!(!rows.contains(person), "{command:?}: {rows}");
        let records: String =
            world.store.names().iter().filter_map(|name| world.store.value(name)).collect();
        assert!(!records.contains(id.as_str()), "{command:?}");
        if let Some((_, key)) = outcome.split_once("service_sk_") {
            let (key, _) = key.split_once('"').unwrap();
            assert!(!records.contains(key) && !rows.contains(key), "{command:?}");
        }
    }
}

#[test]
fn operations_are_forgotten_after_ninety_days() {
    let world = World::before(AddUnits);
    let id = world.opened();
    world.done(AddUnits, &id);
    let count = || world.ledger.sql("SELECT count(*) FROM operations").concat();
    for (later_ms, left) in [(90 * 24 * HOUR, "1"), (1, "0")] {
        world.later(later_ms);
        let limits = Limits { calls: 600, milliseconds: 1 };
        block_on(keep_up(&world.ledger, &world.store, &world.clock, "x", limits)).unwrap();
        assert_eq!(count(), left);
    }
}

#[test]
fn an_id_is_plain_text_and_one_that_says_its_time_begins_nothing_after_an_hour() {
    let world = World::before(AddUnits);
    for (id, is_id) in [
        ("a", true),
        ("A-z_0", true),
        (&*"x".repeat(64), true),
        (&*"x".repeat(65), false),
        ("", false),
        (" ", false),
        ("é", false),
        ("a b", false),
        ("a\n", false),
        ("'", false),
    ] {
        assert_eq!(OperationId::parse(id).is_ok(), is_id, "{id:?}");
    }
    let own = OperationId::parse("deploy-2020-01-01").unwrap();
    assert_eq!(world.done(AddUnits, &own).before, None);
    for has_ledger in [true, false] {
        for (later_ms, is_taken) in [(HOUR, true), (HOUR + 1, false)] {
            let world = World { has_ledger, ..World::before(AddUnits) };
            let id = world.opened();
            world.later(later_ms);
            let (heard, _) = world.ask(AddUnits.asked(), ADA, Some(&id), &[]);
            match heard.unwrap() {
                Ok(_) => assert!(is_taken),
                Err(error) => {
                    assert!(!is_taken && error.to_string().contains("more than 60 minutes old"));
                }
            }
        }
        let world = World { has_ledger, ..World::before(AddUnits) };
        let id = world.opened();
        world.clock.0.set(ENDED_MS - 5 * MINUTE); // clocks may differ by 5 minutes
        assert_eq!(world.done(AddUnits, &id).before, None);
    }
}

// ---- Without a ledger -------------------------------------------------------------------------

#[test]
fn without_a_ledger_the_audit_log_shows_earlier_attempts() {
    for command in COMMANDS.into_iter().filter(|command| command.is_of_records()) {
        let world = World::without_ledger(command);
        let id = world.opened();
        world.done(command, &id);
        let effect = world.effect();
        world.later(MINUTE);
        let (heard, _) = world.ask(command.asked(), ADA, Some(&id), &[]);
        match heard.unwrap() {
            Ok(done) => match command {
                Create => assert!(done.outcome["key"].is_null(), "{done:?}"),
                Rotate | RotateNow => assert!(done.outcome["made"]["key"].is_null(), "{done:?}"),
                _ => assert!(matches!(command, Erase | Revoke | Resend), "{command:?}: {done:?}"),
            },
            Err(error) => {
                let is_told = error.to_string().contains("this change was already begun at");
                assert!(is_told, "{command:?}: {error}");
            }
        }
        assert_eq!(world.effect(), effect, "{command:?}");
        let other = if command == AddUnits { Create } else { AddUnits };
        let (heard, _) = world.ask(other.asked(), ADA, Some(&id), &[]);
        let problem = heard.unwrap().unwrap_err().to_string();
        assert!(problem.contains("was used for another change"), "{command:?}: {problem}");
    }
}

/// Workers KV may hide a new audit log entry for a minute. A repeated request then creates the key a second
/// time. The result is the same key, because it is derived from the operation's ID.
#[test]
fn without_a_ledger_a_key_is_one_also_where_its_entry_is_not_shown() {
    let world = World::without_ledger(Create);
    let id = world.opened();
    let key = || world.done(Create, &id).outcome["key"].clone();
    let first = key();
    world.store.set_hidden(Some("audit:"));
    assert_eq!(key(), first);
    assert_eq!(world.audited(Create), 0, "hidden");
    world.store.set_hidden(None);
    assert_eq!(key(), Value::Null);
    let own = OperationId::parse("mine").unwrap();
    let made = world.done(Create, &own).outcome;
    let again = world.done(Create, &own).outcome;
    assert_eq!((&again["id"], &again["key"]), (&made["id"], &Value::Null));
    assert_ne!(made["key"], first);
}
