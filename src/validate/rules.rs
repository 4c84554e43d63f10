//! The rules of the schema that every door applies.

use super::format;
use super::place::Place;
use super::report::{Code, Problems};
use crate::schema::{Array, Format, Member, Object};

/// The member of this name, with its index.
pub(crate) fn member(object: &'static Object, name: &[u8]) -> Option<(u8, &'static Member)> {
    (0_u8..).zip(object.members).find(|(_, member)| member.name.as_bytes() == name)
}

/// Reports the required members that were not seen; bit *n* of `seen` is member *n*.
pub(crate) fn required<'a>(
    object: &'static Object,
    seen: u32,
    place: &Place<'_>,
    report: &mut impl Problems<'a>,
) {
    for (nth, member) in (0_u8..).zip(object.members) {
        if member.required && seen & (1 << nth) == 0 {
            report.issue(&place.member(nth, member), Code::Required);
        }
    }
}

/// Reports an array that is too short or too long.
pub(crate) fn length<'a>(
    array: &'static Array,
    count: u32,
    place: &Place<'_>,
    report: &mut impl Problems<'a>,
) {
    if count < array.min_items {
        report.issue(place, Code::TooFewItems);
    }
    if array.max_items.is_some_and(|most| count > most) {
        report.issue(place, Code::TooManyItems);
    }
}

/// Whether a string has its format.
pub(crate) fn text(expected: Format, text: &[u8]) -> Result<(), Code> {
    match expected {
        Format::Any => Ok(()),
        Format::Email => format::is_email(text).then_some(()).ok_or(Code::InvalidEmail),
        Format::Uri => format::is_uri(text).then_some(()).ok_or(Code::InvalidUri),
        Format::DateTime => format::is_date_time(text).then_some(()).ok_or(Code::InvalidDateTime),
    }
}

/// The index of a string among those allowed.
pub(crate) fn choice(choices: &[&str], text: &[u8]) -> Result<usize, Code> {
    choices.iter().position(|choice| choice.as_bytes() == text).ok_or(Code::NotAllowed)
}
