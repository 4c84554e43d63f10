//! Checks an update that a person writes.

use super::refusal::{refused, refused_at};
use crate::buyer::recipient::Language;
use crate::buyer::updates::{
    Coordinates, Day, MAX_NAME, MAX_SENTENCE, OneLine, Picture, PictureUrl, Place, SecureUrl,
    Stage, Texts, Update, UpdateId,
};
use crate::office::fulfilment::rule::{MAX_OFFERING, is_offering};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::{ArgumentName, RefusalCode};
use crate::office::updates::rows::updates::Pledges;
use crate::pledges::decimal::Decimal;
use crate::pledges::service::Clock;
use crate::pledges::types::Amount;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use strum::VariantArray as _;

/// Largest number of bytes of an update as JSON.
const MAX_BYTES: usize = 8 * 1024;

/// An unchecked update, as a person writes it. Empty texts count as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct NewUpdate {
    /// A name of a [`Stage`], such as `under-way`.
    pub stage: String,
    /// The day of the reported event, such as `2026-11-03`.
    pub date: String,
    pub place: String,
    /// Degrees north, such as `-1.3733`.
    pub latitude: String,
    /// Degrees east, such as `38.0106`.
    pub longitude: String,
    /// The organisation that did the work.
    pub partner: String,
    /// How much of the offering was done, a decimal.
    pub quantity: String,
    /// The https URL of a picture, or the path of an uploaded one.
    pub picture: String,
    /// What the picture shows.
    pub picture_text: String,
    /// The https URL of a report.
    pub report: String,
    /// The update's sentence in one or more languages. Each item has the language tag, then the sentence.
    pub texts: Vec<(String, String)>,
}

/// Converts an update to the texts that a person would enter for it.
impl From<&Update> for NewUpdate {
    fn from(update: &Update) -> Self {
        let Update { stage, date, place, partner, quantity, picture, report, texts, .. } = update;
        let coordinates = place.as_ref().and_then(|place| place.coordinates);
        let degrees = |degrees: fn(Coordinates) -> f64| {
            coordinates.map(|point| degrees(point).to_string()).unwrap_or_default()
        };
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let quantity = quantity.and_then(|quantity| Decimal::shortest(quantity.get()));
        NewUpdate {
            stage: stage.name().to_owned(),
            date: date.to_string(),
            place: text(place.as_ref().map(|place| &*place.name)),
            latitude: degrees(Coordinates::latitude),
            longitude: degrees(Coordinates::longitude),
            partner: text(partner.as_deref()),
            quantity: quantity.map(|quantity| quantity.to_exact()).unwrap_or_default(),
            picture: text(picture.as_ref().map(|picture| &*picture.url)),
            picture_text: text(picture.as_ref().map(|picture| &*picture.text)),
            report: text(report.as_deref()),
            texts: texts.iter().map(|(tag, text)| (tag.to_owned(), text.to_owned())).collect(),
        }
    }
}

/// Checks the ID of the offering, and that the month has begun.
pub(super) fn check_pledges(pledges: &Pledges, clock: &impl Clock) -> Result<()> {
    if !is_offering(&pledges.offering) {
        let problem = format_args!("`offering` must be one line of 1 to {MAX_OFFERING} bytes");
        return Err(invalid("offering", problem));
    }
    match pledges.month.has_begun(clock.now_ms()) {
        true => Ok(()),
        false => {
            let problem = format_args!("the month {} has not begun yet", pledges.month);
            Err(refused_at("month", RefusalCode::NotAllowed, problem))
        }
    }
}

fn invalid(argument: impl Into<ArgumentName>, problem: impl Display) -> OperatorError {
    refused_at(argument, RefusalCode::Invalid, problem)
}

fn missing(argument: impl Into<ArgumentName>, problem: impl Display) -> OperatorError {
    refused_at(argument, RefusalCode::Required, problem)
}

/// Checks the members of an update that a person wrote. An error names the wrong member. For a
/// wrong sentence, the error also names its language.
pub(super) fn checked(id: UpdateId, new: &NewUpdate, clock: &impl Clock) -> Result<Update> {
    let update = Update {
        id,
        stage: stage(&new.stage)?,
        date: day(&new.date, clock)?,
        place: place(new)?,
        partner: line("partner", &new.partner)?,
        quantity: quantity(&new.quantity)?,
        picture: picture(new)?,
        report: url("report", &new.report)?,
        texts: texts(&new.texts)?,
    };
    match serde_json::to_vec(&update)?.len() {
        ..=MAX_BYTES => Ok(update),
        bytes => Err(refused(format_args!(
            "the update has {bytes} bytes. Shorten its sentences or addresses, until it has at most \
             {MAX_BYTES} bytes"
        ))),
    }
}

/// Checks that an update can be published. It needs a sentence, the text that buyers read first.
pub fn check_publishable(update: &Update) -> Result<()> {
    match update.texts.is_empty() {
        false => Ok(()),
        true => Err(missing(
            ("text", "en"),
            "to publish the update, write its sentence in at least one language",
        )),
    }
}

fn given(text: &str) -> Option<String> {
    Some(text).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn stage(name: &str) -> Result<Stage> {
    let names: Vec<_> = Stage::VARIANTS.iter().map(|stage| stage.name()).collect();
    Stage::from_name(name).ok_or_else(|| {
        invalid("stage", format_args!("`stage` must be one of {}", names.join(", ")))
    })
}

fn day(text: &str, clock: &impl Clock) -> Result<Day> {
    let day = Day::parse(text.to_owned())
        .ok_or_else(|| invalid("date", "`date` must be a day such as 2026-11-03"))?;
    match day.begins_ms() > clock.now_ms() {
        true => Err(refused_at("date", RefusalCode::NotAllowed, "`date` is in the future")),
        false => Ok(day),
    }
}

fn line(name: &'static str, text: &str) -> Result<Option<OneLine<MAX_NAME>>> {
    let parse = |text| {
        OneLine::parse(text).ok_or_else(|| {
            let problem = format_args!(
                "`{name}` must be one line of at most {MAX_NAME} characters, without invisible characters"
            );
            invalid(name, problem)
        })
    };
    given(text).map(parse).transpose()
}

const NOT_A_URL: &str = "`{}` must be a web address that starts with `https://`, contains no user name, and has at most \
                         2,048 bytes";

fn url(name: &'static str, text: &str) -> Result<Option<SecureUrl>> {
    let parse =
        |text| SecureUrl::parse(text).ok_or_else(|| invalid(name, NOT_A_URL.replace("{}", name)));
    given(text).map(parse).transpose()
}

fn place(NewUpdate { place, latitude, longitude, .. }: &NewUpdate) -> Result<Option<Place>> {
    let coordinates = match (given(latitude), given(longitude)) {
        (None, None) => None,
        (None, Some(_)) => {
            let problem = "`latitude` is missing: give both `latitude` and `longitude`";
            return Err(missing("latitude", problem));
        }
        (Some(_), None) => {
            let problem = "`longitude` is missing: give both `latitude` and `longitude`";
            return Err(missing("longitude", problem));
        }
        (Some(latitude), Some(longitude)) => Some(coordinates(&latitude, &longitude)?),
    };
    match line("place", place)? {
        Some(name) => Ok(Some(Place { name, coordinates })),
        None if coordinates.is_some() => {
            Err(missing("place", "`place` is missing: coordinates need the name of a place"))
        }
        None => Ok(None),
    }
}

fn coordinates(latitude: &str, longitude: &str) -> Result<Coordinates> {
    let degrees = |name: &'static str, text: &str, most: u32| {
        let is_within = |degrees: &f64| (-f64::from(most)..=f64::from(most)).contains(degrees);
        text.parse().ok().filter(is_within).ok_or_else(|| {
            invalid(
                name,
                format_args!("`{name}` must be degrees from -{most} to {most}, such as -1.3733"),
            )
        })
    };
    let point =
        Coordinates::new(degrees("latitude", latitude, 90)?, degrees("longitude", longitude, 180)?);
    point.ok_or_else(|| invalid("latitude", "`latitude` and `longitude` must be degrees"))
}

fn quantity(text: &str) -> Result<Option<Amount>> {
    let parse = |text: String| {
        let decimal = Decimal::parse_bounded(&text)?.to_exact();
        Amount::parse(&decimal)
    };
    let problem =
        || invalid("quantity", "`quantity` must be a number above 0, such as 1200 or 12.5");
    given(text).map(|text| parse(text).ok_or_else(problem)).transpose()
}

fn picture(NewUpdate { picture, picture_text, .. }: &NewUpdate) -> Result<Option<Picture>> {
    let parse = |text| {
        PictureUrl::parse(text)
            .ok_or_else(|| invalid("picture", NOT_A_URL.replace("{}", "picture")))
    };
    match (given(picture).map(parse).transpose()?, line("picture-text", picture_text)?) {
        (Some(url), Some(text)) => Ok(Some(Picture { url, text })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(missing(
            "picture-text",
            "`picture-text` is missing: say what the picture shows, for people who cannot see it",
        )),
        (None, Some(_)) => Err(missing(
            "picture",
            "`picture` is missing, but `picture-text` is given: add the picture, or leave out its text",
        )),
    }
}

fn texts(new: &[(String, String)]) -> Result<Texts> {
    let mut texts = Texts::default();
    for (tag, text) in new.iter().filter(|(_, text)| !text.is_empty()) {
        let Some(language) = Language::from_tag(tag) else {
            let tags: Vec<_> = Language::VARIANTS.iter().map(|language| language.tag()).collect();
            let problem = format_args!(
                "timelines are not available in this language: use one of {}",
                tags.join(", ")
            );
            return Err(invalid(("text", &**tag), problem));
        };
        let sentence = OneLine::parse(text.clone());
        if !sentence.is_some_and(|sentence| texts.insert(language.tag(), sentence)) {
            return Err(invalid(
                ("text", language.tag()),
                format_args!(
                    "the sentence in `{}` must be one line of at most {MAX_SENTENCE} characters, without invisible \
                 characters",
                    language.tag()
                ),
            ));
        }
    }
    Ok(texts)
}
