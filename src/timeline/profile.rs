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
#[serde(try_from = "Members", into = "Members")]
pub struct Profile {
    members: Members,
    /// The style that sets its accent colour, and the policy that allows it.
    pub(super) accent: Option<Accent>,
}

/// A [`Profile`] as it is stored.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Members {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    logo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// A style of the page's own beside the one of all pages.
#[derive(Clone, Debug)]
pub(super) struct Accent {
    pub style: String,
    pub policy: String,
}

impl Profile {
    /// What the shop is called.
    pub fn name(&self) -> &str {
        &self.members.name
    }

    /// The language of its pages, if it is not for their readers to choose.
    pub fn language(&self) -> Option<Language> {
        self.members.language
    }

    pub(super) fn logo(&self) -> Option<WebAddress<'_>> {
        self.members.logo.as_deref().and_then(secure_address)
    }

    pub(super) fn link(&self) -> Option<WebAddress<'_>> {
        self.members.link.as_deref().and_then(secure_address)
    }
}

impl From<Profile> for Members {
    fn from(profile: Profile) -> Self {
        profile.members
    }
}

impl TryFrom<Members> for Profile {
    type Error = String;

    fn try_from(members: Members) -> Result<Self, String> {
        if !is_name(&members.name) {
            return Err(format!(
                "the name is out of bounds: write one line of 1 to {MAX_NAME_LENGTH} characters, \
                 without characters that turn the direction of text"
            ));
        }
        for address in [&members.logo, &members.link].into_iter().flatten() {
            secure_address(address).ok_or_else(|| no_address(address))?;
        }
        let accent = members.accent.as_deref().map(accent).transpose()?;
        Ok(Profile { members, accent })
    }
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

fn secure_address(href: &str) -> Option<WebAddress<'_>> {
    WebAddress::parse(href)
        .filter(|_| href.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")))
}

fn no_address(text: &str) -> String {
    let shown: String = text.chars().take(100).collect();
    format!("`{shown}` is no address of a logo or link: write `https://…`, at most 2,048 bytes")
}

fn accent(text: &str) -> Result<Accent, String> {
    let colour = Colour::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(100).collect();
        format!("`{shown}` is no accent colour: write it as `#2c6a4a`")
    })?;
    let (light, dark) = (colour.readable_on(LIGHT_PAPER), colour.readable_on(DARK_PAPER));
    let style = format!(
        "@media screen{{:root{{--leaf:{light}}}}}\
         @media screen and (prefers-color-scheme:dark){{:root{{--leaf:{dark}}}}}"
    );
    let hash = Base64::encode_string(&Sha256::digest(&style));
    let sources = format!(" 'sha256-{hash}'; img-src ");
    let policy = CONTENT_SECURITY_POLICY.replacen("; img-src ", &sources, 1);
    Ok(Accent { style, policy })
}
