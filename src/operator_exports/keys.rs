//! API keys.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::auth::{KeyLevel, KeyRecord};
use crate::operator::keys;
use crate::scope::Mode;
use serde::Deserialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[derive(Deserialize)]
struct Options {
    mode: Mode,
    /// All units of the team, or the only unit.
    units: Vec<String>,
    team: Option<String>,
    label: String,
}

impl From<Options> for KeyRecord {
    fn from(Options { mode, units, team, label }: Options) -> Self {
        let level = match team {
            Some(team_id) => KeyLevel::Team { team_id, unit_ids: units },
            None => KeyLevel::Unit { unit_id: units.into_iter().next().unwrap_or_default() },
        };
        KeyRecord { label, ..KeyRecord::new(mode, level) }
    }
}

/// Makes a key: `{mode, units, team?, label}` → `{key, id, name, mode, level, …}`.
#[wasm_bindgen(js_name = createKey)]
pub async fn create_key(kv: Kv, by: String, options: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let options: Options = from_js(options)?;
    store.finish(keys::create(&store, &author(&by)?, options.into()).await)
}

/// All keys → `[{id, name, mode, level, …, ends?, problem?}]`.
#[wasm_bindgen(js_name = listKeys)]
pub async fn list_keys(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(keys::list(&store).await)
}

/// Revokes a key → `{id, name, found}`.
#[wasm_bindgen(js_name = revokeKey)]
pub async fn revoke_key(kv: Kv, by: String, key: String) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(keys::revoke(&store, &author(&by)?, &key).await)
}

/// Replaces a key → `{made, replaces: {id, name, ends}, failure?}`. `failure` is the error if the
/// end of the old key could not be written.
#[wasm_bindgen(js_name = rotateKey)]
pub async fn rotate_key(kv: Kv, by: String, key: String, keep_seconds: u32) -> Outcome {
    let store = KvStore::new(kv);
    let rotated = keys::rotate(&store, &author(&by)?, &key, keep_seconds)
        .await
        .map_err(|error| store.failure(&error))?;
    let answer = to_js(&rotated)?;
    if let Err(error) = rotated.ended {
        js_sys::Reflect::set(&answer, &"failure".into(), &store.failure(&error.into()))?;
    }
    Ok(answer)
}
