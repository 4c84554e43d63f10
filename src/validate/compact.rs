//! Problems for JavaScript: numbers in memory. Their paths and texts are tables of the package,
//! generated from here.

use super::json::Text;
use super::lexer::{Expected, Raw};
use super::number::{Magnitude, at_a_glance};
use super::place::Place;
use super::report::{Code, Found, Issue, Problems, Report};
use crate::schema::BODY;

/// One problem, in the layout that JavaScript reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compact {
    /// The [rank](Place::rank) of its place, its [code](Code), and the [`Found`] or [`Expected`]
    /// that its text is about; a byte each, the lowest first.
    pub about: u32,
    /// The index of the item that it lies in, or the byte where JSON ends.
    pub number: u32,
    /// Where in the input the name of an unknown member lies, or an [undecided](UNDECIDED) number.
    pub from: u32,
    /// How long that is, in bytes.
    pub length: u32,
}

/// Stands for a code: whether the number's double is finite and above 0 is for JavaScript to find
/// out, which has the conversion at hand.
pub const UNDECIDED: u8 = u8::MAX;

/// Keeps as many problems as there is room for, and counts all.
pub struct Compacts<'o> {
    room: &'o mut [Compact],
    count: usize,
    input: usize,
}

impl<'o> Compacts<'o> {
    /// Problems of this input.
    pub fn of(input: &[u8], room: &'o mut [Compact]) -> Self {
        Compacts { room, count: 0, input: input.as_ptr().addr() }
    }

    /// How many problems there are, those that found no room included.
    pub fn count(&self) -> usize {
        self.count
    }

    fn push(&mut self, place: &Place<'_>, code: u8, detail: u8, part: &[u8]) {
        if let Some(room) = self.room.get_mut(self.count) {
            *room = Compact {
                about: u32::from_le_bytes([place.rank(), code, detail, 0]),
                number: place.outwards().find_map(Place::item_index).unwrap_or(0),
                from: part.as_ptr().addr().wrapping_sub(self.input) as u32,
                length: part.len() as u32,
            };
        }
        self.count += 1;
    }
}

impl<'a> Problems<'a> for Compacts<'_> {
    const KEEPS_TEXTS: bool = false;

    fn issue(&mut self, place: &Place<'_>, code: Code) {
        self.push(place, code as u8, 0, &[]);
    }

    fn invalid_type(&mut self, place: &Place<'_>, found: Found) {
        self.push(place, Code::InvalidType as u8, found as u8, &[]);
    }

    fn unknown_member(&mut self, place: &Place<'_>, raw: Raw<'a>, _: Text<'a, '_>) {
        self.push(place, Code::UnknownMember as u8, 0, raw.bytes);
    }

    fn malformed(&mut self, offset: usize, expected: Expected) {
        let about = u32::from_le_bytes([0, Code::MalformedJson as u8, expected as u8, 0]);
        if let Some(room) = self.room.get_mut(self.count) {
            *room = Compact { about, number: offset as u32, ..Compact::default() };
        }
        self.count += 1;
    }

    fn magnitude(&mut self, place: &Place<'_>, text: &[u8]) -> Option<Magnitude> {
        let decided = at_a_glance(text);
        if decided.is_none() {
            self.push(place, UNDECIDED, 0, text);
        }
        decided
    }
}

/// The issue that these numbers stand for, to generate JavaScript's tables from; that of an
/// unknown member lacks its name.
pub fn explained(rank: u8, code: Code, detail: u8) -> Option<Issue<'static>> {
    let detail = usize::from(detail);
    let mut report = Report::unbounded();
    Place::root(&BODY).of_rank(rank, 0, &mut |place| match code {
        Code::InvalidType => {
            Found::ALL.get(detail).iter().for_each(|found| report.invalid_type(place, **found));
        }
        Code::MalformedJson => {
            Expected::ALL.get(detail).iter().for_each(|expected| report.malformed(0, **expected));
        }
        _ => report.issue(place, code),
    });
    report.into_issues().pop()
}
