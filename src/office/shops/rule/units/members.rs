//! The members of a unit's profile, for commands that set or remove some of them.

use crate::buyer::recipient::NewProfile;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The members that a change sets in a profile. Members that are `None` stay as they are; an empty text removes an optional
/// member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProfileMembers {
    name: Option<String>,
    logo: Option<String>,
    accent: Option<String>,
    language: Option<String>,
    link: Option<String>,
    mail: Option<bool>,
    messaging_services: Option<Vec<String>>,
    reply_to: Option<String>,
    mail_text: Option<String>,
    time_zone: Option<String>,
    billing_name: Option<String>,
    billing_address: Option<String>,
    tax_text: Option<String>,
    public_total: Option<bool>,
}

/// An optional member of a profile. On the command line, it has a name such as `reply-to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
#[strum(serialize_all = "kebab-case")]
pub enum Member {
    Logo,
    /// The colour of links and marks.
    Accent,
    Language,
    /// The address that the name and the logo link to.
    Link,
    /// The e-mail address that gets recipients' replies.
    ReplyTo,
    /// The shop's own text in e-mails.
    MailText,
    TimeZone,
    BillingName,
    /// The company's address on statements.
    BillingAddress,
    /// The company's tax details on statements, such as its VAT number.
    TaxText,
}

impl ProfileMembers {
    /// Returns the old profile, changed by these members.
    pub(super) fn over(self, unit: &str, old: Option<NewProfile>) -> Result<NewProfile> {
        if old.is_none() && self.name.is_none() {
            let problem = format!("the unit `{unit}` has no profile yet: give it a `name`");
            return Err(OperatorError::at("name", RefusalCode::Required, problem));
        }
        let old = old.unwrap_or_default();
        let over = |new: Option<String>, old| new.or(old).filter(|text| !text.is_empty());
        Ok(NewProfile {
            name: self.name.unwrap_or(old.name),
            logo: over(self.logo, old.logo),
            accent: over(self.accent, old.accent),
            language: over(self.language, old.language),
            link: over(self.link, old.link),
            mail: self.mail.unwrap_or(old.mail),
            messaging_services: self.messaging_services.unwrap_or(old.messaging_services),
            reply_to: over(self.reply_to, old.reply_to),
            mail_text: over(self.mail_text, old.mail_text),
            time_zone: over(self.time_zone, old.time_zone),
            billing_name: over(self.billing_name, old.billing_name),
            billing_address: over(self.billing_address, old.billing_address),
            tax_text: over(self.tax_text, old.tax_text),
            public_total: self.public_total.unwrap_or(old.public_total),
        })
    }
}

impl Member {
    /// Returns this member of a profile, so that it can be read or changed.
    pub(super) fn of(self, profile: &mut NewProfile) -> &mut Option<String> {
        match self {
            Member::Logo => &mut profile.logo,
            Member::Accent => &mut profile.accent,
            Member::Language => &mut profile.language,
            Member::Link => &mut profile.link,
            Member::ReplyTo => &mut profile.reply_to,
            Member::MailText => &mut profile.mail_text,
            Member::TimeZone => &mut profile.time_zone,
            Member::BillingName => &mut profile.billing_name,
            Member::BillingAddress => &mut profile.billing_address,
            Member::TaxText => &mut profile.tax_text,
        }
    }
}
