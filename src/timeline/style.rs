//! The style of a page, and the policy that allows it.

use super::accent::{Colour, DARK_PAPER, LIGHT_PAPER};
use base64ct::{Base64, Encoding as _};
use sha2::{Digest as _, Sha256};

pub(super) const STYLE: &str = include_str!("style.css");

/// The `Content-Security-Policy` of a page without an accent. It forbids scripts, frames and forms,
/// and allows [`STYLE`] by its hash, the images of the pledges (`https:`, `http:`) and the page's
/// icon (`data:`).
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
     style-src 'sha256-kWnVVTZQu2DBOhgDVM2ScQU4YX0LNgl/BUrJKqnjpuw='; \
     img-src https: http: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A style that sets a page's accent, and the policy that allows it.
#[derive(Clone, Debug)]
pub(super) struct AccentStyle {
    pub css: String,
    pub policy: String,
}

impl AccentStyle {
    /// Sets the colour for both colour schemes, where needed with more contrast.
    pub(super) fn new(colour: Colour) -> Self {
        let (light, dark) = (colour.readable_on(LIGHT_PAPER), colour.readable_on(DARK_PAPER));
        let css = format!(
            "@media screen{{:root{{--leaf:{light}}}}}\
             @media screen and (prefers-color-scheme:dark){{:root{{--leaf:{dark}}}}}"
        );
        let hash = Base64::encode_string(&Sha256::digest(&css));
        let (styles, rest) = CONTENT_SECURITY_POLICY.split_once("; img-src ").unwrap_or_default();
        let policy = [styles, " 'sha256-", &hash, "'; img-src ", rest].concat();
        AccentStyle { css, policy }
    }
}
