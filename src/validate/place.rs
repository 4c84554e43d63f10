//! A place in the request while it is being walked.

use super::report::Step;
use crate::schema::{Array, Kind, Member, Slot};

/// How far up in an [order](Place::order) the number of an item stands.
pub const ITEM: u32 = 23;

/// A list linked through the walk's own frames: a path costs nothing until there is a problem.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    /// What the value here must be.
    kind: &'static Kind,
    /// Where an accepted value goes; the request itself goes nowhere.
    slot: Option<Slot>,
    /// The member that this is; `None` for the request itself and for items.
    member: Option<&'static Member>,
    /// Index in the object's members or in the array.
    index: u32,
}

impl<'p> Place<'p> {
    pub(crate) fn root(kind: &'static Kind) -> Self {
        Place { parent: None, kind, slot: None, member: None, index: 0 }
    }

    pub(crate) fn member(&'p self, index: u8, member: &'static Member) -> Self {
        Place {
            parent: Some(self),
            kind: &member.kind,
            slot: Some(member.slot),
            member: Some(member),
            index: u32::from(index),
        }
    }

    pub(crate) fn item(&'p self, index: u32, array: &'static Array) -> Self {
        let (kind, slot) = (&array.item, Some(array.slot));
        Place { parent: Some(self), kind, slot, member: None, index }
    }

    pub(crate) fn kind(&self) -> &'static Kind {
        self.kind
    }

    pub(crate) fn slot(&self) -> Option<Slot> {
        self.slot
    }

    /// Whether this is a member that may be absent.
    pub(crate) fn is_optional(&self) -> bool {
        self.member.is_some_and(|member| !member.required)
    }

    /// The request itself is 0, and then as in [`Slot`].
    pub(crate) fn rank(&self) -> u8 {
        self.slot.map_or(0, |slot| slot as u8 + 1)
    }

    /// The item's index; `None` for the request itself and for members.
    pub(crate) fn item_index(&self) -> Option<u32> {
        (self.parent.is_some() && self.member.is_none()).then_some(self.index)
    }

    /// Sorts places, and the unknown members of the objects there, in the schema's order: a number
    /// for each step, the outermost in the highest bits.
    pub(crate) fn order(&self, is_unknown: bool) -> u64 {
        let unknown = u64::from(is_unknown) * (0xFF << 56);
        self.outwards().fold(unknown, |order, place| {
            let step = u64::from(place.index) + 1;
            match (place.member, place.parent) {
                (Some(_), _) => step << 56 | order >> 8, // a byte: at most 7 members
                (None, Some(_)) => step << (ITEM + 8) | order >> (ITEM + 10),
                (None, None) => order,
            }
        })
    }

    /// The step from what this lies in; `None` for the request itself.
    pub(crate) fn step<'a>(&self) -> Option<Step<'a>> {
        match self.member {
            Some(member) => Some(Step::Member(member.name)),
            None => self.item_index().map(Step::Index),
        }
    }

    /// The place itself and all that it lies in, from the inside out.
    pub(crate) fn outwards(&self) -> impl Iterator<Item = &Place<'p>> {
        std::iter::successors(Some(self), |place| place.parent)
    }

    /// How many steps lead here from the request.
    pub(crate) fn depth(&self) -> u32 {
        self.outwards().skip(1).fold(0, |depth, _| depth + 1)
    }

    /// Gives the place of this [rank](Self::rank) in this one to `then`; `index` is the item's.
    pub(crate) fn of_rank(&self, rank: u8, index: u32, then: &mut dyn FnMut(&Place<'_>)) {
        if self.rank() == rank {
            return then(self);
        }
        match self.kind {
            Kind::Object(object) => (0..)
                .zip(object.members)
                .for_each(|(nth, member)| self.member(nth, member).of_rank(rank, index, then)),
            Kind::Array(array) => self.item(index, array).of_rank(rank, index, then),
            _ => {}
        }
    }
}
