//! Problems for JavaScript: numbers in memory. Their paths and texts are generated tables.

use super::json::Text;
use super::lexer::{Expected, Raw};
use super::number;
use super::place::Place;
use super::report::{Code, Found, Issue, Problems, Report};
use crate::schema::BODY;
use strum::VariantArray as _;

/// One problem, in the layout that JavaScript reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compact {
    /// The [order](Place::order) of its place, which says the item that it lies in.
    pub order: u64,
    /// The [rank](Place::rank) of its place, its [code](Code), and the [`Found`] or [`Expected`]
    /// that its text is about; a byte each, the lowest first.
    pub about: u32,
    /// Where in the input the name of an unknown member or an [undecided](UNDECIDED) number
    /// begins, or JSON ends.
    pub from: u32,
    /// How many bytes that name or number has.
    pub length: u32,
}

/// Stands for a code: JavaScript checks this number, as it has the conversion to a double.
pub const UNDECIDED: u8 = u8::MAX;

/// Keeps as many problems as there is room for, and counts all.
pub struct Compacts<'o> {
    room: &'o mut [Compact],
    /// The place of the next problem in the room; below 0, and so outside, while some are skipped.
    next: usize,
    input: usize,
}

impl<'o> Compacts<'o> {
    /// Problems of this input, but for the first `skip`.
    pub fn of(input: &[u8], skip: usize, room: &'o mut [Compact]) -> Self {
        Compacts { room, next: skip.wrapping_neg(), input: input.as_ptr().addr() }
    }

    /// How many problems there are behind the skipped ones, those that found no room included.
    pub fn count(&self) -> usize {
        self.next
    }

    fn push(&mut self, place: &Place<'_>, code: u8, detail: u8, from: usize, length: usize) {
        if let Some(room) = self.room.get_mut(self.next) {
            *room = Compact {
                order: place.order(code == Code::UnknownMember as u8),
                about: u32::from_le_bytes([place.rank(), code, detail, 0]),
                from: from as u32,
                length: length as u32,
            };
        }
        self.next = self.next.wrapping_add(1);
    }

    /// A problem that a part of the input is needed for.
    fn push_part(&mut self, place: &Place<'_>, code: u8, part: &[u8]) {
        let from = part.as_ptr().addr().wrapping_sub(self.input);
        self.push(place, code, 0, from, part.len());
    }
}

impl<'a> Problems<'a> for Compacts<'_> {
    const KEEPS_TEXTS: bool = false;

    fn issue(&mut self, place: &Place<'_>, code: Code) {
        self.push(place, code as u8, 0, 0, 0);
    }

    fn invalid_type(&mut self, place: &Place<'_>, found: Found) {
        self.push(place, Code::InvalidType as u8, found as u8, 0, 0);
    }

    fn unknown_member(&mut self, place: &Place<'_>, raw: Raw<'a>, _: Text<'a, '_>) {
        self.push_part(place, Code::UnknownMember as u8, raw.bytes);
    }

    fn malformed(&mut self, offset: usize, expected: Expected) {
        let root = Place::root(&BODY);
        self.push(&root, Code::MalformedJson as u8, expected as u8, offset, 0);
    }

    fn number(&mut self, place: &Place<'_>, text: &[u8]) -> Option<f64> {
        match number::check_plain(text) {
            Some(Ok(())) => {}
            Some(Err(code)) => self.issue(place, code),
            None => self.push_part(place, UNDECIDED, text),
        }
        None
    }
}

/// The issue that these numbers stand for, to generate tables from; unknown members lack names.
pub fn explained(rank: u8, code: Code, detail: u8) -> Option<Issue<'static>> {
    let detail = usize::from(detail);
    let mut report = Report::keeping(usize::MAX);
    Place::root(&BODY).of_rank(rank, 0, &mut |place| match code {
        Code::InvalidType => {
            Found::VARIANTS
                .get(detail)
                .iter()
                .for_each(|found| report.invalid_type(place, **found));
        }
        Code::MalformedJson => {
            Expected::VARIANTS
                .get(detail)
                .iter()
                .for_each(|expected| report.malformed(0, **expected));
        }
        _ => report.issue(place, code),
    });
    report.into_issues().pop()
}
