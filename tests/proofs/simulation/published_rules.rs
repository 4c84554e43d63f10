//! The rules for the records that several people may change. The ledger's rows are the records, and KV has copies.
//!
//! The simulated database notes each change of a row when it commits the change. So the rules see all changes in their
//! true order.

use crate::books::Books;
use crate::changes::RecordChange;
use crate::database::RowVersion;
use crate::kv::Kv;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks that two people do not both make the same change: a record is added and removed alternately.
pub fn two_people_do_not_make_one_change(books: &Books) -> Wrong {
    books.database.published.borrow().iter().find_map(|(name, versions)| {
        let alternately = [true, false].into_iter().cycle();
        let mut all = versions.iter().zip(alternately);
        let (wrong, _) = all.find(|(version, is_added)| version.content.is_some() != *is_added)?;
        Some(format!("{name} is changed alike at {} ms", wrong.committed_ms))
    })
}

/// Checks that no change comes back after a later one has replaced it.
pub fn no_record_goes_back(books: &Books) -> Wrong {
    books.database.published.borrow().iter().find_map(|(name, versions)| {
        let mut known = BTreeSet::new();
        let again = versions.iter().find(|version| !known.insert(&version.change))?;
        Some(format!("{name} goes back to {} at {} ms", again.change, again.committed_ms))
    })
}

/// Checks that the audit log has an entry for each change of a record, by the operation of a person who wanted this change.
pub fn the_audit_log_has_each_change(_: &Simulation, books: &Books) -> Wrong {
    let changes = books.record_changes.borrow();
    books.database.published.borrow().iter().find_map(|(name, versions)| {
        versions.iter().find_map(|version| {
            let operation = operation_of(books, version);
            let is_its = |change: &&RecordChange| Some(change.operation()) == operation;
            let is_right = changes.iter().find(is_its).is_some_and(|change| {
                change.name == *name && change.is_added == version.content.is_some()
            });
            (!is_right).then(|| format!("{} of {name}", version.change))
        })
    })
}

/// Checks that no request makes a change twice, that a person who was told that a change was made has made it, and that a
/// person whose requests were all refused has not made it.
pub fn a_change_is_what_people_heard(_: &Simulation, books: &Books) -> Wrong {
    let versions = books.database.published.borrow();
    books.record_changes.borrow().iter().enumerate().find_map(|(number, change)| {
        let of_record = versions.get(&change.name).map_or(&[][..], Vec::as_slice);
        let operation = change.operation();
        let is_its =
            |version: &&RowVersion| operation_of(books, version).as_ref() == Some(&operation);
        let made = of_record.iter().filter(is_its).count();
        let is_right = match () {
            () if change.is_done => made == 1,
            () if change.open == 0 => made == 0,
            () => made <= 1,
        };
        let text = || format!("change {number} of {} is made {made} times", change.name);
        (!is_right).then(text)
    })
}

/// Returns the hash of the operation that made a change, from the change's entry in the audit log.
fn operation_of(books: &Books, version: &RowVersion) -> Option<String> {
    let of = format!("SELECT content FROM audit WHERE name = '{}'", version.change);
    let entry: Value = serde_json::from_str(books.database.sqlite().sql(&of).first()?).ok()?;
    Some(entry["operation"].as_str()?.to_owned())
}

/// Checks that KV has exactly what the row of a confirmed copy says. No late write may replace a confirmed copy.
pub fn a_confirmed_copy_is_in_kv(kv: &Kv, books: &Books) -> Wrong {
    let confirmed = "SELECT name FROM published WHERE confirmed > 0";
    let confirmed = books.database.sqlite().sql(confirmed);
    let versions = books.database.published.borrow();
    confirmed.iter().find_map(|name| {
        let (row, copy) = (versions.get(name)?.last()?, kv.last(name));
        let copy = copy.as_ref().map_or(&Value::Null, |copy| copy.json());
        let is_right = match &row.content {
            Some(content) => copy == content,
            None => copy["removed"] == true && copy["change"] == row.change,
        };
        (!is_right).then(|| format!("{name} is {copy}, and its last change is {}", row.change))
    })
}
