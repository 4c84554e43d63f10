//! Parts that several operations on keys share.

use crate::office::keys::rule::MadeKey;
use crate::office::shared::operation::call::{Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, text};
use crate::office::shared::operation::table::sentence;
use crate::office::shared::rule::delays::REFUSED_SECONDS;
use crate::office::shared::rule::refused::{RefusalCode, Refused};

pub(super) const KEY: Argument = Argument::positional(
    "id",
    text("id"),
    "the key's ID as in `keys list`, or its whole hash; without it, the key itself is read from standard input",
)
.optional();

/// Returns the key that the command is about. If no ID is given, reads the key itself from standard input, so
/// that the shell's history does not contain it.
pub(super) async fn meant<P: Ports>(call: &Call<'_, P>, id: Option<String>) -> Result<String> {
    let key = match id {
        Some(id) => id,
        None => String::from_utf8_lossy(&call.host.read("-").await?).into_owned(),
    };
    match key.trim() {
        "" => Err(Failure::Usage(Refused::at(
            "id",
            RefusalCode::Required,
            "`<id>` is missing: give the ID of the key, or the key itself on standard input",
        ))),
        key => Ok(key.to_owned()),
    }
}

/// Returns the text that shows a new key. If the key was shown before, the text says so instead.
pub(super) fn shown_once(made: &MadeKey) -> String {
    let key = match made.secret() {
        Ok(key) => key,
        Err(shown_before) => return sentence(&shown_before.to_string()),
    };
    let mode = made.row.note.as_ref().map_or("", |note| note.mode.name());
    let id = &made.row.name.id;
    format!(
        "{key}\n\nThis {mode} key is shown only once: store it now. `keys list` shows its ID, {id}."
    )
}

pub(super) fn revoked(id: &str) -> String {
    format!("{id} is revoked. The service rejects it everywhere within about {REFUSED_SECONDS} s.")
}
