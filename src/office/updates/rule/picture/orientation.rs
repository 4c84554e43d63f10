//! The orientation of a photo. Cameras do not turn the pixels, but say in Exif how to turn them.

/// Where the header of TIFF begins in an Exif segment.
const PREFIX: &[u8] = b"Exif\0\0";
/// An Exif segment with one entry, up to its value: the tag of the orientation, the type of 16 bits, and the number 1.
const START: &[u8] = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01";
const TAG: u16 = 0x0112;
/// Maximum number of entries that are searched.
const MAX_ENTRIES: u16 = 100;

/// Returns an Exif segment with nothing but the orientation; `None` if the segment has none, or the pixels need not be turned.
pub(super) fn only(segment: &[u8]) -> Option<Vec<u8>> {
    let orientation = find(segment.strip_prefix(PREFIX)?)?;
    let value = u8::try_from(orientation).ok().filter(|value| (2..=8).contains(value))?;
    Some([START, &[0, value, 0, 0], &[0; 4]].concat())
}

/// Finds the orientation in the first directory of a TIFF.
fn find(tiff: &[u8]) -> Option<u16> {
    let is_little = match tiff.first_chunk()? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = *tiff.get(at..)?.first_chunk()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let long = *tiff.get(4..)?.first_chunk()?;
    let long = if is_little { u32::from_le_bytes(long) } else { u32::from_be_bytes(long) };
    let directory = usize::try_from(long).ok()?;
    let entries = short(directory)?.min(MAX_ENTRIES);
    let at = |entry: u16| directory.checked_add(2)?.checked_add(12 * usize::from(entry));
    let own = (0..entries).filter_map(at).find(|at| short(*at) == Some(TAG))?;
    short(own.checked_add(8)?)
}
