//! The values of a body as nodes of the schema's tree.

use super::path::{Path, Step};
use crate::pledges::schema::{Array, Kind, Member, Slot};
use std::borrow::Cow;

/// Number of bits for a member in a [sort key](Node::sort_key). They hold the member's position plus 1, or
/// 255 for an unknown member.
const MEMBER_BITS: u32 = 8;
/// Number of bits for an array's item in a [sort key](Node::sort_key). The key holds the item's position
/// plus 1. A position has 32 bits, so the sum needs 33.
const ITEM_BITS: u32 = 33;
/// The lowest bit of an array item's position in the [sort key](Node::sort_key) of a value. The bits above
/// the position hold a single member, because each array is a direct member of the request.
pub const ITEM_SHIFT: u32 = u64::BITS - MEMBER_BITS - ITEM_BITS;

/// A value of a body: its node in the schema's tree, and its position in each array above it.
///
/// A node refers to its parent on the stack. So a path is built only if there is an issue.
#[derive(Clone, Copy, Debug)]
pub struct Node<'p> {
    parent: Option<&'p Node<'p>>,
    kind: &'static Kind,
    /// The node's number in the schema's tree; `None` for the root.
    slot: Option<Slot>,
    /// The member of the schema; `None` for the root and for array items.
    member: Option<&'static Member>,
    /// The position among the object's members or the array's items, starting at 0.
    position: u32,
}

impl<'p> Node<'p> {
    pub(crate) fn root(kind: &'static Kind) -> Self {
        Node { parent: None, kind, slot: None, member: None, position: 0 }
    }

    pub(crate) fn member(&'p self, position: u8, member: &'static Member) -> Self {
        Node {
            parent: Some(self),
            kind: &member.kind,
            slot: Some(member.slot),
            member: Some(member),
            position: u32::from(position),
        }
    }

    pub(crate) fn item(&'p self, position: u32, array: &'static Array) -> Self {
        let (kind, slot) = (&array.item, Some(array.slot));
        Node { parent: Some(self), kind, slot, member: None, position }
    }

    pub(crate) fn kind(&self) -> &'static Kind {
        self.kind
    }

    pub(crate) fn slot(&self) -> Option<Slot> {
        self.slot
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.member.is_some_and(|member| !member.required)
    }

    /// Returns the node's index in the schema's tree, where parents come before their children: 0 for the root,
    /// otherwise the number of the [`Slot`] plus 1.
    pub(crate) fn index(&self) -> u8 {
        self.slot.map_or(0, |slot| slot as u8 + 1)
    }

    /// Returns a number by which issues sort in the schema's order. Each step from the root takes a few bits;
    /// the outermost step has the highest bits. An object's unknown members come after its known members.
    pub(crate) fn sort_key(&self, is_unknown: bool) -> u64 {
        let unknown = u64::from(is_unknown) * (0xFF << (u64::BITS - MEMBER_BITS));
        self.with_ancestors().fold(unknown, |key, node| {
            let step = u64::from(node.position) + 1;
            match (node.member, node.parent) {
                (Some(_), _) => step << (u64::BITS - MEMBER_BITS) | key >> MEMBER_BITS,
                (None, Some(_)) => step << (u64::BITS - ITEM_BITS) | key >> ITEM_BITS,
                (None, None) => key,
            }
        })
    }

    pub(crate) fn path<'a>(&self) -> Path<'a> {
        Path::new(self.steps())
    }

    /// Returns the path of a member that the schema does not have for this object.
    pub(crate) fn path_to_unknown<'a>(&self, name: Cow<'a, str>) -> Path<'a> {
        let mut steps = self.steps();
        steps.push(Step::Unknown(name));
        Path::new(steps)
    }

    fn steps<'a>(&self) -> Vec<Step<'a>> {
        let mut steps: Vec<_> = self.with_ancestors().filter_map(Node::step).collect();
        steps.reverse();
        steps
    }

    /// Returns the step from the parent; `None` for the root.
    pub(crate) fn step<'a>(&self) -> Option<Step<'a>> {
        match (self.member, self.parent) {
            (Some(member), _) => Some(Step::Member(member.name)),
            (None, Some(_)) => Some(Step::Index(self.position)),
            (None, None) => None,
        }
    }

    /// Returns this node and its ancestors, the root last.
    pub(crate) fn with_ancestors(&self) -> impl Iterator<Item = &Node<'p>> {
        std::iter::successors(Some(self), |node| node.parent)
    }

    pub(crate) fn depth(&self) -> u32 {
        self.with_ancestors().skip(1).fold(0, |depth, _| depth + 1)
    }

    /// Finds the node with this [index](Self::index), among this node and the nodes inside it. Calls `visit`
    /// with the found node. In an array, only the first item is searched.
    pub(crate) fn find(&self, index: u8, visit: &mut dyn FnMut(&Node<'_>)) {
        if self.index() == index {
            return visit(self);
        }
        match self.kind {
            Kind::Object(object) => (0..)
                .zip(object.members)
                .for_each(|(nth, member)| self.member(nth, member).find(index, visit)),
            Kind::Array(array) => self.item(0, array).find(index, visit),
            _ => {}
        }
    }
}
