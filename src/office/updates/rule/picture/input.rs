//! Reads the parts of a picture, and says why one is refused.

/// Maximum size of a picture's file, in bytes: 5 MiB.
pub const MAX_PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// Maximum number of pixels: 40 megapixels.
const MAX_PIXELS: u64 = 40_000_000;
/// Maximum width and height, in pixels: the most that a WebP can have.
const MAX_SIDE: u32 = 16_383;

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

pub(super) type Result<T> = std::result::Result<T, PictureProblem>;

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

/// Checks the declared width and height.
pub(super) fn check_pixels(width: u32, height: u32) -> Result<()> {
    let is_side = |side: u32| (1..=MAX_SIDE).contains(&side);
    let is_small = u64::from(width) * u64::from(height) <= MAX_PIXELS;
    match is_side(width) && is_side(height) && is_small {
        true => Ok(()),
        false => Err(PictureProblem::Pixels),
    }
}

/// Bytes that are read from the front. Each read fails at the end of a file that is cut off.
pub(super) struct Input<'f>(pub &'f [u8]);

impl<'f> Input<'f> {
    pub fn bytes(&mut self, count: usize) -> Result<&'f [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(PictureProblem::Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(PictureProblem::Damaged)?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }
}
