//! A body as a tree of JSON values. Numbers keep their text, so that amounts stay exact.

use super::event::ReadError;
use crate::pledges::validate::MAX_DEPTH;
use crate::pledges::validate::lexer::{Expected, Lexer};
use crate::pledges::validate::string::RawString;
use std::borrow::Cow;

/// Maximum number of values in a body. Each takes 32 bytes of memory. An order of Shopify with 300 lines has
/// about 50,000.
const MAX_VALUES: u32 = 250_000;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json<'a> {
    Null,
    Boolean(bool),
    /// The text of a number.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Parses a whole body.
    ///
    /// # Errors
    /// The body is not JSON in UTF-8, nests deeper than 64 levels, or has more values than [`MAX_VALUES`].
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, ReadError> {
        let mut parser = Parser { lexer: Lexer::new(body), values_left: MAX_VALUES };
        let json = parser.value(MAX_DEPTH)?;
        if parser.lexer.is_at_end() { Ok(json) } else { Err(ReadError::NotJson) }
    }

    /// Returns the member of an object. If the name occurs twice, the last one counts, as in JavaScript.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Json::Object(members) = self else { return None };
        members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    pub(super) fn items(&self) -> &[Self] {
        if let Json::List(items) = self { items } else { &[] }
    }

    /// Returns the text of a string, a number or a boolean.
    pub(super) fn scalar(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            Json::Number(text) => Some(text),
            Json::Boolean(true) => Some("true"),
            Json::Boolean(false) => Some("false"),
            _ => None,
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    values_left: u32,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: u32) -> Result<Json<'a>, ReadError> {
        self.values_left = self.values_left.checked_sub(1).ok_or(ReadError::TooLarge)?;
        match self.lexer.peek() {
            b'{' => self.object(depth.checked_sub(1).ok_or(ReadError::TooDeep)?),
            b'[' => self.list(depth.checked_sub(1).ok_or(ReadError::TooDeep)?),
            b'"' => self.text(),
            b'-' | b'0'..=b'9' => {
                let number = self.lexer.read_number().map_err(not_json)?;
                str::from_utf8(number).map(Json::Number).map_err(|_| ReadError::NotJson)
            }
            first => {
                self.lexer.read_literal().map_err(not_json)?;
                Ok(if first == b'n' { Json::Null } else { Json::Boolean(first == b't') })
            }
        }
    }

    fn list(&mut self, depth: u32) -> Result<Json<'a>, ReadError> {
        let mut items = Vec::new();
        self.lexer.advance();
        while self.lexer.has_next_item(items.is_empty(), b']').map_err(not_json)? {
            items.push(self.value(depth)?);
        }
        Ok(Json::List(items))
    }

    fn object(&mut self, depth: u32) -> Result<Json<'a>, ReadError> {
        let mut members = Vec::new();
        self.lexer.advance();
        while self.lexer.has_next_item(members.is_empty(), b'}').map_err(not_json)? {
            let name = self.name()?;
            members.push((name, self.value(depth)?));
        }
        Ok(Json::Object(members))
    }

    fn name(&mut self) -> Result<Cow<'a, str>, ReadError> {
        let is_name = self.lexer.peek() == b'"';
        let Json::Text(name) = (if is_name { self.text()? } else { Json::Null }) else {
            return Err(ReadError::NotJson);
        };
        self.lexer.expect(b':', Expected::Colon).map_err(not_json)?;
        Ok(name)
    }

    fn text(&mut self) -> Result<Json<'a>, ReadError> {
        let raw = self.lexer.read_string().map_err(not_json)?;
        decode(&raw).map(Json::Text).ok_or(ReadError::NotJson)
    }
}

/// Returns the value of a string. Returns `None` for bytes that are not UTF-8, and for half of a surrogate pair.
fn decode<'a>(raw: &RawString<'a>) -> Option<Cow<'a, str>> {
    if let Some(bytes) = raw.plain() {
        return str::from_utf8(bytes).ok().map(Cow::Borrowed);
    }
    let mut buffer = vec![0; raw.bytes.len()];
    let bytes = raw.decode::<true>(&mut buffer)?;
    str::from_utf8(bytes).ok().map(|text| Cow::Owned(text.to_owned()))
}

fn not_json(_: Expected) -> ReadError {
    ReadError::NotJson
}
