//! Renders the facts of a change.

use super::view;
use crate::office::shared::operation::facts::{Fact, Tone};
use crate::pledges::scope::Mode;
use maud::{Markup, html};

pub(crate) fn list(facts: &[(&'static str, Fact)]) -> Markup {
    list_at(facts, &view::time)
}

/// Renders facts. `time` renders their times.
pub(crate) fn list_at(facts: &[(&'static str, Fact)], time: &dyn Fn(&str) -> Markup) -> Markup {
    let shown = facts.iter().filter(|(_, fact)| !fact.is_empty());
    let rows: Vec<_> = shown.map(|(label, fact)| (*label, value(fact, time))).collect();
    html! { @if !rows.is_empty() { (view::facts(&rows)) } }
}

/// Renders a fact, with times in UTC.
pub(crate) fn inline(fact: &Fact) -> Markup {
    value(fact, &view::time)
}

/// Renders a fact. `time` renders its times.
pub(super) fn value(fact: &Fact, time: &dyn Fn(&str) -> Markup) -> Markup {
    match fact {
        Fact::Text(text) => view::untrusted_text(text),
        Fact::Words(text) => html! { (text) },
        Fact::Message(text) => view::inline_code(&view::sentence(text)),
        Fact::Id(text) => html! { code.id { (text) } },
        Fact::Number(text) | Fact::Some(text) => html! { (view::grouped(text)) },
        Fact::Time(text) => time(text),
        Fact::Day(text) => view::day(&[text, "T00:00:00Z"].concat()),
        Fact::Month(month) => html! { (view::month(*month)) },
        Fact::Mode(Mode::Live) => html! { span.tag { "Live" } },
        Fact::Mode(Mode::Test) => html! { span.tag.note { "Test" } },
        Fact::Money { amount, currency } => view::money(amount, currency),
        Fact::Lines(text) => view::copyable_lines(text),
        Fact::Link(url) => html! { a href=(url) rel="noreferrer" { (url) } },
        Fact::Page(address, fact) => {
            html! { a href=(address) title=[title(fact)] { (value(fact, time)) } }
        }
        Fact::Strong(fact) => html! { strong { (value(fact, time)) } },
        Fact::Tag(tone, text) => {
            html! { span class=(class(*tone)) { (text) } }
        }
        Fact::Unit { id, name } => view::untrusted_text(name.as_deref().unwrap_or(id)),
        Fact::Row(facts) => html! { @for fact in facts { (value(fact, time)) " " } },
        Fact::List(facts) => {
            html! { @for fact in facts.iter().filter(|fact| !fact.is_empty()) { div { (value(fact, time)) } } }
        }
    }
}

/// Returns the ID of a unit that is called by its name.
fn title(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Unit { id, name: Some(_) } => Some(id),
        _ => None,
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "tag",
        Tone::Note => "tag note",
        Tone::Alarm => "tag alarm",
    }
}
