//! Passes issues to JavaScript as numbers in memory. JavaScript looks up the paths and messages for these
//! numbers in generated tables.

use super::code::Code;
use super::issue::{Issue, ValueType};
use super::json;
use super::json::Source;
use super::lexer::Expected;
use super::node::Node;
use super::number;
use super::report::{Report, Reporter};
use super::string::{RawString, Text};
use crate::pledges::schema::BODY;
use strum::VariantArray as _;

/// An issue, in the layout that JavaScript reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompactIssue {
    /// The [sort key](Node::sort_key) of the value that has the issue. If the value is in an array, the sort
    /// key also tells JavaScript the item's index.
    pub sort_key: u64,
    /// Three values in one number. The lowest byte is the [index](Node::index) of the node. The second is the
    /// [code](Code). The third is the [`ValueType`] or [`Expected`] that the message names.
    pub about: u32,
    /// The byte offset of what the issue is about: an unknown member's name, an [undecided](UNDECIDED)
    /// number, or the first byte that is not JSON.
    pub from: u32,
    /// The length in bytes of the name or number at `from`.
    pub length: u32,
}

/// Stands in place of an issue code for a number that JavaScript must check, because this wasm does not
/// convert numbers to doubles.
pub const UNDECIDED: u8 = u8::MAX;

/// Checks a request given as JSON. Skips the first `skip` issues, and writes the next ones into `out`, as
/// many as fit. The issues are in the order in which the check finds them.
///
/// Returns the number of all issues after the skipped ones. `skip` is 0, or at most the number that an
/// earlier call returned. If the JSON has escapes, `scratch` must be as long as the JSON.
pub fn check(
    json: &[u8],
    source: Source,
    skip: usize,
    scratch: &mut [u8],
    out: &mut [CompactIssue],
) -> usize {
    let mut issues = CompactIssues::new(json, skip, out);
    json::walk_with(json, &BODY, source, scratch, &mut (), &mut issues);
    issues.next
}

/// Writes the issues of a body into memory, as many as fit, and counts all of them.
struct CompactIssues<'o> {
    out: &'o mut [CompactIssue],
    /// The index in `out` for the next issue. It begins at minus `skip`, which wraps around to a huge
    /// number. So the skipped issues are out of bounds and are not written.
    next: usize,
    /// The address in memory of the body's first byte.
    start: usize,
}

impl<'o> CompactIssues<'o> {
    fn new(json: &[u8], skip: usize, out: &'o mut [CompactIssue]) -> Self {
        CompactIssues { out, next: skip.wrapping_neg(), start: json.as_ptr().addr() }
    }

    fn push(&mut self, node: &Node<'_>, code: u8, detail: u8, from: usize, length: usize) {
        if let Some(out) = self.out.get_mut(self.next) {
            *out = CompactIssue {
                sort_key: node.sort_key(code == Code::UnknownMember as u8),
                about: u32::from_le_bytes([node.index(), code, detail, 0]),
                from: from as u32,
                length: length as u32,
            };
        }
        self.next = self.next.wrapping_add(1);
    }

    fn push_part(&mut self, node: &Node<'_>, code: u8, part: &[u8]) {
        let from = part.as_ptr().addr().wrapping_sub(self.start);
        self.push(node, code, 0, from, part.len());
    }
}

impl<'a> Reporter<'a> for CompactIssues<'_> {
    const NEEDS_EXACT_TEXT: bool = false;

    fn report(&mut self, node: &Node<'_>, code: Code) {
        self.push(node, code as u8, 0, 0, 0);
    }

    fn report_type(&mut self, node: &Node<'_>, found: ValueType) {
        self.push(node, Code::InvalidType as u8, found as u8, 0, 0);
    }

    fn report_unknown_member(&mut self, node: &Node<'_>, raw: RawString<'a>, _: Text<'a, '_>) {
        self.push_part(node, Code::UnknownMember as u8, raw.bytes);
    }

    fn report_malformed(&mut self, _: &[u8], offset: usize, expected: Expected) {
        let root = Node::root(&BODY);
        self.push(&root, Code::MalformedJson as u8, expected as u8, offset, 0);
    }

    fn check_number(&mut self, node: &Node<'_>, text: &[u8]) -> Option<f64> {
        match number::check_plain(text) {
            Some(Ok(())) => {}
            Some(Err(code)) => self.report(node, code),
            None => self.push_part(node, UNDECIDED, text),
        }
        None
    }
}

/// Converts the numbers of a [`CompactIssue`] back to an issue, to generate JavaScript's tables. Items have
/// the index 0, and unknown members have no name. Returns `None` for numbers that no issue has.
pub fn expand(index: u8, code: Code, detail: u8) -> Option<Issue<'static>> {
    let detail = usize::from(detail);
    let mut report = Report::with_limit(usize::MAX);
    Node::root(&BODY).find(index, &mut |node| match code {
        Code::InvalidType => {
            ValueType::VARIANTS
                .get(detail)
                .iter()
                .for_each(|found| report.report_type(node, **found));
        }
        Code::MalformedJson => {
            Expected::VARIANTS
                .get(detail)
                .iter()
                .for_each(|expected| report.report_malformed(&[], 0, **expected));
        }
        _ => report.report(node, code),
    });
    report.into_issues().pop()
}
