//! A unit's profile: its name, and how its pages look.

use super::accent::Colour;
use super::language::Language;
use super::link::WebAddress;
use super::style::Accent;
use super::text::is_invisible;
use crate::time::TimeZones;
use crate::validate::format::is_email;
use serde::{Deserialize, Serialize};

/// Most characters of a name.
const MAX_NAME_LENGTH: usize = 80;

/// A unit's name, and how its pages look.
///
/// Deserializing ignores unknown members and refuses values that are out of bounds: pages do not
/// trust the record. A language that only a later release knows is left out, and so is what is no name of
/// a time zone.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "StoredProfile", rename_all = "camelCase")]
pub struct Profile {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accent: Option<Accent>,
    /// If absent, each reader's browser chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link: Option<String>,
    /// Whether the recipients of its pledges get e-mails.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mail: bool,
    /// The address that recipients answer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The time zone of dates; UTC if it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_zone: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A profile before it is checked, as an operator writes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NewProfile {
    /// The shop's name: one line of 1 to 80 characters.
    pub name: String,
    /// Address of an image, by https.
    pub logo: Option<String>,
    /// A colour such as `#8a4b2a`.
    pub accent: Option<String>,
    /// Code of the language of its pages.
    pub language: Option<String>,
    /// The address that name and logo link to, by https.
    pub link: Option<String>,
    /// Whether the recipients of its pledges get e-mails.
    pub mail: bool,
    /// An e-mail address that recipients answer to.
    pub reply_to: Option<String>,
    /// The time zone of dates, a name of the IANA database such as `Europe/Berlin`.
    pub time_zone: Option<String>,
}

impl Profile {
    /// Checks a profile that an operator wrote.
    ///
    /// # Errors
    /// If a member is out of bounds, or its time zone is not known.
    pub fn checked(profile: NewProfile, zones: &dyn TimeZones) -> Result<Self, &'static str> {
        let profile = Profile::try_from(profile)?;
        let is_known = |zone: &str| zones.utc_offset(zone, 0).is_some();
        let is_dated = profile.time_zone.as_deref().is_none_or(is_known);
        if is_dated { Ok(profile) } else { Err(NO_TIME_ZONE) }
    }

    /// The shop's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the accent on light and on dark paper, with the contrast that text needs.
    pub(super) fn accent_colours(&self) -> Option<(Colour, Colour)> {
        self.accent.as_ref().map(|accent| accent.colours)
    }
}

/// The profile as an operator would write it.
impl From<&Profile> for NewProfile {
    fn from(profile: &Profile) -> Self {
        NewProfile {
            name: profile.name.clone(),
            logo: profile.logo.clone(),
            accent: profile.accent.as_ref().map(|accent| accent.text.clone()),
            language: profile.language.map(|language| language.tag().to_owned()),
            link: profile.link.clone(),
            mail: profile.mail,
            reply_to: profile.reply_to.clone(),
            time_zone: profile.time_zone.clone(),
        }
    }
}

/// A profile as it is stored.
#[derive(Deserialize)]
#[serde(transparent)]
struct StoredProfile(NewProfile);

impl TryFrom<StoredProfile> for Profile {
    type Error = &'static str;

    fn try_from(StoredProfile(stored): StoredProfile) -> Result<Self, &'static str> {
        let language = stored.language.as_deref().and_then(Language::from_tag);
        let time_zone = stored.time_zone.clone().filter(|name| is_time_zone(name));
        let profile = Profile::try_from(NewProfile { language: None, time_zone, ..stored })?;
        Ok(Profile { language, ..profile })
    }
}

impl TryFrom<NewProfile> for Profile {
    type Error = &'static str;

    fn try_from(profile: NewProfile) -> Result<Self, &'static str> {
        let NewProfile { name, logo, accent, language, link, mail, reply_to, time_zone } = profile;
        if !is_name(&name) {
            return Err(
                "`name` is out of bounds: write one line of 1 to 80 characters, not all of them \
                 invisible, none of which turns the direction of text",
            );
        }
        Ok(Profile {
            name,
            logo: logo.map(parse_address).transpose()?,
            accent: accent.map(parse_accent).transpose()?,
            language: language.as_deref().map(parse_language).transpose()?,
            link: link.map(parse_address).transpose()?,
            mail,
            reply_to: reply_to.map(parse_email).transpose()?,
            time_zone: time_zone.map(parse_time_zone).transpose()?,
        })
    }
}

fn parse_address(text: String) -> Result<String, &'static str> {
    let is_secure = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let is_plain = WebAddress::parse(&text).is_some_and(|address| !address.has_user);
    let problem =
        "`logo` and `link` are addresses: write `https://…` without a user, at most 2,048 bytes";
    if is_secure && is_plain { Ok(text) } else { Err(problem) }
}

fn parse_email(text: String) -> Result<String, &'static str> {
    let problem = "`reply-to` is no e-mail address: write it as `hello@shop.example`";
    let is_plain = !text.contains(['"', '[']); // not every mail service takes them
    if is_plain && is_email(text.as_bytes()) { Ok(text) } else { Err(problem) }
}

fn parse_language(tag: &str) -> Result<Language, &'static str> {
    Language::from_tag(tag)
        .ok_or("`language` is none of da, de, en, es, fr, it, ja, nl, pl, pt, sv, zh")
}

/// Whether this is one line of 1 to 80 characters, of which one can be seen, that does not change
/// the direction of the text around it.
fn is_name(name: &str) -> bool {
    let turns = |character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks =
        |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    !name.chars().all(is_invisible)
        && name.chars().nth(MAX_NAME_LENGTH).is_none()
        && !name.chars().any(|character| turns(character) || breaks(character))
}

const NO_TIME_ZONE: &str =
    "`time-zone` is not a time zone of the IANA database: write it as `Europe/Berlin`";
/// Most bytes of the name of a time zone. The longest has 32.
const MAX_ZONE_LENGTH: usize = 64;

fn parse_time_zone(name: String) -> Result<String, &'static str> {
    if is_time_zone(&name) { Ok(name) } else { Err(NO_TIME_ZONE) }
}

/// Whether this can be the name of a time zone: `Europe/Berlin`, `Etc/GMT+5`, but not `+01:00`.
fn is_time_zone(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte);
    name.len() <= MAX_ZONE_LENGTH
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(is_part)
}

fn parse_accent(text: String) -> Result<Accent, &'static str> {
    Accent::parse(text).ok_or("`accent` is no colour: write it as `#2c6a4a`")
}
