use super::parts::shown_once;
use crate::office::keys::rule as keys;
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Spec, mode, text, unit};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::refused::Refused;
use crate::office::shops::operation::register::confirm_new;
use crate::pledges::auth::{KeyLevel, KeyRecord};
use crate::pledges::scope::Mode;
use serde::Deserialize;

const TEAM: Argument = Argument::option(
    "team",
    text("id"),
    "the team whose units the key may act for; each request names one of them in `X-Service-Unit-Id`",
);

pub const CREATE: Spec = Spec::changes(
    "keys",
    "create",
    "create an API key; it is shown only once, because only its hash is stored",
    &[
        mode("whether the key creates test or live transactions")
            .required()
            .menu("Mode", &["Test: nothing is charged", "Live: real pledges and charges"]),
        unit("the unit that the key acts for"),
        TEAM,
        Argument::option("label", text("text"), "a note that `keys list` shows")
            .or("")
            .field("Label, e.g. “web shop”", ""),
    ],
)
.confirmed_if("the unit or team is not registered")
.button("Create key")
.answers("`key`: the key itself, or `null` if it was shown before (with exit code 1); `id`; `name`: the name of its record, with its whole hash; `mode`; `unit` or `team`; `label`; `created`; `by`");

#[derive(Deserialize)]
pub struct Create {
    mode: Mode,
    unit: Option<String>,
    team: Option<String>,
    label: String,
}

impl Create {
    fn level(self) -> Result<(Mode, KeyLevel, String), Refused> {
        let level = match (self.unit, self.team) {
            (Some(unit), None) => KeyLevel::Unit(unit),
            (None, Some(team)) => KeyLevel::Team(team),
            _ => {
                return Err("say what the key acts for: give either `--unit` or `--team`".into());
            }
        };
        Ok((self.mode, level, self.label))
    }
}

pub fn check(values: &Values) -> Result<(), Refused> {
    values.read::<Create>()?.level().map(drop)
}

pub async fn create<P: Ports>(call: &Call<'_, P>, asked: Create) -> Result<Answer> {
    let (mode, level, label) = asked.level().map_err(Failure::Usage)?;
    let record = KeyRecord { label, ..KeyRecord::new(mode, level.clone()) };
    if !call.was_done().await? {
        keys::check(&record)?;
        confirm_new(call, &[level], "no key was created").await?;
    }
    let by = call.host.person().await?;
    let made = keys::create(call.store, call.ledger, &call.author(&by)?, record).await?;
    let answer = Answer::changed(&made, shown_once(&made.outcome))?;
    Ok(answer.failing_if(made.outcome.key.is_none()))
}
