//! The WebAssembly exports of `impact-pledge/validate`, which `pkg-templates/validate/wasm.ts` calls. They
//! are plain functions, whose arguments are addresses in linear memory.
//!
//! The functions do without wasm-bindgen, allocation and panics, so that the wasm contains little more than
//! the rules. JavaScript owns the memory of every `area` that it passes. JavaScript grows the memory as
//! needed, writes the input into the area, and reads the result there.

#![expect(unsafe_code, reason = "JavaScript passes addresses, which must become slices")]

use crate::pledges::schema::Format;
use crate::pledges::validate::compact;
use crate::pledges::validate::compact::CompactIssue;
use crate::pledges::validate::json::Source;
use crate::pledges::validate::rules;
use core::slice;

/// Checks a text. `format` is the number of a [`Format`]. Returns 0 if the text is valid, otherwise the
/// number of the [`Code`](crate::pledges::validate::Code).
///
/// The area holds the `length` bytes of the text. In place of a non-ASCII character, the text may contain
/// any single non-ASCII byte: no format allows either of them.
#[unsafe(no_mangle)]
extern "C" fn check_format(area: usize, length: usize, format: u32) -> u32 {
    let format = Format::from_repr(format as u8).unwrap_or(Format::Any);
    let checked = rules::check_format(format, slice_from_raw(area, length));
    checked.err().map_or(0, |code| code as u32)
}

/// Checks JSON with [`compact::check`], which documents `skip` and the returned number.
///
/// The area has three parts: room for `room` issues, the JSON of `length` bytes, and `length` bytes of
/// scratch memory. `source` is 0 for [`Source::Json`], and 1 for [`Source::Value`].
#[unsafe(no_mangle)]
extern "C" fn check_json(
    area: usize,
    room: usize,
    length: usize,
    source: u32,
    skip: usize,
) -> usize {
    let issues = slice_from_raw_mut::<CompactIssue>(area, room);
    let area = area + size_of_val(issues);
    let source = if source == 0 { Source::Json } else { Source::Value };
    let scratch = slice_from_raw_mut(area + length, length);
    compact::check(slice_from_raw(area, length), source, skip, scratch, issues)
}

/// Returns memory that JavaScript has written.
fn slice_from_raw<'a, T: Copy>(address: usize, count: usize) -> &'a [T] {
    // SAFETY: JavaScript reserved the area: it is aligned to a page, filled before the call, and
    // unchanged until the call returns. Every bit pattern is a valid value of the types read here.
    unsafe { slice::from_raw_parts(address as *const T, count) }
}

/// Returns memory that JavaScript reads after the call.
fn slice_from_raw_mut<'a, T: Copy>(address: usize, count: usize) -> &'a mut [T] {
    // SAFETY: as above. No other slice overlaps it, because each takes its own part of the area.
    unsafe { slice::from_raw_parts_mut(address as *mut T, count) }
}
