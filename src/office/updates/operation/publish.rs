//! Publishes and withdraws updates.

use super::add::warning;
use super::answer::{answer, facts, shown_later, stopped_later};
use super::arguments::{ID, REVISION};
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::updates::rows::updates::{UpdateRow, UpdateState};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewUpdate;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Named {
    pub(super) update: String,
    revision: Option<u64>,
}

pub const PUBLISH: Spec = Spec::changes(
    "updates",
    "publish",
    "publish an update: it then appears on the timeline of every buyer who pledged for the offering in \
     that month",
    &[ID, REVISION],
)
.confirmed()
.answers("the same members as in the answer of `updates add`");

pub async fn publish<P: Ports>(
    call: &Call<'_, P>,
    Named { update, revision }: Named,
) -> Result<Answer> {
    let found = updates::get(call.ledger, &update).await?;
    let revision = revision.unwrap_or(found.revision);
    if !call.was_done().await? {
        updates::check_seen(&found, revision)?;
        updates::check_publishable(&found.update)?;
        let warning = warning(call, &found, &NewUpdate::from(&found.update)).await?;
        let effect = format!("{warning}Timelines show the update after about {APPLIED_SECONDS} s.");
        let question = Question::new("Publish this update?", "nothing was published");
        call.confirm(question.about(facts(&found)).effect(effect).button("Publish")).await?;
    }
    let by = call.host.person().await?;
    let of = (&*update, revision);
    let done = updates::publish(call.store, call.ledger, &call.author(&by)?, of).await?;
    answer(&done, "The update was published.", &shown_later())
}

pub const WITHDRAW: Spec = Spec::changes(
    "updates",
    "withdraw",
    "withdraw an update: timelines no longer show it; it stays in the database and can be published again",
    &[ID, REVISION],
)
.confirmed()
.answers("the same members as in the answer of `updates add`");

pub async fn withdraw<P: Ports>(
    call: &Call<'_, P>,
    Named { update, revision }: Named,
) -> Result<Answer> {
    let found = updates::get(call.ledger, &update).await?;
    let revision = revision.unwrap_or(found.revision);
    if !call.was_done().await? {
        updates::check_seen(&found, revision)?;
        call.confirm(withdrawing(&found)).await?;
    }
    let by = call.host.person().await?;
    let of = (&*update, revision);
    let done = updates::withdraw(call.store, call.ledger, &call.author(&by)?, of).await?;
    match found.state {
        UpdateState::Draft => answer(&done, "The draft was discarded. It stays in the list.", ""),
        _ => answer(&done, "The update was withdrawn. It stays in the list.", &stopped_later()),
    }
}

fn withdrawing(found: &UpdateRow) -> Question {
    let question = match found.state {
        UpdateState::Draft => {
            Question::new("Discard this draft?", "nothing was discarded").button("Discard draft")
        }
        _ => Question::new("Withdraw this update?", "nothing was withdrawn").button("Withdraw").effect(
            format!(
                "Timelines stop showing the update after about {APPLIED_SECONDS} s. Buyers may have printed or saved \
                 their page."
            ),
        ),
    };
    question.about(facts(found))
}
