use super::parts::{KEY, facts, meant, revoked, shown_once};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyExpiry, KeyName, MadeKey, Rotated};
use crate::office::shared::operation::call::{
    Answer, Call, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::table::time;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::once::Done;
use serde::{Deserialize, Serialize};

/// How long a rotated key may keep working: 0 s, or from 60 s to a year. Workers KV accepts no expiry shorter
/// than 60 s.
const KEEP: Kind = Kind::Duration { least: 60, most: 365 * 86_400 };

pub const ROTATE: Spec = Spec::changes(
    "keys",
    "rotate",
    "replace a key: create one with the same rights, and let the old one expire",
    &[
        KEY,
        Argument::option(
            "keep",
            KEEP,
            "how long the old key keeps working, such as 90s, 30m, 24h or 7d; 0 revokes it at once. If the \
             old key already expires sooner, its expiry stays unchanged",
        )
        .required()
        .field("Keep the old key working for", ""),
    ],
)
.confirmed_if("the key was already replaced")
.button("Create the new key")
.answers("the members of `keys create`, for the new key; `predecessor`: the ID of the old key; `replaces`: `id` and `name` of the old key, `ends` (when it expires) and `revoked` (whether somebody revoked it at the same time)");

#[derive(Deserialize)]
pub struct Rotate {
    id: Option<String>,
    keep: u32,
}

#[derive(Serialize)]
struct Replacement<'r> {
    #[serde(flatten)]
    made: &'r MadeKey,
    replaces: Replaced<'r>,
}

#[derive(Serialize)]
struct Replaced<'r> {
    #[serde(flatten)]
    name: &'r KeyName,
    #[serde(flatten)]
    end: &'r KeyExpiry,
}

pub async fn rotate<P: Ports>(call: &Call<'_, P>, Rotate { id, keep }: Rotate) -> Result<Answer> {
    let key = meant(call, id).await?;
    if !call.was_done().await?
        && let Some(row) = keys::get(call.store, &key).await?
        && let Some(successor) = row.note.as_ref().and_then(|note| note.successor.as_ref())
    {
        let effect = format!(
            "This key was already replaced by {successor}. Replace it again only if that key was lost."
        );
        let author_name = call.host.person().await?;
        let facts = facts(&row, &call.author(&author_name)?);
        let question = Question::new("Create another key?", "nothing was done").about(facts);
        call.confirm(question.effect(effect).button("Create the new key")).await?;
    }
    let by = call.host.person().await?;
    let Done { outcome, before } =
        keys::rotate(call.store, call.ledger, &call.author(&by)?, &key, keep).await?;
    let Rotated { made, replaces, end } = outcome;
    match end {
        Ok(end) => {
            let mut change = shown_once(&made);
            change.said = format!("{} {}", change.said, ended(&replaces, &end, keep));
            let replaces = Replaced { name: &replaces, end: &end };
            let done = Done { outcome: Replacement { made: &made, replaces }, before };
            Ok(Answer::changed(&done, change)?.failing_if(made.key.is_none()))
        }
        Err(error) => Err(Failure::Partial(
            Box::new(not_ended(&made, &replaces, error)),
            Box::new(Answer::changed(&Done { outcome: &made, before }, shown_once(&made))?),
        )),
    }
}

/// Returns the error for a rotation that created the new key but could not end the old one. Both keys work.
fn not_ended(made: &MadeKey, old: &KeyName, error: OperatorError) -> Failure {
    let (new, old) = (&made.row.name.id, &old.id);
    invalid(format!(
        "the old key {old} still works, and so does the new key {new}: revoke one of them ({error})"
    ))
}

fn ended(
    KeyName { id, .. }: &KeyName,
    KeyExpiry { ends, revoked: is_revoked }: &KeyExpiry,
    keep: u32,
) -> String {
    match keep {
        _ if *is_revoked => format!("Somebody revoked {id} meanwhile; it stays revoked."),
        0 => revoked(id),
        _ => format!("{id} expires at {}.", time(ends)),
    }
}
