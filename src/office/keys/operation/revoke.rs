use super::parts::{KEY, meant, revoked};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyName, KeyRow};
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::spec::Spec;
use crate::office::shops::operation::register::whose;
use serde::{Deserialize, Serialize};

pub const REVOKE: Spec = Spec::changes("keys", "revoke", "revoke a key", &[KEY])
    .confirmed()
    .answers("`id`, `name`, `revoked`");

#[derive(Deserialize)]
pub struct Revoke {
    id: Option<String>,
}

#[derive(Serialize)]
struct Revoked {
    #[serde(flatten)]
    name: KeyName,
    revoked: bool,
}

pub async fn revoke<P: Ports>(call: &Call<'_, P>, Revoke { id }: Revoke) -> Result<Answer> {
    let mut key = meant(call, id).await?;
    if !call.was_done().await?
        && let Some(row) = keys::get(call.store, &key).await?
    {
        let question = format!("Revoke {}, {}?", described(&row), call.place);
        call.host.confirm(&question, "nothing was revoked").await?;
        key = row.name.name;
    }
    let by = call.host.person().await?;
    let done = keys::revoke(call.store, call.ledger, &call.author(&by)?, &key).await?;
    let text = revoked(&done.outcome.id);
    Answer::done(&done.map(|name| Revoked { name, revoked: true }), text)
}

fn described(KeyRow { name: KeyName { id, .. }, note, problem }: &KeyRow) -> String {
    let Some(note) = note else {
        return format!("the key {id} ({})", problem.as_deref().unwrap_or_default());
    };
    let label = match &*note.label {
        "" => String::new(),
        label => format!(", “{label}”"),
    };
    format!("the {} key {id} of the {}{label}", note.mode.name(), whose(&note.level))
}
