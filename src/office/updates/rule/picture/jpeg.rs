//! JPEG: segments of a marker, a length and content. Pixels follow the segment that begins a scan.

use super::input::{Input, PictureProblem, Result, check_pixels};
use super::orientation;

pub(super) const SIGNATURE: &[u8] = b"\xff\xd8";
const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const APP1: u8 = 0xe1;

/// Takes the file behind its signature.
pub(super) fn clean(file: &[u8]) -> Result<Vec<u8>> {
    let mut input = Input(file);
    let mut cleaned = SIGNATURE.to_vec();
    let (mut frames, mut scans) = (0, 0);
    loop {
        let marker = marker(&mut input)?;
        if marker == END && scans > 0 {
            cleaned.extend([0xff, END]);
            return Ok(cleaned); // without what follows
        }
        let content = content(&mut input)?;
        match marker {
            // A frame: baseline, extended or progressive.
            0xc0..=0xc2 if frames == 0 => {
                check_frame(content)?;
                frames = 1;
            }
            SCAN if frames == 1 => scans += 1,
            // Tables of Huffman codes and of quantisation, and the restart interval.
            0xc4 | 0xdb | 0xdd => {}
            _ if is_of_colours(marker, content) => {}
            APP1 => {
                if let Some(exif) = orientation::only(content) {
                    write(&mut cleaned, APP1, &exif);
                }
                continue;
            }
            // Other data of programs, and comments.
            0xe0 | 0xe2..=0xef | 0xfe => continue,
            _ => return Err(PictureProblem::Damaged),
        }
        write(&mut cleaned, marker, content);
        if marker == SCAN {
            cleaned.extend_from_slice(pixels(&mut input)?);
        }
    }
}

/// Returns whether a segment says how to show the colours: the header of JFIF without a small picture, Adobe's, or a profile.
fn is_of_colours(marker: u8, content: &[u8]) -> bool {
    match marker {
        0xe0 => content.starts_with(b"JFIF\0") && content.len() == 14,
        0xe2 => content.starts_with(b"ICC_PROFILE\0"),
        0xee => content.starts_with(b"Adobe") && content.len() == 12,
        _ => false,
    }
}

/// Reads a marker. Any number of bytes 255 may precede it.
fn marker(input: &mut Input<'_>) -> Result<u8> {
    (input.byte()? == 0xff).then_some(()).ok_or(PictureProblem::Damaged)?;
    loop {
        match input.byte()? {
            0xff => {}
            marker => return Ok(marker),
        }
    }
}

/// Reads a segment's content behind its marker. The length includes its own two bytes.
fn content<'f>(input: &mut Input<'f>) -> Result<&'f [u8]> {
    let length = u16::from_be_bytes(input.array()?).checked_sub(2);
    input.bytes(length.ok_or(PictureProblem::Damaged)?.into())
}

fn write(to: &mut Vec<u8>, marker: u8, content: &[u8]) {
    to.extend([0xff, marker]);
    to.extend((content.len() as u16 + 2).to_be_bytes()); // as it was read, or shorter
    to.extend_from_slice(content);
}

/// Reads the pixels of a scan, up to the next marker. In pixels, a 0 or the number of a restart follows each byte 255.
fn pixels<'f>(input: &mut Input<'f>) -> Result<&'f [u8]> {
    let is_marker =
        |pair: &[u8]| matches!(pair, [0xff, next] if !matches!(next, 0x00 | 0xd0..=0xd7 | 0xff));
    let length = input.0.windows(2).position(is_marker).ok_or(PictureProblem::Damaged)?;
    input.bytes(length)
}

fn check_frame(content: &[u8]) -> Result<()> {
    let mut input = Input(content);
    input.byte()?; // bits of a sample
    let height = u16::from_be_bytes(input.array()?);
    check_pixels(u16::from_be_bytes(input.array()?).into(), height.into())
}
