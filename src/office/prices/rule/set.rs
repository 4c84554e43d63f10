//! Sets the price lists of modes and units, and removes the price lists of units.

use super::removal::{RemovalMark, keep_version};
use super::rules::{charged_keys, check_length};
use super::{Current, Edit, current};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::encode;
use crate::office::shared::rule::shared_record::SharedRecord;
use crate::office::shops::rule::{register, units};
use crate::pledges::auth::KeyLevel;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{
    ChangeNote, Key as _, MAX_PRICES_BYTES, MAX_UNIT_PRICES_BYTES, OperatorStore, PriceListKey,
    PriceListVersionKey,
};
use crate::pledges::time::date_time;

const SET: &str = "prices set";
const REMOVE: &str = "prices remove";

/// Changes the prices of a mode or of a unit, and registers the unit if it is not registered. Returns the
/// time of the change. This version of the price list is kept permanently under that time.
///
/// `seen` is the [`revision`](Current::revision) of the prices that the person saw. If the prices have
/// changed since then, this change is refused. `None` skips the check.
///
/// # Errors
/// - If the unit's ID is not valid, the edit does not apply, or the price list is too large.
/// - If the current revision is not `seen`.
/// - If somebody else sets the prices at the same moment, or has just set them.
/// - If the store or the ledger fails.
pub async fn set(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: PriceListKey<'_>,
    edit: &Edit,
    seen: Option<&str>,
) -> Result<Done<String>> {
    let work = async |author: &Author<'_, _, _>| {
        let now = current(store, of).await?;
        let price_list = now.with(edit)?;
        if let Some(seen) = seen {
            now.check_seen(store, seen, Some(&price_list)).await?;
        }
        now.replace(store, author, price_list).await
    };
    once(ledger, author, (SET, &(of.name(), edit, seen)), work).await
}

/// Removes the price list of a unit, so that the mode's list applies to it again. `seen` is the revision that
/// the person saw, as for [`set`]. Returns the time of the removal.
///
/// # Errors
/// - If the unit's ID is not valid, or the unit has no price list of its own.
/// - If the current revision is not `seen`.
/// - If somebody else changes the list at the same moment, or has just changed it.
/// - If the store or the ledger fails.
pub async fn remove(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (mode, unit): (Mode, &str),
    seen: Option<&str>,
) -> Result<Done<String>> {
    let of = PriceListKey::of_unit(mode, unit);
    let work = async |author: &Author<'_, _, _>| {
        let now = current(store, of).await?;
        match (now.is_set(), author.earlier) {
            (true, _) => {}
            (false, Some(earlier)) => return Ok(date_time(earlier.since_ms)), // an earlier attempt has removed it
            (false, None) => return Err(has_none(of)),
        }
        if let Some(seen) = seen {
            now.check_seen(store, seen, None).await?;
        }
        now.remove(store, author).await
    };
    once(ledger, author, (REMOVE, &(of.name(), seen)), work).await
}

fn has_none(of: PriceListKey<'_>) -> OperatorError {
    OperatorError::invalid(format!("{} have no price list of their own", charged_keys(of)))
}

impl Current<'_> {
    async fn replace(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
        price_list: PriceList,
    ) -> Result<String> {
        let of = self.of;
        let at = |time: &str| PriceList { prices: Some(time.to_owned()), ..price_list.clone() };
        let most = of.unit.map_or(MAX_PRICES_BYTES, |_| MAX_UNIT_PRICES_BYTES);
        check_length(&encode(&at(&author.registered().created))?, most)?;
        let is_changed = |note: &ChangeNote| changes(of, note);
        let contested = shared_record(of, &is_changed);
        let turn = contested.begin(store, author, self.seen, SET, |time| on(of, time)).await?;
        let time = turn.at().to_owned();
        let prices = at(&time);
        let unit: Vec<_> =
            of.unit.map(|unit| KeyLevel::Unit(unit.to_owned())).into_iter().collect();
        let keep = async || {
            register::ensure(store, author, &unit).await?;
            keep_version(store, author, PriceListVersionKey { of, time: &time }, &prices).await
        };
        turn.write(&prices, keep).await?; // `keep` runs first, so that the list exists before its time is used
        Ok(time)
    }

    async fn remove(
        &self,
        store: &impl OperatorStore,
        author: &Author<'_, impl Clock, impl Entropy>,
    ) -> Result<String> {
        let of = self.of;
        let is_changed = |note: &ChangeNote| changes(of, note);
        let contested = shared_record(of, &is_changed);
        let turn = contested.begin(store, author, self.seen, REMOVE, |time| on(of, time)).await?;
        let time = turn.at().to_owned();
        let version = PriceListVersionKey { of, time: &time };
        let mark = RemovalMark { removed: true };
        turn.remove(async || keep_version(store, author, version, &mark).await).await?;
        Ok(time)
    }
}

// ---- Conflicting changes -------------------------------------------------------------------------

fn shared_record<'c>(
    of: PriceListKey<'c>,
    is_changed_by: &'c dyn Fn(&ChangeNote) -> bool,
) -> SharedRecord<'c, PriceListKey<'c>> {
    let words = format!("the prices for {}", charged_keys(of));
    SharedRecord { key: of, words, is_changed_by, removed_by: &[REMOVE, units::REMOVE] }
}

/// Returns the name of the price list's new version. The audit log entry of a change identifies the price
/// list by this name.
fn on(of: PriceListKey<'_>, time: &str) -> Vec<String> {
    vec![PriceListVersionKey { of, time }.name()]
}

fn changes(of: PriceListKey<'_>, note: &ChangeNote) -> bool {
    match &*note.command {
        SET | REMOVE => {
            PriceListVersionKey::parse(&note.on).is_some_and(|version| version.of == of)
        }
        units::REMOVE => of.unit == Some(&note.on),
        _ => false,
    }
}
