//! The names of uploaded pictures. Pictures of updates are uploaded in the office, and shown on timelines.

use sha2::{Digest as _, Sha256};
use strum::{IntoStaticStr, VariantArray};

/// The path of uploaded pictures: `{PICTURES_PATH}/{name}`.
pub const PICTURES_PATH: &str = "/pictures";
/// Number of hexadecimal digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The format of a picture. Its name is the extension of the picture's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum PictureFormat {
    Jpg,
    Png,
    Webp,
}

impl PictureFormat {
    pub fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Jpg => "image/jpeg",
            PictureFormat::Png => "image/png",
            PictureFormat::Webp => "image/webp",
        }
    }
}

/// The name of a picture: the SHA-256 of its bytes and its format, such as `9f86…0a08.jpg`. Another picture has another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureName {
    text: String,
    format: PictureFormat,
}

impl PictureName {
    pub fn of(bytes: &[u8], format: PictureFormat) -> Self {
        let hash = base16ct::lower::encode_string(&Sha256::digest(bytes));
        PictureName { text: [&hash, ".", format.into()].concat(), format }
    }

    /// Parses a name: 64 hexadecimal digits in lower case, a full stop and the format.
    pub fn parse(text: &str) -> Option<Self> {
        let (hash, extension) = text.split_once('.')?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(is_digit);
        let of_name = |format: &&PictureFormat| <&str>::from(**format) == extension;
        let format = *PictureFormat::VARIANTS.iter().find(of_name).filter(|_| is_hash)?;
        Some(PictureName { text: text.to_owned(), format })
    }

    /// Parses the path at which the service shows a picture.
    pub fn of_path(path: &str) -> Option<Self> {
        PictureName::parse(path.strip_prefix(PICTURES_PATH)?.strip_prefix('/')?)
    }

    pub fn path(&self) -> String {
        [PICTURES_PATH, "/", &self.text].concat()
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn format(&self) -> PictureFormat {
        self.format
    }
}
