//! What a unit shows of itself on its timelines.

use super::CONTENT_SECURITY_POLICY;
use super::accent::{Colour, DARK_PAPER, LIGHT_PAPER};
use super::language::Language;
use super::link::WebAddress;
use base64ct::{Base64, Encoding as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Most characters of a name.
const MAX_NAME_LENGTH: usize = 80;

/// A unit's name, and how its pages look. Reading one passes over members that it does not know, and
/// refuses values that are out of bounds: a record is nothing that a page trusts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "Record")]
pub struct Profile {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    logo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accent: Option<Accent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// A colour, with the style that sets it and the policy that allows the style.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "String")]
pub(super) struct Accent {
    text: String,
    pub style: String,
    pub policy: String,
}

impl From<Accent> for String {
    fn from(accent: Accent) -> Self {
        accent.text
    }
}

impl Profile {
    /// What the shop is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The language of its pages, if it is not for their readers to choose.
    pub fn language(&self) -> Option<Language> {
        self.language
    }

    pub(super) fn accent(&self) -> Option<&Accent> {
        self.accent.as_ref()
    }

    pub(super) fn logo(&self) -> Option<&str> {
        self.logo.as_deref()
    }

    pub(super) fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }
}

/// A profile whose values are not checked yet.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Record {
    name: String,
    logo: Option<String>,
    accent: Option<String>,
    language: Option<String>,
    link: Option<String>,
}

impl TryFrom<Record> for Profile {
    type Error = &'static str;

    fn try_from(record: Record) -> Result<Self, &'static str> {
        let Record { name, logo, accent: colour, language: tag, link } = record;
        if !is_name(&name) {
            return Err(
                "`name` is out of bounds: write one line of 1 to 80 characters, none of which \
                 turns the direction of text",
            );
        }
        Ok(Profile {
            name,
            logo: logo.map(address).transpose()?,
            accent: colour.as_deref().map(accent).transpose()?,
            language: tag.as_deref().map(language).transpose()?,
            link: link.map(address).transpose()?,
        })
    }
}

fn address(text: String) -> Result<String, &'static str> {
    let is_secure = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let is_address = is_secure && WebAddress::parse(&text).is_some();
    let problem = "`logo` and `link` are addresses: write `https://…`, at most 2,048 bytes";
    if is_address { Ok(text) } else { Err(problem) }
}

fn language(tag: &str) -> Result<Language, &'static str> {
    Language::of_tag(tag)
        .ok_or("`language` is none of da, de, en, es, fr, it, ja, nl, pl, pt, sv, zh")
}

/// Whether this is one line, which changes nothing beside it.
fn is_name(name: &str) -> bool {
    let turns = |character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks =
        |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    !name.trim().is_empty()
        && name.chars().nth(MAX_NAME_LENGTH).is_none()
        && !name.chars().any(|character| turns(character) || breaks(character))
}

fn accent(text: &str) -> Result<Accent, &'static str> {
    let colour = Colour::parse(text).ok_or("`accent` is no colour: write it as `#2c6a4a`")?;
    let (light, dark) = (colour.readable_on(LIGHT_PAPER), colour.readable_on(DARK_PAPER));
    let style = format!(
        "@media screen{{:root{{--leaf:{light}}}}}\
         @media screen and (prefers-color-scheme:dark){{:root{{--leaf:{dark}}}}}"
    );
    let hash = Base64::encode_string(&Sha256::digest(&style));
    let (styles, rest) = CONTENT_SECURITY_POLICY.split_once("; img-src ").unwrap_or_default();
    let policy = [styles, " 'sha256-", &hash, "'; img-src ", rest].concat();
    Ok(Accent { text: text.to_owned(), style, policy })
}
