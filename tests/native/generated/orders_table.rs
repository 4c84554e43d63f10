//! Writes the tables of shop systems as the text that `pkg-templates/orders/table.ts` reads, small after compression.
//!
//! A line is a field: a cell for each system, and the field's name, perhaps with the text that it has if a path leads to
//! something: `payment=paid`. So the cells that stand side by side are alike. The paths have the form that `pkg-templates/orders/path.ts` follows. Only rules read the parts of an order's sum, so the
//! text does not have them.

use impact_pledge::pledges::orders::table::{Attributes, BodyTable, Table};
use impact_pledge::pledges::orders::{Payment, System};
use serde_json::json;

/// Those whose signatures have a time come first, and those without signatures last.
pub const SYSTEMS: [System; 5] =
    [System::Stripe, System::BigCommerce, System::WooCommerce, System::Shopify, System::Medusa];

/// The kinds of bodies in the order in which the package tries them. Each system's table has the same order.
const KINDS: [&str; 7] =
    ["thinEvent", "refund", "order", "orderId", "otherEvent", "action", "deleted"];

/// The paths of a field, and its name.
type Line = (&'static str, Vec<String>);

pub fn text() -> String {
    let systems = SYSTEMS.map(|system| blocks(system.table()));
    let [first, ..] = &systems;
    let blocks = (0..first.len()).map(|block| {
        let lines = (0..first[block].len()).map(|line| {
            let cells = systems.iter().map(|blocks| cell(&blocks[block][line].1));
            let cells = cells.chain([first[block][line].0.to_owned()]);
            cells.collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn cell(paths: &[String]) -> String {
    let is_separator = |character| [' ', ',', '\n', '\\', '$', '`'].contains(&character);
    assert!(!paths.iter().any(|path| path.contains(is_separator)), "{paths:?}");
    paths.join(",")
}

/// Returns the lines that `Table` in `pkg-templates/orders/table.ts` lists. Where lines have the same field, the last one
/// counts whose condition holds. Otherwise, the text is small in this order.
fn blocks(table: &Table) -> [Vec<Line>; 5] {
    let (order, lines, refunds) = (&table.order, &table.lines, &table.refunds);
    let payments = |of: Payment| {
        let payments = order.payments.iter().filter(|(payment, _)| *payment == of);
        conditions(&payments.flat_map(|(_, when)| when.iter().copied()).collect::<Vec<_>>())
    };
    // The package takes the order's ID for its number if it finds no other.
    let numbers = order.number.strip_suffix(order.id).unwrap_or(order.number);
    [
        bodies(table.bodies),
        vec![
            ("lines", vec![path(lines.at)]),
            ("created", paths(order.created)),
            ("firstName", paths(order.first_name)),
            ("email", paths(order.email)),
            ("refunds", refunds.at.map(refunds_at).into_iter().collect()),
            ("lastName", paths(order.last_name)),
            ("name", paths(order.name)),
            ("payment=paid", payments(Payment::Paid)),
            ("language", paths(order.language)),
            ("status", paths(order.status)),
            ("id", paths(order.id)),
            ("payment=draft", payments(Payment::Draft)),
            ("payment=refunded", payments(Payment::Refunded)),
            ("currency", paths(order.currency)),
            ("isTest", conditions(order.test)),
            ("payment=cancelled", payments(Payment::Cancelled)),
            ("total", sum(table.sums.total, table.is_minor)),
            ("number", paths(numbers)),
            ("attributes", pairs(order.attributes)),
        ],
        vec![
            ("products", paths(lines.products)),
            ("title", paths(lines.title)),
            ("kind=deduction", conditions(lines.deduction)),
            ("kind=tip", conditions(lines.tip)),
            ("sku", paths(lines.sku)),
            ("quantity", paths(lines.quantity)),
            ("kind=giftcard", conditions(lines.gift_card)),
            ("attributes", pairs(lines.attributes)),
            ("id", paths(lines.id)),
        ],
        vec![
            ("currency", paths(refunds.currency)),
            ("sum", sum(refunds.sum, table.is_minor)),
            ("lines", refund_lines(table)),
            ("id", paths(refunds.id)),
            ("isWhole", conditions(refunds.whole)),
        ],
        vec![("orderId", paths(refunds.order))],
    ]
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|each| path(each)).collect()
}

/// Writes `refunds[kind=refund].amount` as `refunds*/kind=refund/amount`, and `line_items[]` as `line_items*`.
fn path(path: &str) -> String {
    let steps = path.replace("[]", "*").replace(',', "/").replace('[', "*/").replace(']', "");
    steps.replace('.', "/")
}

/// Writes conditions as paths that lead to something if the condition holds. Several texts of one member are one path.
fn conditions(conditions: &[&str]) -> Vec<String> {
    merged(conditions.iter().map(|each| condition(each)))
}

fn condition(condition: &str) -> String {
    let at = |text: &str, mark: &str| [&path(text), mark].concat();
    if let Some(text) = condition.strip_suffix("<0") {
        return at(text, "<");
    }
    if let Some(text) = condition.strip_suffix('?') {
        return at(text, "?");
    }
    match condition.split_once('=') {
        Some((member, text)) => [&path(member), "=", text].concat(),
        None => at(condition, "!"),
    }
}

/// Merges neighbours such as `type=a/data` and `type=b/data` to `type=a;b/data`.
fn merged(paths: impl Iterator<Item = String>) -> Vec<String> {
    let parts = |path: &str| {
        let (member, rest) = path.split_once('=')?;
        let (text, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Some([member, text, tail].map(str::to_owned))
    };
    let mut merged: Vec<String> = Vec::new();
    for path in paths {
        let last = merged.last().and_then(|last| parts(last));
        match (last, parts(&path)) {
            (Some([member, texts, tail]), Some([own_member, text, own_tail]))
                if member == own_member && tail == own_tail =>
            {
                merged.pop();
                merged.push(format!("{member}={texts};{text}{tail}"));
            }
            _ => merged.push(path),
        }
    }
    merged
}

fn bodies(bodies: &[BodyTable]) -> Vec<Line> {
    let kind_of = |body: &BodyTable| {
        let kind = json!(body.kind);
        KINDS.iter().position(|name| kind == *name).unwrap()
    };
    assert!(bodies.iter().map(kind_of).is_sorted(), "the bodies are in another order than `KINDS`");
    let paths = |kind| merged(bodies.iter().filter(|body| kind_of(body) == kind).map(body));
    KINDS.iter().enumerate().map(|(kind, name)| (*name, paths(kind))).collect()
}

/// Writes the conditions and the path of a body as one path. A condition on a member of a member comes last, because it
/// leads there.
fn body(body: &BodyTable) -> String {
    if let ["#1", member] = body.when {
        return format!("{member}!/{member}#");
    }
    let conditions = body.when.iter().map(|each| condition(each));
    let (nested, mut steps): (Vec<_>, Vec<_>) = conditions.partition(|each| each.contains('/'));
    let at = path(body.at);
    match &nested[..] {
        [] if at.is_empty() => {}
        [] => steps.push(at),
        [only] => {
            let (parent, _) = only.rsplit_once('/').unwrap();
            let rest = at.strip_prefix(parent).unwrap_or_default();
            steps.push([only, rest].concat());
        }
        _ => panic!("{body:?}"),
    }
    steps.join("/")
}

/// Writes the one term of a sum, and whether it is subtracted (`-`) or in the smallest unit (`~`).
fn sum(formulas: &[&str], is_minor: bool) -> Vec<String> {
    let [term] = formulas else { panic!("{formulas:?}") };
    let (sign, at) = term.split_at(1);
    let mark = match (sign, is_minor) {
        ("+", false) => "",
        ("+", true) => "~",
        ("-", false) => "-",
        _ => panic!("{term}"),
    };
    vec![[&path(at), mark].concat()]
}

/// Writes the path of the refunds. An order that tells itself what was refunded is its own refund, and has an ID.
fn refunds_at(at: &str) -> String {
    if at.is_empty() { "id!".to_owned() } else { path(at) }
}

fn refund_lines(table: &Table) -> Vec<String> {
    let refunds = &table.refunds;
    let ([line], [quantity]) = (refunds.line, refunds.quantity) else {
        assert!(refunds.lines.is_empty() && refunds.line.is_empty());
        return Vec::new();
    };
    vec![pair(refunds.lines.trim_end_matches("[]"), line, quantity)]
}

fn pairs(tables: &[Attributes]) -> Vec<String> {
    let pairs = |table: &Attributes| match table.name {
        "" => [&path(table.at), "%"].concat(),
        name => pair(table.at, name, table.text),
    };
    tables.iter().map(pairs).collect()
}

/// Writes the pairs in the items of a list: `meta_data*/key:value`.
fn pair(list: &str, left: &str, right: &str) -> String {
    assert!(!left.contains('.'), "{left}");
    format!("{}*/{left}:{right}", path(list))
}
