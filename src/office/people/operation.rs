use super::rows::changes::Removable;
use super::rows::people::Person;
use super::rule as people;
use super::rule::{AddedPerson, normal_address};
use crate::office::people::rows::people::PersonRole;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text, unit};
use crate::office::shared::operation::table::capital;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::refused::Refused;
use crate::office::shops::operation::register::{confirm_new, must_be_registered, whose};
use crate::pledges::auth::KeyLevel;
use serde::{Deserialize, Serialize};

const ADDRESS: Argument = Argument::positional(
    "address",
    text("address"),
    "the e-mail address with which the person signs in",
)
.field(
    "E-mail address",
    "The person signs in with this address. No e-mail is sent: tell the person yourself.",
);
const TEAM: Argument = Argument::option(
    "team",
    text("id"),
    "the ID of the team, for all its units; give either `--team` or `--unit`",
);
const UNIT: Argument = unit("the ID of the unit; give either `--unit` or `--team`");

pub const ADD: Spec = Spec::changes(
    "people",
    "add",
    "let a person sign in to the dashboard for a unit, or for all units of a team",
    &[
        ADDRESS,
        UNIT,
        TEAM,
        Argument::option(
            "role",
            Kind::Choice { choices: &["manager", "viewer"] },
            "what the person may do; a manager also changes keys, the profile and the people",
        )
        .required()
        .menu("Role", &["Manager", "Viewer"]),
    ],
)
.confirmed_if("the unit or team is not registered")
.button("Add person")
.answers("`unit` or `team`; `role`; `already`: whether the person had this role before");

/// The unit or team that a command's arguments name.
#[derive(Deserialize)]
pub struct Place {
    unit: Option<String>,
    team: Option<String>,
}

impl Place {
    fn level(self) -> Result<KeyLevel, Refused> {
        match (self.unit, self.team) {
            (Some(unit), None) => Ok(KeyLevel::Unit(unit)),
            (None, Some(team)) => Ok(KeyLevel::Team(team)),
            _ => Err("give either `--unit` or `--team`".into()),
        }
    }
}

/// Checks that the arguments name either a unit or a team. All operations on people need this.
pub fn check(values: &Values) -> Result<(), Refused> {
    values.read::<Place>()?.level().map(drop)
}

#[derive(Deserialize)]
pub struct Add {
    address: String,
    #[serde(flatten)]
    place: Place,
    role: PersonRole,
}

pub async fn add<P: Ports>(
    call: &Call<'_, P>,
    Add { address, place, role }: Add,
) -> Result<Answer> {
    let place = place.level().map_err(Failure::Usage)?;
    if !call.was_done().await? {
        people::check(&place, &address)?;
        confirm_new(call, std::slice::from_ref(&place), "nobody was added").await?;
    }
    let by = call.host.person().await?;
    let (author, whom) = (call.author(&by)?, (&place, &*address));
    let added = people::add(call.store, call.ledger, &author, whom, role).await?;
    let change = Changed::new(in_words(&added.outcome, &address), Facts::new());
    Answer::changed(&added, change)
}

fn in_words(AddedPerson { place, role, already }: &AddedPerson, address: &str) -> String {
    let (role, place, address) = (role.name(), whose(place), normal_address(address));
    match already {
        true => format!("{address} is already a {role} of the {place}. Nothing was changed."),
        false => format!(
            "{address} is a {role} of the {place}, and can sign in at once, if Cloudflare Access lets the address in. \
             Send the person the address of the dashboard."
        ),
    }
}

pub const REMOVE: Spec = Spec::changes(
    "people",
    "remove",
    "remove a person from a unit or a team",
    &[ADDRESS, UNIT, TEAM],
)
.confirmed()
.answers("an empty JSON object")
.noted("Operators may remove the last manager of a unit or a team.");

#[derive(Deserialize)]
pub struct Remove {
    address: String,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Nothing {}

pub async fn remove<P: Ports>(
    call: &Call<'_, P>,
    Remove { address, place }: Remove,
) -> Result<Answer> {
    let place = place.level().map_err(Failure::Usage)?;
    let address = normal_address(&address);
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let is_own = call.memberships.is_some() && address == normal_address(&by);
    if !call.was_done().await? {
        people::check(&place, &address)?;
        let question = if is_own { leaving(&place) } else { removing(&place, &address) };
        call.confirm(question).await?;
    }
    let which = if call.memberships.is_none() { Removable::All } else { Removable::NotTheLast };
    let removed = match is_own {
        true => people::leave(call.ledger, &author, &place).await?,
        false => people::remove(call.ledger, &author, (&place, &address), which).await?,
    };
    let change = Changed::new(removed_in_words(&place, &address, is_own), Facts::new());
    Answer::changed(&removed.map(|()| Nothing {}), change)
}

fn removing(place: &KeyLevel, address: &str) -> Question {
    Question::new("Remove this person?", "nobody was removed")
        .about(vec![
            ("Address", Fact::Text(address.to_owned())),
            ("For", Fact::Text([place.kind(), " ", place.id()].concat())),
        ])
        .effect(format!(
            "The person can no longer sign in for this {}. API keys that the person has seen still work: replace them.",
            place.kind()
        ))
        .button("Remove this person")
}

fn leaving(place: &KeyLevel) -> Question {
    Question::new(format!("Leave this {}?", place.kind()), "you did not leave")
        .effect(format!(
            "You can no longer sign in for the {}. Only a manager or an operator can add you again.",
            whose(place)
        ))
        .button(format!("Leave this {}", place.kind()))
}

fn removed_in_words(place: &KeyLevel, address: &str, is_own: bool) -> String {
    let place = whose(place);
    match is_own {
        true => format!("You left the {place}. This takes effect at once."),
        false => format!(
            "{address} was removed from the {place}. This takes effect at once. API keys that the person has seen still \
             work: replace them."
        ),
    }
}

pub const LIST: Spec =
    Spec::reads("people", "list", "list the people of a unit or a team", &[UNIT, TEAM])
        .answers("`people`: for each person `address`, `role`, `created`, `by` (who added the person), `byShop` (`true` if `by` is a person of a shop)");

pub async fn list<P: Ports>(call: &Call<'_, P>, place: Place) -> Result<Answer> {
    let place = place.level().map_err(Failure::Usage)?;
    let people = people::list_all(call.ledger, &place).await?;
    if people.is_empty() {
        must_be_registered(call, Some(place)).await?;
    }
    Answer::list(
        "people",
        &people,
        listing(&people, &|person| Fact::Text(person.by.clone())).in_lines(),
    )
}

/// Returns the list of people. `author` names who added a person.
pub(crate) fn listing(people: &[Person], author: &dyn Fn(&Person) -> Fact) -> Listing {
    Listing::new(
        people,
        "No people yet.",
        &[
            ("Address", &|it| Fact::Text(it.address.clone())),
            ("Role", &|it| Fact::Words(capital(it.role.name()))),
            ("Added", &|it| Fact::time(&*it.created)),
            ("Added by", &|it| author(it)),
        ],
    )
}
