//! The shapes of the answers' bodies (§2, §4.2, §7), and whether a body has one.
//!
//! A client needs to know *that* an answer is the contract's, and next to nothing out of it: what
//! the caller gets is made by `JSON.parse`. The records' own decoders would be two thirds of its
//! wasm, so it walks the bytes by these tables; the tests hold them to the decoders.

use crate::decimal::Decimal;
use crate::pledge::CurrencyCode;
use crate::validate::number::{Magnitude, magnitude};
use hifijson::num::{Lex as _, LexWrite as _};
use hifijson::str::{LexAlloc as _, LexWrite as _};
use hifijson::token::{Expect, Lex as _};
use hifijson::{SliceLexer, num};
use std::borrow::Cow;

/// What a value must be. Members beyond those of an object's table are passed over.
enum Shape {
    Text,
    /// A text that is taken out.
    Taken(Take),
    Boolean,
    /// A number greater than 0.
    Amount,
    /// A decimal, as a text or a number; it is taken out.
    Money,
    Currency,
    Object(&'static [Member]),
    Array(&'static Shape),
}

#[derive(Clone, Copy)]
enum Take {
    Error,
    Message,
}

struct Member {
    name: &'static str,
    /// Others may be null or absent.
    required: bool,
    shape: Shape,
}

const fn required(name: &'static str, shape: Shape) -> Member {
    Member { name, required: true, shape }
}

const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, required: false, shape }
}

use Shape::{Amount, Array, Boolean, Currency, Money, Object, Taken, Text};

/// A shape that a whole body can have.
pub struct Body(&'static [Member]);

/// The answer to a create (§2.1).
pub static CREATED: Body = Body(&[
    required("id", Text),
    required("reference", Text),
    required("createdAt", Text),
    required("isLive", Boolean),
    required("charge", Object(CHARGE)),
    required("recipient", Object(RECIPIENT)),
    required("trigger", Object(TRIGGER)),
    required("pledges", Array(&Object(PLEDGE))),
    required("notifications", Array(&Object(NOTIFICATION))),
    required("timelineUrl", Text),
]);

/// The answer to a get (§4.2).
pub static RETRIEVED: Body = Body(&[
    required("createdAt", Text),
    required("reference", Text),
    required("isLive", Boolean),
    required("charge", Object(CHARGE)),
    required("trigger", Object(TRIGGER)),
    required("pledges", Array(&Object(RETRIEVED_PLEDGE))),
    optional("notifications", Array(&Object(NOTIFICATION))),
    optional("timelineUrl", Text),
    // Not in the table of §4.2, but a client tolerates them.
    optional("id", Text),
    optional("recipient", Object(RECIPIENT)),
]);

/// An error (§7).
pub static ERROR: Body = Body(&[
    required("error", Taken(Take::Error)),
    optional("message", Taken(Take::Message)),
    optional("isLive", Boolean),
]);

const CHARGE: &[Member] =
    &[required("amount", Money), required("currencyCode", Currency), optional("paidAt", Text)];

const RECIPIENT: &[Member] =
    &[required("email", Text), optional("firstName", Text), optional("name", Text)];

const TRIGGER: &[Member] =
    &[optional("date", Text), optional("phrase", Text), optional("externalUrl", Text)];

const PLEDGE: &[Member] =
    &[required("id", Text), required("impact", Object(IMPACT)), required("detail", Object(DETAIL))];

const RETRIEVED_PLEDGE: &[Member] = &[
    required("id", Text),
    required("impact", Object(IMPACT)),
    required("details", Array(&Object(DETAIL))),
    required("recipient", Object(RECIPIENT)),
];

const IMPACT: &[Member] = &[required("amount", Amount), required("offeringId", Text)];

const DETAIL: &[Member] = &[
    optional("name", Text),
    optional("description", Text),
    optional("nounSingular", Text),
    optional("nounPlural", Text),
    optional("image", Text),
    optional("externalId", Text),
    optional("externalUrl", Text),
];

const NOTIFICATION: &[Member] = &[required("type", Text), required("status", Text)];

/// What is taken out of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taking<'a> {
    /// `charge.amount` as the contract writes it.
    pub amount: String,
    /// `error` of an error's body.
    pub error: Cow<'a, str>,
    /// `message` of an error's body.
    pub message: Option<Cow<'a, str>>,
}

/// The first place at which a body is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON Pointer; empty for the body itself.
    pub pointer: String,
    /// What must be there.
    pub expected: &'static str,
}

impl Mismatch {
    fn here(expected: &'static str) -> Self {
        Mismatch { pointer: String::new(), expected }
    }

    fn below(mut self, step: &str) -> Self {
        self.pointer.insert_str(0, step);
        self.pointer.insert(0, '/');
        self
    }
}

impl Body {
    /// Reads a body of this shape.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn read<'a>(&self, body: &'a [u8]) -> Result<Taking<'a>, Mismatch> {
        std::str::from_utf8(body).map_err(|_| Mismatch::here("UTF-8"))?;
        let mut lexer = SliceLexer::new(body);
        let mut walk = Walk { taking: Taking::default() };
        lexer.exactly_one(SliceLexer::ws_peek, |next, lexer| match next {
            b'{' => walk.object(lexer, self.0),
            _ => Err(Mismatch::here("an object")),
        })?;
        Ok(walk.taking)
    }
}

struct Walk<'a> {
    taking: Taking<'a>,
}

type Flow<T = ()> = Result<T, Mismatch>;

impl From<Expect> for Mismatch {
    fn from(_: Expect) -> Self {
        Mismatch::here("JSON")
    }
}

impl From<hifijson::str::Error> for Mismatch {
    fn from(_: hifijson::str::Error) -> Self {
        Mismatch::here("JSON")
    }
}

impl From<num::Error> for Mismatch {
    fn from(_: num::Error) -> Self {
        Mismatch::here("JSON")
    }
}

impl<'a> Walk<'a> {
    fn value(&mut self, next: u8, lexer: &mut SliceLexer<'a>, shape: &Shape) -> Flow {
        match (shape, next) {
            (Object(members), b'{') => self.object(lexer, members),
            (Array(item), b'[') => self.array(lexer, item),
            (Text, b'"') => raw_text(lexer.discarded()).map(drop),
            (Taken(take), b'"') => self.take(lexer, *take),
            (Boolean, b't' | b'f') => skip(next, lexer, 0),
            (Amount, b'0'..=b'9' | b'-') => amount(lexer),
            (Money, b'"' | b'0'..=b'9' | b'-') => self.money(next, lexer),
            (Currency, b'"') => currency(lexer),
            _ => Err(Mismatch::here(shape.describe())),
        }
    }

    fn object(&mut self, lexer: &mut SliceLexer<'a>, members: &[Member]) -> Flow {
        let mut seen = 0_u32;
        lexer.discarded().seq(b'}', SliceLexer::ws_peek, |next, lexer| {
            let name = name(next, lexer)?;
            let next = lexer.ws_peek().ok_or(Expect::Value)?;
            let known = (0_u32..).zip(members).find(|(_, member)| member.name == name);
            let Some((index, member)) = known else { return skip(next, lexer, 0) };
            let twice = seen & (1 << index) != 0;
            seen |= 1 << index;
            match next {
                _ if twice => Err(Mismatch::here("a member that appears once")),
                b'n' if !member.required => skip(next, lexer, 0),
                _ => self.value(next, lexer, &member.shape),
            }
            .map_err(|mismatch| mismatch.below(member.name))
        })?;
        let absent = (0_u32..)
            .zip(members)
            .find(|(index, member)| member.required && seen & (1 << index) == 0);
        absent.map_or(Ok(()), |(_, member)| {
            Err(Mismatch::here(member.shape.describe()).below(member.name))
        })
    }

    fn array(&mut self, lexer: &mut SliceLexer<'a>, item: &Shape) -> Flow {
        let mut index = 0_u32;
        lexer.discarded().seq(b']', SliceLexer::ws_peek, |next, lexer| {
            let step = index;
            index = index.wrapping_add(1);
            self.value(next, lexer, item)
                .map_err(|mismatch| mismatch.below(itoa::Buffer::new().format(step)))
        })
    }

    fn take(&mut self, lexer: &mut SliceLexer<'a>, take: Take) -> Flow {
        let text = lexer.discarded().str_string()?;
        match take {
            Take::Error => self.taking.error = text,
            Take::Message => self.taking.message = Some(text),
        }
        Ok(())
    }

    fn money(&mut self, next: u8, lexer: &mut SliceLexer<'a>) -> Flow {
        self.taking.amount = match next {
            b'"' => two_places(lexer.discarded().str_string()?),
            _ => number_as_money(lexer)?,
        };
        Ok(())
    }
}

impl Shape {
    fn describe(&self) -> &'static str {
        match self {
            Text | Taken(_) => "a string",
            Boolean => "a boolean",
            Amount => "a number greater than 0",
            Money => "a decimal as a string or a number",
            Currency => "one of `USD`, `GBP` and `EUR`",
            Object(_) => "an object",
            Array(_) => "an array",
        }
    }
}

/// A member's name; the colon behind it is read too.
fn name<'a>(next: u8, lexer: &mut SliceLexer<'a>) -> Flow<Cow<'a, str>> {
    lexer.expect(|_| Some(next), b'"').ok_or(Expect::String)?;
    let start = lexer.as_slice();
    let raw = raw_text(lexer)?;
    lexer.expect(SliceLexer::ws_peek, b':').ok_or(Expect::Colon)?;
    if !raw.contains(&b'\\') {
        return Ok(String::from_utf8_lossy(raw));
    }
    // A name with half of a surrogate pair is none of the contract's.
    Ok(SliceLexer::new(start).str_string().unwrap_or_default())
}

fn raw_text<'a>(lexer: &mut SliceLexer<'a>) -> Flow<&'a [u8]> {
    let mut raw: &'a [u8] = &[];
    lexer.str_bytes(&mut raw)?;
    Ok(raw)
}

fn amount(lexer: &mut SliceLexer<'_>) -> Flow {
    let (text, _) = lexer.num_string().validated()?;
    let positive = magnitude(text) == Magnitude::Positive;
    positive.then_some(()).ok_or(Mismatch::here(Amount.describe()))
}

fn currency(lexer: &mut SliceLexer<'_>) -> Flow {
    let text = lexer.discarded().str_string()?;
    let known = CurrencyCode::ALL.iter().any(|code| code.as_str() == text);
    known.then_some(()).ok_or(Mismatch::here(Currency.describe()))
}

fn number_as_money(lexer: &mut SliceLexer<'_>) -> Flow<String> {
    let (text, _) = lexer.num_string().validated()?;
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let finite = magnitude(text) != Magnitude::Infinite;
    let size = Decimal::parse(&size.to_ascii_lowercase()).filter(|_| finite);
    Ok(sign.to_owned() + &size.ok_or(Mismatch::here(Money.describe()))?.to_money())
}

/// §2.2: a decimal with two places. A text that is no decimal, or one with more places, is left
/// as it came: to drop what it says would be worse.
fn two_places(amount: Cow<'_, str>) -> String {
    let (whole, places) = amount.split_once('.').unwrap_or((&amount, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let size = whole.strip_prefix('-').unwrap_or(whole);
    match places.len() {
        0 | 1 if !size.is_empty() && digits(size) && digits(places) => {
            let zeros = "00".get(places.len()..).unwrap_or_default();
            [whole, ".", places, zeros].concat()
        }
        _ => amount.into_owned(),
    }
}

/// How deep what is passed over may nest.
const MAX_DEPTH: u32 = 128;

fn skip(next: u8, lexer: &mut SliceLexer<'_>, depth: u32) -> Flow {
    match next {
        _ if depth > MAX_DEPTH => Err(Mismatch::here("a value that nests less deep")),
        b'"' => raw_text(lexer.discarded()).map(drop),
        b'-' | b'0'..=b'9' => Ok(lexer.num_ignore().validate().map(drop)?),
        b'[' => lexer
            .discarded()
            .seq(b']', SliceLexer::ws_peek, |next, lexer| skip(next, lexer, depth + 1)),
        b'{' => lexer.discarded().seq(b'}', SliceLexer::ws_peek, |next, lexer| {
            name(next, lexer)?;
            let next = lexer.ws_peek().ok_or(Expect::Value)?;
            skip(next, lexer, depth + 1)
        }),
        _ => lexer.null_or_bool().map(drop).ok_or(Expect::Value.into()),
    }
}
