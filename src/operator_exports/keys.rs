//! API keys, teams, and the register.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, now, to_js};
use crate::auth::{KeyLevel, KeyRecord};
use crate::operator::{keys, register, teams};
use crate::scope::Mode;
use serde::Deserialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[derive(Deserialize)]
struct NewKey {
    mode: Mode,
    unit: Option<String>,
    team: Option<String>,
    label: String,
}

impl NewKey {
    fn record(self) -> KeyRecord {
        let NewKey { mode, unit, team, label } = self;
        let level = match team {
            Some(team) => KeyLevel::Team(team),
            None => KeyLevel::Unit(unit.unwrap_or_default()),
        };
        KeyRecord { label, ..KeyRecord::new(mode, level) }
    }
}

/// Makes a key: `{mode, unit | team, label}` → `{key, id, name, mode, unit | team, …}`.
#[wasm_bindgen(js_name = createKey)]
pub async fn create_key(kv: Kv, by: String, key: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let key: NewKey = from_js(key)?;
    store.finish(now(keys::create(&store, store.ledger(), &author(&by)?, key.record()).await))
}

/// Throws if an ID of a unit or team is out of bounds: `[{unit} | {team}, …]`.
#[wasm_bindgen(js_name = checkLevels)]
pub fn check_levels(levels: JsValue) -> Result<(), JsValue> {
    from_js::<Vec<KeyLevel>>(levels).map(drop)
}

/// All keys → `[{id, name, mode, unit | team, label?, created, by, ends?, problem?, …}]`.
#[wasm_bindgen(js_name = listKeys)]
pub async fn list_keys(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(keys::list(&store, None, usize::MAX).await.map(|(keys, _)| keys))
}

/// A key as the list has it, or null.
#[wasm_bindgen(js_name = getKey)]
pub async fn get_key(kv: Kv, key: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(keys::get(&store, &key).await)
}

/// Revokes a key → `{id, name}`.
#[wasm_bindgen(js_name = revokeKey)]
pub async fn revoke_key(kv: Kv, by: String, key: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(now(keys::revoke(&store, store.ledger(), &author(&by)?, &key).await))
}

/// Replaces a key → `{made, replaces: {id, name}, end?: {ends, revoked}, failure?}`. `failure` is the
/// error if the end of the old key could not be written.
#[wasm_bindgen(js_name = rotateKey)]
pub async fn rotate_key(kv: Kv, by: String, key: String, keep_seconds: u32) -> Outcome {
    let store = KvStore::new(kv);
    let rotated =
        now(keys::rotate(&store, store.ledger(), &author(&by)?, &key, keep_seconds).await)
            .map_err(|error| store.failure(&error))?;
    let answer = to_js(&rotated)?;
    let (name, value) = match rotated.end {
        Ok(end) => ("end", to_js(&end)?),
        Err(error) => ("failure", store.failure(&error)),
    };
    js_sys::Reflect::set(&answer, &name.into(), &value)?;
    Ok(answer)
}

// ---- Teams and the register ----------------------------------------------------------------------

/// Looks for units and teams in the register: `[{unit} | {team}, …]` → those that it lacks, each with a
/// `suggestion`.
#[wasm_bindgen(js_name = lookUp)]
pub async fn look_up(kv: Kv, levels: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let levels: Vec<KeyLevel> = from_js(levels)?;
    store.finish(register::look_up(&store, &levels).await)
}

/// Adds units to the register.
#[wasm_bindgen(js_name = addUnits)]
pub async fn add_units(kv: Kv, by: String, units: Vec<String>) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(now(register::add(&store, store.ledger(), &author(&by)?, &units).await))
}

/// Adds units to a team → `{team, units, already: [{unit, created?, by?}]}`.
#[wasm_bindgen(js_name = addToTeam)]
pub async fn add_to_team(kv: Kv, by: String, team: String, units: Vec<String>) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(now(teams::add(&store, store.ledger(), &author(&by)?, &team, &units).await))
}

/// Removes units from a team → `{team, units}`.
#[wasm_bindgen(js_name = removeFromTeam)]
pub async fn remove_from_team(kv: Kv, by: String, team: String, units: Vec<String>) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(now(teams::remove(&store, store.ledger(), &author(&by)?, &team, &units).await))
}

/// The units of a team → `{team, units}`.
#[wasm_bindgen(js_name = getTeam)]
pub async fn get_team(kv: Kv, team: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(teams::get(&store, &team).await)
}

/// All teams → `[{team, units, created?, by?}]`, `units` being their number.
#[wasm_bindgen(js_name = listTeams)]
pub async fn list_teams(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(teams::list(&store, usize::MAX, usize::MAX).await.map(|(teams, _)| teams))
}
