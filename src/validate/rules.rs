//! The rules of the schema that every door applies.

use super::format;
use super::report::{Code, Place, Report};
use crate::schema::{Array, Format, Member, Object};

/// The member of this name, with its index.
pub(crate) fn member(object: &'static Object, name: &str) -> Option<(u8, &'static Member)> {
    (0_u8..).zip(object.members).find(|(_, member)| member.name == name)
}

/// Reports the required members that were not seen; bit *n* of `seen` is member *n*.
pub(crate) fn required(
    object: &'static Object,
    seen: u32,
    place: &Place<'_>,
    report: &mut Report<'_>,
) {
    for (index, member) in (0_u8..).zip(object.members) {
        if member.required && seen & (1 << index) == 0 {
            report.push(place.member(index, member).issue(Code::Required));
        }
    }
}

/// Reports an array that is too short or too long.
pub(crate) fn length(
    array: &'static Array,
    count: u32,
    place: &Place<'_>,
    report: &mut Report<'_>,
) {
    if count < array.min_items {
        report.push(place.issue(Code::TooFewItems));
    }
    if array.max_items.is_some_and(|most| count > most) {
        report.push(place.issue(Code::TooManyItems));
    }
}

/// Whether a string has its format.
pub(crate) fn text(expected: Format, text: &str) -> Result<(), Code> {
    match expected {
        Format::Any => Ok(()),
        Format::Email => format::is_email(text).then_some(()).ok_or(Code::InvalidEmail),
        Format::Uri => format::is_uri(text).then_some(()).ok_or(Code::InvalidUri),
        Format::DateTime => format::is_date_time(text).then_some(()).ok_or(Code::InvalidDateTime),
    }
}

/// The index of a string among those allowed.
pub(crate) fn choice(choices: &[&str], text: &str) -> Result<usize, Code> {
    choices.iter().position(|choice| *choice == text).ok_or(Code::NotAllowed)
}
