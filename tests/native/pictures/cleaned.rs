//! Tests which pictures are accepted, and what is left of them.

use impact_pledge::office::updates::rule::{
    CleanPicture, MAX_PICTURE_BYTES, PictureProblem, clean,
};
use impact_pledge::pledges::picture::PictureFormat;
use support::pictures::{exif, jpeg, png, segment, vp8, vp8l, vp8x, webp};

/// What an attacker hides in a picture.
const SCRIPT: &[u8] = b"<html><script>alert(1)</script>";

#[track_caller]
fn cleaned(file: &[u8], format: PictureFormat) -> Vec<u8> {
    let CleanPicture { bytes, format: found } = clean(file).unwrap();
    assert_eq!(found, format);
    assert_eq!(clean(&bytes).unwrap().bytes, bytes, "a clean picture stays as it is");
    bytes
}

#[test]
fn only_pixels_and_colours_are_kept() {
    let (jpg, jfif) = (PictureFormat::Jpg, segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"));
    let icc = segment(0xe2, b"ICC_PROFILE\0\x01\x01profile");
    let adobe = segment(0xee, b"Adobe\0\x64\0\0\0\0\x01");
    let plain = jpeg(40, 30, &[jfif.clone(), icc.clone(), adobe.clone()]);
    let full = jpeg(
        40,
        30,
        &[
            segment(0xfe, SCRIPT),
            jfif,
            segment(0xe0, b"JFXX\0thumbnail"),
            segment(0xe0, &[b"JFIF\0\x01\x01\0\0\x01\0\x01\x02\x02", SCRIPT].concat()),
            segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>"),
            segment(0xe1, &exif(1, true)),
            icc,
            segment(0xe2, b"MPF\0more pictures"),
            segment(0xed, SCRIPT),
            adobe,
        ],
    );
    assert_eq!(cleaned(&plain, jpg), plain);
    assert_eq!(cleaned(&full, jpg), plain);
    assert_eq!(cleaned(&[&full, SCRIPT].concat(), jpg), plain, "HTML after the picture");
    assert_eq!(cleaned(&[&full[..], &full].concat(), jpg), plain, "a second picture");

    let profile: (&[u8; 4], &[u8]) = (b"iCCP", b"profile");
    let plain = png(40, 30, &[profile]);
    let full = png(
        40,
        30,
        &[(b"tEXt", SCRIPT), profile, (b"eXIf", b"GPS"), (b"scRp", SCRIPT), (b"acTL", b"frames")],
    );
    assert_eq!(cleaned(&full, PictureFormat::Png), plain);
    assert_eq!(cleaned(&[&full, SCRIPT].concat(), PictureFormat::Png), plain);

    let (pixels, header) = (vp8(40, 30), vp8x(40, 30));
    let full = [
        (b"VP8X", &header[..]),
        (b"ICCP", b"odd"),
        (b"EXIF", b"GPS"),
        (b"VP8 ", &pixels),
        (b"XMP ", SCRIPT),
        (b"ABCD", SCRIPT),
    ];
    let flags = [&[0b0011_0000], &header[1..]].concat();
    let plain = webp(&[(b"VP8X", &flags), (b"ICCP", b"odd"), (b"VP8 ", &pixels)]);
    let full = webp(&full);
    assert_eq!(cleaned(&full, PictureFormat::Webp), plain);
    assert_eq!(cleaned(&[&full, SCRIPT].concat(), PictureFormat::Webp), plain);
    let lossless = webp(&[(b"VP8L", &vp8l(40, 30))]);
    assert_eq!(cleaned(&lossless, PictureFormat::Webp), lossless);
}

#[test]
fn a_photo_keeps_its_orientation_and_nothing_else_of_exif() {
    for is_little in [true, false] {
        for orientation in 0..=9 {
            let full = jpeg(40, 30, &[segment(0xe1, &exif(orientation, is_little))]);
            let bytes = cleaned(&full, PictureFormat::Jpg);
            assert!(!bytes.windows(3).any(|text| text == b"GPS"));
            let expected = match orientation {
                2..=8 => vec![segment(0xe1, &only(orientation))],
                _ => Vec::new(),
            };
            assert_eq!(bytes, jpeg(40, 30, &expected), "{orientation}");
        }
    }
    let whole = exif(6, false);
    for length in 0..whole.len() {
        let cut = jpeg(40, 30, &[segment(0xe1, &whole[..length])]);
        cleaned(&cut, PictureFormat::Jpg);
    }
    let far = [b"Exif\0\0II*\0", &u32::MAX.to_le_bytes()[..]].concat();
    assert_eq!(cleaned(&jpeg(4, 3, &[segment(0xe1, &far)]), PictureFormat::Jpg), jpeg(4, 3, &[]));
}

/// Exif with the orientation alone.
fn only(orientation: u8) -> Vec<u8> {
    let mut whole = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    whole.extend([orientation, 0, 0, 0, 0, 0, 0]);
    whole
}

#[test]
fn other_files_and_bombs_are_refused() {
    use PictureProblem::{Damaged, OtherFormat, Pixels, TooLarge};
    let page = b"<!doctype html><script>alert(1)</script>";
    let vector = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let twice = [(b"VP8 ", &vp8(4, 3)[..]), (b"VP8L", &vp8l(4, 3))];
    let second_frame = segment(0xc0, &[8, 0, 9, 0, 9, 1, 1, 0x11, 0]);
    let padded = [&png(4, 3, &[])[..], &vec![0; MAX_PICTURE_BYTES]].concat();
    for (what, file, problem) in [
        ("nothing", vec![], OtherFormat),
        ("an SVG", vector.to_vec(), OtherFormat),
        ("HTML with any name", page.to_vec(), OtherFormat),
        ("a GIF that is JavaScript", b"GIF89a/*".to_vec(), OtherFormat),
        ("a RIFF of sound", b"RIFF\x04\0\0\0WAVE".to_vec(), OtherFormat),
        ("a BMP", b"BM\0\0".to_vec(), OtherFormat),
        ("a PDF", b"%PDF-1.7".to_vec(), OtherFormat),
        ("an AVIF", b"\0\0\0\x1cftypavif".to_vec(), OtherFormat),
        ("6 MiB", vec![0xff; 6 << 20], TooLarge),
        ("5 MiB behind a picture", padded, TooLarge),
        ("a script behind a signature", [b"\xff\xd8", &page[..]].concat(), Damaged),
        ("a signature", b"\xff\xd8\xff".to_vec(), Damaged),
        ("a PNG of 10^10 pixels", png(100_000, 100_000, &[]), Pixels),
        ("a PNG of 2^64 pixels", png(u32::MAX, u32::MAX, &[]), Pixels),
        ("a PNG without pixels", png(0, 3, &[]), Pixels),
        ("a PNG that is too wide", png(16_384, 1, &[]), Pixels),
        ("a JPEG of 10^9 pixels", jpeg(65_535, 16_383, &[]), Pixels),
        ("a JPEG of a height that follows", jpeg(40, 0, &[]), Pixels),
        ("a WebP of 2 × 10^8 pixels", webp(&[(b"VP8 ", &vp8(16_383, 16_383))]), Pixels),
        ("a lossless bomb", webp(&[(b"VP8L", &vp8l(16_384, 16_384))]), Pixels),
        (
            "a bomb in a small frame",
            { webp(&[(b"VP8X", &vp8x(4, 3)), (b"VP8 ", &vp8(16_383, 16_383))]) },
            Pixels,
        ),
        (
            "a frame of 2^48 pixels",
            { webp(&[(b"VP8X", &vp8x(1 << 24, 1 << 24)), (b"VP8 ", &vp8(4, 3))]) },
            Pixels,
        ),
        ("two pictures in a WebP", webp(&twice), Damaged),
        ("an animation", webp(&[(b"VP8X", &vp8x(4, 3)), (b"ANMF", b"frame")]), Damaged),
        ("two headers in a PNG", png(4, 3, &[(b"IHDR", &[0; 13])]), Damaged),
        ("two frames in a JPEG", jpeg(4, 3, &[second_frame]), Damaged),
        ("arithmetic coding", jpeg(4, 3, &[segment(0xc9, &[0; 9])]), Damaged),
    ] {
        assert_eq!(clean(&file), Err(problem), "{what}");
    }
    clean(&png(8_000, 5_000, &[])).expect("40 megapixels");
    assert_eq!(clean(&png(8_000, 5_001, &[])), Err(Pixels));
}

#[test]
fn a_file_that_is_cut_off_is_refused_and_no_byte_breaks_the_check() {
    let webp = webp(&[(b"VP8X", &vp8x(40, 30)), (b"VP8 ", &vp8(40, 30)), (b"EXIF", b"odd")]);
    let photo = jpeg(40, 30, &[segment(0xe1, &exif(6, true))]);
    for file in [png(40, 30, &[(b"tEXt", b"x")]), photo, webp] {
        for length in 0..file.len() {
            clean(&file[..length]).unwrap_err();
            for byte in [0x00, 0x7f, 0xd9, 0xff] {
                let mut other = file.clone();
                other[length] = byte;
                if let Ok(picture) = clean(&other) {
                    assert_eq!(clean(&picture.bytes), Ok(picture), "byte {length} is {byte}");
                }
            }
        }
    }
}
