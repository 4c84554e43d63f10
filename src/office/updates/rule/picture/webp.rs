//! WebP: a RIFF file, whose chunks have a name, a length and content.

use super::input::{Input, PictureProblem, Result, check_pixels};

/// The chunks that are kept: the header of an extended file, colours, transparency and pixels. Others are Exif, XMP, or the
/// pictures of an animation.
const KEPT: [&[u8; 4]; 5] = [b"VP8X", b"ICCP", b"ALPH", PIXELS, LOSSLESS];
const PIXELS: &[u8; 4] = b"VP8 ";
const LOSSLESS: &[u8; 4] = b"VP8L";
/// The bits of an extended header that say that a file has Exif, XMP or an animation.
const WITHOUT: u8 = 0b0000_1110;

/// Returns the chunks of a file; `None` if it does not begin as a WebP does. Leaves out what follows the chunks.
pub(super) fn chunks(file: &[u8]) -> Option<Result<&[u8]>> {
    let (length, file) = file.strip_prefix(b"RIFF")?.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    file.starts_with(b"WEBP").then_some(())?;
    let file = file.get(..length).ok_or(PictureProblem::Damaged);
    Some(file.and_then(|file| file.strip_prefix(b"WEBP").ok_or(PictureProblem::Damaged)))
}

pub(super) fn clean(chunks: &[u8]) -> Result<Vec<u8>> {
    let mut input = Input(chunks);
    let mut cleaned = b"RIFF\0\0\0\0WEBP".to_vec();
    let mut pictures = 0;
    while !input.0.is_empty() {
        let name = input.array()?;
        let content = content(&mut input)?;
        if !KEPT.contains(&&name) {
            continue;
        }
        pictures += u32::from([PIXELS, LOSSLESS].contains(&&name));
        check_size(&name, content)?;
        write(&mut cleaned, name, content);
    }
    if pictures != 1 {
        return Err(PictureProblem::Damaged);
    }
    let length = (cleaned.len() as u32).saturating_sub(8).to_le_bytes();
    let to = cleaned.get_mut(4..8).ok_or(PictureProblem::Damaged)?;
    to.copy_from_slice(&length);
    Ok(cleaned)
}

/// Reads a chunk's content behind its name. Content of an odd length is followed by a byte, which the last chunk may lack.
fn content<'f>(input: &mut Input<'f>) -> Result<&'f [u8]> {
    let length = u32::from_le_bytes(input.array()?) as usize;
    let content = input.bytes(length)?;
    if length % 2 == 1 && !input.0.is_empty() {
        input.byte()?;
    }
    Ok(content)
}

fn write(to: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    to.extend(name);
    to.extend((content.len() as u32).to_le_bytes());
    match (content.split_first(), &name) {
        (Some((flags, rest)), b"VP8X") => {
            to.push(flags & !WITHOUT);
            to.extend_from_slice(rest);
        }
        _ => to.extend_from_slice(content),
    }
    if content.len() % 2 == 1 {
        to.push(0);
    }
}

/// Checks the width and the height that a chunk declares.
fn check_size(name: &[u8; 4], content: &[u8]) -> Result<()> {
    let mut input = Input(content);
    match name {
        b"VP8X" => {
            input.bytes(4)?; // flags
            let [a, b, c, d, e, f] = input.array()?;
            let side = |low, middle, high| u32::from_le_bytes([low, middle, high, 0]) + 1;
            check_pixels(side(a, b, c), side(d, e, f))
        }
        PIXELS => {
            let [tag, ..] = input.array::<3>()?;
            let is_key_frame = tag & 1 == 0 && input.bytes(3)? == b"\x9d\x01\x2a";
            is_key_frame.then_some(()).ok_or(PictureProblem::Damaged)?;
            let mut side = || Ok(u32::from(u16::from_le_bytes(input.array()?) & 0x3fff));
            check_pixels(side()?, side()?)
        }
        LOSSLESS => {
            (input.byte()? == 0x2f).then_some(()).ok_or(PictureProblem::Damaged)?;
            let bits = u32::from_le_bytes(input.array()?);
            check_pixels((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
        }
        _ => Ok(()),
    }
}
