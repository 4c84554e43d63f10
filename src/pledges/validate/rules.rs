//! The schema's rules. Every check of a body or of a single text uses them.

use super::code::Code;
use super::format;
use super::node::Node;
use super::report::Reporter;
use crate::pledges::schema::{Array, Format, Member, Object};

/// Returns the member of an object with this name, and the member's position in the object.
pub(crate) fn find_member(object: &'static Object, name: &[u8]) -> Option<(u8, &'static Member)> {
    (0_u8..).zip(object.members).find(|(_, member)| member.name.as_bytes() == name)
}

/// Reports the required members that are absent. Bit *n* of `seen` is set if member *n* is present.
pub(crate) fn check_required<'a>(
    object: &'static Object,
    seen: u32,
    node: &Node<'_>,
    reporter: &mut impl Reporter<'a>,
) {
    for (nth, member) in (0_u8..).zip(object.members) {
        if member.required && seen & (1 << nth) == 0 {
            reporter.report(&node.member(nth, member), Code::Required);
        }
    }
}

pub(crate) fn check_length<'a>(
    array: &'static Array,
    count: u32,
    node: &Node<'_>,
    reporter: &mut impl Reporter<'a>,
) {
    if count < array.min_items {
        reporter.report(node, Code::TooFewItems);
    }
    if array.max_items.is_some_and(|most| count > most) {
        reporter.report(node, Code::TooManyItems);
    }
}

pub(crate) fn check_format(expected: Format, text: &[u8]) -> Result<(), Code> {
    match expected {
        Format::Any => Ok(()),
        Format::Email => format::is_email(text).then_some(()).ok_or(Code::InvalidEmail),
        Format::Uri => format::is_uri(text).then_some(()).ok_or(Code::InvalidUri),
        Format::DateTime => format::is_date_time(text).then_some(()).ok_or(Code::InvalidDateTime),
    }
}

pub(crate) fn find_choice(choices: &[&str], text: &[u8]) -> Result<usize, Code> {
    choices.iter().position(|choice| choice.as_bytes() == text).ok_or(Code::NotAllowed)
}
