//! What the JavaScript encoder makes of a value, against the schema.
//!
//! The encoder walks a value by the schema and writes words, numbers and text; here they are read
//! in the same order. For every object: a word with one bit for each member that is there and of
//! the right type, and where anything is odd [`ODD`] and a second word with what is odd;
//! then its members in the schema's order. An array has three words: how many items it has, which
//! of them is the first that follows, and how many follow; those before were checked ahead. An item
//! has a word: 0, or what it is instead of what it must be.

use super::json::Text;
use super::lexer::Raw;
use super::place::Place;
use super::report::{Code, Found, Problems};
use super::rules;
use crate::schema::{Array, BODY, Format, Kind, Object};

/// Set in an object's word where a second word follows.
pub const ODD: u32 = 1 << 31;
/// Bits of the second word for each member: 0, or 1 more than the [`Found`] it is instead.
pub const ODD_BITS: u32 = 4;
/// How far up in the second word the count of unknown members stands.
pub const UNKNOWN: u32 = 28;

/// How many problems are kept of one call; more are counted.
pub const ROOM: usize = 256;
/// How many numbers one call takes.
pub const NUMBERS: usize = 128;
/// How many words one call takes.
pub const WORDS: usize = 1024;
/// How many texts one call takes.
pub const TEXTS: usize = 256;

/// What the encoder wrote.
pub struct Records<'a> {
    /// Objects, lengths and counts.
    pub words: &'a [u32],
    /// Every number that stands where a number must.
    pub numbers: &'a [f64],
    /// Of every text that has a format: that [`Format`], and from the third bit on its length.
    pub texts: &'a [u32],
    /// Those texts.
    pub text: &'a [u8],
}

/// Whether all numbers and texts are as they must be: then there is no need to [`check`] what the
/// encoder found nothing odd about.
pub(crate) fn are_fine(records: &Records<'_>) -> bool {
    records.numbers.iter().all(|number| rules::number(*number).is_ok()) && texts_are_fine(records)
}

fn texts_are_fine(records: &Records<'_>) -> bool {
    let mut rest = records.text;
    records.texts.iter().all(|text| {
        let Some((this, others)) = rest.split_at_checked((text >> 2) as usize) else {
            return false;
        };
        rest = others;
        let format = match text & 3 {
            1 => Format::Email,
            2 => Format::Uri,
            _ => Format::DateTime,
        };
        rules::text(format, this).is_ok()
    })
}

/// Checks a request, or with the rank of an array's place some of its items ahead of the request.
pub(crate) fn check<'a>(rank: u8, records: Records<'_>, report: &mut impl Problems<'a>) {
    let mut check = Check { records, report };
    Place::root(&BODY).of_rank(rank, 0, &mut |place| {
        let read = match place.kind() {
            Kind::Array(array) => check.items(place, array),
            _ => check.value(place),
        };
        if read.is_none() {
            check.report.issue(place, Code::Unreadable);
        }
    });
}

struct Check<'r, 'a, P> {
    records: Records<'r>,
    report: &'a mut P,
}

/// `None`: the encoder wrote less than it must have.
type Read<T = ()> = Option<T>;

impl<'a, P: Problems<'a>> Check<'_, '_, P> {
    fn word(&mut self) -> Read<u32> {
        let (word, rest) = self.records.words.split_first()?;
        self.records.words = rest;
        Some(*word)
    }

    fn object(&mut self, place: &Place<'_>, object: &'static Object) -> Read {
        let there = self.word()?;
        let odd = if there & ODD == 0 { 0 } else { self.word()? };
        for (index, member) in (0_u8..).zip(object.members) {
            let place = place.member(index, member);
            let instead = odd >> (u32::from(index) * ODD_BITS) & 0xF;
            if there & 1 << index != 0 {
                self.value(&place)?;
            } else if instead != 0 {
                self.odd(&place, instead);
            } else if member.required {
                self.report.issue(&place, Code::Required);
            }
        }
        let name = (Raw::default(), Text::Input(&[]));
        (0..odd >> UNKNOWN).for_each(|_| self.report.unknown_member(place, name.0, name.1));
        Some(())
    }

    fn value(&mut self, place: &Place<'_>) -> Read {
        match place.kind() {
            Kind::Text(Format::Any) | Kind::Choice(_) => Some(()),
            Kind::Text(format) => self.text(place, *format),
            Kind::PositiveNumber => self.number(place),
            Kind::Object(object) => self.object(place, object),
            Kind::Array(array) => self.array(place, array),
        }
    }

    /// A value of another type, or a string that is not among those allowed.
    fn odd(&mut self, place: &Place<'_>, instead: u32) {
        let found = Found::ALL.get(instead as usize - 1).unwrap_or(&Found::Other);
        match (place.kind(), found) {
            (Kind::Choice(_), Found::String) => self.report.issue(place, Code::NotAllowed),
            _ => self.report.invalid_type(place, *found),
        }
    }

    fn text(&mut self, place: &Place<'_>, format: Format) -> Read {
        let (length, others) = self.records.texts.split_first()?;
        let (text, rest) = self.records.text.split_at_checked((length >> 2) as usize)?;
        (self.records.texts, self.records.text) = (others, rest);
        if let Err(code) = rules::text(format, text) {
            self.report.issue(place, code);
        }
        Some(())
    }

    fn number(&mut self, place: &Place<'_>) -> Read {
        let (number, rest) = self.records.numbers.split_first()?;
        self.records.numbers = rest;
        if let Err(code) = rules::number(*number) {
            self.report.issue(place, code);
        }
        Some(())
    }

    fn array(&mut self, place: &Place<'_>, array: &'static Array) -> Read {
        let length = self.word()?;
        rules::length(array, length, place, self.report);
        self.items(place, array)
    }

    fn items(&mut self, place: &Place<'_>, array: &'static Array) -> Read {
        let first = self.word()?;
        let count = self.word()?;
        for index in first..first.saturating_add(count) {
            let item = place.item(index, array);
            match self.word()? {
                0 => self.value(&item)?,
                instead => self.odd(&item, instead),
            }
        }
        Some(())
    }
}
