//! Checks the JSON of a body against the schema, in one pass that reports all issues.

use super::code::Code;
use super::issue::ValueType;
use super::lexer::{Expected, Lexer};
use super::node::Node;
use super::report::Reporter;
use super::rules;
use super::string::{RawString, Text};
use crate::pledges::schema::{Array, Kind, Object, Slot};

/// The deepest nesting that is read. A value that nests deeper is an issue. The request itself needs 4 levels.
pub const MAX_DEPTH: u32 = 64;

/// Receives the accepted values of a body, in the order of the bytes.
pub trait Visitor<'a> {
    /// Whether the body is an answer. Optional members of an answer may be null, and an answer may have
    /// booleans and decimals. The code that checks requests is compiled without support for these.
    const IS_ANSWER: bool = false;
    /// Visits an object, before its members.
    fn visit_object(&mut self, _slot: Slot) {}
    /// Visits a string. In a request, its format has already been checked.
    fn visit_text(&mut self, _slot: Slot, _text: Text<'a, '_>) {}
    fn visit_number(&mut self, _slot: Slot, _double: f64) {}
    /// Visits the text of a number where an answer may have either a number or a decimal string.
    fn visit_decimal(&mut self, _slot: Slot, _text: &'a [u8]) {}
    /// Visits a string that must be one of a fixed list. `_index` is its position in that list.
    fn visit_choice(&mut self, _slot: Slot, _index: usize) {}
}

/// A visitor that ignores all values, for a body that is only checked.
impl Visitor<'_> for () {}

/// The origin of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// JSON as it was received.
    Json,
    /// JSON that JavaScript made from a value. Bytes of [`marker`] may stand in place of values.
    Value,
}

/// Bytes that represent JavaScript values which cannot be written as JSON.
pub mod marker {
    /// A function, a symbol or a `bigint`.
    pub const OTHER: u8 = 1;
    /// `undefined` as the whole request or as an item of an array. An object's member that is `undefined` is
    /// left out instead.
    pub const ABSENT: u8 = 2;
    /// A value that could not be read, because reading it threw an error.
    pub const UNREADABLE: u8 = 3;
    /// A value that exceeds the limits on what is read. Reading stops there, so this is always the last byte.
    pub const GIVEN_UP: u8 = 4;
}

/// Checks the JSON in `bytes` against the schema `body`. Passes the accepted values to `visitor`, and all
/// issues to `reporter`.
pub(crate) fn walk<'a>(
    bytes: &'a [u8],
    body: &'static Kind,
    visitor: &mut impl Visitor<'a>,
    reporter: &mut impl Reporter<'a>,
) {
    let has_escapes = bytes.contains(&b'\\');
    let mut scratch = vec![0; if has_escapes { bytes.len() } else { 0 }];
    walk_with(bytes, body, Source::Json, &mut scratch, visitor, reporter);
}

/// Checks a body without allocating memory. Strings with escapes are decoded into `scratch`. If the body has
/// escapes, `scratch` must be as long as the body.
pub(crate) fn walk_with<'a>(
    bytes: &'a [u8],
    body: &'static Kind,
    source: Source,
    scratch: &mut [u8],
    visitor: &mut impl Visitor<'a>,
    reporter: &mut impl Reporter<'a>,
) {
    let mut walk = Walk { lexer: Lexer::new(bytes), source, scratch, visitor, reporter };
    if let Err(WalkError::Syntax(expected)) = walk.walk_body(&Node::root(body)) {
        let offset = bytes.len() - walk.lexer.remaining();
        reporter.report_malformed(bytes, offset, expected);
    }
}

/// The reason why a check ends before the end of the body.
enum WalkError {
    /// The bytes stop being JSON at the lexer's position.
    Syntax(Expected),
    /// An issue that ends the check was already reported.
    Reported,
}

impl From<Expected> for WalkError {
    fn from(expected: Expected) -> Self {
        WalkError::Syntax(expected)
    }
}

type Walked<T = ()> = Result<T, WalkError>;

struct Walk<'r, 'a, V, R> {
    lexer: Lexer<'a>,
    source: Source,
    /// The decoded value of the last string with escapes.
    scratch: &'r mut [u8],
    visitor: &'r mut V,
    reporter: &'r mut R,
}

impl<'a, V: Visitor<'a>, R: Reporter<'a>> Walk<'_, 'a, V, R> {
    fn walk_body(&mut self, root: &Node<'_>) -> Walked {
        let first = self.peek_value()?;
        self.walk_value(first, root)?;
        if self.lexer.is_at_end() { Ok(()) } else { Err(Expected::End.into()) }
    }

    /// Returns the first byte of the next value without consuming it.
    fn peek_value(&mut self) -> Walked<u8> {
        match self.lexer.peek() {
            marker::OTHER..=marker::GIVEN_UP if self.source == Source::Json => {
                Err(Expected::Value.into())
            }
            first => Ok(first),
        }
    }

    fn walk_value(&mut self, first: u8, node: &Node<'_>) -> Walked {
        match (node.kind(), first) {
            (Kind::Object(object), b'{') => self.walk_object(node, object),
            (Kind::Array(array), b'[') => self.walk_array(node, array),
            (Kind::Text(_) | Kind::Choice(_), b'"') => self.walk_string(node),
            (Kind::PositiveNumber, b'-' | b'0'..=b'9') => self.walk_number(node),
            (kind, _) if V::IS_ANSWER && is_of_answers(kind, first, node) => {
                self.walk_answer_value(first, node)
            }
            (_, marker::ABSENT..=marker::GIVEN_UP) => {
                let is_absent = first == marker::ABSENT;
                let code = if is_absent { Code::Required } else { Code::Unreadable };
                self.reporter.report(node, code);
                self.skip_value(first, node, 0)
            }
            _ => {
                let found = value_type(first)?;
                self.reporter.report_type(node, found);
                self.skip_value(first, node, 0)
            }
        }
    }

    /// Returns the name of an accepted value, and the visitor that gets the value. Returns `None` after the
    /// first issue, when values are no longer needed.
    fn visit(&mut self, node: &Node<'_>) -> Option<(Slot, &mut V)> {
        node.slot().filter(|_| self.reporter.is_clean()).map(|slot| (slot, &mut *self.visitor))
    }

    /// Checks a value that [only an answer](is_of_answers) can have.
    fn walk_answer_value(&mut self, first: u8, node: &Node<'_>) -> Walked {
        match first {
            b'"' => self.walk_string(node),
            b'-' | b'0'..=b'9' => {
                let text = self.lexer.read_number()?;
                if let Some(slot) = node.slot() {
                    self.visitor.visit_decimal(slot, text);
                }
                Ok(())
            }
            _ => Ok(self.lexer.read_literal()?),
        }
    }

    fn walk_object(&mut self, node: &Node<'_>, object: &'static Object) -> Walked {
        if let Some((slot, visitor)) = self.visit(node) {
            visitor.visit_object(slot);
        }
        let mut seen = 0_u32;
        self.walk_items(b'}', |walk| walk.walk_member(node, object, &mut seen))?;
        rules::check_required(object, seen, node, self.reporter);
        Ok(())
    }

    fn walk_member(&mut self, node: &Node<'_>, object: &'static Object, seen: &mut u32) -> Walked {
        let raw = self.read_name()?;
        let first = self.peek_value()?;
        let name = decode::<R>(&raw, self.scratch);
        let known = name.map(|name| (name, rules::find_member(object, name.as_bytes())));
        match known {
            Ok((_, Some((nth, member)))) => {
                let is_new = *seen & (1 << nth) == 0;
                *seen |= 1 << nth;
                self.walk_known_member(first, &node.member(nth, member), is_new)
            }
            Ok((name, None)) => {
                self.reporter.report_unknown_member(node, raw, name);
                self.skip_value(first, node, 1)
            }
            Err(code) => {
                self.reporter.report(node, code);
                self.skip_value(first, node, 1)
            }
        }
    }

    fn walk_known_member(&mut self, first: u8, node: &Node<'_>, is_new: bool) -> Walked {
        if is_new {
            return self.walk_value(first, node);
        }
        self.reporter.report(node, Code::DuplicateMember);
        self.skip_value(first, node, 0)
    }

    fn read_name(&mut self) -> Walked<RawString<'a>> {
        if self.lexer.peek() != b'"' {
            return Err(Expected::Name.into());
        }
        let raw = self.lexer.read_string()?;
        self.lexer.expect(b':', Expected::Colon)?;
        Ok(raw)
    }

    fn walk_array(&mut self, node: &Node<'_>, array: &'static Array) -> Walked {
        let mut count = 0_u32;
        self.walk_items(b']', |walk| {
            let item = node.item(count, array);
            count = count.saturating_add(1); // no body has 4,294,967,295 items
            let first = walk.peek_value()?;
            walk.walk_value(first, &item)
        })?;
        rules::check_length(array, count, node, self.reporter);
        Ok(())
    }

    /// Calls `walk_item` for each item of an array or each member of an object, until the closing bracket `end`.
    fn walk_items(&mut self, end: u8, mut walk_item: impl FnMut(&mut Self) -> Walked) -> Walked {
        self.lexer.advance();
        let mut is_first = true;
        while self.lexer.has_next_item(is_first, end)? {
            is_first = false;
            walk_item(self)?;
        }
        Ok(())
    }

    fn walk_string(&mut self, node: &Node<'_>) -> Walked {
        let raw = self.lexer.read_string()?;
        match decode::<R>(&raw, self.scratch)
            .and_then(|text| Ok((text, check_string::<V>(node.kind(), text)?)))
        {
            Ok((text, index)) => {
                if self.reporter.is_clean()
                    && let Some(slot) = node.slot()
                {
                    match index {
                        Some(index) => self.visitor.visit_choice(slot, index),
                        None => self.visitor.visit_text(slot, text),
                    }
                }
            }
            Err(code) => self.reporter.report(node, code),
        }
        Ok(())
    }

    fn walk_number(&mut self, node: &Node<'_>) -> Walked {
        let text = self.lexer.read_number()?;
        if let Some(double) = self.reporter.check_number(node, text)
            && let Some((slot, visitor)) = self.visit(node)
        {
            visitor.visit_number(slot, double);
        }
        Ok(())
    }

    /// Skips a value for which an issue was already reported. The value is `depth` levels below the node.
    fn skip_value(&mut self, first: u8, node: &Node<'_>, depth: u32) -> Walked {
        if depth + node.depth() > MAX_DEPTH {
            self.reporter.report(node, Code::TooDeep); // bounds the stack
            return Err(WalkError::Reported);
        }
        match first {
            b'"' => self.lexer.read_string().map(drop)?,
            b'-' | b'0'..=b'9' => self.lexer.read_number().map(drop)?,
            b'{' | b'[' => self.walk_items(first + 2 /* its closing bracket */, |walk| {
                if first == b'{' {
                    walk.read_name()?;
                }
                let first = walk.peek_value()?;
                walk.skip_value(first, node, depth + 1)
            })?,
            marker::GIVEN_UP => return Err(WalkError::Reported),
            marker::OTHER..=marker::UNREADABLE => self.lexer.advance(),
            _ => self.lexer.read_literal()?,
        }
        Ok(())
    }
}

/// Returns the type of the value that begins with the byte `first`.
fn value_type(first: u8) -> Walked<ValueType> {
    Ok(match first {
        b'"' => ValueType::String,
        b'{' => ValueType::Object,
        b'[' => ValueType::Array,
        b'-' | b'0'..=b'9' => ValueType::Number,
        b't' | b'f' => ValueType::Boolean,
        b'n' => ValueType::Null,
        marker::OTHER => ValueType::Other,
        _ => return Err(Expected::Value.into()),
    })
}

/// Returns whether the value that begins with the byte `first` is allowed here only in an answer.
fn is_of_answers(kind: &Kind, first: u8, node: &Node<'_>) -> bool {
    match (kind, first) {
        (Kind::Boolean, b't' | b'f') | (Kind::Decimal, b'"' | b'-' | b'0'..=b'9') => true,
        (_, b'n') => node.is_optional(),
        _ => false,
    }
}

/// Checks a string against the schema's `kind`. If the kind is a choice, returns the index of the string
/// among the choices. Formats are checked only in requests, not in answers.
fn check_string<'a, V: Visitor<'a>>(
    kind: &Kind,
    text: Text<'_, '_>,
) -> Result<Option<usize>, Code> {
    match kind {
        Kind::Choice(choices) => rules::find_choice(choices, text.as_bytes()).map(Some),
        Kind::Text(format) if !V::IS_ANSWER => {
            rules::check_format(*format, text.as_bytes()).map(|()| None)
        }
        _ => Ok(None),
    }
}

/// Returns the value of a string, or the code for what is wrong with its bytes or escapes.
#[inline(never)]
fn decode<'a, 'b, R: Reporter<'a>>(
    raw: &RawString<'a>,
    scratch: &'b mut [u8],
) -> Result<Text<'a, 'b>, Code> {
    let decoded = match raw.plain() {
        _ if !raw.is_utf8 => return Err(Code::InvalidUtf8), // even if its escapes are invalid
        Some(bytes) => return Ok(Text::Input(bytes)),
        None if R::NEEDS_EXACT_TEXT => raw.decode::<true>(scratch),
        None => raw.decode::<false>(scratch),
    };
    decoded.map(Text::Decoded).ok_or(Code::LoneSurrogate)
}
