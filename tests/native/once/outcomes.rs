//! Tests what is stored about an operation.

use super::Command::*;
use super::{ADA, ADDRESS, Command, ENDED_MS, EVA, HOUR, MINUTE, World};
use futures_executor::block_on;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::system::rows::upkeep::{Limits, keep_up};
use strum::IntoEnumIterator as _;
use support::service::LIVE_UNIT;

#[test]
fn what_is_kept_has_no_id_no_secret_and_no_person() {
    for command in Command::iter() {
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
        let of_payments = [Mark, Undo, AddCredit, RequestCredit, ConfirmCredit, RefuseCredit];
        let of_works = [AddFulfilment, RemoveFulfilment];
        let of_updates = [AddUpdate, EditUpdate, PublishUpdate, WithdrawUpdate];
        let names_its_author =
            [&of_payments[..], &of_works, &of_updates].iter().any(|of| of.contains(&command));
        assert!(names_its_author || !rows.contains(ADDRESS), "{command:?}: {rows}");
        assert!(!rows.contains(EVA), "{command:?}: {rows}");
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
    for (later_ms, is_taken) in [(HOUR, true), (HOUR + 1, false)] {
        let world = World::before(AddUnits);
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
    let world = World::before(AddUnits);
    let id = world.opened();
    world.clock.0.set(ENDED_MS - 5 * MINUTE); // clocks may differ by 5 minutes
    assert_eq!(world.done(AddUnits, &id).before, None);
}
