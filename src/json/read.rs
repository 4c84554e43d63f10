//! JSON that this service or its operator wrote, as a tree.

use crate::validate::lexer::{Expected, Lexer, Raw};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// How deep a value may nest; the records need 5.
const MAX_DEPTH: u32 = 128;

/// What can be read from JSON.
pub trait Decode<'a>: Sized {
    /// Takes it out of a tree.
    ///
    /// # Errors
    /// If the tree is not of its shape.
    fn decode(value: Value<'a>) -> Result<Self, Mismatch>;

    /// Reads it alone.
    ///
    /// # Errors
    /// If the bytes are not JSON, or not of its shape.
    fn from_json(json: &'a [u8]) -> Result<Self, Mismatch> {
        Self::decode(Value::parse(json)?)
    }
}

/// `null`
impl Decode<'_> for () {
    fn decode(value: Value<'_>) -> Result<Self, Mismatch> {
        (value == Value::Null).then_some(()).ok_or(Mismatch::member("it", "null"))
    }
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number's text.
    Number(&'a str),
    /// What a string says.
    Text(Cow<'a, str>),
    /// The items.
    Array(Vec<Value<'a>>),
    /// The members.
    Object(Object<'a>),
}

/// The members of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// Why JSON is not what it should be, in the words of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(Cow<'static, str>);

type Read<T> = Result<T, Mismatch>;

impl Mismatch {
    /// Says what is wrong.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Mismatch(text.into())
    }

    /// Says what a member must be.
    pub fn member(name: &str, must: &str) -> Self {
        Mismatch::new(["`", name, "` must be ", must].concat())
    }
}

impl Display for Mismatch {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

impl From<Expected> for Mismatch {
    fn from(_: Expected) -> Self {
        Mismatch::new("it is not JSON")
    }
}

// ---- From bytes to a tree ------------------------------------------------------------------------

impl<'a> Value<'a> {
    /// Reads JSON.
    ///
    /// # Errors
    /// If it is not JSON, or nests deeper than 128 levels.
    pub fn parse(json: &'a [u8]) -> Read<Self> {
        let mut lexer = Lexer::new(json);
        let value = value(&mut lexer, 0)?;
        lexer.is_at_end().then_some(value).ok_or(Expected::End.into())
    }
}

fn value<'a>(lexer: &mut Lexer<'a>, depth: u32) -> Read<Value<'a>> {
    let next = lexer.peek();
    Ok(match next {
        _ if depth > MAX_DEPTH => return Err(Mismatch::new("it nests too deep")),
        b'"' => Value::Text(text(lexer)?),
        b'-' | b'0'..=b'9' => Value::Number(number(lexer)?),
        b'{' => Value::Object(object(lexer, depth)?),
        b'[' => Value::Array(array(lexer, depth)?),
        _ => {
            lexer.word()?;
            match next {
                b'n' => Value::Null,
                word => Value::Bool(word == b't'),
            }
        }
    })
}

fn text<'a>(lexer: &mut Lexer<'a>) -> Read<Cow<'a, str>> {
    said(lexer.string()?).ok_or(Mismatch::new("it has a string that is not Unicode"))
}

/// What a string says; `None` for half of a surrogate pair.
pub(crate) fn said(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    if let Some(plain) = raw.plain() {
        return str::from_utf8(plain).ok().map(Cow::Borrowed);
    }
    let mut buffer = vec![0; raw.bytes.len()];
    let length = raw.decode::<true>(&mut buffer)?.len();
    buffer.truncate(length);
    String::from_utf8(buffer).ok().map(Cow::Owned)
}

fn number<'a>(lexer: &mut Lexer<'a>) -> Read<&'a str> {
    str::from_utf8(lexer.number()?).map_err(|_| Expected::Digit.into())
}

fn array<'a>(lexer: &mut Lexer<'a>, depth: u32) -> Read<Vec<Value<'a>>> {
    let mut items = Vec::new();
    lexer.bump();
    while lexer.goes_on(items.is_empty(), b']')? {
        items.push(value(lexer, depth + 1)?);
    }
    Ok(items)
}

fn object<'a>(lexer: &mut Lexer<'a>, depth: u32) -> Read<Object<'a>> {
    let mut members = Vec::new();
    lexer.bump();
    while lexer.goes_on(members.is_empty(), b'}')? {
        if lexer.peek() != b'"' {
            return Err(Expected::Name.into());
        }
        let name = text(lexer)?;
        lexer.expect(b':', Expected::Colon)?;
        members.push((name, value(lexer, depth + 1)?));
    }
    Ok(Object(members))
}

// ---- From a tree to values -----------------------------------------------------------------------

impl<'a> Value<'a> {
    /// The members of an object.
    ///
    /// # Errors
    /// If it is another value, which is then called `name`.
    pub fn object(self, name: &str) -> Read<Object<'a>> {
        match self {
            Value::Object(object) => Ok(object),
            _ => Err(Mismatch::member(name, "an object")),
        }
    }

    /// The items of an array, each read by `item`.
    ///
    /// # Errors
    /// If it is another value, which is then called `name`, or an item cannot be read.
    pub fn array<T>(self, name: &str, item: impl FnMut(Value<'a>) -> Read<T>) -> Read<Vec<T>> {
        match self {
            Value::Array(items) => items.into_iter().map(item).collect(),
            _ => Err(Mismatch::member(name, "an array")),
        }
    }

    /// What a string says.
    ///
    /// # Errors
    /// If it is another value, which is then called `name`.
    pub fn text(self, name: &str) -> Read<Cow<'a, str>> {
        match self {
            Value::Text(text) => Ok(text),
            _ => Err(Mismatch::member(name, "a string")),
        }
    }
}

impl<'a> Object<'a> {
    /// Takes a member out; null if it is absent.
    pub fn take(&mut self, name: &str) -> Value<'a> {
        match self.0.iter().position(|(known, _)| known == name) {
            Some(index) => self.0.swap_remove(index).1,
            None => Value::Null,
        }
    }

    /// Takes out a string.
    ///
    /// # Errors
    /// If it is absent, or another value.
    pub fn text(&mut self, name: &str) -> Read<Cow<'a, str>> {
        self.take(name).text(name)
    }

    /// Takes out a string that may be null or absent.
    ///
    /// # Errors
    /// If it is another value.
    pub fn optional_text(&mut self, name: &str) -> Read<Option<Cow<'a, str>>> {
        match self.take(name) {
            Value::Null => Ok(None),
            value => value.text(name).map(Some),
        }
    }

    /// Takes out an array of strings that may be null or absent.
    ///
    /// # Errors
    /// If it is another value, or has another value among its items.
    pub fn optional_texts(&mut self, name: &str) -> Read<Option<Vec<String>>> {
        match self.take(name) {
            Value::Null => Ok(None),
            value => value.array(name, |item| item.text(name).map(Cow::into_owned)).map(Some),
        }
    }

    /// Takes out `true` or `false`.
    ///
    /// # Errors
    /// If it is absent, or another value.
    pub fn bool(&mut self, name: &str) -> Read<bool> {
        match self.take(name) {
            Value::Bool(value) => Ok(value),
            _ => Err(Mismatch::member(name, "a boolean")),
        }
    }

    /// Takes out an object.
    ///
    /// # Errors
    /// If it is absent, or another value.
    pub fn object(&mut self, name: &str) -> Read<Object<'a>> {
        self.take(name).object(name)
    }

    /// Takes out an array, each item read by `item`.
    ///
    /// # Errors
    /// If it is absent, or another value, or an item cannot be read.
    pub fn array<T>(&mut self, name: &str, item: impl FnMut(Value<'a>) -> Read<T>) -> Read<Vec<T>> {
        self.take(name).array(name, item)
    }

    /// Says that nothing else may be in it.
    ///
    /// # Errors
    /// If a member was not taken out.
    pub fn end(self) -> Read<()> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Mismatch::member(name, "absent: nobody knows it")),
        }
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Value<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
