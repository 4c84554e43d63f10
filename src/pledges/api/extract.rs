//! Checks the body of an answer against its [`schema`](crate::pledges::schema), and extracts the texts that the client
//! itself needs. The client's caller gets the whole body, as `JSON.parse` returns it.

use crate::pledges::decimal::{number_as_money, text_as_money};
use crate::pledges::schema::{Kind, Slot};
use crate::pledges::validate::json::{Visitor, walk};
use crate::pledges::validate::lexer::Expected;
use crate::pledges::validate::node::Node;
use crate::pledges::validate::number;
use crate::pledges::validate::number::ToDouble;
use crate::pledges::validate::report::Reporter;
use crate::pledges::validate::string::RawString;
use crate::pledges::validate::{Code, Step, Text, ValueType};

#[derive(Clone, Debug)]
pub struct Extracted {
    /// The value of `charge.amount`: a decimal, as text.
    pub amount: Option<String>,
    pub error: Option<String>,
    pub message: Option<String>,
    to_double: ToDouble,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The value's JSON Pointer; empty for the body itself.
    pub pointer: String,
    /// The expected value, such as `a string`.
    pub expected: &'static str,
}

/// Checks a body against a schema, and extracts its texts. Ignores members that the schema does not have.
///
/// # Errors
/// If a value does not match the schema. The error describes the first such value.
pub fn extract(
    body: &[u8],
    kind: &'static Kind,
    to_double: ToDouble,
) -> Result<Extracted, Mismatch> {
    let mut extracted = Extracted { amount: None, error: None, message: None, to_double };
    let mismatch = str::from_utf8(body).err().map(|_| Mismatch::of_body("UTF-8"));
    let mut first = First { mismatch, to_double };
    walk(body, kind, &mut extracted, &mut first);
    first.mismatch.map_or(Ok(extracted), Err)
}

impl<'a> Visitor<'a> for Extracted {
    const IS_ANSWER: bool = true;

    fn visit_text(&mut self, slot: Slot, text: Text<'a, '_>) {
        let text = str::from_utf8(text.as_bytes()).unwrap_or_default(); // the walk passes UTF-8 only
        match slot {
            Slot::ChargeAmount => self.amount = text_as_money(text),
            Slot::Error => self.error = Some(text.to_owned()),
            Slot::Message => self.message = Some(text.to_owned()),
            _ => {}
        }
    }

    fn visit_decimal(&mut self, slot: Slot, text: &'a [u8]) {
        if slot == Slot::ChargeAmount {
            let text = str::from_utf8(text).unwrap_or_default();
            self.amount = number_as_money(text, self.to_double);
        }
    }
}

/// Keeps the first mismatch of a body, and ignores later ones.
struct First {
    mismatch: Option<Mismatch>,
    to_double: ToDouble,
}

impl<'a> Reporter<'a> for First {
    fn report(&mut self, node: &Node<'_>, code: Code) {
        let expected = match code {
            Code::LoneSurrogate => return, // `JSON.parse` accepts it
            Code::DuplicateMember => "a member that appears once",
            Code::TooDeep => "a value that nests less deep",
            _ => expected(node.kind()),
        };
        self.mismatch.get_or_insert_with(|| Mismatch { pointer: pointer(node), expected });
    }

    fn report_type(&mut self, node: &Node<'_>, _: ValueType) {
        self.report(node, Code::InvalidType);
    }

    fn report_unknown_member(&mut self, _: &Node<'_>, _: RawString<'a>, _: Text<'a, '_>) {}

    fn report_malformed(&mut self, _: &[u8], _: usize, _: Expected) {
        self.mismatch.get_or_insert_with(|| Mismatch::of_body("JSON"));
    }

    fn check_number(&mut self, node: &Node<'_>, text: &[u8]) -> Option<f64> {
        number::check(text, self.to_double).map_err(|code| self.report(node, code)).ok()
    }
}

impl Mismatch {
    fn of_body(expected: &'static str) -> Self {
        Mismatch { pointer: String::new(), expected }
    }

    /// Returns the mismatch for a `charge.amount` that is not a decimal.
    pub fn of_amount() -> Self {
        Mismatch { pointer: "/charge/amount".to_owned(), expected: expected(&Kind::Decimal) }
    }
}

fn expected(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text(_) => "a string",
        Kind::Boolean => "a boolean",
        Kind::PositiveNumber => "a number greater than 0",
        Kind::Decimal => "a decimal as a string or a number",
        Kind::Choice(_) => "one of `USD`, `GBP` and `EUR`", // answers have no other choice
        Kind::Object(_) => "an object",
        Kind::Array(_) => "an array",
    }
}

fn pointer(node: &Node<'_>) -> String {
    let mut pointer = String::new();
    for step in node.with_ancestors().filter_map(Node::step) {
        match step {
            Step::Member(name) => pointer.insert_str(0, name),
            Step::Index(index) => pointer.insert_str(0, itoa::Buffer::new().format(index)),
            Step::Unknown(_) => continue,
        }
        pointer.insert(0, '/');
    }
    pointer
}
