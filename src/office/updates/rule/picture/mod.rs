//! Checks a picture that a person uploads, and removes what it does not need.
//!
//! A picture is taken apart, and only the parts that a decoder needs are put together again. So neither the place and time
//! of a photo, nor a comment, nor bytes behind the picture are stored. The pixels are not decoded: buyers' browsers do that,
//! and the limit on the declared size protects them.

mod jpeg;
mod orientation;
mod png;
mod webp;

use crate::pledges::picture::PictureFormat;

/// Maximum size of a picture's file, in bytes: 5 MiB.
pub const MAX_PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// Maximum number of pixels: 40 megapixels.
const MAX_PIXELS: u64 = 40_000_000;
/// Maximum width and height, in pixels: the most that a WebP can have.
const MAX_SIDE: u32 = 16_383;

/// A picture without anything but its pixels and its colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPicture {
    pub bytes: Vec<u8>,
    pub format: PictureFormat,
}

/// Why a picture is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureProblem {
    TooLarge,
    /// The file does not begin as a JPEG, PNG or WebP does.
    OtherFormat,
    /// The file is cut off or damaged, or of a rare kind that not every browser shows.
    Damaged,
    /// The picture says that it has no pixels, or too many.
    Pixels,
}

type Result<T> = std::result::Result<T, PictureProblem>;

impl PictureProblem {
    /// Says what is wrong, and what to do.
    pub fn in_words(self) -> String {
        match self {
            PictureProblem::TooLarge => {
                format!("the picture has more than {} MiB: make it smaller", MAX_PICTURE_BYTES >> 20)
            }
            PictureProblem::OtherFormat => {
                "the file is not a JPEG, PNG or WebP picture: save it in one of these formats".to_owned()
            }
            PictureProblem::Damaged => {
                "the picture is cut off or damaged, animated, or of a rare kind: save it as an ordinary JPEG, PNG or WebP"
                    .to_owned()
            }
            PictureProblem::Pixels => format!(
                "the picture must have at most {} megapixels, and at most {MAX_SIDE} pixels in width and in height: make it \
                 smaller",
                MAX_PIXELS / 1_000_000
            ),
        }
    }
}

/// Checks a picture, and returns it without what it does not need. The format is that of the content: no name and no
/// header of an upload matters.
///
/// # Errors
/// If the picture is too large, is not a complete JPEG, PNG or WebP, or declares too many pixels.
pub fn clean(file: &[u8]) -> Result<CleanPicture> {
    if file.len() > MAX_PICTURE_BYTES {
        return Err(PictureProblem::TooLarge);
    }
    let (format, bytes) = if let Some(rest) = file.strip_prefix(jpeg::SIGNATURE) {
        (PictureFormat::Jpg, jpeg::clean(rest)?)
    } else if let Some(rest) = file.strip_prefix(png::SIGNATURE) {
        (PictureFormat::Png, png::clean(rest)?)
    } else if let Some(chunks) = webp::chunks(file) {
        (PictureFormat::Webp, webp::clean(chunks?)?)
    } else {
        return Err(PictureProblem::OtherFormat);
    };
    Ok(CleanPicture { bytes, format })
}

/// Checks the declared width and height.
fn check_pixels(width: u32, height: u32) -> Result<()> {
    let is_side = |side: u32| (1..=MAX_SIDE).contains(&side);
    let is_small = u64::from(width) * u64::from(height) <= MAX_PIXELS;
    match is_side(width) && is_side(height) && is_small {
        true => Ok(()),
        false => Err(PictureProblem::Pixels),
    }
}

/// Bytes that are read from the front. Each read fails at the end of a file that is cut off.
struct Input<'f>(&'f [u8]);

impl<'f> Input<'f> {
    fn bytes(&mut self, count: usize) -> Result<&'f [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(PictureProblem::Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(PictureProblem::Damaged)?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }
}
