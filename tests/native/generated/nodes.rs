//! The nodes of the request's tree.

use super::walk::VARIABLES;
use impact_pledge::pledges::schema::{Kind, REQUEST, Slot};
use impact_pledge::pledges::validate::Code;
use impact_pledge::pledges::validate::compact::expand;

/// A node of the request's tree; its position in the list is its index.
pub struct Node {
    pub slot: Option<Slot>,
    pub kind: Kind,
    pub is_required: bool,
}

pub fn nodes() -> Vec<Node> {
    let mut all = Vec::new();
    add_nodes(None, Kind::Object(&REQUEST), true, &mut all);
    all
}

fn add_nodes(slot: Option<Slot>, kind: Kind, is_required: bool, all: &mut Vec<Node>) {
    assert_eq!(
        slot.map_or(0, |slot| slot as usize + 1),
        all.len(),
        "slots are in the schema's order"
    );
    all.push(Node { slot, kind, is_required });
    match kind {
        Kind::Object(object) => {
            assert!(object.members.len() <= VARIABLES.len(), "the walk has variables for so many");
            for member in object.members {
                add_nodes(Some(member.slot), member.kind, member.required, all);
            }
        }
        Kind::Array(array) => add_nodes(Some(array.slot), array.item, true, all),
        _ => {}
    }
}

pub fn pointer(index: u8) -> String {
    let issue = expand(index, Code::Required, 0).unwrap();
    let text = issue.path().to_string().replace("/0", "/*");
    assert!(text.matches('*').count() <= 1, "no array lies in another");
    text
}

pub fn message(index: u8, code: Code, detail: u8) -> Option<String> {
    let text = expand(index, code, detail)?.to_string();
    let is_syntax = code == Code::MalformedJson;
    let text = if is_syntax { text.strip_suffix('0').unwrap().to_owned() } else { text };
    let is_open = is_syntax || code == Code::MoreIssues;
    assert_eq!(text.ends_with(' '), is_open, "a number goes behind a blank");
    Some(text)
}
