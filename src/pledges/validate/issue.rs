use super::code::Code;
use super::encoding::Encoding;
use super::lexer::Expected;
use super::path::Path;
use crate::pledges::schema::{Array, Kind};
use std::fmt::{self, Display, Formatter};
use strum::{Display, EnumMessage as _, VariantArray};

/// The type of a value that does not have the required type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, VariantArray)]
#[repr(u8)]
pub enum ValueType {
    /// `null`
    #[strum(to_string = "null")]
    Null,
    /// `true` or `false`
    #[strum(to_string = "a boolean")]
    Boolean,
    #[strum(to_string = "a number")]
    Number,
    #[strum(to_string = "a string")]
    String,
    #[strum(to_string = "an array")]
    Array,
    #[strum(to_string = "an object")]
    Object,
    /// A JavaScript value that cannot be written as JSON, such as a function or a `bigint`.
    #[strum(to_string = "an unserializable value")]
    Other,
}

/// The details that an issue's message contains, such as the expected type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail {
    /// The expected kind.
    Rule(&'static Kind),
    /// The expected kind, and the type of the value.
    Type(&'static Kind, ValueType),
    /// The token that JSON's grammar expects at this byte offset.
    Syntax(Expected, usize),
    Encoding(Encoding),
}

/// A violation of one of the request's rules (§4.1): its path, code and message.
///
/// [`Display`] writes the message. It is an instruction that follows the path, in lower case and without a full stop.
#[derive(Clone, Debug)]
pub struct Issue<'a> {
    pub(super) path: Path<'a>,
    pub(super) code: Code,
    pub(super) detail: Detail,
    /// The [sort key](crate::pledges::validate::node::Node::sort_key) of the value.
    pub(super) sort_key: u64,
}

impl<'a> Issue<'a> {
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    pub fn code(&self) -> Code {
        self.code
    }
}

impl Display for Issue<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.detail {
            Detail::Type(kind, found) => write!(out, "must be {}, not {found}", type_of(kind)),
            Detail::Syntax(expected, offset) => {
                write!(out, "must be JSON: {expected} expected at byte {offset}")
            }
            Detail::Encoding(encoding) => write!(out, "must be JSON in UTF-8{encoding}"),
            Detail::Rule(kind) => write_rule(out, self.code, kind),
        }
    }
}

fn type_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text(_) | Kind::Choice(_) => "a string",
        Kind::PositiveNumber => "a number",
        Kind::Object(_) => "an object",
        Kind::Array(_) => "an array",
        Kind::Boolean => "a boolean",
        Kind::Decimal => "a decimal",
    }
}

fn write_rule(out: &mut Formatter<'_>, code: Code, kind: &Kind) -> fmt::Result {
    let message = code.get_message().unwrap_or_default();
    match (code, kind) {
        (Code::UnknownMember, Kind::Object(object)) => {
            let names: Vec<_> = object.members.iter().map(|member| member.name).collect();
            write!(out, "{message}; allowed here: `{}`", names.join("`, `"))
        }
        (Code::NotAllowed, Kind::Choice(choices)) => {
            write!(out, "must be one of {}", list(choices))
        }
        (Code::TooFewItems, Kind::Array(array)) => {
            write!(out, "must have at least {}", items(array.min_items))
        }
        (Code::TooManyItems, Kind::Array(Array { max_items: Some(most), .. })) => {
            write!(out, "must have at most {}", items(*most))
        }
        _ => out.write_str(message),
    }
}

fn items(limit: u32) -> String {
    format!("{limit} {}", if limit == 1 { "item" } else { "items" })
}

fn list(choices: &[&str]) -> String {
    match choices.split_last() {
        Some((last, others @ [_, ..])) => format!("`{}` or `{last}`", others.join("`, `")),
        _ => format!("`{}`", choices.concat()),
    }
}
