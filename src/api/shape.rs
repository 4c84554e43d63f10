//! The shapes of the answers' bodies (§2, §4.2, §7), and whether a body has one.
//!
//! A client needs to know *that* an answer is the contract's, and next to nothing out of it: what
//! the caller gets is made by `JSON.parse`. The records' own decoders would be two thirds of its
//! wasm, so it walks the bytes by these tables; the tests hold them to the decoders.

use crate::decimal::{number_as_money, text_as_money};
use crate::json::said as text;
use crate::pledge::CurrencyCode;
use crate::validate::lexer::{Expected, Lexer};
use crate::validate::number::{Magnitude, exactly};
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
        let mut walk = Walk { lexer: Lexer::new(body), taking: Taking::default() };
        match walk.lexer.peek() {
            b'{' => walk.object(self.0)?,
            _ => return Err(Mismatch::here("an object")),
        }
        if walk.lexer.is_at_end() { Ok(walk.taking) } else { Err(Mismatch::here("JSON")) }
    }
}

struct Walk<'a> {
    lexer: Lexer<'a>,
    taking: Taking<'a>,
}

type Flow<T = ()> = Result<T, Mismatch>;

impl From<Expected> for Mismatch {
    fn from(_: Expected) -> Self {
        Mismatch::here("JSON")
    }
}

impl<'a> Walk<'a> {
    fn value(&mut self, shape: &Shape) -> Flow {
        match (shape, self.lexer.peek()) {
            (Object(members), b'{') => self.object(members),
            (Array(item), b'[') => self.array(item),
            (Text, b'"') => Ok(self.lexer.string().map(drop)?),
            (Taken(take), b'"') => self.take(*take),
            (Boolean, b't' | b'f') => Ok(self.lexer.word()?),
            (Amount, b'0'..=b'9' | b'-') => self.amount(),
            (Money, b'"' | b'0'..=b'9' | b'-') => self.money(),
            (Currency, b'"') => self.currency(),
            _ => Err(Mismatch::here(shape.describe())),
        }
    }

    fn object(&mut self, members: &[Member]) -> Flow {
        self.lexer.bump();
        let mut seen = 0_u32;
        let mut first = true;
        while self.lexer.goes_on(first, b'}')? {
            first = false;
            let name = self.name()?;
            let known = (0_u32..).zip(members).find(|(_, member)| member.name == name);
            let Some((index, member)) = known else {
                self.skip(0)?;
                continue;
            };
            let twice = seen & (1 << index) != 0;
            seen |= 1 << index;
            self.member(member, twice).map_err(|mismatch| mismatch.below(member.name))?;
        }
        let absent = |index: u32| seen & (1 << index) == 0;
        match (0_u32..).zip(members).find(|(index, member)| member.required && absent(*index)) {
            Some((_, member)) => Err(Mismatch::here(member.shape.describe()).below(member.name)),
            None => Ok(()),
        }
    }

    fn member(&mut self, member: &Member, twice: bool) -> Flow {
        match self.lexer.peek() {
            _ if twice => Err(Mismatch::here("a member that appears once")),
            b'n' if !member.required => Ok(self.lexer.word()?),
            _ => self.value(&member.shape),
        }
    }

    /// A member's name; the colon behind it is read too.
    fn name(&mut self) -> Flow<Cow<'a, str>> {
        if self.lexer.peek() != b'"' {
            return Err(Expected::Name.into());
        }
        let name = self.lexer.string()?;
        self.lexer.expect(b':', Expected::Colon)?;
        // A name with half of a surrogate pair is none of the contract's.
        Ok(text(name).unwrap_or_default())
    }

    fn array(&mut self, item: &Shape) -> Flow {
        self.lexer.bump();
        let mut index = 0_u32;
        while self.lexer.goes_on(index == 0, b']')? {
            let step = |mismatch: Mismatch| mismatch.below(itoa::Buffer::new().format(index));
            self.value(item).map_err(step)?;
            index = index.saturating_add(1);
        }
        Ok(())
    }

    fn take(&mut self, take: Take) -> Flow {
        let text = text(self.lexer.string()?).ok_or(Mismatch::here("Unicode text"))?;
        match take {
            Take::Error => self.taking.error = text,
            Take::Message => self.taking.message = Some(text),
        }
        Ok(())
    }

    fn amount(&mut self) -> Flow {
        let positive = exactly(self.lexer.number()?) == Magnitude::Positive;
        positive.then_some(()).ok_or(Mismatch::here(Amount.describe()))
    }

    fn money(&mut self) -> Flow {
        let money = match self.lexer.peek() {
            b'"' => text(self.lexer.string()?).and_then(|text| text_as_money(&text)),
            _ => number_as_money(self.lexer.number()?),
        };
        self.taking.amount = money.ok_or(Mismatch::here(Money.describe()))?;
        Ok(())
    }

    fn currency(&mut self) -> Flow {
        let code = text(self.lexer.string()?);
        let known =
            code.is_some_and(|text| CurrencyCode::ALL.iter().any(|code| code.as_str() == text));
        known.then_some(()).ok_or(Mismatch::here(Currency.describe()))
    }

    /// Passes over a value.
    fn skip(&mut self, depth: u32) -> Flow {
        match self.lexer.peek() {
            _ if depth > MAX_DEPTH => return Err(Mismatch::here("a value that nests less deep")),
            b'"' => self.lexer.string().map(drop)?,
            b'-' | b'0'..=b'9' => self.lexer.number().map(drop)?,
            b'[' => return self.skip_all(b']', depth),
            b'{' => return self.skip_all(b'}', depth),
            _ => self.lexer.word()?,
        }
        Ok(())
    }

    fn skip_all(&mut self, end: u8, depth: u32) -> Flow {
        self.lexer.bump();
        let mut first = true;
        while self.lexer.goes_on(first, end)? {
            first = false;
            if end == b'}' {
                self.name()?;
            }
            self.skip(depth + 1)?;
        }
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

/// How deep what is passed over may nest.
const MAX_DEPTH: u32 = 128;
