//! What became of an e-mail, for those who look after it.

use super::view;
use crate::operator::notifications::{State, Status, words};
use maud::{Markup, html};

/// The class of the tag that shows a state; empty for what is well.
const fn class(state: State) -> &'static str {
    match state {
        State::NotAsked | State::Erased | State::Test | State::Sent | State::Forgotten => "",
        State::Off | State::Waiting | State::Skipped => "note",
        State::Failed => "alarm",
    }
}

/// The name of a state as a tag.
pub(super) fn tag(status: &Status) -> Markup {
    html! { span class={ "tag " (class(status.state)) } { (words::name(status)) } }
}

/// What is known of an e-mail.
pub(super) fn facts(status: &Status) -> Markup {
    let number = |number: Option<u32>| number.filter(|number| *number > 1);
    let mut rows = vec![("State", html! { (tag(status)) " " (words::advice(status)) })];
    rows.extend(status.reason.as_ref().map(|code| ("Code", html! { code { (code) } })));
    rows.extend(status.at.as_ref().map(|at| ("Known since", view::time(at))));
    rows.extend(status.until.as_ref().map(|until| ("Next attempt", view::time(until))));
    rows.extend(number(status.attempts).map(|attempts| ("Attempts", html! { (attempts) })));
    rows.extend(number(status.round).map(|round| ("Sent again", html! { (round - 1) " ×" })));
    rows.extend(status.language.as_ref().map(|tag| ("Language", html! { (view::told(tag)) })));
    let provider = status.provider_id.as_ref();
    rows.extend(provider.map(|id| ("Mail service's ID", html! { code { (view::told(id)) } })));
    view::facts(&rows)
}
