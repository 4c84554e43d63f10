//! A plain HTML form as a create request: names are paths, values are text.
//!
//! A control named `recipient.email` or `pledges.0.impact.amount` is that member of the request;
//! those named `notifications` are its items. Names that begin with no member of the request
//! belong to the shop and are left alone. What is empty is left out, and so is an item of which
//! nothing that a shopper can see is filled in; the items behind it move up. A text that reads as
//! a number is one where the contract wants one. Whatever else a form says goes into the payload
//! as it is: the rules, and not this module, say what is wrong with it.

use crate::schema::{Array, Kind, Object, REQUEST};
use crate::validate::{self, Issue, Step};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One control of a form, in the order of the document.
#[derive(Clone, Copy, Debug)]
pub struct Control<'f> {
    /// Its name, such as `pledges.0.impact.amount`.
    pub name: &'f str,
    /// Its value; of a checkbox or radio button that is not checked, the empty string.
    pub value: &'f str,
    /// Whether the shopper cannot see it: it tells what an item is, not that there is one.
    pub is_hidden: bool,
}

/// What a form says, as a request.
#[derive(Debug)]
pub struct Payload<'f> {
    json: String,
    leaves: Vec<Leaf<'f>>,
}

/// A problem, and the control that it belongs to, if the form has one.
#[derive(Debug)]
pub struct Problem<'p> {
    /// Index among the controls.
    pub control: Option<usize>,
    /// What is wrong.
    pub issue: Issue<'p>,
}

impl<'f> Payload<'f> {
    /// Reads a form.
    pub fn read(controls: &[Control<'f>]) -> Self {
        let numbered = controls.iter().enumerate();
        let leaves = numbered.filter_map(|(index, control)| Leaf::of(index, *control)).collect();
        let mut leaves = sorted(leaves);
        let mut json = String::with_capacity(64 * leaves.len());
        write_object(&mut json, &REQUEST, &mut leaves, 0);
        Payload { json, leaves: sorted(leaves) }
    }

    /// The request as JSON, valid or not.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Every problem of the request, in the order of the schema.
    pub fn problems(&self) -> Vec<Problem<'_>> {
        let issues = validate::bytes(self.json.as_bytes()).into_iter();
        issues
            .map(|issue| Problem { control: self.control_of(issue.path().steps()), issue })
            .collect()
    }

    /// The control of this very place, else the first one within it, best one that can be seen.
    fn control_of(&self, place: &[Step<'_>]) -> Option<usize> {
        let before = self.leaves.partition_point(|leaf| compare(&leaf.steps, place).is_lt());
        let behind = self.leaves.get(before..).unwrap_or_default().iter();
        behind
            .take_while(|leaf| leaf.steps.starts_with(place))
            .min_by_key(|leaf| (leaf.is_hidden, leaf.steps.len() != place.len(), leaf.control))
            .map(|leaf| leaf.control)
    }
}

/// A control that is about the request.
#[derive(Debug)]
struct Leaf<'f> {
    control: usize,
    /// Where it is: as its name says, and once it is written, as it is in the payload.
    steps: Vec<Step<'f>>,
    value: &'f str,
    is_hidden: bool,
}

impl<'f> Leaf<'f> {
    fn of(index: usize, control: Control<'f>) -> Option<Self> {
        let Control { name, value, is_hidden } = control;
        Some(Leaf { control: index, steps: steps(name)?, value, is_hidden })
    }

    fn is_filled(&self) -> bool {
        !self.value.is_empty()
    }

    fn step(&self, depth: usize) -> Option<&Step<'f>> {
        self.steps.get(depth)
    }
}

/// In the order in which a payload is written: by member and item, each before what is in it.
///
/// A heap, because its code is small.
fn sorted(leaves: Vec<Leaf<'_>>) -> Vec<Leaf<'_>> {
    BinaryHeap::from(leaves).into_sorted_vec()
}

impl Ord for Leaf<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.steps, &other.steps).then(self.control.cmp(&other.control))
    }
}

impl PartialOrd for Leaf<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Leaf<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Leaf<'_> {}

fn compare(a: &[Step<'_>], b: &[Step<'_>]) -> Ordering {
    a.iter().map(rank).cmp(b.iter().map(rank))
}

fn rank<'s>(step: &'s Step<'_>) -> (u8, u32, &'s str) {
    match step {
        Step::Member { index, .. } => (0, u32::from(*index), ""),
        Step::Index(index) => (0, *index, ""),
        Step::Unknown(name) => (1, 0, name),
    }
}

/// Where a name leads; `None` if it begins with no member of the request.
///
/// `recipient.emial` leads to an unknown member of the recipient, and `pledges.first.impact`,
/// which JSON has no place for, to one of the request.
fn steps(name: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::with_capacity(4);
    let mut kind = Kind::Object(&REQUEST);
    let mut rest = Some(name);
    while let Some(path) = rest {
        let (segment, more) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        match next(kind, segment) {
            Some((step, inner)) => {
                steps.push(step);
                kind = inner;
                rest = more;
            }
            None if steps.is_empty() => return None,
            None if matches!(kind, Kind::Object(_)) => {
                steps.push(unknown(path));
                return Some(steps);
            }
            None => return Some(vec![unknown(name)]),
        }
    }
    Some(steps)
}

const fn unknown(name: &str) -> Step<'_> {
    Step::Unknown(Cow::Borrowed(name))
}

fn next<'n>(kind: Kind, segment: &str) -> Option<(Step<'n>, Kind)> {
    match kind {
        Kind::Object(object) => {
            let mut members = (0_u8..).zip(object.members);
            let (index, member) = members.find(|(_, member)| member.name == segment)?;
            Some((Step::Member { index, name: member.name }, member.kind))
        }
        Kind::Array(array) => Some((Step::Index(item_number(segment)?), array.item)),
        Kind::Text(_) | Kind::PositiveNumber | Kind::Choice(_) => None,
    }
}

/// `0`, `12`, but not `01`, `+1` or ten digits.
fn item_number(segment: &str) -> Option<u32> {
    let is_number = matches!(segment.len(), 1..=9) && segment.bytes().all(|b| b.is_ascii_digit());
    let is_plain = segment == "0" || !segment.starts_with('0');
    (is_number && is_plain).then(|| segment.parse().ok()).flatten()
}

/// Writes the members that these controls are about; `depth` is how many steps lead here.
fn write_object(json: &mut String, object: &Object, leaves: &mut [Leaf<'_>], depth: usize) {
    json.push('{');
    for group in leaves.chunk_by_mut(|a, b| a.step(depth) == b.step(depth)) {
        let member = match group.first().and_then(|leaf| leaf.step(depth)) {
            Some(Step::Member { index, .. }) => object.members.get(usize::from(*index)),
            _ => None,
        };
        match member {
            Some(member) if member.required || group.iter().any(Leaf::is_filled) => {
                write_member(json, member.name, member.kind, group, depth + 1);
            }
            Some(_) => {}
            None => write_unknown(json, group, depth),
        }
    }
    json.push('}');
}

/// Controls that name an object or an array itself come first; those of its parts follow.
fn write_member(json: &mut String, name: &str, kind: Kind, leaves: &mut [Leaf<'_>], depth: usize) {
    match kind {
        Kind::Array(array) => {
            write_key(json, name);
            write_array(json, array, leaves, depth);
        }
        Kind::Object(object) => {
            let own = leaves.partition_point(|leaf| leaf.steps.len() == depth);
            let (own, parts) = leaves.split_at_mut(own);
            write_texts(json, name, kind, own);
            if !parts.is_empty() {
                write_key(json, name);
                write_object(json, object, parts, depth);
            }
        }
        Kind::Text(_) | Kind::PositiveNumber | Kind::Choice(_) => {
            write_texts(json, name, kind, leaves);
        }
    }
}

/// Two controls of one name that are both filled in become a member twice, which is a problem.
fn write_texts(json: &mut String, name: &str, kind: Kind, leaves: &[Leaf<'_>]) {
    for leaf in leaves.iter().filter(|leaf| leaf.is_filled()) {
        write_key(json, name);
        write_scalar(json, kind, leaf.value);
    }
}

fn write_unknown(json: &mut String, leaves: &[Leaf<'_>], depth: usize) {
    for leaf in leaves {
        if let Some(Step::Unknown(name)) = leaf.step(depth) {
            write_texts(
                json,
                name,
                Kind::Text(crate::schema::Format::Any),
                std::slice::from_ref(leaf),
            );
        }
    }
}

fn write_array(json: &mut String, array: &Array, leaves: &mut [Leaf<'_>], depth: usize) {
    json.push('[');
    let mut count = 0;
    let own = leaves.partition_point(|leaf| leaf.steps.len() == depth);
    let (own, parts) = leaves.split_at_mut(own);
    for leaf in own.iter_mut().filter(|leaf| leaf.is_filled()) {
        leaf.steps.push(Step::Index(count));
        count += 1;
        write_comma(json);
        write_scalar(json, array.item, leaf.value);
    }
    for item in parts.chunk_by_mut(|a, b| a.step(depth) == b.step(depth)) {
        if is_there(item) {
            renumber(item, depth, count);
            count += 1;
            write_comma(json);
            write_item(json, array.item, item, depth + 1);
        } else {
            item.iter_mut().for_each(|leaf| leaf.steps.truncate(depth));
        }
    }
    json.push(']');
}

/// Something that the shopper sees is filled in, or there is nothing of it to see.
fn is_there(item: &[Leaf<'_>]) -> bool {
    let is_unseen = item.iter().all(|leaf| leaf.is_hidden);
    item.iter().any(|leaf| leaf.is_filled() && (is_unseen || !leaf.is_hidden))
}

fn renumber(item: &mut [Leaf<'_>], depth: usize, index: u32) {
    for leaf in item {
        if let Some(step) = leaf.steps.get_mut(depth) {
            *step = Step::Index(index);
        }
    }
}

fn write_item(json: &mut String, kind: Kind, leaves: &mut [Leaf<'_>], depth: usize) {
    let own = leaves.iter().find(|leaf| leaf.steps.len() == depth && leaf.is_filled());
    match (own, kind) {
        (None, Kind::Object(object)) => write_object(json, object, leaves, depth),
        (own, _) => write_scalar(json, kind, own.map_or("", |leaf| leaf.value)),
    }
}

fn write_scalar(json: &mut String, kind: Kind, value: &str) {
    match kind {
        Kind::PositiveNumber if write_number(json, value.trim()) => {}
        _ => write_string(json, value),
    }
}

/// Writes a decimal as people type it (`007`, `+1`, `.5`, `1e3`) as JSON has it, if it is one.
fn write_number(json: &mut String, text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (decimal, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (integer, fraction) = decimal.split_once('.').unwrap_or((decimal, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let is_number = are_digits(integer) || integer.is_empty() && decimal.starts_with('.');
    if !(is_number && are_digits(fraction) && are_digits(exponent)) {
        return false;
    }
    let significant = unsigned.trim_start_matches('0');
    json.push_str(if text.starts_with('-') { "-" } else { "" });
    json.push_str(if significant.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" });
    json.push_str(significant);
    true
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn write_key(json: &mut String, name: &str) {
    write_comma(json);
    write_string(json, name);
    json.push(':');
}

fn write_comma(json: &mut String) {
    if !json.ends_with(['{', '[']) {
        json.push(',');
    }
}

/// Writes text as JSON has it.
pub fn write_string(json: &mut String, text: &str) {
    json.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => json.extend(['\\', char]),
            '\0'..='\x1f' => write_escape(json, char),
            _ => json.push(char),
        }
    }
    json.push('"');
}

fn write_escape(json: &mut String, control: char) {
    let digit = |digit: u32| char::from_digit(digit, 16).unwrap_or('0');
    let code = u32::from(control);
    json.push_str("\\u00");
    json.extend([digit(code >> 4), digit(code & 15)]);
}
