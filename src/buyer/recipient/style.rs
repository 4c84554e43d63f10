//! The stylesheet of a page, and the policy that allows it.

use super::accent::{Colour, DARK_PAPER, LIGHT_PAPER};
use base64ct::{Base64, Encoding as _};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

pub(super) const STYLE: &str = include_str!("style.css");

/// The `Content-Security-Policy` of a page without an accent colour. It forbids scripts, frames and forms; a page
/// [with a form](with_form) allows that. It allows the stylesheet [`STYLE`] by its hash, the pledges' images (`https:`, `http:`) and the page's icon
/// (`data:`).
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
     style-src 'sha256-KsoN1jx+CGtimclcVmh6IcQy+ufzPjRPYlZA1Ycugtg='; \
     img-src https: http: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the policy of a page that has a form, which sends to this service alone.
pub(super) fn with_form(policy: &str) -> Cow<'static, str> {
    Cow::Owned(policy.replace("form-action 'none'", "form-action 'self'"))
}

/// The accent colour of a page, as a text and as colours. Includes the stylesheet that sets the colour, and
/// the `Content-Security-Policy` that allows this stylesheet.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Accent {
    pub text: String,
    /// The colour in the light and in the dark colour scheme.
    #[serde(skip)]
    pub colours: (Colour, Colour),
    #[serde(skip)]
    pub css: String,
    #[serde(skip)]
    pub policy: String,
}

impl Accent {
    /// Parses a colour. Raises its contrast in the light and in the dark colour scheme where it is too low.
    /// Returns `None` if the text is not a colour.
    pub(super) fn parse(text: String) -> Option<Self> {
        let colour = Colour::parse(&text)?;
        let (light, dark) = (colour.readable_on(LIGHT_PAPER), colour.readable_on(DARK_PAPER));
        let css = format!(
            "@media screen{{:root{{--leaf:{light}}}}}\
             @media screen and (prefers-color-scheme:dark){{:root{{--leaf:{dark}}}}}"
        );
        let hash = Base64::encode_string(&Sha256::digest(&css));
        let (styles, rest) = CONTENT_SECURITY_POLICY.split_once("; img-src ").unwrap_or_default();
        let policy = [styles, " 'sha256-", &hash, "'; img-src ", rest].concat();
        Some(Accent { text, colours: (light, dark), css, policy })
    }
}
