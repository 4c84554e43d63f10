//! Collects the issues of a body.

use super::code::Code;
use super::encoding::Encoding;
use super::issue::{Detail, Issue, ValueType};
use super::lexer::Expected;
use super::node::Node;
use super::number;
use super::string::{RawString, Text};
use crate::pledges::schema::BODY;

/// Receives the issues of a request body, in the order in which the validator finds them.
pub(crate) trait Reporter<'a> {
    /// Whether strings must be decoded exactly, because they are stored or shown. To check them, exact text
    /// is not needed: the rules treat all non-ASCII characters alike.
    const NEEDS_EXACT_TEXT: bool = true;
    /// Returns whether the validator still passes valid values to the visitor. The default is true, for
    /// checks whose visitor ignores all values. A [`Report`] returns false after the first issue.
    fn is_clean(&self) -> bool {
        true
    }
    fn report(&mut self, node: &Node<'_>, code: Code);
    fn report_type(&mut self, node: &Node<'_>, found: ValueType);
    /// Reports an unknown member of an object: its name is not in the schema.
    fn report_unknown_member(&mut self, node: &Node<'_>, raw: RawString<'a>, name: Text<'a, '_>);
    /// Reports malformed JSON: the bytes are wrong from this offset on.
    fn report_malformed(&mut self, bytes: &[u8], offset: usize, expected: Expected);
    /// Reports a number that is not finite or not above 0. For a valid number, returns its value if the
    /// visitor needs values.
    fn check_number(&mut self, node: &Node<'_>, text: &[u8]) -> Option<f64>;
}

/// The issues of one body, in the schema's order.
#[derive(Debug)]
pub struct Report<'a> {
    issues: Vec<Issue<'a>>,
    limit: usize,
    count: usize,
}

impl<'a> Report<'a> {
    /// Creates a report that counts all issues, but lists only the first `limit` in the schema's order. While it
    /// collects, it holds at most twice as many.
    pub fn with_limit(limit: usize) -> Self {
        Report { issues: Vec::new(), limit, count: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of all issues, including those that were not kept.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the issues that were kept.
    pub fn into_issues(mut self) -> Vec<Issue<'a>> {
        self.sort_and_truncate();
        self.issues
    }

    fn push(&mut self, issue: Issue<'a>) {
        self.count += 1;
        self.issues.push(issue);
        if self.issues.len() >= self.limit.saturating_mul(2) {
            self.sort_and_truncate(); // only at twice the limit, so that sorting is rare
        }
    }

    fn sort_and_truncate(&mut self) {
        self.issues.sort_by_key(|issue| issue.sort_key);
        self.issues.truncate(self.limit);
    }
}

impl<'a> Reporter<'a> for Report<'a> {
    fn is_clean(&self) -> bool {
        self.is_empty()
    }

    fn report(&mut self, node: &Node<'_>, code: Code) {
        self.push(issue_at(node, code, Detail::Rule(node.kind())));
    }

    fn report_type(&mut self, node: &Node<'_>, found: ValueType) {
        self.push(issue_at(node, Code::InvalidType, Detail::Type(node.kind(), found)));
    }

    fn report_unknown_member(&mut self, node: &Node<'_>, _: RawString<'a>, name: Text<'a, '_>) {
        let detail = Detail::Rule(node.kind());
        let path = node.path_to_unknown(name.into_cow());
        self.push(Issue { path, code: Code::UnknownMember, detail, sort_key: node.sort_key(true) });
    }

    fn report_malformed(&mut self, bytes: &[u8], offset: usize, expected: Expected) {
        let syntax = Detail::Syntax(expected, offset);
        let detail = Encoding::of(bytes).map_or(syntax, Detail::Encoding);
        self.push(issue_at(&Node::root(&BODY), Code::MalformedJson, detail));
    }

    fn check_number(&mut self, node: &Node<'_>, text: &[u8]) -> Option<f64> {
        number::check(text, number::to_double).map_err(|code| self.report(node, code)).ok()
    }
}

fn issue_at<'a>(node: &Node<'_>, code: Code, detail: Detail) -> Issue<'a> {
    Issue { path: node.path(), code, detail, sort_key: node.sort_key(false) }
}

/// Maximum number of characters of a path in a summary. Every path of the contract is shorter.
const MAX_PATH_LENGTH: usize = 100;

/// Writes issues with their paths on one line. `count` is the number of all issues. If `issues` has fewer,
/// the line ends with `and 3 more`. Paths are cut at 100 characters, because a request can contain long
/// names.
pub(crate) fn summary(issues: &[Issue<'_>], count: usize) -> String {
    let shown = issues.iter().map(|issue| match issue.path.steps() {
        [] => format!("the body {issue}"),
        _ => format!("`{}` {issue}", printable(&issue.path.to_string())),
    });
    let rest = count.saturating_sub(issues.len());
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    shown.chain(rest).collect::<Vec<_>>().join("; ")
}

/// Returns the first 100 characters of a path. Control characters are escaped, because a caller may print the
/// text to a terminal.
fn printable(path: &str) -> String {
    let mut shown = String::with_capacity(MAX_PATH_LENGTH);
    let mut chars = path.chars();
    for char in chars.by_ref().take(MAX_PATH_LENGTH) {
        match char.is_control() {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
