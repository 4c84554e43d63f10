//! What an operator does to the service: makes keys, finds them, checks prices.
//!
//! `operator COMMAND` reads its input from standard input and writes one line of JSON. It keeps
//! nothing: the scripts that call it carry records to and from Workers KV.

use impact_pledge::auth::{
    ApiKey, KEY_BYTES, KEY_ID_LENGTH, KeyHash, KeyLevel, KeyRecord, Mode, new_key,
};
use impact_pledge::charge::{Catalogue, UnitPrice, read_prices};
use impact_pledge::pledge::CurrencyCode;
use impact_pledge::store::{CatalogueKey, CredentialKey, Key, ProfileKey};
use impact_pledge::timeline::Profile;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read as _};
use std::process::ExitCode;

type Outcome<T = Value> = Result<T, Box<dyn Error>>;

/// Exit codes: 0 done, 1 the input is wrong, 2 there is no such command.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["new-key"] => make_key,
        ["list-keys"] => list_keys,
        ["find-key"] => find_key,
        ["catalogue"] => |input: &str| check_catalogue(input).map_err(in_json_words),
        ["profile"] => make_profile,
        ["list-profiles"] => list_profiles,
        ["seed"] => seed,
        _ => {
            eprintln!(
                "usage: operator new-key|list-keys|find-key|catalogue|profile|list-profiles|seed <INPUT"
            );
            return ExitCode::from(2);
        }
    };
    match read_input().and_then(|input| run(&input)) {
        Ok(output) => {
            println!("{output}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn read_input() -> Outcome<String> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("this is not UTF-8 text: look at byte {at}, and save it as UTF-8").into()
    })
}

/// A record for Workers KV.
fn entry(key: &impl Key, record: &impl Serialize) -> Outcome {
    Ok(json!({ "key": key.name(), "value": serde_json::to_string(record)? }))
}

/// What the key list shows of a key, and enough to name it.
#[derive(Serialize)]
struct Row<'r> {
    id: String,
    #[serde(flatten)]
    record: &'r KeyRecord,
}

/// Characters of a hash that the key list shows: 48 bits distinguish any number of keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    /// Random bytes in hexadecimal: the caller draws them.
    random: String,
    record: KeyRecord,
}

/// `{random, record}` → the key, which is shown once, and its record, which is all that is kept.
fn make_key(input: &str) -> Outcome {
    let NewKey { random, record } = serde_json::from_str(input).map_err(without_position)?;
    let random: [u8; KEY_BYTES] = base16ct::mixed::decode_vec(&random)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("`random` is not {KEY_BYTES} bytes in hexadecimal"))?;
    let key = new_key(record.mode, random);
    let hash = ApiKey::new(&key).hash();
    let entry = entry(&CredentialKey(hash), &record)?;
    Ok(json!({ "key": key, "row": Row { id: hash.id(), record: &record }, "entry": entry }))
}

/// The record of a key is one line that a script wrote: its line and column help nobody.
fn without_position(error: serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((problem, _)) => problem.to_owned(),
        None => text,
    }
}

/// `{name: record}` as found in Workers KV → a row for each. A record that cannot be read is listed,
/// too: it can still be revoked.
fn list_keys(input: &str) -> Outcome {
    let found: BTreeMap<String, Option<String>> = serde_json::from_str(input)?;
    Ok(found.iter().filter_map(|(name, value)| row(name, value.as_deref()?)).collect())
}

/// `None` for a name that is not a key's.
fn row(name: &str, value: &str) -> Option<Value> {
    let id = hash_of(name)?.id();
    Some(match serde_json::from_str::<KeyRecord>(value) {
        Ok(record) => json!(Row { id, record: &record }),
        Err(error) => json!({ "id": id, "problem": without_position(error) }),
    })
}

fn hash_of(name: &str) -> Option<KeyHash> {
    let (_, hex) = name.split_once(':')?;
    KeyHash::from_hex(hex).filter(|hash| CredentialKey(*hash).name() == name)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// A key, or the beginning of its hash as the key list shows it.
    key: String,
    /// The names of all key records.
    names: Vec<String>,
}

/// `{key, names}` → the one record that is meant. No error repeats a key.
fn find_key(input: &str) -> Outcome {
    let Wanted { key, names } = serde_json::from_str(input)?;
    let key = key.trim();
    let is_key = [Mode::Test, Mode::Live].iter().any(|mode| key.starts_with(mode.key_prefix()));
    let start = if is_key { ApiKey::new(key).hash().to_hex() } else { key.to_owned() };
    let is_hexadecimal = start.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hexadecimal || !(KEY_ID_LENGTH..=64).contains(&start.len()) {
        return Err("this is neither a key nor an ID: take the ID from the key list".into());
    }
    let hashes = names.iter().filter_map(|name| hash_of(name));
    let found: Vec<_> = hashes.filter(|hash| hash.to_hex().starts_with(&start)).collect();
    let problem = match found.as_slice() {
        [hash] => {
            let name = CredentialKey(*hash).name();
            return Ok(json!({ "id": hash.id(), "name": name }));
        }
        [] if is_key => {
            let id = ApiKey::new(key).hash().id();
            format!("no such key is stored (its ID would be `{id}`): see the key list")
        }
        [] => format!("no key has the ID `{start}`: see the key list"),
        several => format!(
            "{} keys have IDs that begin with `{start}`: give more of the hash, or the key itself",
            several.len()
        ),
    };
    Err(problem.into())
}

/// What serde says of a file, as its author calls it: JSON has members and values, not fields and
/// variants. Text that is no JSON at all is called that.
fn in_json_words(error: Box<dyn Error>) -> Box<dyn Error> {
    let Some(json) = error.downcast_ref::<serde_json::Error>() else { return error };
    let text = json.to_string();
    if !json.is_data() {
        return format!("is not JSON: {text}").into();
    }
    for (theirs, ours) in [(" field `", " member `"), (" variant `", " value `")] {
        if let Some((kind @ ("unknown" | "missing" | "duplicate"), rest)) = text.split_once(theirs)
        {
            return format!("{kind}{ours}{rest}").into();
        }
    }
    error
}

/// Most bytes of a catalogue: every isolate of the service holds it.
const MAX_CATALOGUE_BYTES: usize = 1024 * 1024;

/// A [`Catalogue`] as a person writes it: a member that the service would pass over is a mistake.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CatalogueFile {
    currency_code: CurrencyCode,
    #[serde(deserialize_with = "read_prices")]
    unit_prices: BTreeMap<String, UnitPrice>,
}

/// A catalogue as a person writes it → its record.
fn check_catalogue(input: &str) -> Outcome {
    if input.len() > MAX_CATALOGUE_BYTES {
        let length = input.len();
        return Err(format!(
            "a catalogue may have {MAX_CATALOGUE_BYTES} bytes, this has {length}: leave out \
             offerings that cost nothing"
        )
        .into());
    }
    let CatalogueFile { currency_code, unit_prices } =
        serde_json::from_str(input.trim_start_matches('\u{feff}'))?; // an editor may put one there
    let catalogue = Catalogue { currency_code, unit_prices };
    Ok(json!({ "catalogue": catalogue, "entry": entry(&CatalogueKey, &catalogue)? }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewProfile {
    unit: String,
    profile: Profile,
}

/// `{unit, profile}` → the profile as it is kept, and its record.
fn make_profile(input: &str) -> Outcome {
    let NewProfile { unit, profile } = serde_json::from_str(input).map_err(without_position)?;
    // A unit's ID is what a key may have as one.
    let level = json!({ "level": "unit", "unitId": unit });
    serde_json::from_value::<KeyLevel>(level).map_err(without_position)?;
    let entry = entry(&ProfileKey(&unit), &profile)?;
    Ok(json!({ "unit": unit, "profile": profile, "entry": entry }))
}

/// `{name: record}` as found in Workers KV → a row for each, also for what the service cannot read.
fn list_profiles(input: &str) -> Outcome {
    let found: BTreeMap<String, Option<String>> = serde_json::from_str(input)?;
    let row = |(name, value): (&String, &Option<String>)| {
        let unit = name.strip_prefix(&ProfileKey("").name())?;
        Some(match serde_json::from_str::<Profile>(value.as_deref()?) {
            Ok(profile) => json!({ "unit": unit, "profile": profile }),
            Err(error) => json!({ "unit": unit, "problem": without_position(error) }),
        })
    };
    Ok(found.iter().filter_map(row).collect())
}

#[derive(Deserialize)]
struct Development {
    keys: Vec<(String, KeyRecord)>,
    catalogue: Catalogue,
    profiles: BTreeMap<String, Profile>,
}

/// The data of local development. It belongs into no deployed namespace.
fn seed(_input: &str) -> Outcome {
    let Development { keys, catalogue, profiles } =
        serde_json::from_str(include_str!("development.json"))?;
    let mut entries = vec![entry(&CatalogueKey, &catalogue)?];
    for (key, record) in &keys {
        entries.push(entry(&CredentialKey(ApiKey::new(key).hash()), record)?);
    }
    for (unit, profile) in &profiles {
        entries.push(entry(&ProfileKey(unit), profile)?);
    }
    let rows = keys.iter().map(|(key, record)| json!({ "key": key, "record": record }));
    Ok(json!({ "keys": rows.collect::<Value>(), "entries": entries }))
}
