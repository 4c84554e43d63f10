use super::{KeyRow, NotedKey};
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::records::Pages;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::secret;
use crate::pledges::auth::{ApiKey, KEY_ID_LENGTH, KeyHash};
use crate::pledges::scope::Mode;
use crate::pledges::store::{CredentialKey, OperatorStore};

/// Finds a key. `text` is the key itself, its whole hash, the name of its record, or its ID, which is the
/// beginning of its hash. An ID is looked up in a list, where keys of the last minute may be missing. KV
/// cost: 1 list for an ID.
///
/// # Errors
/// - If the text is none of these.
/// - If the ID matches no key, or several keys.
/// - If the store fails.
pub(super) async fn find(store: &impl OperatorStore, text: &str) -> Result<CredentialKey> {
    let text = text.trim();
    if let Some(key) = whole(text) {
        return Ok(key);
    }
    let is_hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hexadecimal || !(KEY_ID_LENGTH..=64).contains(&text.len()) {
        let problem = "this is neither a key nor an ID: take the ID from the key list";
        return Err(OperatorError::at("id", RefusalCode::Invalid, problem));
    }
    let mut found = Vec::new();
    let mut pages = Pages::new(store, CredentialKey::hash_prefix(text));
    while let Some(page) = pages.next().await? {
        found.extend(secret::credential_keys(&page));
    }
    match found.as_slice() {
        [key] => Ok(*key),
        [] => Err(OperatorError::at(
            "id",
            RefusalCode::NotFound,
            format!(
                "no key in the list has the ID `{text}`. The list may lack keys that were created in the \
             last {SHOWN_SECONDS} s. To find such a key, give the key itself or its whole hash"
            ),
        )),
        several => Err(OperatorError::at(
            "id",
            RefusalCode::NotAllowed,
            format!(
                "{} keys have IDs that begin with `{text}`: give more digits of the key's hash, or the key itself",
                several.len()
            ),
        )),
    }
}

/// Returns the key for a text that identifies it without a list call: the key itself, its whole hash, or the name of
/// its record.
fn whole(text: &str) -> Option<CredentialKey> {
    if [Mode::Test, Mode::Live].iter().any(|mode| text.starts_with(mode.key_prefix())) {
        return Some(CredentialKey(ApiKey::new(text).hash()));
    }
    CredentialKey::parse(text).or_else(|| KeyHash::from_hex(text).map(CredentialKey))
}

/// Returns a key by any text that [`find`] accepts; `None` if the key does not exist.
///
/// # Errors
/// As [`find`].
pub async fn get(store: &impl OperatorStore, key: &str) -> Result<Option<KeyRow>> {
    let key = find(store, key).await?;
    let stored = store.get(&NotedKey(key)).await?;
    Ok(stored.map(|stored| KeyRow::new(key, &stored.metadata, None)))
}
