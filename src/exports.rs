//! What the wasm of `impact-pledge/validate` exports: plain functions over addresses in linear
//! memory, and the layout of that memory. `pkg-templates/validate/wasm.js` is its other half.
//!
//! No wasm-bindgen, and nothing that allocates or panics: this wasm is the rules and little else.
//! JavaScript owns the memory behind every `area` that it passes: it grows the memory by the pages
//! that it needs, writes there and reads the answer there.

#![expect(unsafe_code, reason = "addresses that JavaScript passes must become slices")]

use crate::validate;
use crate::validate::compact::Compact;
use crate::validate::formats::{self, TEXTS};
use crate::validate::json::Source;
use core::slice;

/// Checks texts that have a format, as [`formats::check`] does. Returns how many are wrong.
///
/// The area: [`TEXTS`] words, one for each text, and the texts, one behind the other.
#[unsafe(no_mangle)]
extern "C" fn check_formats(area: usize, count: usize, length: usize) -> usize {
    let text = slice_from_raw(area + TEXTS * size_of::<u32>(), length);
    formats::check(slice_from_raw_mut(area, count.min(TEXTS)), text) // never beyond the words
}

/// Checks JSON; [`validate::json`] says what it returns.
///
/// The area: `room` problems, the JSON, and as many free bytes. `source` is 0 for JSON as it came.
#[unsafe(no_mangle)]
extern "C" fn check_json(
    area: usize,
    room: usize,
    length: usize,
    source: u32,
    skip: usize,
) -> usize {
    let problems = slice_from_raw_mut::<Compact>(area, room);
    let area = area + size_of_val(problems);
    let source = if source == 0 { Source::Json } else { Source::Value };
    let scratch = slice_from_raw_mut(area + length, length);
    validate::json(slice_from_raw(area, length), source, skip, scratch, problems)
}

/// Memory that JavaScript wrote.
fn slice_from_raw<'a, T: Copy>(address: usize, count: usize) -> &'a [T] {
    // SAFETY: the area is JavaScript's own; it aligns it to a page, fills it before the call and
    // keeps it to the call's end. Every bit pattern is a value of the types that are read.
    unsafe { slice::from_raw_parts(address as *const T, count) }
}

/// Memory that JavaScript reads after the call.
fn slice_from_raw_mut<'a, T: Copy>(address: usize, count: usize) -> &'a mut [T] {
    // SAFETY: as above; no other slice overlaps it, because each takes its own part of the area.
    unsafe { slice::from_raw_parts_mut(address as *mut T, count) }
}
