//! A shop's accent colour, adjusted for contrast.

use std::fmt::{self, Display, Formatter};

/// The page's background in the light colour scheme: `--paper` of the style.
pub const LIGHT_PAPER: Colour = Colour([0xfb, 0xfa, 0xf5]);
/// The page's background in the dark colour scheme.
pub const DARK_PAPER: Colour = Colour([0x10, 0x16, 0x13]);

/// The minimum contrast ratio of text and background (WCAG 2.2, 1.4.3).
const LEAST_CONTRAST: f64 = 4.5;
/// Number of steps in which a colour can be mixed with black or white.
const STEPS: u16 = 255;

/// A colour of sRGB: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// Parses `#rrggbb`, in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let bytes = base16ct::mixed::decode_vec(digits).ok()?;
        Some(Colour(bytes.try_into().ok()?))
    }

    /// Mixes this colour with as little black or white as possible, so that text in the result is readable on
    /// `paper`. `paper` must be nearly white or nearly black.
    pub fn readable_on(self, paper: Colour) -> Colour {
        let ink = if paper.luminance() > 0.5 { Colour([0; 3]) } else { Colour([255; 3]) };
        let mixtures = (0..=STEPS).map(|step| self.mixed(ink, step));
        mixtures
            .into_iter()
            .find(|mixture| mixture.contrast(paper) >= LEAST_CONTRAST)
            .unwrap_or(ink)
    }

    /// Returns the contrast ratio of WCAG, from 1 to 21.
    pub fn contrast(self, other: Colour) -> f64 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > two { one / two } else { two / one }
    }

    /// Returns the relative luminance of WCAG, from 0 to 1.
    pub fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn mixed(self, ink: Colour, step: u16) -> Colour {
        let [red, green, blue] = self.0;
        let [ink, ..] = ink.0; // black or white
        let mix =
            |own: u8| (u16::from(own) * (STEPS - step) + u16::from(ink) * step).div_ceil(STEPS);
        Colour([red, green, blue].map(|own| mix(own).try_into().unwrap_or(u8::MAX)))
    }
}

impl Display for Colour {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("#")?;
        out.write_str(&base16ct::lower::encode_string(&self.0))
    }
}

/// Converts a channel of sRGB to linear light, from 0 to 1.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}
