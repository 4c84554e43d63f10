//! Addresses of the dashboard's own pages. None has a key or an e-mail address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a segment of a path may have as it is.
const SEGMENT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

/// `/` and the segments, each encoded.
pub(super) fn path(segments: &[&str]) -> String {
    let encoded = segments.iter().map(|segment| utf8_percent_encode(segment, SEGMENT).to_string());
    "/".to_owned() + &encoded.collect::<Vec<_>>().join("/")
}
