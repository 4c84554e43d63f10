//! PNG: a signature, and chunks of a length, a name, content and a checksum.

use super::input::{Input, PictureProblem, Result, check_pixels};

pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The chunks that are kept besides the first and the last: colours and pixels. Others are texts, times, Exif, or the other
/// pictures of an animation.
const KEPT: [&[u8; 4]; 8] =
    [b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"IDAT"];

/// Takes the file behind its signature.
pub(super) fn clean(file: &[u8]) -> Result<Vec<u8>> {
    let mut input = Input(file);
    let mut cleaned = SIGNATURE.to_vec();
    let first = Chunk::read(&mut input)?;
    check_header(&first)?;
    first.write(&mut cleaned);
    let mut has_pixels = false;
    loop {
        let chunk = Chunk::read(&mut input)?;
        has_pixels |= chunk.name == *b"IDAT";
        if chunk.name == *b"IEND" && has_pixels && chunk.content.is_empty() {
            chunk.write(&mut cleaned);
            return Ok(cleaned); // without what follows
        }
        match &chunk.name {
            b"IEND" | b"IHDR" => return Err(PictureProblem::Damaged),
            name if KEPT.contains(&name) => chunk.write(&mut cleaned),
            _ => {}
        }
    }
}

struct Chunk<'f> {
    name: [u8; 4],
    content: &'f [u8],
    checksum: [u8; 4],
}

impl<'f> Chunk<'f> {
    fn read(input: &mut Input<'f>) -> Result<Self> {
        let length = u32::from_be_bytes(input.array()?);
        let name = input.array()?;
        let content = input.bytes(length as usize)?;
        Ok(Chunk { name, content, checksum: input.array()? })
    }

    fn write(&self, to: &mut Vec<u8>) {
        let length = (self.content.len() as u32).to_be_bytes();
        for bytes in [&length, &self.name, self.content, &self.checksum] {
            to.extend_from_slice(bytes);
        }
    }
}

fn check_header(Chunk { name, content, .. }: &Chunk<'_>) -> Result<()> {
    let mut input = Input(content);
    if name != b"IHDR" || content.len() != 13 {
        return Err(PictureProblem::Damaged);
    }
    check_pixels(u32::from_be_bytes(input.array()?), u32::from_be_bytes(input.array()?))
}
