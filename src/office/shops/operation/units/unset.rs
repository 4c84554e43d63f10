//! Removes fields of a unit's profile.

use super::rows::{ID, ONE_PROFILE, after, profile_of};
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result, invalid};
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::rule::once::Done;
use crate::office::shops::rule::units;
use crate::office::shops::rule::units::Member;
use serde::Deserialize;
use strum::VariantNames as _;

pub const UNSET: Spec = Spec::changes(
    "units",
    "unset",
    "remove fields from a unit's profile. `units set` changes the name, and turns e-mails, the public total and messages off: `--mail off`, `--public-total off`, `--messaging-services none`",
    &[
        ID,
        Argument::positional(
            "fields",
            Kind::Choice { choices: Member::VARIANTS },
            "the fields to remove",
        )
        .repeatable(),
    ],
)
.answers(ONE_PROFILE);

#[derive(Deserialize)]
pub struct Unset {
    unit: String,
    fields: Vec<Member>,
}

pub async fn unset<P: Ports>(call: &Call<'_, P>, Unset { unit, fields }: Unset) -> Result<Answer> {
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let Done { outcome, before } =
        units::unset(call.store, call.ledger, &author, &unit, &fields).await?;
    let row = outcome.ok_or_else(|| invalid(format!("the unit `{unit}` has no profile")))?;
    let text = format!("{}\n\n{}", profile_of(&row), after());
    Ok(Answer::new(&row, text)?.since(before.as_deref()))
}
