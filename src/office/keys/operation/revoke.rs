use super::parts::{KEY, facts, meant, revoked};
use crate::office::audit::rule::Author;
use crate::office::keys::rule as keys;
use crate::office::keys::rule::{KeyName, KeyRow};
use crate::office::shared::operation::call::{Answer, Call, Changed, Host as _, Ports, Result};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::rule::delays::{KEY_CACHED_SECONDS, REFUSED_SECONDS, USED_SECONDS};
use crate::pledges::service::{Clock, Entropy};
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
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    if !call.was_done().await?
        && let Some(row) = keys::get(call.store, &key).await?
    {
        call.confirm(question(&row, &author)).await?;
        key = row.name.name;
    }
    let done = keys::revoke(call.store, call.ledger, &author, &key).await?;
    let change = Changed::new(revoked(&done.outcome.id), Facts::new());
    Answer::changed(&done.map(|name| Revoked { name, revoked: true }), change)
}

fn question<C: Clock, E: Entropy>(row: &KeyRow, author: &Author<'_, C, E>) -> Question {
    let id = &row.name.id;
    Question::new(format!("Revoke the key {id}?"), "nothing was revoked")
        .about(facts(row, author))
        .effect(format!(
            "Everything that uses this key will stop working. This cannot be undone. The service may still accept the key for \
             up to {REFUSED_SECONDS} s: each location of Cloudflare caches a key for up to {KEY_CACHED_SECONDS} s, and then a \
             running Worker for another {USED_SECONDS} s. To change a key without an interruption, replace it instead."
        ))
        .button(format!("Revoke the key {id}"))
}
