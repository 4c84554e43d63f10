use super::accent::Colour;
use super::language::Language;
use super::messaging_services::{known_services, names, parse_services};
use super::style::Accent;
use crate::buyer::visible::is_visible_line;
use crate::buyer::web_address::WebAddress;
use crate::pledges::time::TimeZones;
use crate::pledges::types::NotificationService;
use crate::pledges::validate::format::is_email;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 80;
/// Maximum number of lines in the e-mail text, in the billing address and in the tax text. `MAX_LINES_LENGTH`
/// is the maximum number of characters in each of these texts.
const MAX_LINES: usize = 6;
const MAX_LINES_LENGTH: usize = 300;

/// A unit's name, and the look of its pages.
///
/// Deserializing ignores unknown members, and refuses invalid values, because pages do not trust the record.
/// Some invalid values are left out instead, so that they do not break buyers' pages:
///
/// - an unknown language or messaging service, which a later release may have written
/// - an invalid time zone
/// - invalid texts for e-mails and statements
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "StoredProfile", rename_all = "camelCase")]
pub struct Profile {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accent: Option<Accent>,
    /// The language of pages and e-mails. Without it, the reader's browser chooses the language of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link: Option<String>,
    /// Whether the recipients of the unit's pledges get e-mails.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mail: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) messaging_services: Vec<NotificationService>,
    /// The e-mail address for replies of recipients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The shop's own text in e-mails: lines separated by `\n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mail_text: Option<String>,
    /// The time zone of dates; UTC if it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_zone: Option<String>,
    /// The name of the company on statements. Buyers see neither this name nor the company's address and tax
    /// text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_name: Option<String>,
    /// The company's address on statements: lines separated by `\n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_address: Option<String>,
    /// The tax text of the company on statements, such as its VAT number: lines separated by `\n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax_text: Option<String>,
    /// Whether everyone may read the shop's [total](crate::buyer::total).
    #[serde(default, skip_serializing_if = "is_false")]
    pub public_total: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidMember {
    /// The member's name in commands, such as `reply-to`.
    pub name: &'static str,
    /// What the member must be.
    pub problem: &'static str,
}

impl Display for InvalidMember {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.problem)
    }
}

/// An unchecked profile, as an operator writes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NewProfile {
    /// The shop's name: one line of 1 to 80 characters.
    pub name: String,
    /// The https URL of an image.
    pub logo: Option<String>,
    /// A colour such as `#8a4b2a`.
    pub accent: Option<String>,
    /// The language of the unit's pages, such as `de`.
    pub language: Option<String>,
    /// The https URL that name and logo link to.
    pub link: Option<String>,
    pub mail: bool,
    /// The names of the messaging services that deliver for the unit, such as `MessagingServiceA`.
    pub messaging_services: Vec<String>,
    pub reply_to: Option<String>,
    /// The shop's own text in e-mails: 1 to 6 lines, together at most 300 characters.
    pub mail_text: Option<String>,
    /// The time zone of dates, a name of the IANA database such as `Europe/Berlin`.
    pub time_zone: Option<String>,
    /// The name of the company on statements: one line of 1 to 80 characters.
    pub billing_name: Option<String>,
    /// The company's address on statements: 1 to 6 lines, together at most 300 characters.
    pub billing_address: Option<String>,
    /// The tax text of the company on statements: 1 to 6 lines, together at most 300 characters.
    pub tax_text: Option<String>,
    pub public_total: bool,
}

impl Profile {
    /// Checks a profile that an operator wrote.
    ///
    /// # Errors
    /// If a member is invalid, or the time zone is unknown.
    pub fn checked(profile: NewProfile, zones: &dyn TimeZones) -> Result<Self, InvalidMember> {
        let profile = Profile::try_from(profile)?;
        let is_known = |zone: &str| zones.utc_offset(zone, 0).is_some();
        let is_dated = profile.time_zone.as_deref().is_none_or(is_known);
        if is_dated { Ok(profile) } else { Err(NO_TIME_ZONE) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn language(&self) -> Option<Language> {
        self.language
    }

    pub fn time_zone(&self) -> Option<&str> {
        self.time_zone.as_deref()
    }

    pub fn notifies(&self, service: NotificationService) -> bool {
        if service.is_email() { self.mail } else { self.messaging_services.contains(&service) }
    }

    /// Returns the accent colour for light and for dark backgrounds. Both variants have enough contrast for
    /// text.
    pub(super) fn accent_colours(&self) -> Option<(Colour, Colour)> {
        self.accent.as_ref().map(|accent| accent.colours)
    }
}

/// Converts to a profile as an operator would write it.
impl From<&Profile> for NewProfile {
    fn from(profile: &Profile) -> Self {
        NewProfile {
            name: profile.name.clone(),
            logo: profile.logo.clone(),
            accent: profile.accent.as_ref().map(|accent| accent.text.clone()),
            language: profile.language.map(|language| language.tag().to_owned()),
            link: profile.link.clone(),
            mail: profile.mail,
            messaging_services: names(&profile.messaging_services),
            reply_to: profile.reply_to.clone(),
            mail_text: profile.mail_text.clone(),
            time_zone: profile.time_zone.clone(),
            billing_name: profile.billing_name.clone(),
            billing_address: profile.billing_address.clone(),
            tax_text: profile.tax_text.clone(),
            public_total: profile.public_total,
        }
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
struct StoredProfile(NewProfile);

impl TryFrom<StoredProfile> for Profile {
    type Error = InvalidMember;

    fn try_from(StoredProfile(stored): StoredProfile) -> Result<Self, InvalidMember> {
        let language = stored.language.as_deref().and_then(Language::from_tag);
        let stored = NewProfile {
            language: None,
            messaging_services: known_services(stored.messaging_services),
            mail_text: stored.mail_text.filter(|text| is_lines(text)),
            time_zone: stored.time_zone.filter(|name| is_time_zone(name)),
            billing_name: stored.billing_name.filter(|name| is_name(name)),
            billing_address: stored.billing_address.filter(|text| is_lines(text)),
            tax_text: stored.tax_text.filter(|text| is_lines(text)),
            ..stored
        };
        let profile = Profile::try_from(stored)?;
        Ok(Profile { language, ..profile })
    }
}

impl TryFrom<NewProfile> for Profile {
    type Error = InvalidMember;

    fn try_from(profile: NewProfile) -> Result<Self, InvalidMember> {
        if !is_name(&profile.name) {
            return Err(NO_NAME);
        }
        Ok(Profile {
            name: profile.name,
            logo: checked(profile.logo, WebAddress::is_secure, NO_LOGO)?,
            accent: parsed(profile.accent, Accent::parse, NO_ACCENT)?,
            language: parsed(profile.language, |tag| Language::from_tag(&tag), NO_LANGUAGE)?,
            link: checked(profile.link, WebAddress::is_secure, NO_LINK)?,
            mail: profile.mail,
            messaging_services: parse_services(&profile.messaging_services).ok_or(NO_SERVICE)?,
            reply_to: checked(profile.reply_to, is_plain_email, NO_REPLY_TO)?,
            mail_text: checked(profile.mail_text, is_lines, NO_MAIL_TEXT)?,
            time_zone: checked(profile.time_zone, is_time_zone, NO_TIME_ZONE)?,
            billing_name: checked(profile.billing_name, is_name, NO_BILLING_NAME)?,
            billing_address: checked(profile.billing_address, is_lines, NO_BILLING_ADDRESS)?,
            tax_text: checked(profile.tax_text, is_lines, NO_TAX_TEXT)?,
            public_total: profile.public_total,
        })
    }
}

const fn invalid(name: &'static str, problem: &'static str) -> InvalidMember {
    InvalidMember { name, problem }
}

const NO_NAME: InvalidMember = invalid(
    "name",
    "`name` must be one line of 1 to 80 characters, at least one of them visible, without invisible characters",
);
const ADDRESS: &str = "`logo` and `link` must start with `https://`, contain no user name, and have at \
                       most 2,048 bytes";
const NO_LOGO: InvalidMember = invalid("logo", ADDRESS);
const NO_LINK: InvalidMember = invalid("link", ADDRESS);
const NO_ACCENT: InvalidMember = invalid("accent", "`accent` must be a colour, such as `#2c6a4a`");
const NO_LANGUAGE: InvalidMember = invalid(
    "language",
    "`language` must be one of da, de, en, es, fr, it, ja, nl, pl, pt, pt-BR, sv, zh",
);
const NO_SERVICE: InvalidMember = invalid(
    "messaging-services",
    "`messaging-services` may contain only MessagingServiceA, MessagingServiceB and MessagingServiceC",
);
const NO_REPLY_TO: InvalidMember =
    invalid("reply-to", "`reply-to` must be an e-mail address, such as `hello@shop.example`");
const NO_TIME_ZONE: InvalidMember = invalid(
    "time-zone",
    "`time-zone` must be a time zone of the IANA database, such as `Europe/Berlin`",
);
const NO_MAIL_TEXT: InvalidMember = invalid(
    "mail-text",
    "`mail-text` must have 1 to 6 lines, together at most 300 characters, no blank line, and no invisible characters",
);
const NO_BILLING_NAME: InvalidMember = invalid(
    "billing-name",
    "`billing-name` must be one line of 1 to 80 characters, without invisible characters",
);
const NO_BILLING_ADDRESS: InvalidMember = invalid(
    "billing-address",
    "`billing-address` must have 1 to 6 lines, together at most 300 characters, no blank line, and no invisible characters",
);
const NO_TAX_TEXT: InvalidMember = invalid(
    "tax-text",
    "`tax-text` must have 1 to 6 lines, together at most 300 characters, no blank line, and no invisible characters",
);

fn parsed<T>(
    text: Option<String>,
    parse: impl Fn(String) -> Option<T>,
    problem: InvalidMember,
) -> Result<Option<T>, InvalidMember> {
    text.map(|text| parse(text).ok_or(problem)).transpose()
}

fn checked(
    text: Option<String>,
    is_valid: impl Fn(&str) -> bool,
    problem: InvalidMember,
) -> Result<Option<String>, InvalidMember> {
    if text.as_deref().is_none_or(is_valid) { Ok(text) } else { Err(problem) }
}

/// Whether a text is an e-mail address without quotes and brackets, which some mail services refuse.
fn is_plain_email(text: &str) -> bool {
    !text.contains(['"', '[']) && is_email(text.as_bytes())
}

/// Returns whether a name is one [visible line](is_visible_line) of 1 to 80 characters.
fn is_name(name: &str) -> bool {
    name.chars().nth(MAX_NAME_LENGTH).is_none() && is_visible_line(name)
}

/// Whether a text has 1 to 6 visible lines, and at most 300 characters.
fn is_lines(text: &str) -> bool {
    text.chars().nth(MAX_LINES_LENGTH).is_none()
        && text.split('\n').count() <= MAX_LINES
        && text.split('\n').all(is_visible_line)
}

/// Maximum length of the name of a time zone, in bytes. The longest existing name has 32.
const MAX_ZONE_LENGTH: usize = 64;

/// Whether a text has the format of a time zone's name: `Europe/Berlin` and `Etc/GMT+5` have it, `+01:00` does not.
fn is_time_zone(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte);
    name.len() <= MAX_ZONE_LENGTH
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(is_part)
}
