//! Tests that a narrow screen can show each row of a table as a card: every cell names its column, and is aligned as the
//! column's heading.

use super::transaction::{order, test_dashboard};
use super::{ACCOUNTS, OPERATOR, SUPPORT};
use support::service::{LIVE_UNIT, UNIT};

/// For every table of a page, returns the column headings, and for each row the labels of its cells. Numbers are marked.
fn tables(html: &str) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let tables = html.split("<table>").skip(1).filter_map(|rest| rest.split_once("</table>"));
    tables
        .map(|(table, _)| {
            let (head, body) = table.split_once("</thead>").expect("a head");
            let headings = head.split("<th ").skip(1).filter_map(heading).collect();
            let rows = body.split("<tr>").skip(1);
            (headings, rows.map(labels).collect())
        })
        .collect()
}

/// Returns the text from the end of the first tag to the next tag.
fn heading(cell: &str) -> Option<String> {
    let (tag, rest) = cell.split_once('>')?;
    Some(marked(tag, rest.split_once('<')?.0))
}

/// Marks the column of a cell if its numbers are aligned at their end.
fn marked(tag: &str, column: &str) -> String {
    let mark = if tag.contains("class=\"number\"") { " (number)" } else { "" };
    [column, mark].concat()
}

/// Returns the labels of a row's cells; `none` for a cell without a label.
fn labels(row: &str) -> Vec<String> {
    let cells =
        row.split("<t").skip(1).filter(|cell| cell.starts_with("h ") || cell.starts_with('d'));
    let label = |cell: &str| {
        let (tag, _) = cell.split_once('>').expect("a tag");
        let label = tag.split_once("data-label=\"").and_then(|(_, rest)| rest.split_once('"'));
        marked(tag, label.map_or("none", |(label, _)| label))
    };
    cells.map(label).collect()
}

#[test]
fn every_cell_of_every_page_is_as_its_column() {
    let test_dashboard = test_dashboard();
    let id = test_dashboard.make(UNIT, &order());
    test_dashboard.make(LIVE_UNIT, &order());
    test_dashboard.post(OPERATOR, &format!("/transactions/{id}/whole"), &[]);
    test_dashboard.reconcile();
    let path = format!("/transactions/{id}/credit");
    let form = [("amount", "0.50"), ("reason", "returned")];
    let credited = test_dashboard.post_confirmed(OPERATOR, &path, &form);
    assert_eq!(credited.status, 200, "{}", credited.text);
    let mut first = Vec::new();
    for (person, path) in [
        (SUPPORT, "/orders".to_owned()),
        (SUPPORT, format!("/transactions/{id}")),
        (ACCOUNTS, format!("/transactions/{id}")),
        (ACCOUNTS, "/payments?month=2026-01".to_owned()),
        (ACCOUNTS, "/fulfilment?month=2026-01".to_owned()),
        (ACCOUNTS, "/units/unit_dev/payments".to_owned()),
        (OPERATOR, "/units".to_owned()),
        (OPERATOR, "/teams".to_owned()),
        (OPERATOR, "/prices".to_owned()),
        (OPERATOR, "/audit".to_owned()),
        (OPERATOR, "/system".to_owned()),
    ] {
        let page = test_dashboard.get(person, &path);
        let found = tables(&page.text);
        assert!(!found.is_empty(), "{path} has no table: {}", page.text);
        for (headings, rows) in found {
            assert!(!rows.is_empty(), "{path}: {headings:?}");
            first.extend(headings.first().cloned());
            for row in rows {
                assert_eq!(row, headings, "{path}");
            }
        }
    }
    assert!(
        first.contains(&"Amount (number)".to_owned()),
        "no table begins with a number: {first:?}"
    );
}
