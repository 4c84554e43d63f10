//! Renders the facts of a change.

use super::view;
use crate::office::shared::operation::facts::{Fact, Rows};
use maud::{Markup, html};

pub(crate) fn list(facts: &[(&'static str, Fact)]) -> Markup {
    let shown = facts.iter().filter(|(_, fact)| !fact.is_empty());
    let rows: Vec<_> = shown.map(|(label, fact)| (*label, value(fact))).collect();
    html! { @if !rows.is_empty() { (view::facts(&rows)) } }
}

/// Renders a table of facts, at most its first [`MAX_ROWS`](view::MAX_ROWS) rows.
pub(crate) fn table(Rows { heads, rows }: &Rows) -> Markup {
    let cells = |row: &Vec<Fact>| row.iter().map(value).collect::<Vec<_>>();
    let shown: Vec<_> = rows.iter().take(view::MAX_ROWS).map(cells).collect();
    html! { @if !rows.is_empty() { (view::table(heads, &shown, "")) (view::more(rows.len())) } }
}

fn value(fact: &Fact) -> Markup {
    match fact {
        Fact::Words(text) => html! { (text) },
        Fact::Text(text) => view::untrusted_text(text),
        Fact::Id(text) => html! { code.id { (text) } },
        Fact::Time(text) => view::time(text),
        Fact::Day(text) => view::day(&[text, "T00:00:00Z"].concat()),
        Fact::Month(month) => html! { (view::month(*month)) },
        Fact::Money { amount, currency } => view::money(amount, currency),
        Fact::Link(url) => html! { a href=(url) rel="noreferrer" { (url) } },
        Fact::Lines(text) => view::copyable_lines(text),
        Fact::List(facts) => html! { @for fact in facts { div { (value(fact)) } } },
    }
}
