//! Parts that several operations on keys share.

use crate::office::audit::rule::Author;
use crate::office::keys::rule::{KeyMetadata, KeyName, KeyRow, MadeKey};
use crate::office::shared::operation::call::{Call, Changed, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::spec::{Argument, text};
use crate::office::shared::rule::delays::REFUSED_SECONDS;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::pledges::service::{Clock, Entropy};

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

/// Describes a new key. If the key was shown before, says so instead.
pub(super) fn shown_once(made: &MadeKey) -> Changed {
    let KeyName { id, .. } = &made.row.name;
    let Ok(key) = made.secret() else {
        return Changed::new(
            format!(
                "The key {id} was already created and was shown only once. If nobody has stored it, it is lost: replace \
                 or revoke it."
            ),
            Facts::new(),
        );
    };
    let mut facts = vec![("Key", Fact::Id(key.to_owned())), ("ID", Fact::Id(id.clone()))];
    if let Some(note) = &made.row.note {
        facts.extend([
            ("Mode", Fact::Words(note.mode.name().to_owned())),
            ("For", Fact::Text([note.level.kind(), " ", note.level.id()].concat())),
            ("Label", Fact::Text(note.label.clone())),
        ]);
    }
    Changed::new(
        "Copy the key now: this is the only time that it is shown. Lists show its ID.",
        facts,
    )
}

/// Describes a key without the key itself.
pub(crate) fn facts<C: Clock, E: Entropy>(
    KeyRow { name, note, problem }: &KeyRow,
    reader: &Author<'_, C, E>,
) -> Facts {
    let mut facts = vec![("ID", Fact::Id(name.id.clone()))];
    if let Some(note) = note {
        let KeyMetadata { level, mode, label, created, by, by_shop, .. } = note;
        facts.extend([
            ("Mode", Fact::Mode(*mode)),
            ("For", Fact::Text([level.kind(), " ", level.id()].concat())),
            ("Label", Fact::Text(label.clone())),
            ("Created", Fact::Time(created.clone())),
            ("Created by", Fact::text(Some(reader.name_of(by, *by_shop)))),
            ("Replaces", Fact::text(note.predecessor.as_deref())),
            ("Replaced by", Fact::text(note.successor.as_deref())),
            ("Expires", note.ends.as_deref().map_or_else(|| Fact::words("never"), Fact::time)),
        ]);
    }
    facts.push(("Problem", Fact::text(problem.as_deref())));
    facts
}

pub(super) fn revoked(id: &str) -> String {
    format!("{id} is revoked. The service rejects it everywhere within about {REFUSED_SECONDS} s.")
}
