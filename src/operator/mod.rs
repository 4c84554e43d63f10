//! What an operator does to the service: makes keys, finds them, checks prices and profiles, finds
//! and erases transactions.
//!
//! The scripts run [`run`] as wasm. It keeps nothing: they carry records to and from Workers KV.

mod backfill;
mod catalogue;
mod erase;
mod export;
mod find;
mod keys;
mod profiles;
mod secret;
mod show;
mod transactions;
mod unpriced;

use crate::auth::{ApiKey, KeyRecord};
use crate::charge::Catalogue;
use crate::scope::Mode;
use crate::secret::NamespaceSecret;
use crate::store::{CatalogueKey, CredentialKey, Key, ProfileKey};
use crate::timeline::Profile;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;

type Outcome<T = Value> = Result<T, Box<dyn Error>>;

/// Runs a command such as `new-key` on its input, which is JSON.
///
/// # Errors
///
/// What is wrong with the input, such as `` `a b` is not an ID ``, in a line for the operator. None
/// repeats a key.
pub fn run(command: &str, input: &[u8]) -> Result<String, String> {
    let run = match command {
        "new-key" => keys::make,
        "replace-key" => keys::replace,
        "list-keys" => keys::list,
        "find-key" => keys::find,
        "catalogue" => catalogue::check,
        "catalogue-names" => catalogue::names,
        "stored-catalogue" => catalogue::stored,
        "profile" => profiles::make,
        "list-profiles" => profiles::list,
        "secret" => secret::make,
        "lookup-hashes" => secret::hashes,
        "transaction-name" => transactions::name,
        "find-transactions" => find::find,
        "show-transaction" => show::show,
        "export-transactions" => export::export,
        "unpriced-offerings" => unpriced::unpriced,
        "erasable" => erase::check,
        "erase-transaction" => erase::erase,
        "replays" => erase::replays,
        "complete-key" => backfill::key,
        "incomplete-transactions" => backfill::incomplete,
        "complete-transactions" => backfill::transactions,
        "seed" => seed,
        _ => return Err(format!("there is no operator's command `{command}`")),
    };
    let output = text(input).and_then(run).map_err(|error| error.to_string())?;
    Ok(output.to_string())
}

fn text(input: &[u8]) -> Outcome<&str> {
    str::from_utf8(input).map_err(|error| {
        let at = error.valid_up_to();
        format!("this is not UTF-8 text: look at byte {at}, and save it as UTF-8").into()
    })
}

/// A record for Workers KV.
fn entry(key: &impl Key, record: &impl Serialize) -> Outcome {
    let value = serde_json::to_string(&Versioned { record, version: Version })?;
    Ok(json!({ "key": key.name(), "value": value }))
}

#[derive(Serialize)]
struct Versioned<'r, R> {
    #[serde(flatten)]
    record: &'r R,
    version: Version,
}

/// The record of a key is one line that a script wrote: its line and column help nobody.
fn without_position(error: serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((problem, _)) => problem.to_owned(),
        None => text,
    }
}

#[derive(Deserialize)]
struct Development {
    keys: Vec<(String, KeyRecord)>,
    catalogue: Catalogue,
    secret: NamespaceSecret,
    profiles: BTreeMap<String, Profile>,
}

/// The data of local development. It belongs into no deployed namespace.
fn seed(_input: &str) -> Outcome {
    let Development { keys, catalogue, secret, profiles } =
        serde_json::from_str(include_str!("development.json"))?;
    let mut entries = vec![secret::entry_of(secret)?];
    for mode in [Mode::Test, Mode::Live] {
        entries.push(entry(&CatalogueKey(mode), &catalogue)?);
    }
    for (key, record) in &keys {
        let record = KeyRecord { secret: Some(secret), ..record.clone() };
        entries.push(entry(&CredentialKey(ApiKey::new(key).hash()), &record)?);
    }
    for (unit, profile) in &profiles {
        entries.push(entry(&ProfileKey(unit), profile)?);
    }
    let rows = keys.iter().map(|(key, record)| json!({ "key": key, "record": record }));
    Ok(json!({ "keys": rows.collect::<Value>(), "entries": entries }))
}
