//! Checks a picture that a person uploads, and removes what it does not need.
//!
//! A picture is taken apart, and only the parts that a decoder needs are put together again. So neither the place and time
//! of a photo, nor a comment, nor bytes behind the picture are stored. The pixels are not decoded: buyers' browsers do that,
//! and the limit on the declared size protects them.

mod input;
mod jpeg;
mod orientation;
mod png;
mod webp;

pub use input::{MAX_PICTURE_BYTES, PictureProblem};

use crate::pledges::picture::PictureFormat;
use input::Result;

/// A picture without anything but its pixels and its colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPicture {
    pub bytes: Vec<u8>,
    pub format: PictureFormat,
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
