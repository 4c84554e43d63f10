//! Tables and lists of facts, and what they lack.

use super::texts::inline_code;
use crate::office::shared::operation::covered::{in_sentences, left_out_in_words};
use crate::office::shared::rule::coverage::{Coverage, DamagedRecords};
use maud::{Markup, html};

/// Renders a list of facts: pairs of a label and a value.
pub(crate) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } }
    }
}

/// Renders a table, or the text `empty` if there are no rows. The first cell of each row is the row's
/// heading. On narrow screens each row becomes a card, in which every cell shows the name of its column.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Markup>], empty: &str) -> Markup {
    table_of(headings, &[], rows, empty)
}

/// Renders a [`table`], and aligns the columns whose headings are in `numbers` as numbers.
pub(crate) fn table_of(
    headings: &[&str],
    numbers: &[&str],
    rows: &[Vec<Markup>],
    empty: &str,
) -> Markup {
    if rows.is_empty() {
        return html! { p.soft { (empty) } };
    }
    let class = |is_number: bool| is_number.then_some("number");
    html! {
        div.table tabindex="0" role="group" aria-label={ "Table: " (headings.join(", ")) } {
            table {
                thead { tr { @for heading in headings {
                    th scope="col" class=[class(numbers.contains(heading))] { (heading) }
                } } }
                tbody {
                    @for row in rows {
                        tr { @for (index, (cell, heading)) in row.iter().zip(headings).enumerate() {
                            @let label = heading.replace('/', "/\u{200b}"); // a time zone may break behind its slash
                            @if index == 0 { th scope="row" class=[class(numbers.contains(heading))] data-label=(label) { (cell) } }
                            @else { td class=[class(numbers.contains(heading))] data-label=(label) { (cell) } }
                        } }
                    }
                }
            }
        }
    }
}

/// Renders a note that says up to what time the ledger's data is complete, and what is missing.
pub(crate) fn coverage(coverage: &Coverage) -> Markup {
    let [until, from, damaged] = in_sentences(coverage);
    html! {
        @for text in [until, from] { @if !text.is_empty() { p.soft { (inline_code(&text)) } } }
        (missing(&damaged))
    }
}

/// Renders a notice about the transactions that are missing from the sums of offerings, if there are any.
pub(crate) fn left_out(records: &DamagedRecords) -> Markup {
    missing(&left_out_in_words(records))
}

fn missing(text: &str) -> Markup {
    html! { @if !text.is_empty() { p.problem { (inline_code(text)) } } }
}

/// Maximum number of rows in a table of records.
pub(crate) const MAX_ROWS: usize = 1_000;

/// Says that a table of this many rows was truncated to [`MAX_ROWS`].
pub(crate) fn more(rows: usize) -> Markup {
    html! { @if rows > MAX_ROWS { p { "Only the first " (MAX_ROWS) " of " (rows) " are shown." } } }
}

/// Says that entries may be missing, because only the beginning of a long list was searched.
pub(crate) fn picked(has_more: bool, of_all: &str) -> Markup {
    html! {
        @if has_more {
            p { "Some may be missing: only the first 10,000 " (of_all) " were searched. " a href="/" { "Find" } " opens the others by their IDs." }
        }
    }
}
