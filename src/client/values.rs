//! The validator's door to JavaScript: plain exports over addresses in linear memory.
//!
//! No wasm-bindgen, and nothing that allocates or panics: the wasm of `impact-pledge/validate` is
//! the rules and little else. JavaScript owns the memory behind every `area` that it passes: it
//! grows the memory by the pages that it needs, writes there and reads the answer there.
//! `pkg-templates/validate/engine.js` is the other half of this file.

#![expect(unsafe_code, reason = "addresses that JavaScript passes must become slices")]

use crate::validate::json;
use crate::validate::json::Source;
use crate::validate::texts::{TEXTS, judge};
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// Judges the texts that the encoder collected; [`judge`] says what it gives.
///
/// The area: [`TEXTS`] words, one for each text, and the texts.
#[unsafe(no_mangle)]
extern "C" fn validate_texts(area: usize, count: usize, length: usize) -> bool {
    let text = lent(area + TEXTS * size_of::<u32>(), length);
    judge(lent_mut(area, count.min(TEXTS)), text)
}

/// Checks JSON; [`json`] says what it gives.
///
/// The area: so many problems as `room` says, the JSON, and as many free bytes. `source` is 0 for
/// JSON as it came.
#[unsafe(no_mangle)]
extern "C" fn validate_json(area: usize, room: usize, length: usize, source: u32) -> usize {
    let room = lent_mut(area, room);
    let area = area + size_of_val(room);
    let source = if source == 0 { Source::Json } else { Source::Value };
    json(lent(area, length), source, lent_mut(area + length, length), room)
}

/// Memory that JavaScript wrote.
fn lent<'a, T: Copy>(address: usize, count: usize) -> &'a [T] {
    // SAFETY: the area is JavaScript's own; it aligns it, fills it before the call and keeps it to
    // the call's end. Every bit pattern is a value of the types that are read.
    unsafe { from_raw_parts(address as *const T, count) }
}

/// Memory that JavaScript wants written.
fn lent_mut<'a, T: Copy>(address: usize, count: usize) -> &'a mut [T] {
    // SAFETY: as above; no other slice overlaps it, because each takes its own part of the area.
    unsafe { from_raw_parts_mut(address as *mut T, count) }
}
