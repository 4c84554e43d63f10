//! Generates what the repository has from the tables of shop systems and of a connection's settings.

use super::{FROM, is_current};
use impact_pledge::pledges::orders::signature::{
    MAX_HEADER, MAX_SECRETS, MAX_SIGNATURES, Refusal, WINDOW_SECONDS,
};
use impact_pledge::pledges::orders::table::{
    Attributes, BodyTable, MAX_AMOUNT, MAX_ATTRIBUTES, MAX_ID, MAX_LINES, MAX_TEXT, NO_PLACES,
    THREE_PLACES, Table,
};
use impact_pledge::pledges::orders::{Payment, ReadError, System, json_schema};
use serde_json::{Value, json};
use std::fmt::Write as _;
use strum::VariantArray as _;

/// Operators and editors read this schema. Its members are sorted.
#[test]
fn the_schema_of_a_connection_is_current() {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let text = serde_json::to_string_pretty(&schema).unwrap();
    is_current("../docs/connection.schema.json", &[&text, "\n"].concat());
}

/// Returns the sections of a system's table as lines of text, which are small after compression. The code in
/// `pkg-templates/orders` names the lines. The parts of an order's sum are left out: only rules read them.
fn sections(table: &Table) -> [Vec<String>; 4] {
    let (order, lines, refunds) = (&table.order, &table.lines, &table.refunds);
    let payment = |(payment, conditions): &(Payment, &[&str])| {
        let name: &str = (*payment).into();
        conditions.iter().map(|condition| format!("{name}:{condition}")).collect::<Vec<_>>()
    };
    let payments: Vec<_> = order.payments.iter().flat_map(payment).collect();
    let paths = |paths: &[&str]| paths.join("|");
    [
        table.bodies.iter().map(body).collect(),
        vec![
            paths(order.currency),
            String::from(if table.is_minor { "minor" } else { "" }),
            paths(order.id),
            paths(order.number),
            paths(order.created),
            paths(order.email),
            paths(order.first_name),
            paths(order.last_name),
            paths(order.name),
            paths(order.language),
            paths(order.status),
            payments.join("|"),
            paths(order.test),
            paths(order.live),
            attributes(order.attributes),
            paths(table.sums.total),
            lines.at.to_owned(),
            refunds.at.unwrap_or("-").to_owned(),
        ],
        vec![
            paths(lines.id),
            paths(lines.sku),
            paths(lines.products),
            paths(lines.title),
            paths(lines.quantity),
            paths(lines.gift_card),
            paths(lines.tip),
            paths(lines.deduction),
            attributes(lines.attributes),
        ],
        vec![
            paths(refunds.order),
            paths(refunds.id),
            refunds.lines.to_owned(),
            paths(refunds.line),
            paths(refunds.quantity),
            paths(refunds.sum),
            paths(refunds.currency),
            paths(refunds.whole),
        ],
    ]
}

fn body(body: &BodyTable) -> String {
    let kind = json!(body.kind);
    format!("{} {} {}", body.when.join("&"), kind.as_str().unwrap(), body.at)
}

fn attributes(tables: &[Attributes]) -> String {
    let text = |table: &Attributes| [table.at, table.name, &table.text.join(",")].join(":");
    tables.iter().map(text).collect::<Vec<_>>().join("|")
}

#[test]
fn the_tables_of_shop_systems_are_current() {
    let from = FROM.replace("src/pledges/schema.rs", "src/pledges/orders");
    let mut ts = format!("// {from}.\n\n");
    let numbers = [
        ("MAX_LINES", MAX_LINES),
        ("MAX_ATTRIBUTES", MAX_ATTRIBUTES),
        ("MAX_ID", MAX_ID),
        ("MAX_TEXT", MAX_TEXT),
        ("MAX_AMOUNT", MAX_AMOUNT),
        ("MAX_HEADER", MAX_HEADER),
        ("MAX_SIGNATURES", MAX_SIGNATURES),
        ("MAX_SECRETS", MAX_SECRETS),
        ("WINDOW_SECONDS", WINDOW_SECONDS as usize),
    ];
    for (name, number) in numbers {
        writeln!(ts, "export const {name} = {number};").unwrap();
    }
    for (name, currencies) in [("NO_PLACES", NO_PLACES), ("THREE_PLACES", THREE_PLACES)] {
        writeln!(ts, "export const {name} = /{}/;", currencies.join("|")).unwrap();
    }
    ts += "\nexport const TABLES = {\n";
    for system in System::VARIANTS {
        let sections = sections(system.table()).map(|lines| format!("`{}`", lines.join("\n")));
        let table = sections.join(", ");
        assert!(!table.contains(['\\', '$']), "{table}");
        writeln!(ts, "  {}: [{table}],", system.name()).unwrap();
    }
    is_current("generated/orders.ts", &(ts + "};\n"));
}

/// The types of the package name the same codes as the crate.
#[test]
fn the_codes_of_orders_are_current() {
    // `JSON.parse` has no limits of its own.
    let read = ReadError::VARIANTS
        .iter()
        .filter(|error| !matches!(error, ReadError::TooDeep | ReadError::TooLarge));
    let read = read.map(|error| json!(error)["code"].as_str().unwrap().to_owned());
    let refused = Refusal::VARIANTS.iter().map(|refusal| <&str>::from(refusal).to_owned());
    let types = include_str!("../../../pkg-templates/orders/error.ts");
    for code in refused.chain(read) {
        assert!(types.contains(&format!("| \"{code}\"")), "{code}");
    }
}
