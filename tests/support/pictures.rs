//! Pictures of a few bytes, with the structure of real ones.

/// A PNG of this size, with these chunks between its header and its pixels.
pub fn png(width: u32, height: u32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let all = [(b"IHDR", &header[..])].into_iter().chain(chunks.iter().copied());
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in all.chain([(b"IDAT", &b"pixels"[..]), (b"IEND", b"")]) {
        let length = u32::try_from(content.len()).unwrap();
        file.extend([&length.to_be_bytes()[..], name, content, b"crc!"].concat());
    }
    file
}

/// A segment of a JPEG.
pub fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).unwrap();
    [&[0xff, marker], &length.to_be_bytes()[..], content].concat()
}

/// A progressive JPEG of this size, with these segments at its beginning, and two scans.
pub fn jpeg(width: u16, height: u16, segments: &[Vec<u8>]) -> Vec<u8> {
    let frame = [&[8], &height.to_be_bytes()[..], &width.to_be_bytes(), &[1, 1, 0x11, 0]].concat();
    let scan = [segment(0xda, &[1, 1, 0, 0, 63, 0]), b"pix\xff\0els\xff\xd0more".to_vec()].concat();
    let tables = [segment(0xdb, &[0; 65]), segment(0xc2, &frame), segment(0xc4, &[0; 17])].concat();
    [
        b"\xff\xd8",
        &segments.concat()[..],
        &tables,
        &scan,
        &segment(0xc4, &[0; 17]),
        &scan,
        b"\xff\xd9",
    ]
    .concat()
}

/// A WebP with these chunks.
pub fn webp(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut content = b"WEBP".to_vec();
    for (name, bytes) in chunks {
        let length = u32::try_from(bytes.len()).unwrap();
        content.extend([&name[..], &length.to_le_bytes(), bytes].concat());
        content.resize(content.len().next_multiple_of(2), 0);
    }
    let length = u32::try_from(content.len()).unwrap();
    [b"RIFF", &length.to_le_bytes()[..], &content].concat()
}

/// The content of the chunk `VP8 ` of a WebP of this size.
pub fn vp8(width: u16, height: u16) -> Vec<u8> {
    [b"\0\0\0\x9d\x01\x2a", &width.to_le_bytes()[..], &height.to_le_bytes(), b"pixels"].concat()
}

/// The content of the chunk `VP8L` of a WebP of this size.
pub fn vp8l(width: u32, height: u32) -> Vec<u8> {
    let bits = (width - 1) | (height - 1) << 14;
    [&[0x2f], &bits.to_le_bytes()[..], b"pixels"].concat()
}

/// The content of the chunk `VP8X` of a WebP of this size that has everything.
pub fn vp8x(width: u32, height: u32) -> Vec<u8> {
    let side = |side: u32| (side - 1).to_le_bytes();
    [&[0b0011_1110, 0, 0, 0], &side(width)[..3], &side(height)[..3]].concat()
}

/// The content of an Exif segment with a place and an orientation.
pub fn exif(orientation: u8, is_little: bool) -> Vec<u8> {
    let short = |number: u16| {
        if is_little { number.to_le_bytes() } else { number.to_be_bytes() }
    };
    let long = |number: u32| {
        if is_little { number.to_le_bytes() } else { number.to_be_bytes() }
    };
    let entry = |tag: u16, value: u8| {
        [&short(tag)[..], &short(3), &long(1), &short(value.into()), &[0; 2]].concat()
    };
    let order: &[u8] = if is_little { b"II" } else { b"MM" };
    let directory = [&short(2)[..], &entry(0x8825, 26), &entry(0x0112, orientation)].concat();
    [b"Exif\0\0", order, &short(42), &long(8), &directory, &long(0), b"GPS: Kitui"].concat()
}
