//! A plain HTML form as a create request: names are paths, values are text.
//!
//! A control named `recipient.email` or `pledges.0.impact.amount` is that member of the request;
//! those named `notifications` are its items. Names that begin with no member of the request
//! belong to the shop and are left alone. What is empty is left out, and so is an item of which
//! nothing that a shopper can see is filled in; the items behind it move up. A text that reads as
//! a number is one where the contract wants one. Whatever else a form says goes into the payload
//! as it is: the rules, and not this module, say what is wrong with it.
//!
//! Nothing here allocates: who calls lends the memory.

use crate::schema::{Array, BODY, Kind, Member, Object, REQUEST, Slot};
use crate::validate::Code;
use crate::validate::compact::Compact;

/// One control that is about the request. Any bit pattern is one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Where it is, as its name says, and once it is written, as it is in the payload: an
    /// [`order`] that sorts entries as they are written.
    order: u64,
    /// Index among the controls.
    control: u32,
    /// Where in the form's text its name begins.
    name: u32,
    /// Where in the form's text its value begins, behind its name.
    value: u32,
    /// Length of the value in bytes.
    length: u32,
}

/// Rank of a name that leads nowhere: behind all others.
const UNKNOWN: u8 = u8::MAX;

/// Bytes of JSON that one control can need beyond six for each byte of its text.
pub const MOST_AROUND: usize = 64;

/// Reads a form into `entries`, of which there must be as many as controls, and writes the request
/// into `json`. Gives the entries in use and the length of the JSON.
///
/// Each control is `+` or, where the shopper cannot see it, `-`, then its name and its value, each
/// with NUL behind it; a box that is not checked has no value.
pub fn read<'e>(
    text: &[u8],
    entries: &'e mut [Entry],
    json: &mut [u8],
) -> (&'e mut [Entry], usize) {
    let count = parse(text, entries);
    let (entries, _) = split(entries, count);
    sort(entries);
    let mut writer = Writer { text, json, length: 0 };
    writer.object(&REQUEST, UNKNOWN, entries, false);
    let length = writer.length;
    sort(entries);
    (entries, length)
}

/// The control that a problem belongs to, if the form has one: that of the very place, else the
/// first one within it, best one that can be seen. `unknown` counts the unknown members before it.
pub fn control_of(
    text: &[u8],
    entries: &[Entry],
    problem: &Compact,
    unknown: usize,
) -> Option<u32> {
    let [rank, code, ..] = problem.about.to_le_bytes();
    if code == Code::UnknownMember as u8 {
        let unknowns = within(entries, order(None, UNKNOWN), u64::MAX);
        return unknowns.filter(|entry| entry.length > 0).nth(unknown).map(|entry| entry.control);
    }
    let (first, behind) = span(&BODY, (0, UNKNOWN), None, rank, problem.number)?;
    within(entries, first, behind)
        .min_by_key(|entry| (entry.is_hidden(text), entry.order != first, entry.control))
        .map(|entry| entry.control)
}

fn within(entries: &[Entry], first: u64, behind: u64) -> impl Iterator<Item = &Entry> {
    let start = entries.partition_point(|entry| entry.order < first);
    let entries = entries.get(start..).unwrap_or_default().iter();
    entries.take_while(move |entry| entry.order < behind)
}

// ---- Places ------------------------------------------------------------------------------------

/// As a [place's rank](Slot).
const fn rank_of(slot: Slot) -> u8 {
    slot as u8 + 1
}

/// By rank; within an item, whose own rank and index come first, by the rank in it.
fn order(item: Option<(u8, u32)>, rank: u8) -> u64 {
    match item {
        Some((item, index)) => {
            u64::from(item) << 40 | (u64::from(index) + 1) << 8 | u64::from(rank)
        }
        None => u64::from(rank) << 40,
    }
}

impl Entry {
    /// Its rank among the members of the request, or of the item that it is in.
    fn rank(&self, in_item: bool) -> u8 {
        (if in_item { self.order } else { self.order >> 40 }) as u8
    }

    fn is_filled(&self) -> bool {
        self.length > 0
    }

    fn is_hidden(&self, text: &[u8]) -> bool {
        (self.name as usize).checked_sub(1).and_then(|sign| text.get(sign)) == Some(&b'-')
    }
}

/// Reads one control after the other; gives how many are about the request.
fn parse(text: &[u8], entries: &mut [Entry]) -> usize {
    let mut free = entries.iter_mut();
    let (mut control, mut at, mut count) = (0, 1, 0);
    while let Some(name) = part(text, at) {
        let value = at + name.len() + 1;
        let length = part(text, value).unwrap_or_default().len();
        if let Some(order) = place(name)
            && let Some(entry) = free.next()
        {
            let (name, value, length) = (at as u32, value as u32, length as u32);
            *entry = Entry { order, control, name, value, length };
            count += 1;
        }
        control += 1;
        at = value + length + 2;
    }
    count
}

/// What stands here before the next NUL.
fn part(text: &[u8], at: usize) -> Option<&[u8]> {
    text.get(at..)?.split(|byte| *byte == 0).next().filter(|_| at < text.len())
}

/// Where a name leads; `None` if it begins with no member of the request. `recipient.emial` and
/// `pledges.first.impact` lead nowhere.
fn place(name: &[u8]) -> Option<u64> {
    let (mut kind, mut rank, mut item) = (&BODY, 0, None);
    for segment in name.split(|byte| *byte == b'.') {
        match kind {
            Kind::Object(object) => match member(object, segment) {
                Some(member) => (kind, rank) = (&member.kind, rank_of(member.slot)),
                None if rank == 0 => return None,
                None => return Some(order(None, UNKNOWN)),
            },
            Kind::Array(array) => match item_number(segment) {
                Some(index) => {
                    (kind, rank) = (&array.item, rank_of(array.slot));
                    item = Some((rank, index));
                }
                None => return Some(order(None, UNKNOWN)),
            },
            _ => {
                return Some(order(None, UNKNOWN));
            }
        }
    }
    Some(order(item, rank))
}

fn member(object: &'static Object, name: &[u8]) -> Option<&'static Member> {
    object.members.iter().find(|member| member.name.as_bytes() == name)
}

/// `0`, `12`, but not `01`, `+1` or ten digits.
fn item_number(segment: &[u8]) -> Option<u32> {
    let is_plain = matches!(segment, [b'0'] | [b'1'..=b'9', ..]);
    if !is_plain || segment.len() > 9 {
        return None;
    }
    segment.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
    })
}

/// The first order of this rank's place, and the first one behind all that lies in it.
fn span(
    kind: &'static Kind,
    (rank, end): (u8, u8),
    item: Option<(u8, u32)>,
    wanted: u8,
    index: u32,
) -> Option<(u64, u64)> {
    if rank == wanted {
        return Some((order(item, rank), order(item, end)));
    }
    match kind {
        Kind::Object(object) => ranges(object, end)
            .find_map(|(member, range)| span(&member.kind, range, item, wanted, index)),
        Kind::Array(array) => {
            let rank = rank_of(array.slot);
            span(&array.item, (rank, UNKNOWN), Some((rank, index)), wanted, index)
        }
        _ => None,
    }
}

/// The members, each with its rank and the next one behind all that lies in it.
fn ranges(object: &'static Object, end: u8) -> impl Iterator<Item = (&'static Member, (u8, u8))> {
    let next = object.members.iter().skip(1).map(|member| rank_of(member.slot));
    let ends = next.chain([end]);
    object.members.iter().zip(ends).map(|(member, end)| (member, (rank_of(member.slot), end)))
}

// ---- Order -------------------------------------------------------------------------------------

/// A heap sort: a few hundred bytes of code, where the standard library's are thousands.
fn sort(entries: &mut [Entry]) {
    for root in (0..entries.len() / 2).rev() {
        sift(entries, root);
    }
    let mut heap = entries;
    while let Some(last) = heap.len().checked_sub(1) {
        swap(heap, 0, last);
        (heap, _) = split(heap, last);
        sift(heap, 0);
    }
}

fn sift(heap: &mut [Entry], mut root: usize) {
    loop {
        let children = [2 * root + 1, 2 * root + 2];
        let key = |index: usize| heap.get(index).map(|entry| (entry.order, entry.control));
        let Some(greatest) = children.into_iter().max_by_key(|child| key(*child)) else { return };
        if key(greatest) <= key(root) {
            return;
        }
        swap(heap, root, greatest);
        root = greatest;
    }
}

fn swap(entries: &mut [Entry], a: usize, b: usize) {
    if let Ok([a, b]) = entries.get_disjoint_mut([a, b]) {
        core::mem::swap(a, b);
    }
}

/// As `split_at_mut`, which panics where this gives nothing.
fn split(entries: &mut [Entry], at: usize) -> (&mut [Entry], &mut [Entry]) {
    entries.split_at_mut_checked(at).unwrap_or_default()
}

// ---- Writing -----------------------------------------------------------------------------------

struct Writer<'f> {
    text: &'f [u8],
    json: &'f mut [u8],
    length: usize,
}

impl Writer<'_> {
    /// Writes the members that these entries are about; the ranks of this object are below `end`.
    fn object(
        &mut self,
        object: &'static Object,
        end: u8,
        mut entries: &mut [Entry],
        in_item: bool,
    ) {
        self.push(b'{');
        for (member, (rank, end)) in ranges(object, end) {
            let count = entries.partition_point(|entry| entry.rank(in_item) < end);
            let (group, rest) = split(entries, count);
            entries = rest;
            let is_filled = group.iter().any(Entry::is_filled);
            if is_filled || member.required && !group.is_empty() {
                self.member(member, (rank, end), group, in_item);
            }
        }
        for entry in entries {
            let name = self.part(entry.name, entry.value.saturating_sub(entry.name + 1));
            self.texts(name, &Kind::Text(crate::schema::Format::Any), core::slice::from_ref(entry));
        }
        self.push(b'}');
    }

    /// Entries of an object or array itself come first; those of its parts follow.
    fn member(
        &mut self,
        member: &'static Member,
        (rank, end): (u8, u8),
        entries: &mut [Entry],
        in_item: bool,
    ) {
        let name = member.name.as_bytes();
        let own = entries.partition_point(|entry| entry.rank(in_item) <= rank);
        let (own, parts) = split(entries, own);
        match &member.kind {
            Kind::Array(array) => {
                self.key(name);
                self.array(array, rank, own, parts);
            }
            Kind::Object(object) => {
                self.texts(name, &member.kind, own);
                if !parts.is_empty() {
                    self.key(name);
                    self.object(object, end, parts, in_item);
                }
            }
            kind => self.texts(name, kind, own),
        }
    }

    /// Two controls of one name that are both filled in become a member twice, which is a problem.
    fn texts(&mut self, name: &[u8], kind: &Kind, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.is_filled()) {
            self.key(name);
            self.scalar(kind, entry);
        }
    }

    /// What is named as the array itself is one item each.
    fn array(&mut self, array: &'static Array, whole: u8, own: &mut [Entry], parts: &mut [Entry]) {
        let rank = rank_of(array.slot);
        let mut count = 0;
        self.push(b'[');
        for entry in own.iter_mut().filter(|entry| entry.is_filled()) {
            self.comma();
            self.scalar(&array.item, entry);
            entry.order = order(Some((rank, count)), rank);
            count += 1;
        }
        for item in parts.chunk_by_mut(|a, b| a.order >> 8 == b.order >> 8) {
            let is_there = self.is_there(item);
            for entry in item.iter_mut() {
                // What is left out is nowhere in particular.
                let (item, part) = (Some((rank, count)), entry.rank(true));
                entry.order = if is_there { order(item, part) } else { order(None, whole) };
            }
            if is_there {
                self.comma();
                self.item(array, item);
                count += 1;
            }
        }
        self.push(b']');
    }

    /// Something that the shopper sees is filled in, or there is nothing of it to see.
    fn is_there(&self, item: &[Entry]) -> bool {
        let is_unseen = item.iter().all(|entry| entry.is_hidden(self.text));
        item.iter().any(|entry| entry.is_filled() && (is_unseen || !entry.is_hidden(self.text)))
    }

    fn item(&mut self, array: &'static Array, entries: &mut [Entry]) {
        let own = entries.first().filter(|entry| entry.rank(true) == rank_of(array.slot));
        match (own.filter(|entry| entry.is_filled()), &array.item) {
            (Some(entry), kind) => self.scalar(kind, entry),
            (None, Kind::Object(object)) => self.object(object, UNKNOWN, entries, true),
            (None, _) => self.string(b""),
        }
    }

    fn scalar(&mut self, kind: &Kind, entry: &Entry) {
        let value = self.part(entry.value, entry.length);
        if !(matches!(kind, Kind::PositiveNumber) && self.number(value.trim_ascii())) {
            self.string(value);
        }
    }

    /// Writes a decimal as people type it (`007`, `+1`, `.5`, `1e3`) as JSON has it, if it is one.
    fn number(&mut self, text: &[u8]) -> bool {
        let (is_negative, unsigned) = signed(text);
        if !is_decimal(unsigned) {
            return false;
        }
        let zeros = unsigned.iter().take_while(|byte| **byte == b'0').count();
        let significant = unsigned.get(zeros..).unwrap_or_default();
        if is_negative {
            self.push(b'-');
        }
        if !significant.first().is_some_and(u8::is_ascii_digit) {
            self.push(b'0');
        }
        significant.iter().for_each(|byte| self.push(*byte));
        true
    }

    fn key(&mut self, name: &[u8]) {
        self.comma();
        self.string(name);
        self.push(b':');
    }

    fn comma(&mut self) {
        let last = self.length.checked_sub(1).and_then(|last| self.json.get(last));
        if !matches!(last, Some(b'{' | b'[')) {
            self.push(b',');
        }
    }

    fn string(&mut self, text: &[u8]) {
        self.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' => self.escaped(&[*byte]),
                0..=0x1f => self.escaped(&[b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]),
                _ => self.push(*byte),
            }
        }
        self.push(b'"');
    }

    fn escaped(&mut self, escape: &[u8]) {
        self.push(b'\\');
        escape.iter().for_each(|byte| self.push(*byte));
    }

    /// There is room: [`MOST_AROUND`] says how much there must be.
    fn push(&mut self, byte: u8) {
        if let Some(room) = self.json.get_mut(self.length) {
            *room = byte;
            self.length += 1;
        }
    }
}

impl<'f> Writer<'f> {
    fn part(&self, from: u32, length: u32) -> &'f [u8] {
        let from = from as usize;
        self.text.get(from..from + length as usize).unwrap_or_default()
    }
}

fn is_decimal(unsigned: &[u8]) -> bool {
    let (integer, rest) = digits(unsigned);
    let (last, rest) = match rest {
        [b'.', rest @ ..] => digits(rest),
        _ => (integer, rest),
    };
    !last.is_empty() && (rest.is_empty() || is_exponent(rest))
}

fn is_exponent(text: &[u8]) -> bool {
    let [b'e' | b'E', exponent @ ..] = text else { return false };
    let (digits, rest) = digits(signed(exponent).1);
    !digits.is_empty() && rest.is_empty()
}

fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', unsigned @ ..] => (true, unsigned),
        [b'+', unsigned @ ..] => (false, unsigned),
        unsigned => (false, unsigned),
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(count).unwrap_or_default()
}

const fn hex(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }
}
