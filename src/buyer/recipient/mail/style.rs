//! The look of the e-mail.
//!
//! All mail programs apply inline styles. Some also apply the rules of a `style` element, and its dark colours. Outlook for
//! Windows renders with Word: it knows neither `max-width` nor the padding of a link, and takes sizes and backgrounds from
//! attributes. Only Word reads conditional comments (`<!--[if mso]>`) and properties that begin with `mso-`.

use crate::buyer::recipient::accent::{Colour, DARK_PAPER};
use crate::buyer::recipient::profile::Profile;

/// The service's green on light and on dark paper.
const LEAF: (Colour, Colour) = (Colour([0x2c, 0x6a, 0x4a]), Colour([0x86, 0xcd, 0xa2]));

/// The parts of the look that a shop chooses.
pub(super) struct Look<'l> {
    /// The accent colour on light paper.
    pub light: Colour,
    /// The accent colour on dark paper.
    pub dark: Colour,
    /// The URL of the logo, if mail programs can show it.
    pub logo: Option<&'l str>,
}

impl<'l> Look<'l> {
    pub fn new(profile: Option<&'l Profile>) -> Self {
        let (light, dark) = profile.and_then(Profile::accent_colours).unwrap_or(LEAF);
        let logo = profile.and_then(|profile| profile.logo.as_deref());
        Look { light, dark, logo: logo.filter(|logo| !is_svg(logo)) }
    }

    /// Returns the content of the `style` element.
    pub fn rules(&self) -> String {
        let leaf = self.dark;
        format!(
            ":root{{color-scheme:light dark;supported-color-schemes:light dark}}\
             @media (prefers-color-scheme:dark){{\
             .paper{{background:{DARK_PAPER}!important}}\
             .ink{{color:#e9ede7!important}}\
             .soft{{color:#a2afa7!important}}\
             .foot{{border-color:#2a362f!important}}\
             .leaf{{color:{leaf}!important}}\
             .logo{{background:#fff!important;padding:6px!important}}\
             .button{{background:{leaf}!important}}\
             .label{{color:{DARK_PAPER}!important}}}}"
        )
    }

    /// Returns the style of the logo. If images are blocked, mail programs show the shop's name in this style.
    pub fn logo_style(&self) -> String {
        format!(
            "display:block;width:auto;max-width:256px;height:auto;max-height:{LOGO_HEIGHT}px;border:0;\
             border-radius:6px;font-weight:600;color:{}",
            self.light
        )
    }

    /// Returns the style of the button's cell. In Word, it also sets the space beside the text.
    pub fn button_style(&self) -> String {
        format!("{FONT};border-radius:6px;mso-padding-alt:0 24px;background:{}", self.light)
    }
}

/// Whether a logo's URL ends in `.svg`. Gmail and Outlook do not show such images.
fn is_svg(logo: &str) -> bool {
    let path = logo.split(['?', '#']).next().unwrap_or_default();
    let (_, extension) = path.rsplit_once('.').unwrap_or_default();
    ["svg", "svgz"].iter().any(|svg| extension.eq_ignore_ascii_case(svg))
}

/// Height of the logo, in pixels. Word ignores the maximum height in the style, but scales the width with
/// this height.
pub(super) const LOGO_HEIGHT: u32 = 40;
/// Height of the button, in pixels.
pub(super) const BUTTON_HEIGHT: u32 = 48;

/// The style of the button's link, which fills the button except in Word.
pub(super) const LABEL: &str = "display:inline-block;padding:12px 24px;line-height:24px;color:#fbfaf5;\
                                text-decoration:none;font-weight:600";
pub(super) const PAPER: &str = "margin:0;padding:0;background:#fbfaf5;color:#1c2822";
pub(super) const MARGIN: &str = "padding:24px 16px";
pub(super) const COLUMN: &str = "max-width:560px;border-collapse:collapse";
const FONT: &str =
    "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:17px;line-height:1.55";

/// Returns the style of a cell with text. It includes the font and the colour, because in some mail
/// programs a cell does not inherit them.
pub(super) fn cell_style(more: &str) -> String {
    format!(
        "{FONT};color:#1c2822;text-align:start;overflow-wrap:anywhere;word-break:break-word;{more}"
    )
}

pub(super) const MAIN: &str = "padding:0 0 28px";
pub(super) const FOOT: &str = "padding:20px 0 0;border-top:1px solid #dde3da";
pub(super) const HEADING: &str = "margin:0 0 20px;font-family:ui-serif,Palatino,'Palatino Linotype',Georgia,serif;\
     font-size:26px;line-height:1.25;font-weight:400;text-wrap:balance;word-break:auto-phrase";
pub(super) const PARAGRAPH: &str = "margin:0 0 20px;text-wrap:pretty";
pub(super) const SOFT: &str =
    "margin:0 0 8px;font-size:14px;line-height:1.5;color:#56635b;text-wrap:pretty";
/// The style of the note below the button.
pub(super) const NOTE: &str =
    "margin:16px 0 0;font-size:14px;line-height:1.5;color:#56635b;text-wrap:pretty";
/// The style of the preheader, the preview text that mail programs show only in the list of e-mails.
pub(super) const HIDDEN: &str = "display:none;mso-hide:all;max-height:0;max-width:0;overflow:hidden;\
                                 font-size:1px;line-height:1px;color:#fbfaf5;opacity:0";

/// The part of the head that only Word reads. It keeps pixels at their usual size on high-resolution screens,
/// and selects fonts that Windows has.
pub(super) const WORD_HEAD: &str = "<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch>\
     </o:OfficeDocumentSettings></xml><style>td,p,a{font-family:'Segoe UI',Arial,sans-serif!important}\
     h1{font-family:Georgia,serif!important}</style><![endif]-->";
/// Begins the table that bounds the column's width in Word.
pub(super) const WORD_COLUMN: &str = "<!--[if mso]><table role=\"presentation\" width=\"560\" align=\"center\" \
     cellpadding=\"0\" cellspacing=\"0\" border=\"0\"><tr><td><![endif]-->";
pub(super) const WORD_COLUMN_END: &str = "<!--[if mso]></td></tr></table><![endif]-->";
