//! The rules for the records that several people may change. The ledger's rows are the records, and KV has copies.
//!
//! The simulated database notes each change of a row when it commits the change. So the rules see all changes in their
//! true order.

use crate::books::Books;
use crate::changes::RecordChange;
use crate::database::{DATABASE_MS, RowVersion};
use crate::kv::Kv;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::{APART_MS, virtual_ms};
use impact_pledge::pledges::store::AuditKey;
use serde_json::Value;
use std::collections::BTreeSet;

/// The maximum time in which a call of the database is tried again, in milliseconds.
const TRIED_MS: u64 = 3 * DATABASE_MS;

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

/// Checks that the audit log has an entry for each change of a record, by the operation of a person who wanted this change,
/// and that this entry is not withdrawn. Leaves out withdrawn changes that were [replaced at once](is_replaced_at_once).
pub fn the_audit_log_has_each_change(Simulation { kv, .. }: &Simulation, books: &Books) -> Wrong {
    let withdrawn: BTreeSet<_> = kv
        .last_of("audit:")
        .into_iter()
        .filter_map(|(_, entry)| Some(entry.metadata_json()["withdraws"].as_str()?.to_owned()))
        .collect();
    let changes = books.record_changes.borrow();
    books.database.published.borrow().iter().find_map(|(name, versions)| {
        versions.iter().enumerate().find_map(|(at, version)| {
            let operation = operation_of(kv, version);
            let is_its = |change: &&RecordChange| Some(change.operation()) == operation;
            let is_right = changes.iter().find(is_its).is_some_and(|change| {
                change.name == *name && change.is_added == version.content.is_some()
            });
            let text = format!("{} of {name}", version.change);
            match withdrawn.contains(&version.change) && !is_replaced_at_once(versions, at) {
                true => Some(format!("{text} is withdrawn")),
                false => (!is_right).then_some(text),
            }
        })
    })
}

/// Checks that a person who was told that a change was made has made it once, and that a person whose requests were all
/// refused has not made it. A person who asks again to remove a unit may also be told that it was done if somebody else
/// has removed it.
///
/// Does not count a change that a repeated request makes again, if somebody else has undone the first one within the
/// difference between two clocks: the repeated request cannot know who was first. A refused change may have been made if
/// it was [replaced at once](is_replaced_at_once).
pub fn a_change_is_what_people_heard(Simulation { kv, .. }: &Simulation, books: &Books) -> Wrong {
    let versions = books.database.published.borrow();
    books.record_changes.borrow().iter().enumerate().find_map(|(number, change)| {
        let of_record = versions.get(&change.name).map_or(&[][..], Vec::as_slice);
        let operation = change.operation();
        let is_its = |version: &RowVersion| operation_of(kv, version).as_ref() == Some(&operation);
        let first = of_record.iter().position(is_its);
        let again = of_record.iter().enumerate().skip(first.map_or(usize::MAX, |at| at + 1));
        let again = again.filter(|(at, version)| {
            let undone = AuditKey::parse(&of_record[at - 1].change).map_or(0, AuditKey::time_ms);
            is_its(version) && virtual_ms(undone) > change.begun_ms + APART_MS
        });
        let made = usize::from(first.is_some()) + again.count();
        let is_right = match () {
            () if change.is_done && made == 0 => {
                !change.is_added && books.database.was(&change.name, false, change.begun_ms)
            }
            () if change.is_done => made == 1,
            () if change.open == 0 => first.is_none_or(|at| is_replaced_at_once(of_record, at)),
            () => made <= 1,
        };
        let text = || format!("change {number} of {} is made {made} times", change.name);
        (!is_right).then(text)
    })
}

/// Whether somebody else replaced a change within the time in which a call of the database is tried again. If the
/// database made the change and its answer was lost, the second try is refused. The person then hears that somebody else
/// has changed the record.
fn is_replaced_at_once(versions: &[RowVersion], at: usize) -> bool {
    let next = versions.get(at + 1);
    next.is_some_and(|next| next.committed_ms <= versions[at].committed_ms + TRIED_MS)
}

/// Returns the hash of the operation that made a change, from the change's entry in the audit log.
fn operation_of(kv: &Kv, version: &RowVersion) -> Option<String> {
    Some(kv.last(&version.change)?.json()["operation"].as_str()?.to_owned())
}

/// Checks that KV has exactly what the row of a confirmed copy says. No late write may replace a confirmed copy.
pub fn a_confirmed_copy_is_in_kv(kv: &Kv, books: &Books) -> Wrong {
    let confirmed = "SELECT name FROM published WHERE confirmed > 0";
    let confirmed = books.database.sqlite().sql(confirmed);
    let versions = books.database.published.borrow();
    confirmed.iter().find_map(|name| {
        let (row, copy) = (versions.get(name)?.last()?, kv.last(name));
        let is_right = copy.as_ref().map(|copy| copy.json()) == row.content.as_ref();
        let copy = copy.as_ref().map_or(&Value::Null, |copy| copy.json());
        (!is_right).then(|| format!("{name} is {copy}, and its last change is {}", row.change))
    })
}
