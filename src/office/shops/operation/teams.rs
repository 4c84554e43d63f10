use super::register::confirm_new;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::time;
use crate::office::shared::rule::delays::{REFUSED_SECONDS, SHOWN_SECONDS};
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::rule::teams;
use crate::office::shops::rule::teams::{ExistingMember, TeamRow};
use crate::pledges::auth::KeyLevel;
use serde::Deserialize;

const TEAM: Argument =
    Argument::positional("team", text("team"), "the ID of the team").field("Team ID", "");
const UNITS: Argument = Argument::positional("unit", text("unit"), "the IDs of the units")
    .repeatable()
    .field("Unit ID", "");
const NEW: Argument =
    Argument::option("new", Kind::Flag, "only if the team does not exist yet, to create it");

pub const ADD: Spec =
    Spec::changes(
        "teams",
        "add",
        "add units to a team; the team's keys may then act for them",
        &[TEAM, UNITS, NEW],
    )
    .confirmed_if("the team or a unit is not registered")
    .button("Add unit")
    .answers("`team`; `units`: the units of the command; `already`: those that were in the team before, each with `unit`, and `created` and `by` where known");

#[derive(Deserialize)]
pub struct Members {
    team: String,
    #[serde(rename = "unit")]
    units: Vec<String>,
}

#[derive(Deserialize)]
pub struct Add {
    #[serde(flatten)]
    members: Members,
    #[serde(default)]
    new: bool,
}

pub async fn add<P: Ports>(
    call: &Call<'_, P>,
    Add { members: Members { team, units }, new: is_new }: Add,
) -> Result<Answer> {
    let levels: Vec<_> = std::iter::once(KeyLevel::Team(team.clone()))
        .chain(units.iter().cloned().map(KeyLevel::Unit))
        .collect();
    if !call.was_done().await? {
        if is_new && !teams::get(call.store, &team).await?.units.is_empty() {
            let problem = format!(
                "nothing was added: the team `{team}` already exists: add units on its page"
            );
            return Err(Failure::Usage(Refused::at("team", RefusalCode::NotAllowed, problem)));
        }
        confirm_new(call, &levels, "nothing was added").await?;
    }
    let by = call.host.person().await?;
    let added = teams::add(call.store, call.ledger, &call.author(&by)?, &team, &units).await?;
    let before: String = added.outcome.already.iter().map(already_in_words).collect();
    let said = format!(
        "The team's keys may act for {} now. A key that was refused a moment ago may stay refused for up \
         to {SHOWN_SECONDS} s.{before}",
        counted(&units)
    );
    Answer::changed(&added, Changed::new(said, Facts::new()))
}

fn counted(units: &[String]) -> String {
    match units {
        [unit] => unit.clone(),
        several => format!("{} units", several.len()),
    }
}

fn already_in_words(ExistingMember { unit, registered }: &ExistingMember) -> String {
    let by = registered.as_ref().map(|it| format!(": {} added it at {}", it.by, time(&it.created)));
    format!(" {unit} was already in the team{}.", by.unwrap_or_default())
}

pub const REMOVE: Spec = Spec::changes(
    "teams",
    "remove",
    "remove units from a team; the units' own keys and transactions stay",
    &[TEAM, UNITS],
)
.confirmed()
.answers("`team`; `units`: the units that were removed");

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    Members { team, units }: Members,
) -> Result<Answer> {
    if !call.was_done().await? {
        teams::check(&team, &units)?;
        let units = Fact::List(units.iter().cloned().map(Fact::Id).collect());
        let question = Question::new("Remove from this team?", "nothing was removed")
            .about(vec![("Units", units), ("Team", Fact::Id(team.clone()))])
            .effect("The team's keys will no longer be able to act for these units. Their own keys and transactions are kept.")
            .button("Remove");
        call.confirm(question).await?;
    }
    let by = call.host.person().await?;
    let removed = teams::remove(call.store, call.ledger, &call.author(&by)?, &team, &units).await?;
    let said = format!(
        "The team's keys may no longer act for {}. Such requests are refused everywhere within about \
         {REFUSED_SECONDS} s.",
        counted(&units)
    );
    Answer::changed(&removed, Changed::new(said, Facts::new()))
}

pub const SHOW: Spec = Spec::reads("teams", "show", "list the units of a team", &[TEAM])
    .answers("`team`; `units`: the IDs of its units");

#[derive(Deserialize)]
pub struct TeamArguments {
    team: String,
}

pub async fn show<P: Ports>(
    call: &Call<'_, P>,
    TeamArguments { team }: TeamArguments,
) -> Result<Answer> {
    let found = teams::get(call.store, &team).await?;
    if found.units.is_empty() {
        return Err(invalid(format!("the team `{team}` has no units")));
    }
    Answer::new(&found, members(&found.units).in_lines())
}

/// Returns the list of a team's units.
pub(crate) fn members(units: &[String]) -> Listing {
    Listing::new(units, "No units yet.", &[("Unit", &|unit| Fact::unit(unit))])
}

pub const LIST: Spec = Spec::reads("teams", "list", "list the teams", &[])
    .answers("`teams`: for each team, `team` (its ID), `units` (the number of its units), `created` and `by`");

#[derive(Deserialize)]
pub struct NoArguments {}

pub async fn list<P: Ports>(call: &Call<'_, P>, NoArguments {}: NoArguments) -> Result<Answer> {
    let (teams, _) = teams::list(call.store, usize::MAX, usize::MAX).await?;
    Answer::list("teams", &teams, listing(&teams).in_lines())
}

/// Returns the list of teams.
pub(crate) fn listing(teams: &[TeamRow]) -> Listing {
    Listing::new(
        teams,
        "There are no teams yet.",
        &[
            ("Team", &|it| Fact::Text(it.team.clone()).at(link::path(&["teams", &it.team]))),
            ("Units", &|it| Fact::number(it.units)),
            ("Created", &|it| Fact::time(it.registered.as_ref().map(|it| &*it.created))),
            ("Created by", &|it| Fact::text(it.registered.as_ref().map(|it| &*it.by))),
        ],
    )
}
