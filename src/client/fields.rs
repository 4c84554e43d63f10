//! The form's door to JavaScript: a plain export over an address in linear memory.
//!
//! As in `values.rs`, nothing here allocates or panics, and JavaScript owns the memory. The other
//! half of this file is `pkg-templates/form/read.js`.

#![expect(unsafe_code, reason = "addresses that JavaScript passes must become slices")]

use crate::form::{self, Entry, MOST_AROUND};
use crate::validate::compact::Compact;
use crate::validate::json::Source;
use crate::validate::{self, Code};
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// More problems than so many controls can have.
const fn most_problems(controls: usize) -> usize {
    4 * controls + 8
}

/// Reads a form and checks it. Gives the length of the JSON.
///
/// The area, each part as long as a form of so many `controls` and bytes of `text` can need: the
/// problems; the control of each, or `u32::MAX`; their number; four bytes that are free; the
/// entries; the JSON; as many bytes that are free; and the text, written by JavaScript.
#[unsafe(no_mangle)]
extern "C" fn read_form(area: usize, controls: usize, text: usize) -> usize {
    let problems = lent_mut::<Compact>(area, most_problems(controls));
    let area = area + size_of_val(problems);
    let owners = lent_mut::<u32>(area, problems.len() + 2);
    let area = area + size_of_val(owners);
    let entries = lent_mut::<Entry>(area, controls);
    let area = area + size_of_val(entries);
    let json = lent_mut::<u8>(area, 6 * text + MOST_AROUND * (controls + 1));
    let area = area + json.len();
    let scratch = lent_mut::<u8>(area, json.len());
    let text = lent(area + json.len(), text);

    let (entries, length) = form::read(text, entries, json);
    let json = json.get(..length).unwrap_or_default();
    let count = validate::json(json, Source::Json, scratch, problems);
    let found = problems.get(..count).unwrap_or_default();
    let mut unknown = 0;
    for (problem, owner) in found.iter().zip(owners.iter_mut()) {
        *owner = form::control_of(text, entries, problem, unknown).unwrap_or(u32::MAX);
        let [_, code, ..] = problem.about.to_le_bytes();
        unknown += usize::from(code == Code::UnknownMember as u8);
    }
    if let [.., counted, _] = owners {
        *counted = found.len() as u32;
    }
    length
}

/// Memory that JavaScript wrote.
fn lent<'a>(address: usize, count: usize) -> &'a [u8] {
    // SAFETY: the area is JavaScript's own; it fills it before the call and keeps it to the call's
    // end.
    unsafe { from_raw_parts(address as *const u8, count) }
}

/// Memory that JavaScript wants written.
fn lent_mut<'a, T: Copy>(address: usize, count: usize) -> &'a mut [T] {
    // SAFETY: as above; JavaScript aligns the area to 8 bytes, every part's length is a multiple of
    // the next one's alignment, and every bit pattern is a value of the types that lie here. No
    // other slice overlaps it, because each takes its own part of the area.
    unsafe { from_raw_parts_mut(address as *mut T, count) }
}
