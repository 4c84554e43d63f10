//! Updates: news about the pledges for an offering in a month. Buyers' timelines show them.
//!
//! Operators write updates into the ledger, which is the system of record. The service reads only the
//! published updates, from a record in the store. It does not trust this record, and checks its texts on each
//! read.

use super::visible::is_visible_line;
use super::web_address::WebAddress;
use crate::pledges::picture::PictureName;
use crate::pledges::time::parse_ms;
use crate::pledges::types::Amount;
use crate::pledges::version::Version;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt::{self, Formatter};
use std::ops::{Deref, RangeInclusive};
use strum::{IntoStaticStr, VariantArray};

/// Maximum number of published updates for one offering and month.
pub const MAX_UPDATES: usize = 24;
/// Maximum number of languages of an update's sentence.
pub const MAX_LANGUAGES: usize = 24;
/// Maximum number of characters of a sentence.
pub const MAX_SENTENCE: usize = 400;
/// Maximum number of characters of a place, of a partner, and of the alternative text of a picture.
pub const MAX_NAME: usize = 200;
/// Maximum number of bytes of an update's ID.
const MAX_ID: usize = 40;
/// Maximum number of bytes of a language tag.
const MAX_TAG: usize = 35;

/// The published updates for one offering and month: the value of a record in the store.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OfferingUpdates {
    #[serde(skip_deserializing)]
    version: Version,
    /// At most [`MAX_UPDATES`] updates, newest first. Deserializing leaves out invalid updates, which a later
    /// release may have written.
    #[serde(deserialize_with = "read_updates")]
    pub updates: Vec<Update>,
}

impl OfferingUpdates {
    /// Makes a record of the first [`MAX_UPDATES`] updates.
    pub fn new(mut updates: Vec<Update>) -> Self {
        updates.truncate(MAX_UPDATES);
        OfferingUpdates { version: Version, updates }
    }
}

/// An update of an offering and month.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    pub id: UpdateId,
    pub stage: Stage,
    /// The day on which the reported event happened.
    pub date: Day,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The organisation that did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<OneLine<MAX_NAME>>,
    /// How much of the offering was done, for the pledges of all buyers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<SecureUrl>,
    /// A sentence in one or more languages.
    #[serde(default)]
    pub texts: Texts,
}

/// How far the work for the pledges has progressed.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Deserialize,
    Serialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Stage {
    /// The money was passed on to those who do the work.
    Funded,
    UnderWay,
    Done,
    /// Somebody else has checked that the work is done.
    Verified,
}

impl Stage {
    /// Returns the name in records and commands, such as `under-way`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Stage::VARIANTS.iter().copied().find(|stage| stage.name() == name)
    }
}

/// A place, perhaps with coordinates.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "StoredPlace")]
pub struct Place {
    pub name: OneLine<MAX_NAME>,
    #[serde(flatten)]
    pub coordinates: Option<Coordinates>,
}

/// A point on the globe, in degrees of WGS 84.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Coordinates {
    latitude: f64,
    longitude: f64,
}

const LATITUDES: RangeInclusive<f64> = -90.0..=90.0;
const LONGITUDES: RangeInclusive<f64> = -180.0..=180.0;

impl Coordinates {
    /// Makes coordinates. Returns `None` if the latitude is beyond ±90 degrees, or the longitude beyond ±180
    /// degrees.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let is_valid = LATITUDES.contains(&latitude) && LONGITUDES.contains(&longitude);
        is_valid.then_some(Coordinates { latitude, longitude })
    }

    /// Degrees north of the equator, from -90 to 90.
    pub fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east of Greenwich, from -180 to 180.
    pub fn longitude(self) -> f64 {
        self.longitude
    }
}

#[derive(Deserialize)]
struct StoredPlace {
    name: OneLine<MAX_NAME>,
    #[serde(default)]
    latitude: Option<f64>,
    #[serde(default)]
    longitude: Option<f64>,
}

impl TryFrom<StoredPlace> for Place {
    type Error = &'static str;

    fn try_from(
        StoredPlace { name, latitude, longitude }: StoredPlace,
    ) -> Result<Self, &'static str> {
        let coordinates = match (latitude, longitude) {
            (None, None) => None,
            (Some(latitude), Some(longitude)) => Coordinates::new(latitude, longitude),
            _ => return Err("a latitude needs a longitude"),
        };
        let is_complete = coordinates.is_some() || latitude.is_none();
        is_complete.then_some(Place { name, coordinates }).ok_or("coordinates out of range")
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Picture {
    pub url: PictureUrl,
    /// What the picture shows.
    pub text: OneLine<MAX_NAME>,
}

// ---- Sentences -----------------------------------------------------------------------------------

/// A sentence in several languages: pairs of a language tag such as `pt-BR` and a text, in the order of the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(Vec<(String, OneLine<MAX_SENTENCE>)>);

impl Texts {
    /// Adds a sentence, or replaces the sentence in the same language. Returns false if the tag is malformed,
    /// or if there are already [`MAX_LANGUAGES`] sentences.
    #[must_use]
    pub fn insert(&mut self, tag: &str, text: OneLine<MAX_SENTENCE>) -> bool {
        self.0.retain(|(own, _)| !own.eq_ignore_ascii_case(tag));
        let fits = is_tag(tag) && self.0.len() < MAX_LANGUAGES;
        if fits {
            self.0.push((tag.to_owned(), text));
        }
        fits
    }

    /// Returns the sentence in a language. Case does not matter.
    pub fn get(&self, tag: &str) -> Option<&str> {
        self.iter().find(|(own, _)| own.eq_ignore_ascii_case(tag)).map(|(_, text)| text)
    }

    /// Returns the sentence in this language, with its language tag. Without such a sentence, returns the
    /// English one. Without an English one, returns the first.
    pub fn best(&self, tag: &str) -> Option<(&str, &str)> {
        let in_language = |tag: &str| self.iter().find(|(own, _)| own.eq_ignore_ascii_case(tag));
        in_language(tag).or_else(|| in_language("en")).or_else(|| self.iter().next())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(tag, text)| (&**tag, &**text))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a text has the form of a language tag: `de`, `pt-BR`, `zh-Hant-TW`.
fn is_tag(tag: &str) -> bool {
    let is_part = |part: &str| (1..=8).contains(&part.len());
    tag.len() <= MAX_TAG
        && tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && tag.split('-').all(is_part)
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (tag, text) in &self.0 {
            map.serialize_entry(tag, text)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("an object of language tags and sentences")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Texts, A::Error> {
        let mut texts = Texts::default();
        while let Some((tag, text)) = members.next_entry::<String, OneLine<MAX_SENTENCE>>()? {
            if !texts.insert(&tag, text) {
                return Err(A::Error::custom(
                    "too many languages, or a key that is not a language tag",
                ));
            }
        }
        Ok(texts)
    }
}

// ---- Checked texts -------------------------------------------------------------------------------

/// Implements `Deref` and `Deserialize` for a checked text. The type's `parse` checks the text.
macro_rules! checked_text {
    ($type:ident $(<const $max:ident: usize>)?, $expected:literal) => {
        impl $(<const $max: usize>)? Deref for $type $(<$max>)? {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<'de $(, const $max: usize)?> Deserialize<'de> for $type $(<$max>)? {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(text).ok_or_else(|| D::Error::custom(concat!("expected ", $expected)))
            }
        }
    };
}

/// One line of text, of at most `MAX` characters. At least one of them is visible, and none changes the
/// direction of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OneLine<const MAX: usize>(String);

checked_text!(OneLine<const MAX: usize>, "one visible line");

impl<const MAX: usize> OneLine<MAX> {
    /// Checks a text. Returns `None` if it is too long, has no visible character, is more than one line, or
    /// changes the direction of text.
    pub fn parse(text: String) -> Option<Self> {
        let is_short = text.chars().nth(MAX).is_none();
        (is_short && is_visible_line(&text)).then_some(OneLine(text))
    }
}

/// A [safe URL](WebAddress::is_secure) with https.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SecureUrl(String);

checked_text!(SecureUrl, "a URL that starts with https://");

impl SecureUrl {
    /// Checks a URL. Returns `None` if it is not safe.
    pub fn parse(text: String) -> Option<Self> {
        WebAddress::is_secure(&text).then_some(SecureUrl(text))
    }
}

/// The address of a picture: a URL with https, or the path of an [uploaded picture](PictureName::path).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PictureUrl(String);

checked_text!(PictureUrl, "the address of a picture");

impl PictureUrl {
    /// Checks an address. Returns `None` if it is not safe.
    pub fn parse(text: String) -> Option<Self> {
        let is_safe = WebAddress::is_secure(&text) || PictureName::of_path(&text).is_some();
        is_safe.then_some(PictureUrl(text))
    }
}

/// A day of the calendar, such as `2026-11-03`, from 1970 to 9999.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Day(String);

checked_text!(Day, "a day such as 2026-11-03");

impl Day {
    pub fn parse(text: String) -> Option<Self> {
        let is_day = text.len() == "2026-11-03".len() && Day::begins(&text).is_some();
        is_day.then_some(Day(text))
    }

    /// Returns when the day begins in UTC, in milliseconds since 1970.
    pub fn begins_ms(&self) -> u64 {
        Day::begins(&self.0).unwrap_or_default()
    }

    fn begins(text: &str) -> Option<u64> {
        parse_ms(&[text, "T00:00:00Z"].concat())
    }
}

/// An update's ID, such as `upd_0123456789abcdef0123`: at most 40 letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct UpdateId(String);

checked_text!(UpdateId, "an update's ID");

impl UpdateId {
    /// Checks an ID. Returns `None` for any other text.
    pub fn parse(text: String) -> Option<Self> {
        let is_id = (1..=MAX_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_id.then_some(UpdateId(text))
    }
}

// ---- The list of a record ------------------------------------------------------------------------

fn read_updates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Update>, D::Error> {
    deserializer.deserialize_seq(UpdatesVisitor)
}

/// Reads each update separately, so that an invalid one does not make the others unreadable.
struct UpdatesVisitor;

impl<'de> Visitor<'de> for UpdatesVisitor {
    type Value = Vec<Update>;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a list of updates")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Update>, A::Error> {
        let mut updates = Vec::new();
        while updates.len() < MAX_UPDATES {
            let Some(json) = list.next_element::<Box<RawValue>>()? else { return Ok(updates) };
            updates.extend(serde_json::from_str::<Update>(json.get()));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(updates)
    }
}
